/** The judgement of a machine: what follows from the findings for its level, for a load, and for what asks it. */
import { describe, expect, it } from 'vitest';
import { prepareFor } from '../../../../lib/core/cache/prepare/run.ts';
import { answer } from '../../../../lib/core/memory/answer.ts';
import { judge, judged, refuses } from '../../../../lib/core/memory/judge.ts';
import { unsafeCondition } from '../../../../lib/core/probe/conditions.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { snapshotPage } from '../../../../lib/show/render/text/snapshot.ts';
import type { Finding, Level, Reading, Snapshot } from '../../../../lib/types/index.ts';
import { cudaFailure, deviceFailure, nvmlFailure } from '../../../support/failures.ts';
import { fakeMachine } from '../../../support/fake-system.ts';
import { changed, type MachineFixture, snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';
import { failing, hiding, snapshotIn } from './findings/case.ts';
import { CASES } from './findings/cases.ts';

const LEVELS: readonly Level[] = ['ok', 'notice', 'warning', 'danger'];
const highest = (findings: readonly Finding[]): Level =>
  findings.reduce(
    (level: Level, { severity }) => (LEVELS.indexOf(severity) > LEVELS.indexOf(level) ? severity : level),
    'ok',
  );

/** Every machine of the cases once. */
const MACHINES = new Map(CASES.map(([id, title, facts]) => [`${id}: ${title}`, snapshotIn(facts)]));

const WEDGE: MachineFixture = { full: 92, host: { swapFree: 0, available: 47 * GiB, free: 40 * GiB } };
const lost = (fixture: MachineFixture = {}, index = 0) =>
  changed((reading) => {
    failing(reading, deviceFailure('nvml', nvmlFailure('GPU_IS_LOST', 15, 'nvmlDeviceGetHandleByIndex_v2')), index);
  }, fixture);

const refusing = changed(({ devices, driver, libraries }) => {
  for (const device of devices) device.cuda = null;
  driver.version = '615.16';
  libraries.nvml.driverVersion = '615.16';
});

describe('the level', () => {
  it.each([...MACHINES])('is that of the most severe finding that is not normal: %s', (_, { judgement }) => {
    const { findings, level, notJudged, safe } = judgement;
    const counted = highest(findings.filter(({ normal }) => !normal));
    const unknown = notJudged.length > 0 || safe.bytes === null ? 'notice' : 'ok';
    expect(level).toBe(counted === 'ok' ? unknown : counted);
  });

  it.each([...MACHINES])('has a reason, and the most urgent finding first: %s', (_, { judgement }) => {
    const { because, findings, next } = judgement;
    expect(because).toMatch(/^\S.*[.]$/);
    expect(because).not.toMatch(/NaN|undefined|\bnull\b/);
    expect(next).not.toBe('');
    const ranks = findings.map(({ normal, severity }) => (normal ? -1 : LEVELS.indexOf(severity)));
    expect(ranks).toEqual([...ranks].sort((a, b) => b - a));
  });

  it.each<[string, MachineFixture, Level, RegExp]>([
    ['idle', {}, 'ok', /^Nothing stands in the way\.$/],
    ['a GPU of its own', { model: 'discrete' }, 'ok', /^Nothing stands in the way\.$/],
    [
      'a GPU of its own, cached',
      { model: 'discrete', host: { free: 8 * GiB, available: 108 * GiB } },
      'ok',
      /^Nothing stands/,
    ],
    [
      'one of two GPUs hidden',
      { model: 'discrete', ownFree: [139 * GiB, 139 * GiB], visible: { variable: '0', hidden: [1] } },
      'ok',
      /^Nothing stands/,
    ],
    [
      'memory that processes share',
      {
        host: { free: 45 * GiB, available: 50 * GiB },
        processes: [7, 8].map((pid) => ({ pid, name: 'vllm', gpuBytes: 61 * GiB })),
      },
      'ok',
      /^Nothing stands in the way\. vllm \(7\) holds 61\.0 GiB\.$/,
    ],
    ['no GPU', { gpu: false }, 'warning', /^No GPU: neither CUDA nor NVML is installed here\.$/],
    ['a healthy x86 machine whose blocks are small', { model: 'discrete', largeShare: 0.238 }, 'ok', /^Nothing stands/],
    [
      'a unified machine whose blocks are small',
      { largeShare: 0.238 },
      'notice',
      /^Free memory is fragmented: .* Up to 102\.8 GiB/,
    ],
    [
      'low, with more wrong',
      { host: { available: 7 * GiB, free: 7 * GiB } },
      'warning',
      /in no counter.* Only 7\.0 GiB of the unified/,
    ],
    ['nearly out', { host: { available: 2 * GiB, free: GiB } }, 'danger', /^Only 2\.0 GiB/],
  ])('%s', (_, fixture, level, because) => {
    expect(snapshotOf(fixture).judgement).toMatchObject({ level, because: expect.stringMatching(because) });
  });

  it('of a notice hides no warning, of a warning no danger', () => {
    expect(lost({ full: 40, host: { available: GiB, free: GiB } }).judgement.level).toBe('danger');
    const cached = lost({ host: { free: 8 * GiB, cached: 100 * GiB, available: 108 * GiB } });
    expect(cached.judgement.because).toMatch(/^GPU 0 is lost/);
  });

  it('does not say that nothing stands in the way where that is not known', () => {
    const blind = (change: (reading: Reading) => void = () => undefined, fixture: MachineFixture = {}) =>
      changed((reading) => {
        reading.contiguity = null;
        reading.from.contiguity = 'open /proc/buddyinfo: ENOENT';
        change(reading);
      }, fixture).judgement;
    expect(blind()).toMatchObject({
      level: 'notice',
      because: 'Whether free memory is fragmented is not known (open /proc/buddyinfo: ENOENT).',
      notJudged: [{ id: 'fragmentation', why: expect.stringMatching(/^whether/) }],
    });
    const both = blind((reading) => {
      reading.pressure = null;
    });
    expect(both.because).toMatch(/^Whether tasks wait .* not report it, and whether free memory is fragmented/);
    const unknown = blind(({ devices }) => {
      const allocatable = { immediate: null, afterReclaim: null, safe: null, safeHigh: null };
      Object.assign(devices[0] ?? {}, { memoryModel: 'unknown', allocatable });
    });
    expect(unknown).toMatchObject({
      level: 'notice',
      because: expect.stringMatching(/^How much can be allocated .* not known/),
    });
    expect(blind(undefined, { model: 'discrete' }).level).toBe('ok');
  });

  it('says that no context was tried, and points a real machine without GPU to a simulated one', () => {
    const untried = changed(({ devices }) => {
      for (const device of devices) device.cuda = null;
    });
    expect(untried.judgement).toMatchObject({
      level: 'ok',
      because: expect.stringMatching(/was not tried: umaprobe doctor/),
    });
    expect(snapshotOf({ gpu: false }).judgement.next).toContain('umaprobe --sim gb10');
    expect(snapshotOf({ gpu: false, simulated: 'no-driver' }).judgement.next).toBeNull();
  });

  it('names what stands in the way of a machine without a GPU, too', () => {
    expect(snapshotOf({ gpu: false, host: { available: GiB, free: GiB } }).judgement).toMatchObject({
      level: 'danger',
      because: expect.stringMatching(/^Only 1\.0 GiB of the host’s memory .* No GPU: neither CUDA nor NVML/),
      next: expect.stringMatching(/^stop a program/),
    });
  });
});

describe('whether a program may load', () => {
  it.each<[string, Snapshot, string]>([
    ['idle', snapshotOf(), 'yes'],
    ['a GPU of its own', snapshotOf({ model: 'discrete' }), 'yes'],
    ['fragmented', snapshotOf({ largeShare: 0.1 }), 'yes'],
    [
      'nothing in blocks, but compaction may help',
      snapshotOf({ largeShare: 0, host: { free: 100 * GiB, available: 100 * GiB } }),
      'after',
    ],
    [
      'driver pools that only root can read',
      snapshotIn(
        hiding(60 * GiB, { host: { free: 8 * GiB, available: 8.5 * GiB }, pools: { parameter: 529, bytes: null } }),
      ),
      'after',
    ],
    ['a freeze in progress', snapshotOf(WEDGE), 'not-now'],
    ['a spike', snapshotOf({ full: 11 }), 'not-now'],
    ['swap that is full', snapshotOf({ host: { swapFree: 0, available: 38 * GiB, free: 38 * GiB } }), 'not-now'],
    ['too little', snapshotOf({ host: { available: 8 * GiB, free: 8 * GiB } }), 'not-now'],
    ['the only GPU is lost', lost(), 'not-now'],
    [
      'no CUDA beside a GPU',
      changed(({ libraries }) => void Object.assign(libraries.cuda, { state: 'missing' })),
      'not-now',
    ],
    ['hidden', snapshotOf({ visible: { variable: '', hidden: [0] } }), 'not-now'],
    ['one of two GPUs is lost', lost({ model: 'discrete', ownFree: [100 * GiB, 100 * GiB] }, 1), 'yes'],
    ['no MemAvailable', snapshotOf({ host: { available: null } }), 'unknown'],
    ['a driver that is reported to refuse contexts, and none was tried', refusing, 'unknown'],
    ['no GPU', snapshotOf({ gpu: false }), 'unknown'],
    ['of unknown model', snapshotOf({ model: 'unknown' }), 'unknown'],
  ])('%s', (_, { judgement }, mayLoad) => {
    expect(judgement.mayLoad).toBe(mayLoad);
  });

  it.each([...MACHINES])('agrees with the range and with what refuses: %s', (_, snapshot) => {
    const { findings, mayLoad, safe } = snapshot.judgement;
    const { bytes, high } = safe;
    if (bytes !== null) expect(high).toBeGreaterThanOrEqual(bytes);
    if (findings.some(refuses)) {
      expect(mayLoad).toBe('not-now');
      for (const { allocatable } of snapshot.devices) expect(allocatable.safe ?? 0).toBe(0);
    } else if (mayLoad === 'yes') expect(bytes).toBeGreaterThan(0);
    else if (mayLoad === 'after') expect([bytes, (high ?? 0) > 0]).toEqual([0, true]);
    else expect([0, null]).toContain(bytes);
  });

  it('is a range where only root could say more, and says what it depends on', () => {
    const { devices, judgement } = snapshotIn(hiding(60 * GiB, { pools: { parameter: 529, bytes: null } }));
    expect((judgement.safe.high ?? 0) - (judgement.safe.bytes ?? 0)).toBe(60 * GiB);
    expect(devices[0]?.from['allocatable.safeHigh']).toBe(
      'up to 60.0 GiB more may be in the driver’s pools, which only root can read',
    );
  });

  it('is not known where it is not known that a program can start', async () => {
    expect(refusing.judgement.safe).toMatchObject({ bytes: null });
    expect(refusing.devices[0]?.from['allocatable.safe']).toMatch(/^Whether a CUDA program can start was not tried/);
    expect((await fitInto({ bytes: 1, snapshot: refusing })).verdict).toBe('unknown');
  });

  it('counts free pages in the lists of the processors', () => {
    const low = (freeInCpuLists: number | null) =>
      snapshotOf({ kernel: { freeInCpuLists } }).judgement.safe.bytes as number;
    expect(low(2 * GiB) - low(0)).toBe(2 * GiB);
    expect(low(null)).toBe(low(0));
  });
});

describe('a refusal', () => {
  const snapshot = snapshotOf(WEDGE);

  it('leaves nothing to load on any device, and says why', () => {
    expect(snapshot.judgement).toMatchObject({
      level: 'danger',
      safe: { bytes: 0, from: expect.stringMatching(/^nothing while this lasts: No task/) },
    });
    const [device] = snapshot.devices;
    expect(device?.allocatable).toMatchObject({ safe: 0, afterReclaim: 47 * GiB });
    expect(device?.from['allocatable.safeHigh']).toMatch(/^what could be loaded otherwise: MemAvailable/);
    expect(answer(snapshot)).toBe('Nothing more should be loaded on the GPU');
    const two = lost({ full: 92, model: 'discrete', host: { available: GiB }, ownFree: [100 * GiB, 90 * GiB] });
    expect(two.devices.map(({ allocatable }) => allocatable.safe)).toEqual([0, 0]);
  });

  it('is "not now" for fit, whatever the size, with what to do and no flags', async () => {
    for (const bytes of [1, 30 * GiB])
      for (const program of [undefined, 'vllm'] as const) {
        const report = await fitInto({ bytes, snapshot, ...(program === undefined ? {} : { program }) });
        expect(report).toMatchObject({ verdict: 'not-now', limit: { bytes: 0 }, headroom: null, binding: 'machine' });
        expect(report.summary).toMatch(/^No task could run .* this is how a freeze begins\.$/);
        expect(report.remedies.map(({ text }) => text)).toEqual([
          expect.stringMatching(/^stop the largest GPU process/),
        ]);
        expect(report.programs.every(({ flags }) => flags === null)).toBe(true);
      }
    // The same on a GPU of its own, though its memory is free.
    const server = snapshotOf({ full: 92, model: 'discrete', host: { available: GiB, free: GiB / 2 } });
    expect(await fitInto({ bytes: GiB, snapshot: server })).toMatchObject({ verdict: 'not-now', limit: { bytes: 0 } });
    expect((await fitInto({ bytes: 300 * GiB, snapshot: server })).verdict).toBe('no');
    // What would not fit in any case is told as that.
    expect((await fitInto({ bytes: 300 * GiB, snapshot })).verdict).toBe('no');
  });

  it('is no reason of fit where only too little is left: the limit is 0, with the steps that raise it', async () => {
    const processes = [{ pid: 11, name: 'vllm', gpuBytes: 100 * GiB }];
    const full = snapshotOf({ host: { available: 7 * GiB, free: 6 * GiB }, processes });
    expect(full.judgement.mayLoad).toBe('not-now');
    const report = await fitInto({ bytes: 30 * GiB, snapshot: full });
    expect(report).toMatchObject({ verdict: 'fits-after', limit: { bytes: 0 } });
    expect(report.remedies.map(({ text }) => text)).toEqual([expect.stringMatching(/^stop vllm \(11\)/)]);
  });

  it('is "not now" for prepare, which changes nothing', async () => {
    const { done, machine } = fakeMachine({ looks: [snapshot] });
    expect(await prepareFor(machine, { bytes: GiB })).toMatchObject({
      verdict: 'not-enough',
      reason: expect.stringMatching(/^not now: /),
    });
    expect(done).toEqual([]);
  });

  it.each([...MACHINES])(
    'of a probe is that of the rows about pressure, swap and the floor, and no other: %s',
    (_, machine) => {
      const rows = machine.judgement.findings.filter(refuses).map(({ id }) => id);
      const expected = rows.includes('pressure') ? 'pressure' : rows.includes('swap.full') ? 'swap' : undefined;
      const facts = { snapshot: machine, swapBytesPerSecond: 0 };
      expect(unsafeCondition({ facts, floor: null, acceptAFrozenMachine: false })?.cause).toBe(expected);
    },
  );
});

describe('a judgement of a judged snapshot', () => {
  it.each([...MACHINES])('is the same: %s', (_, snapshot) => {
    const once = judged(snapshot);
    expect(once.judgement).toEqual(snapshot.judgement);
    expect(once.devices).toEqual(snapshot.devices);
    expect(judge({ snapshot: once })).toEqual(once.judgement);
  });
});

describe('the picture', () => {
  it('shows which free memory is not counted among the blocks', () => {
    const options = { width: 80, paint: createPaint(0), unicode: true, exact: false, hostName: '', cut: 100 };
    const snapshot = snapshotOf({ host: { cmaTotal: 0, cmaFree: 9.3 * GiB } });
    const page = snapshotPage(snapshot, options, { full: true }).join('\n');
    expect(page).toMatch(/not counted: 9\.3 GiB of free CMA/);
    expect(page).toMatch(/Blocks +94\.6 GiB of 97\.8 GiB free/);
  });

  it('has a number only for a GPU whose memory is known', () => {
    const untold = changed(
      ({ devices }) => {
        const allocatable = { immediate: null, afterReclaim: null, safe: null, safeHigh: null };
        Object.assign(devices[0] ?? {}, { cuda: null, nvml: null, allocatable });
      },
      { model: 'discrete' },
    );
    expect(answer(untold)).toMatch(/is not known$/);
    expect(untold.judgement).toMatchObject({ level: 'notice', because: expect.stringMatching(/is not known/) });
    const failed = changed((reading) =>
      failing(reading, deviceFailure('cuda', cudaFailure('cudaErrorMemoryAllocation', 2))),
    );
    expect(failed.judgement.level).toBe('warning');
  });
});

describe('several GPUs with memory of their own', () => {
  const two = (ownFree: number[], hidden: number[] = []) =>
    snapshotOf({ model: 'discrete', ownFree, ...(hidden.length === 0 ? {} : { visible: { variable: '0', hidden } }) });

  it('are answered by the fullest on which something can be loaded', () => {
    expect(answer(two([100 * GiB, 80 * GiB]))).toMatch(/^80\.00 GiB .* can be loaded on GPU 1, the fullest of 2$/);
    expect(answer(two([100 * GiB, 100 * GiB]))).toMatch(/^100\.00 GiB .* can be loaded on each of 2 GPUs$/);
    expect(answer(two([100 * GiB, 0]))).toMatch(/^100\.00 GiB .* can be loaded on GPU 0, nothing more on GPU 1$/);
    expect(two([100 * GiB, 0]).judgement.mayLoad).toBe('yes');
    expect(two([0, 0]).judgement.mayLoad).toBe('not-now');
  });

  it('are those that programs find', () => {
    const { findings, mayLoad } = two([100 * GiB, 0], [1]).judgement;
    expect([mayLoad, findings.some(({ id }) => id === 'gpu.memory')]).toEqual(['yes', false]);
    expect(answer(two([100 * GiB, 80 * GiB], [1]))).toMatch(/^100\.00 GiB .* can be loaded on GPU 0$/);
  });
});

describe('what is not known', () => {
  it('matters for swap where full swap would refuse a load', () => {
    const level = (available: number) =>
      snapshotOf({ host: { available, free: available, swapFree: null } }).judgement.notJudged.map(({ id }) => id);
    expect(level(38 * GiB)).toContain('swap.full');
    expect(level(100 * GiB)).not.toContain('swap.full');
  });

  it('is a range, and no yes, where the driver’s parameters cannot be read and much is in no counter', () => {
    const unread = changed(
      (reading) => {
        reading.driver = { version: '610.43.02', systemMemoryPools: null, poolBytes: null };
        reading.from['driver.systemMemoryPools'] =
          'ERR_UMA_CALL_FAILED: read /proc/driver/nvidia/params answered EIO (5)';
      },
      { host: { available: 50 * GiB, free: 50 * GiB } },
    );
    const { findings, safe } = unread.judgement;
    expect(findings.map(({ id }) => id)).toContain('driver.pools');
    expect((safe.high ?? 0) - (safe.bytes ?? 0)).toBeGreaterThan(40 * GiB);
  });

  it('says what refuses beside a warning that does not, and what to do about it', () => {
    const { because, next } = snapshotOf({ full: 30, host: { hugePagesTotal: 1024, hugetlb: 2 * GiB } }).judgement;
    expect(because).toMatch(/^Huge pages are reserved.* No task could run for lack of memory/);
    expect(next).toMatch(/^wait until it is over/);
  });
});
