/** One judgement of pressure, and that the verdict, doctor and the preflight of a probe say the same. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkResult } from '../../../../lib/core/doctor/report.ts';
import { outcomeOf } from '../../../../lib/core/memory/findings/index.ts';
import { lowMemory } from '../../../../lib/core/memory/floor.ts';
import { judgePressure, type PressureState, whyNotDrop } from '../../../../lib/core/memory/pressure.ts';
import { unsafeCondition } from '../../../../lib/core/probe/conditions.ts';
import type { CheckStatus, Level, Psi, Snapshot } from '../../../../lib/types/index.ts';
import { changed, hostOf, type MachineFixture, snapshotOf } from '../../../support/snapshots.ts';
import { GiB, MiB } from '../../../support/units.ts';

type Averages = readonly [avg10: number, avg60: number, avg300: number];
const psi = ([avg10, avg60, avg300]: Averages): Psi => ({ avg10, avg60, avg300, totalUs: 1 });

/** The means after a share of `percent` for `seconds`, and then of 0 for `rest` seconds. */
function meansOf(percent: number, seconds: number, rest = 0): Averages {
  const mean = (window: number) => percent * (1 - Math.exp(-seconds / window)) * Math.exp(-rest / window);
  return [mean(10), mean(60), mean(300)];
}

interface Case {
  full?: Averages;
  some?: Averages;
  host?: MachineFixture['host'];
  /** NVML does not answer. */
  silent?: boolean;
  noPsi?: boolean;
}

const NOTHING: Averages = [0, 0, 0];

function machine({ full = NOTHING, some = full, host, silent, noPsi }: Case): Snapshot {
  // The rest of the memory is held by a process, so that no other rule speaks.
  const gpuBytes = 111 * GiB - (host?.free ?? 107 * GiB);
  return changed(
    (reading) => {
      reading.pressure = noPsi === true ? null : { some: psi(some), full: psi(full) };
      if (silent === true)
        reading.libraries.nvml = { ...reading.libraries.nvml, state: 'timeout', reason: 'within 10 ms' };
    },
    { host: host ?? {}, processes: [{ pid: 7, name: 'vllm', gpuBytes: Math.max(0, gpuBytes) }] },
  );
}

const LEFT = (available: number) => ({ available, free: available });
const SWAP_FULL = { ...LEFT(38 * GiB), swapFree: GiB / 4 };

/** Each state with the machines that have it: measured ones first. */
const TABLE: readonly [title: string, Case, PressureState, Level, probeMayStart: boolean][] = [
  ['idle', {}, 'none', 'ok', true],
  ['two healthy Sparks at rest: 4.9 GiB, no pressure', { host: LEFT(4.9 * GiB) }, 'none', 'notice', false],
  ['a spike of 10 s at 98 %', { full: meansOf(98, 10) }, 'spike', 'notice', false],
  ['the same, 30 s', { full: meansOf(98, 30) }, 'spike', 'notice', false],
  ['10 % for a minute', { full: meansOf(10.1, 60) }, 'spike', 'notice', false],
  ['9 % for 10 min', { full: meansOf(9, 600) }, 'recent', 'notice', true],
  ['the longest healthy spike: 98.53 % for 2 min', { full: meansOf(98.53, 120) }, 'longSpike', 'warning', false],
  ['the same, 5 s after its end', { full: meansOf(98.53, 120, 5) }, 'longSpike', 'warning', false],
  ['the same, 30 s after its end', { full: meansOf(98.53, 120, 30) }, 'recent', 'notice', true],
  ['a wedge after 3 min', { full: meansOf(98, 180) }, 'stalled', 'danger', false],
  ['a wedge after 5 min', { full: meansOf(92, 300) }, 'stalled', 'danger', false],
  ['10 % for 6 min', { full: meansOf(10.5, 360) }, 'stalled', 'danger', false],
  [
    'a wedge seen from its 10th second: swap full',
    { full: meansOf(95, 10), host: SWAP_FULL },
    'stalled',
    'danger',
    false,
  ],
  [
    'swap full long ago, much available',
    { full: meansOf(95, 10), host: { swapFree: GiB / 4 } },
    'spike',
    'notice',
    false,
  ],
  ['a spike with 7 GiB available', { full: meansOf(98, 10), host: LEFT(7 * GiB) }, 'stalled', 'danger', false],
  ['a spike, and NVML is silent', { full: meansOf(98, 10), silent: true }, 'stalled', 'danger', false],
  ['NVML is silent, nothing else', { silent: true }, 'none', 'warning', true],
  ['tasks wait', { some: [12, 6, 1] }, 'waiting', 'notice', true],
  ['tasks wait, with 7 GiB available', { some: [12, 6, 1], host: LEFT(7 * GiB) }, 'waiting', 'warning', false],
  ['1.9 GiB available, no pressure', { host: LEFT(1.9 * GiB) }, 'none', 'danger', false],
  ['no PSI', { noPsi: true }, 'unknown', 'notice', true],
  ['no PSI, 4.9 GiB', { noPsi: true, host: LEFT(4.9 * GiB) }, 'unknown', 'notice', false],
  ['MemAvailable unknown, a spike', { full: meansOf(98, 10), host: { available: null } }, 'spike', 'warning', false],
];

