/**
 * One machine, one judgement: what snapshot says of a machine is what doctor, explain, fit, prepare, guard and stress say,
 * on all machines that are shipped and on odd ones; and a program that takes what it calls safe leaves the host its floor.
 * All *simulated*.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROWS } from '../../lib/core/memory/findings/index.ts';
import { machines } from '../../lib/sim.ts';
import type { Finding, Snapshot } from '../../lib/types/index.ts';
import { runWithBinary } from '../support/binary-on-machine.ts';
import { withFastMachine } from '../support/machines.ts';
import { ROOT } from '../support/root.ts';
import { GiB, MiB } from '../support/units.ts';
import { type Answers, answersOf } from './answers.ts';

const FOLDER = join(ROOT, 'test/agree/machines');

const ALL: readonly { name: string; machine: string }[] = [
  ...readdirSync(FOLDER).map((file) => ({ name: file.replace(/\.json$/, ''), machine: join(FOLDER, file) })),
  ...machines().map(({ name }) => ({ name, machine: name })),
];

/** Machines whose driver or kernel never answers: each command takes its whole time limit, and tests of their own are stricter. */
const HANGING: readonly string[] = ['gb10-hang', 'gb10-cuda-hang', 'meminfo-hang'];

/** Its /proc/meminfo is a text, which no allocation changes. */
function isStatic(machine: string): boolean {
  if (!machine.endsWith('.json')) return false;
  const { files = [] } = JSON.parse(readFileSync(machine, 'utf8')) as { files?: { path: string }[] };
  return files.some(({ path }) => path === '/proc/meminfo');
}

const LEVELS = { OK: 'ok', NOTE: 'notice', WARNING: 'warning', DANGER: 'danger' } as const;
const STATUS: Readonly<Record<Finding['severity'], string>> = { notice: 'note', warning: 'warn|fail', danger: 'fail' };

describe.concurrent('one machine, one judgement (simulated)', () => {
  it.each(ALL.filter(({ name }) => !HANGING.includes(name)))('$name', { timeout: 240_000 }, async ({ machine }) => {
    const answers = await answersOf(machine, isStatic(machine));
    judgementHolds(answers);
    sizesHold(answers, !machine.endsWith('.json'));
    smallHolds(answers);
    stressHolds(answers, isStatic(machine));
    if (!isStatic(machine)) await floorHolds(answers, machine);
  });
});

function judgementHolds({ doctor, explain, first, headline, safe, snapshot }: Answers): void {
  const { judgement } = snapshot;
  // The context that the first reading may have created changes no row.
  expect([first.judgement.level, idsOf(first.judgement)]).toEqual([judgement.level, idsOf(judgement)]);
  const level = LEVELS[headline.split(' ')[0] as keyof typeof LEVELS];
  expect(level, headline).toBe(judgement.level);
  if (safe !== null && safe > 0) expect(headline).toContain(`can be loaded`);
  // doctor: 0 without a warning, and the same rows with the same words. What only its own readings show comes on top.
  const applies = doctor.report.checks.filter(({ status }) => status !== 'pass' && status !== 'unknown');
  const alone = applies.filter(({ id, status }) => status !== 'note' && ROWS[id].needs.some(isOfDoctor));
  expect(doctor.code === 0, `${headline}: doctor ${doctor.code}`).toBe(
    (level === 'ok' || level === 'notice') && alone.length === 0,
  );
  // Besides that nothing more: of libraries doctor says more than what a judgement needs.
  const ofBoth = (findings: readonly Pick<Finding, 'id'>[]) =>
    idsOf({ findings })
      .filter((id) => !id.startsWith('library.') && !ROWS[id].needs.some(isOfDoctor))
      .sort();
  expect(ofBoth(applies)).toEqual(ofBoth(judgement.findings));
  if (doctor.code === 7 && alone.length === 0) expect(level).toMatch(/warning|danger/);
  for (const { id, severity, summary, remedy } of judgement.findings) {
    const check = applies.find((candidate) => candidate.id === id);
    expect(check, id).toMatchObject({ remedy, status: expect.stringMatching(STATUS[severity]), summary });
  }
  // explain: the same rows; those about processes are read by it alone.
  expect(idsOf(explain.report).filter((id) => id !== 'model.twice')).toEqual(idsOf(judgement));
  expect(explain.report.level).toBe(judgement.level);
  // The page may break the line.
  expect(withoutNumbers(`${explain.report.answer}.`)).toContain(withoutNumbers(headline.replace(/^\S+ +/, '')));
  if (level === 'ok') expect(explain.report.findings.filter(({ normal }) => !normal)).toEqual([]);
}

const idsOf = ({ findings }: { findings: readonly Pick<Finding, 'id'>[] }) => findings.map(({ id }) => id);

/** What doctor alone reads: no other command judges a row that needs it. */
const isOfDoctor = (need: string) => ['access', 'readiness', 'swapBytesPerSecond'].includes(need);

const withoutNumbers = (sentence = '') => sentence.replace(/\d[\d.,]*/g, 'N');

