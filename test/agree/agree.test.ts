/**
 * One machine, one judgement: what snapshot says of a machine is what doctor, explain, fit, prepare, guard and stress say,
 * on all machines that are shipped and on odd ones. All *simulated*.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROWS } from '../../lib/core/memory/findings/index.ts';
import { machines } from '../../lib/sim.ts';
import type { Finding } from '../../lib/types/index.ts';
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
    sizesHold(answers);
    smallHolds(answers);
    stressHolds(answers, isStatic(machine));
  });
});

function judgementHolds({ doctor, explain, headline, safe, snapshot }: Answers): void {
  const { judgement } = snapshot;
  const level = LEVELS[headline.split(' ')[0] as keyof typeof LEVELS];
  expect(level, headline).toBe(judgement.level);
  if (safe !== null && safe > 0) expect(headline).toContain(`can be loaded`);
  // doctor: 0 without a warning, and the same rows with the same words. What only its own readings show comes on top.
  const applies = doctor.report.checks.filter(({ status }) => status !== 'pass' && status !== 'unknown');
  const alone = applies.filter(({ id, status }) => status !== 'note' && ROWS[id].needs.some(isOfDoctor));
  expect(doctor.code === 0, `${headline}: doctor ${doctor.code}`).toBe(
    (level === 'ok' || level === 'notice') && alone.length === 0,
  );
  if (doctor.code === 7 && alone.length === 0) expect(level).toMatch(/warning|danger/);
  for (const { id, severity, summary, remedy } of judgement.findings) {
    const check = applies.find((candidate) => candidate.id === id);
    // A context that doctor creates, and one that snapshot creates, are tried at different moments.
    if (check === undefined && id === 'driver.contexts') continue;
    expect(check, id).toMatchObject({ status: expect.stringMatching(STATUS[severity]) });
    // Numbers move: the context that one of them creates takes 256 MiB while the other reads.
    expect([withoutNumbers(check?.summary), check?.remedy?.command]).toEqual([
      withoutNumbers(summary),
      remedy?.command,
    ]);
  }
  // explain: the same rows; those about processes are read by it alone.
  const ids = ({ findings }: { findings: Finding[] }) =>
    findings.map(({ id }) => id).filter((id) => id !== 'model.twice');
  expect(ids(explain.report)).toEqual(ids(judgement));
  expect(explain.report.level).toBe(judgement.level);
  // The page may break the line.
  expect(withoutNumbers(`${explain.report.answer}.`)).toContain(withoutNumbers(headline.replace(/^\S+ +/, '')));
  if (level === 'ok') expect(explain.report.findings.filter(({ normal }) => !normal)).toEqual([]);
}

/** What doctor alone reads: no other command judges a row that needs it. */
const isOfDoctor = (need: string) => ['access', 'readiness', 'swapBytesPerSecond'].includes(need);

const withoutNumbers = (sentence = '') => sentence.replace(/\d[\d.,]*/g, 'N');

function sizesHold({ fitOver, fitSafe, guard, prepareOver, prepareSafe, snapshot }: Answers): void {
  const { judgement } = snapshot;
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
  expect(maxBytes, `${state} of ${safe}`).toBeLessThan(safe + GiB);
  expect(maxBytes, `${state} of ${safe}`).toBeGreaterThanOrEqual(safe - (isUnified ? 64 * MiB : 1.2 * GiB));
}