const STATUS: Record<Level, readonly CheckStatus[]> = {
  ok: ['pass'],
  notice: ['note', 'unknown'],
  warning: ['warn', 'fail'],
  danger: ['fail'],
};
const WORST: readonly CheckStatus[] = ['pass', 'unknown', 'note', 'warn', 'fail'];

/** The worst answer of the rows that look at the same facts. */
function doctorOn(snapshot: Snapshot): CheckStatus {
  const ids = ['pressure', 'memory.available', 'library.nvml', 'swap.full'] as const;
  const statuses = ids.map((id) => checkResult(id, outcomeOf(id, { snapshot })).status);
  return WORST[Math.max(...statuses.map((status) => WORST.indexOf(status)))] as CheckStatus;
}

describe('pressure', () => {
  it.each(TABLE)('%s', (_, facts, state, level, mayStart) => {
    const snapshot = machine(facts);
    const silent = facts.silent === true ? 'NVML does not answer' : null;
    expect(judgePressure({ ...snapshot, silent }).state).toBe(state);
    const { judgement } = snapshot;
    // Swap in use is a notice of its own, and no matter of pressure; so is a spike that is over.
    const counted = level === 'notice' && state === 'recent' ? 'ok' : level;
    expect(judgement.level, judgement.because).toBe(counted);
    expect(judgement.because).not.toMatch(level === 'danger' ? /spike/ : /freeze/);
    expect(STATUS[level]).toContain(doctorOn(snapshot));
    const unsafe = unsafeCondition({
      facts: { snapshot, swapBytesPerSecond: 0 },
      floor: { bytes: 8 * GiB, from: 'a test' },
      acceptAFrozenMachine: false,
    });
    expect(unsafe === null, unsafe?.sentence).toBe(mayStart);
    expect(judgement.mayLoad === 'yes', judgement.because).toBe(mayStart);
  });

  it('is danger whenever no task could run for 10 % of 300 s and more (property)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 101, max: 1000 }), fc.integer({ min: 300, max: 3000 }), (permille, seconds) => {
        expect(judgePressure(machine({ full: meansOf(permille / 10, seconds) })).state).toBe('stalled');
      }),
    );
  });

  it('is never danger in a spike of up to 2 min at up to 98.53 %, nor while it fades (property)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 985 }),
        fc.integer({ min: 0, max: 120 }),
        fc.integer({ min: 0, max: 600 }),
        (permille, seconds, rest) => {
          const { level } = judgePressure(machine({ full: meansOf(permille / 10, seconds, rest) }));
          expect(level).not.toBe('danger');
        },
      ),
    );
  });

  it('says what is left, what waits, and what is not known', () => {
    const text = (facts: Case) => machine(facts).judgement.because;
    expect(text({ host: LEFT(4.9 * GiB) })).toBe(
      'Only 4.9 GiB of the unified memory can still be allocated: the host needs them. No task waits for it.',
    );
    expect(text({ full: meansOf(98, 10), host: LEFT(7 * GiB) })).toMatch(
      /^No task could run for lack of memory for 6[12]\.\d % of the last 10 s, with only 7\.0 GiB available: this is how a freeze begins\.$/,
    );
    expect(text({ noPsi: true })).toMatch(
      /^Whether tasks wait for memory is not known: this kernel does not report it/,
    );
    expect(text({ noPsi: true, host: LEFT(4.9 * GiB) })).toMatch(/Whether tasks wait for memory is not known\.$/);
    const { level, notJudged } = machine({ noPsi: true }).judgement;
    expect([level, notJudged.map(({ id }) => id)]).toEqual(['notice', ['pressure']]);
  });

  it('keeps page cache while tasks wait, in whatever state', () => {
    expect(whyNotDrop(machine({ some: [12, 6, 1] }))).toMatch(/tasks waited for memory for 12\.0 %/);
    expect(whyNotDrop(machine({ full: meansOf(98, 10) }))).not.toBeNull();
    for (const facts of [{}, { noPsi: true }, { full: meansOf(98, 60, 60) }])
      expect(whyNotDrop(machine(facts))).toBeNull();
  });
});