function sizesHold(
  { fitOver, fitSafe, guard, prepareOver, prepareSafe, safe, snapshot }: Answers,
  isShipped: boolean,
): void {
  const { judgement } = snapshot;
  expect(judgement.safe.bytes).toBe(safe);
  for (const { allocatable, from, memoryModel } of snapshot.devices) {
    if (allocatable.safe !== null) expect(from['allocatable.safe']).toBeDefined();
    if (memoryModel === 'unified' || allocatable.safe === null) continue;
    expect(allocatable.safe).toBeLessThanOrEqual(allocatable.immediate as number);
    // The shipped ones are not nearly full.
    if (!isShipped) continue;
    expect(allocatable.safe).toBe(allocatable.immediate);
    expect(from['allocatable.safe']).toMatch(/^immediate/);
  }
  const isUnified = snapshot.devices.some(({ memoryModel }) => memoryModel === 'unified');
  if (fitSafe !== null) expect([fitSafe.code, fitSafe.report.verdict]).toEqual([0, 'fits']);
  if (fitOver !== null) {
    expect(fitOver.code).toBe(1);
    expect(fitOver.report.verdict).not.toBe('fits');
  }
  if (isUnified && prepareSafe !== null)
    expect(prepareSafe.report.verdict, prepareSafe.report.reason).toMatch(/^(enough|planned|after-reclaim)$/);
  if (isUnified && prepareOver !== null) expect(prepareOver.report.verdict).toBe('not-enough');
  // The guard starts wherever there is a number to watch.
  expect(guard.code, guard.stderr).toBe(snapshot.host.available === null ? 5 : 0);
  if (judgement.mayLoad === 'not-now' && fitOver !== null)
    expect(fitOver.report.verdict).toMatch(/^(not-now|no|fits-after|tight)$/);
}

/** What refuses every load refuses a small one everywhere; what is not known is nowhere a yes. */
function smallHolds({ compact, fitSmall, launchSmall, prepareSmall, safe, snapshot }: Answers): void {
  const { mayLoad } = snapshot.judgement;
  const fits = fitSmall.report.verdict;
  const isSure = fits === 'fits' && fitSmall.code === 0;
  const said = `${mayLoad}: fit ${fits}, prepare ${prepareSmall.report.verdict}, launch ${launchSmall.code}`;
  if (mayLoad === 'not-now') {
    expect(fits, said).toMatch(/^(not-now|no|fits-after|tight)$/);
    expect([prepareSmall.report.verdict, launchSmall.code], said).toEqual(['not-enough', 5]);
    expect(compact.code, JSON.stringify(compact.report)).not.toBe(0);
  }
  // What no guard could watch is not started, and not planned.
  if (snapshot.host.available === null) expect(launchSmall.code, said).toBe(5);
  if (mayLoad === 'unknown') expect(isSure, said).toBe(false);
  if (mayLoad === 'yes' && safe !== null && safe >= 256 * MiB) {
    expect(isSure, said).toBe(true);
    if (snapshot.host.available === null) return;
    expect(launchSmall.code, said).toBe(0);
    expect(prepareSmall.report.verdict, said).toMatch(/^(enough|planned|after-reclaim)$/);
  }
}

function stressHolds({ safe, snapshot, stress }: Answers, isFixed: boolean): void {
  const { judgement } = snapshot;
  const isUnified = snapshot.devices.some(({ memoryModel }) => memoryModel === 'unified');
  if ('error' in stress.report) {
    expect([1, 3, 5], stress.stderr).toContain(stress.code);
    // It refuses exactly where nothing may be loaded now, or where that is not known.
    expect(judgement.mayLoad, stress.stderr).toMatch(/^(not-now|unknown)$/);
    return;
  }
  if (isUnified) expect(judgement.mayLoad, 'stress started').not.toBe('not-now');
  if (safe === null || isFixed) return;
  const { maxBytes, state } = stress.report;
  if (isUnified) expect(state).toMatch(/^(floor|contiguity)$/);
  expect(maxBytes, `${state} of ${safe}`).toBeLessThan(safe + GiB);
  expect(maxBytes, `${state} of ${safe}`).toBeGreaterThanOrEqual(safe - (isUnified ? 64 * MiB : 1.2 * GiB));
}

/** A program that takes exactly what can be loaded, with a context that is there already, leaves the host its floor. */
async function floorHolds({ first, snapshot }: Answers, machine: string): Promise<void> {
  const device = snapshot.devices.findIndex(({ memoryModel }) => memoryModel === 'unified');
  const { cudaIndex, allocatable } = snapshot.devices[device] ?? {};
  const safe = first.devices[device]?.allocatable.safe ?? 0;
  if (allocatable === undefined || safe === 0 || safe === null) return;
  await withFastMachine(machine, async (simulation) => {
    const program = `await b.allocOpen(${cudaIndex}, 10000);
      const { block, failed } = await b.allocBlock('device', ${safe}, 60000);
      if (failed) throw new Error('refused'); await b.touchBlock(block, 1, 60000); print(block);`;
    expect((await runWithBinary(program, simulation.env)).stderr).toBe('');
    const { peak, wedged } = simulation.record() as unknown as { peak: { leastAvailable: number }; wedged: null };
    expect(wedged).toBeNull();
    expect(peak.leastAvailable).toBeGreaterThanOrEqual(floorOf(snapshot));
  });
}

/** The floor by its definition, and not by the code that is tested: 7 % of MemTotal, or 8 GiB, or a quarter. */
function floorOf({ host: { total } }: Snapshot): number {
  return Math.min(Math.max(8 * GiB, 0.07 * (total as number)), Math.max(2 * GiB, (total as number) / 4));
}
