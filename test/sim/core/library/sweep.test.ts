/** sweep() on simulated machines: everything here is simulated. */
import { beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from '../../../../lib/core/memory/kinds.ts';
import type { AllocatorKind, Counter, SweepReport, SweepStep } from '../../../../lib/types/index.ts';
import { evaluateOnMachine, type MachineOptions } from '../../../support/package-on-machine.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { GB } from '../../../support/units.ts';

/** The report, checked against its schema. */
async function sweep(machine: string, options: string, on?: MachineOptions): Promise<SweepReport> {
  const report = await evaluateOnMachine<SweepReport>(
    machine,
    `return umaprobe.sweep({ journal: false, ${options} });`,
    on,
  );
  parseDocument(JSON.stringify(report));
  return report;
}

interface Refused {
  thrown: { name: string; code: string; message: string };
}

function refused(machine: string, options: string): Promise<Refused> {
  return evaluateOnMachine(machine, `return umaprobe.sweep({ journal: false, ${options} }).catch(caught);`);
}

/** The share of the variance of y that the best line through the points explains. */
function rSquared(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  const sum = (of: (x: number, y: number) => number) => points.reduce((all, [x, y]) => all + of(x - mx, y - my), 0);
  return sum((x, y) => x * y) ** 2 / (sum((x) => x * x) * sum((_, y) => y * y));
}

/** The lab's own figures on a real GB10, in milliseconds by GB. */
const LAB: readonly (readonly [number, number])[] = [
  [1, 35.67],
  [2, 78.09],
  [4, 148.63],
  [8, 291.55],
  [10, 344.19],
  [20, 672],
  [30, 979],
  [40, 1288],
  [50, 1545],
  [60, 3108],
  [70, 2626],
  [80, 2778],
];

/** How late the fastest of three calls may end on a busy computer. */
const LATE_MS = 25;

describe('the lab on a simulated gb10', () => {
  it('takes all twelve sizes, as long as the lab did up to 50 GB, linear in size', async () => {
    const SCALE = 10;
    const report = await sweep('gb10', "preset: 'lab', repeat: 3", { scale: SCALE });
    expect(report).toMatchObject({
      schema: 'umaprobe/sweep/1',
      simulated: 'gb10',
      timeScale: SCALE,
      state: 'complete',
    });
    expect(report).toMatchObject({ preset: 'lab', reason: null, spills: [] });
    expect(report.steps.map(({ requestedBytes }) => requestedBytes / GB)).toEqual(LAB.map(([gb]) => gb));
    expect(report.steps.map(({ reason, state }) => reason ?? state)).toEqual(LAB.map(() => 'ok'));
    // A call is never shorter than the simulated one; a busy computer wakes the process late. timeline.lab is exact.
    const taken = report.steps.map(({ allocMs, requestedBytes }) => [requestedBytes / GB, allocMs?.min ?? 0] as const);
    for (const [at, [gb, ms]] of LAB.entries()) {
      if (gb > 50) continue;
      expect(taken[at]?.[1], `${gb} GB`).toBeGreaterThan(0.65 * ms);
      expect(taken[at]?.[1], `${gb} GB`).toBeLessThan(1.35 * ms + LATE_MS * SCALE);
    }
    expect(rSquared(taken.slice(0, 9))).toBeGreaterThan(0.98);
    expect(report.largest).toEqual({ ...Object.fromEntries(KINDS.map((kind) => [kind, null])), device: 80 * GB });
  });
});

const of = (report: SweepReport, kind: AllocatorKind): SweepStep => {
  const step = report.steps.find((one) => one.kind === kind);
  if (step?.state !== 'ok') throw new Error(`${kind}: ${step?.state ?? 'no step'} ${step?.reason ?? ''}`);
  return step;
};

/** A counter's change in the three phases, in whole GB; null stays null. */
function inGB(step: SweepStep, counter: Counter): (number | null)[] {
  const { afterAlloc, afterFree, afterTouch } = step.moved?.[counter] ?? {};
  return [afterAlloc, afterTouch, afterFree].map((bytes) =>
    bytes === null || bytes === undefined ? null : Math.round(bytes / GB) + 0,
  );
}

const still = [0, 0, 0];
const unknown = [null, null, null];

describe('which counters move', () => {
  it('on a simulated gb10: cudaMalloc takes MemFree at once and shows in no RSS and no cgroup', async () => {
    const report = await sweep('gb10', "kinds: 'all', sizes: [8e9]");
    const device = of(report, 'device');
    expect(inGB(device, 'memFree')).toEqual([-8, -8, 0]);
    expect(inGB(device, 'cudaFree')).toEqual([-8, -8, 0]);
    expect(inGB(device, 'memAvailable')).toEqual([-8, -8, 0]);
    expect(inGB(device, 'nvmlProcess')).toEqual([8, 8, 0]);
    expect(inGB(device, 'rss')).toEqual(still);
    expect(inGB(device, 'cgroup')).toEqual(still);
    expect(inGB(device, 'nvmlDeviceUsed')).toEqual(unknown);
    expect(report.from['moved.nvmlDeviceUsed']).toContain('NOT_SUPPORTED');

    // Charged on touch, to the cgroup too.
    const managed = of(report, 'managed');
    expect(inGB(managed, 'memFree')).toEqual([0, -8, 0]);
    expect(inGB(managed, 'cgroup')).toEqual([0, 8, 0]);
    expect(inGB(of(report, 'pinned'), 'memFree')).toEqual([-8, -8, 0]);
    const system = of(report, 'system');
    expect(inGB(system, 'memFree')).toEqual([0, -8, 0]);
    expect(inGB(system, 'rss')).toEqual([0, 8, 0]);
    expect(inGB(system, 'cgroup')).toEqual([0, 8, 0]);
  });

  it('on a simulated h200: memory of the device is none of the host’s', async () => {
    const report = await sweep('h200', "kinds: ['device', 'managed', 'pinned', 'system'], sizes: [8e9]");
    const device = of(report, 'device');
    for (const counter of ['memFree', 'memAvailable', 'rss', 'cgroup'] as const)
      expect(inGB(device, counter), counter).toEqual(still);
    expect(inGB(device, 'cudaFree')).toEqual([-8, -8, 0]);
    expect(inGB(device, 'nvmlProcess')).toEqual([8, 8, 0]);
    expect(inGB(device, 'nvmlDeviceUsed')).toEqual([8, 8, 0]);
    expect(inGB(of(report, 'managed'), 'cudaFree')).toEqual([0, -8, 0]);
    expect(inGB(of(report, 'pinned'), 'memFree')).toEqual([-8, -8, 0]);
    expect(inGB(of(report, 'pinned'), 'cudaFree')).toEqual(still);
    const system = report.steps.find(({ kind }) => kind === 'system');
    expect(system).toMatchObject({ state: 'unsupported', allocMs: null, moved: null });
    expect(system?.reason).toMatch(/\w/);
    expect(report.kinds.find(({ kind }) => kind === 'system')).toMatchObject({ supported: false, call: null });
  });
});

describe('times', () => {
  it('driver pools on a simulated gb10-590-pools: the first repeat is cold, the later ones are warm', async () => {
    const change = 'machine.driver.poolBytes = 0;';
    const report = await sweep('gb10-590-pools', 'sizes: [20e9], repeat: 3', { change });
    const { allocMs, moved, repeats } = of(report, 'device');
    expect(repeats).toBe(3);
    expect((allocMs?.max ?? 0) / (allocMs?.median ?? 1)).toBeGreaterThan(2);
    // Freed pages stay with the driver: MemFree does not come back, and that is no leak.
    expect(moved?.memFree.afterFree).not.toBeNull();
  });

  it('bandwidth of the second touch is the machine’s', async () => {
    const step = of(await sweep('gb10', 'sizes: [20e9], repeat: 3', { scale: 5 }), 'device');
    expect(step.gbPerSecond).toBeGreaterThan(150);
    expect(step.gbPerSecond).toBeLessThan(240);
    expect(step.overheadMs).toBeGreaterThan(0);
  });

  it('tensors: dtype and size, with half a byte rounded up', async () => {
    const report = await sweep('gb10', "tensors: { dtypes: ['bf16', 'int4'], elements: 1_000_000_001 }");
    expect(report.steps.map(({ requestedBytes, state, tensor }) => [tensor?.dtype, requestedBytes, state])).toEqual([
      ['int4', 500_000_001, 'ok'],
      ['bf16', 2_000_000_002, 'ok'],
    ]);
    expect(report.steps[0]?.tensor?.note).toContain('rounded up');
  });
});

describe('what does not fit', () => {
  it('is refused with the numbers, and the rest is done', async () => {
    const report = await sweep('gb10', 'sizes: [1e9, 118e9, 200e9]');
    expect(report.state).toBe('complete');
    expect(report.steps.map(({ state }) => state)).toEqual(['ok', 'refused', 'refused']);
    expect(report.steps[1]?.reason).toMatch(/floor/);
    expect(report.steps[2]?.reason).toMatch(/more than the device has/);
    expect(report.largest.device).toBe(1 * GB);
  });

  it('a device without enough memory is out of memory, and larger sizes are not tried', async () => {
    const report = await sweep('h200', 'sizes: [1e9, 149.9e9, 150e9]');
    expect(report.steps.map(({ state }) => state)).toEqual(['ok', 'out-of-memory', 'refused']);
    expect(report.steps[2]?.reason).toContain('not tried');
  });

  it('managed memory stays within a device that has its own', async () => {
    const report = await sweep('rtx3060-fallback', "kinds: ['managed'], sizes: [4e9, 14e9]");
    expect(report.steps.map(({ state }) => state)).toEqual(['ok', 'refused']);
    expect(report.steps[1]?.reason).toContain('oversubscribe');
    expect(report.spills).toEqual([]);
  });
});

describe('spill', () => {
  it('13 GB on a simulated 12 GB card is found, with its slowdown', async () => {
    const options = "kinds: ['managed'], sizes: [2e9, 4e9, 8e9, 13e9, 14e9], oversubscribe: true";
    const { spills, steps } = await sweep('rtx3060-fallback', options);
    expect(steps.map(({ reason, state }) => reason ?? state)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
    expect(spills).toHaveLength(1);
    expect(spills[0]).toMatchObject({ kind: 'managed', atBytes: 13 * GB, evidence: ['capacity', 'bandwidth'] });
    expect(spills[0]?.slowdown).toBeGreaterThan(2);
    expect(spills[0]?.sentence).toMatch(/^spilled at 13\.0 GB, \d+\.\d× slower$/);
  });

  it('is refused beyond the memory that the host has above its floor', async () => {
    const { steps } = await sweep('rtx3060-fallback', "kinds: ['managed'], sizes: [60e9], oversubscribe: true");
    expect(steps[0]).toMatchObject({ state: 'refused' });
    expect(steps[0]?.reason).toContain('the host can spare');
  });

  it('is refused on unified memory', async () => {
    const { thrown } = await refused('gb10', "kinds: ['managed'], oversubscribe: true");
    expect(thrown).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
    expect(thrown.message).toContain('no memory of its own');
  });
});

describe('how a sweep ends', () => {
  it('aborted: measured steps stay, the others were not reached, and nothing is held', async () => {
    const { record, report, steps } = await evaluateOnMachine<{
      report: SweepReport;
      steps: [number, number][];
      record: { wedged: null };
    }>(
      'gb10',
      `const stop = new AbortController(); const steps = [];
       const report = await umaprobe.sweep({ journal: false, sizes: [1e9, 2e9, 50e9, 51e9], signal: stop.signal,
         onEvent({ type, progress }) { if (type !== 'step') return; steps.push([progress.done, progress.total]); if (progress.done === 2) stop.abort(); } });
       return { report, steps, record: simulation.record() };`,
      { scale: 1 },
    );
    expect(report.state).toBe('aborted');
    expect(steps.slice(0, 2)).toEqual([
      [1, 4],
      [2, 4],
    ]);
    expect(report.steps.slice(0, 2).map(({ state }) => state)).toEqual(['ok', 'ok']);
    expect(report.steps).toHaveLength(4);
    expect(report.steps.at(-1)?.state).toBe('not-reached');
    expect(record.wedged).toBeNull();
  });

  it('lost: the child was killed during the step that says so', async () => {
    const report = await evaluateOnMachine<SweepReport>(
      'gb10',
      `return umaprobe.sweep({ journal: false, sizes: [1e9, 50e9, 51e9],
         onEvent({ type }) { if (type !== 'step') return; const pid = childPid(); setTimeout(() => process.kill(pid, 'SIGKILL'), 500); } });`,
      { scale: 1 },
    );
    expect(report.state).toBe('lost');
    expect(report.steps.map(({ state }) => state)).toEqual(['ok', 'lost', 'not-reached']);
    expect(report.steps[1]?.reason).toContain('device 46.57 GiB (50.00 GB)');
  });

  it('stopped: another program takes memory meanwhile, the guard frees ours, the machine lives', async () => {
    const change = `machine.events = [{ what: 'anon', bytes: ${55 * 2 ** 30}, overMs: 1500, atMs: 0, afterFirstAllocation: true }];`;
    const { record, report } = await evaluateOnMachine<{ report: SweepReport; record: { wedged: object | null } }>(
      'gb10',
      `const report = await umaprobe.sweep({ journal: false, sizes: [70e9, 71e9] });
       return { report, record: simulation.record() };`,
      { change, scale: 1 },
    );
    expect(record.wedged).toBeNull();
    expect(report).toMatchObject({ state: 'stopped', largest: { device: null } });
    expect(report.reason).toMatch(/the guard stopped it: MemAvailable .* fell below the floor/);
    expect(report.steps.map(({ state }) => state)).toEqual(['stopped', 'not-reached']);
  });

  it('the journal names the unfinished step, and the next sweep reports it', async () => {
    const report = await evaluateOnMachine<SweepReport>(
      'gb10',
      `const first = umaprobe.sweep({ journal, sizes: [1e9, 50e9], onEvent({ type }) {
         if (type !== 'step') return;
         const pid = childPid(); setTimeout(() => process.kill(pid, 'SIGKILL'), 500); } });
       if ((await first).state !== 'lost') throw new Error('it was not lost');
       return umaprobe.sweep({ journal, sizes: [1e9] });`,
      { scale: 1 },
    );
    expect(report.state).toBe('complete');
    expect(report.unfinished).toMatchObject({ command: 'sweep', kind: 'device', heldBytes: 0, targetBytes: 50 * GB });
  });

  it('a hung cudaMalloc ends it, and is named', async () => {
    const change = "machine.faults = { ...machine.faults, hang: [{ call: 'cudaMalloc', ms: 600_000 }] };";
    const report = await sweep('gb10', 'sizes: [1e9, 2e9], stepTimeoutMs: 3000', { change });
    expect(report.state).toBe('timeout');
    expect(report.reason).toContain('the step device');
    expect(report.steps[0]?.reason).toMatch(/cudaMalloc .*allow more: --step-timeout/);
    expect(report.steps.map(({ state }) => state)).toEqual(['failed', 'not-reached']);
  });

  it('an error of onEvent is thrown', async () => {
    const body =
      "return umaprobe.sweep({ journal: false, sizes: [1e9], onEvent() { throw new Error('mine'); } }).catch(caught);";
    expect(await evaluateOnMachine('gb10', body)).toMatchObject({ thrown: { message: 'mine' } });
  });
});

describe('an invalid option is refused in one line', () => {
  const REFUSED = [
    ['kinds: ["gpu"]', 'ERR_INVALID_ARG_VALUE', 'kinds is "gpu"; expected one of device, managed, pinned, system'],
    ['kinds: []', 'ERR_OUT_OF_RANGE', 'number of kinds is 0'],
    ['sizes: [0]', 'ERR_OUT_OF_RANGE', 'sizes[0] is 0'],
    ['repeat: 0', 'ERR_OUT_OF_RANGE', 'repeat is 0; expected a whole number from 1 to 1000'],
    ['repeat: 1.5', 'ERR_OUT_OF_RANGE', 'repeat is 1.5'],
    ['oversubscribe: 1', 'ERR_INVALID_ARG_TYPE', 'oversubscribe is 1'],
    ['onEvent: 1', 'ERR_INVALID_ARG_TYPE', 'onEvent is 1; expected a function'],
    ['floorBytes: 1024', 'ERR_OUT_OF_RANGE', 'floorBytes is 1.0 KiB'],
    ['device: 7', 'ERR_UMA_NO_DEVICE', 'there is no CUDA device 7'],
  ] as const;
  let answers: Refused[] = [];
  beforeAll(async () => {
    const calls = REFUSED.map(([options]) => `await umaprobe.sweep({ journal: false, ${options} }).catch(caught)`);
    answers = await evaluateOnMachine('gb10', `return [${calls.join()}];`);
  });

  it.each(REFUSED)('%s', (options, code, message) => {
    const { thrown } = answers[REFUSED.findIndex(([each]) => each === options)] as Refused;
    expect(thrown.code).toBe(code);
    expect(thrown.message).toContain(message);
    expect(thrown.message).not.toContain('\n');
  });

  it('no driver', async () => {
    const { thrown } = await refused('no-driver', '');
    expect(thrown).toMatchObject({ name: 'UmaError' });
    expect(thrown.code).toMatch(/ERR_UMA_(LIBRARY_MISSING|DRIVER_UNUSABLE|NO_DEVICE)/);
  });
});