describe('low memory', () => {
  it.each([
    ['a Spark', 119.69, 8, 2],
    ['a Spark of 64 GB', 60, 8, 2],
    ['a server with 2 TiB', 2048, 8, 2],
    ['a desktop with 16 GiB', 15.5, 3.875, 0.96875],
    ['an Orin with 8 GiB', 7.44, 1.86, 0.465],
    ['a virtual machine with 1 GiB', 1, 0.25, 0.0625],
  ])('has absolute bands, and parts of a small machine: %s', (_, total, low, critical) => {
    const bands = lowMemory(total * GiB);
    expect(bands.low / GiB).toBeCloseTo(low, 6);
    expect(bands.critical / GiB).toBeCloseTo(critical, 6);
  });

  it.each<[string, MachineFixture, Level]>([
    ['an idle Orin', { host: { total: 7.44 * GiB, available: 5.1 * GiB, free: 4.9 * GiB } }, 'ok'],
    ['a busy Orin', { host: { total: 7.44 * GiB, available: 1.7 * GiB, free: GiB } }, 'notice'],
    ['a full Orin', { host: { total: 7.44 * GiB, available: 0.4 * GiB, free: 0.2 * GiB } }, 'danger'],
    ['an 8 GiB desktop', { gpu: false, host: { total: 7.7 * GiB, available: 1.9 * GiB, free: GiB / 2 } }, 'notice'],
    ['a Spark of 64 GB', { host: { total: 60 * GiB, available: 9 * GiB, free: 8.5 * GiB } }, 'ok'],
    ['a server', { model: 'discrete', host: { total: 2048 * GiB, available: 100 * GiB, free: 60 * GiB } }, 'ok'],
  ])('%s is judged by what is left on it', (_, fixture, level) => {
    // Only the bands are asked here: the rest of such a machine is not made up.
    const bare = changed((reading) => {
      reading.ledger.entries = [];
      reading.contiguity = [{ order: 13, blockBytes: 32 * MiB, freeBlocks: 64 * 1024, movableBlocks: null }];
      for (const library of Object.values(reading.libraries)) library.state = 'loaded';
    }, fixture);
    const { findings, level: whole } = bare.judgement;
    expect(findings.find(({ id }) => id === 'memory.available')?.severity ?? 'ok').toBe(level);
    expect(whole).toBe(level);
  });

  it('is said besides a warning that says more', () => {
    expect(snapshotOf({ host: LEFT(7 * GiB) }).judgement.because).toMatch(
      /in no counter and no listed process\. No GPU process is listed: .*\. Only 7\.0 GiB of the unified memory can still be allocated: the host needs them\. No task waits/,
    );
  });
});

describe('the limits of the last five minutes', () => {
  const state = (avg10: number, avg300: number) => {
    const full = { avg10, avg60: avg10, avg300, totalUs: 0 };
    return judgePressure({ pressure: { some: { ...full, avg10: 0 }, full }, host: hostOf() }).state;
  };
  it.each([
    [50, 14.9, 'spike'],
    [50, 15, 'longSpike'],
    [0, 0.99, 'none'],
    [0, 1, 'recent'],
  ])('%d %% of the last 10 s and %d %% of these are %s', (avg10, avg300, expected) => {
    expect(state(avg10, avg300)).toBe(expected);
  });
});
