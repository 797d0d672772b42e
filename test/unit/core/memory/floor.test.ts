/** The floor, the checks before a start, and the check of a step. */

import { describe, expect, it } from 'vitest';
import { checkOptions } from '../../../../lib/base/options.ts';
import { checkBelowTotal, lowMemory, probeFloor, stepMargin } from '../../../../lib/core/memory/floor.ts';
import { refuses } from '../../../../lib/core/memory/judge.ts';
import { needsLargeBlocks, takesHostMemory } from '../../../../lib/core/memory/kinds.ts';
import { roomOf } from '../../../../lib/core/probe/block-room.ts';
import { type Conditions, refusalError, unsafeCondition } from '../../../../lib/core/probe/conditions.ts';
import type { HostReading, PlannedStep } from '../../../../lib/core/probe/context.ts';
import { stepRefusal } from '../../../../lib/core/probe/step-check.ts';
import { STRESS, stepSizes } from '../../../../lib/core/stress/options.ts';
import type { HostMemory } from '../../../../lib/types/index.ts';
import { deviceFailure, nvmlFailure } from '../../../support/failures.ts';
import { changed, snapshotOf } from '../../../support/snapshots.ts';
import { GiB, MiB } from '../../../support/units.ts';

const check = (options: object) => checkOptions('stress()', options, STRESS);

const spark = { total: 125_506_464 * 1024, model: 'unified' } as const;

describe('the floor', () => {
  it('is the larger of 8 GiB and 7 % of shared memory', () => {
    expect(probeFloor(null, spark, ['device'])).toMatchObject({ bytes: Math.ceil(spark.total * 0.07) });
    expect(probeFloor(null, { ...spark, total: 64 * GiB }, ['device'])?.bytes).toBe(8 * GiB);
    expect(probeFloor(null, spark, ['device'])?.from).toMatch(/7 % of MemTotal, 119\.69 GiB \(128\.52 GB\)/);
  });

  it('is a quarter of a small machine, at least 2 GiB', () => {
    expect(probeFloor(null, { ...spark, total: 7_990_898_688 }, ['device'])?.bytes).toBe(2 * GiB);
    expect(probeFloor(null, { ...spark, total: 16 * GiB }, ['device'])?.bytes).toBe(4 * GiB);
  });

  it('guards the host on a discrete GPU only for kinds that take host memory', () => {
    const discrete = { ...spark, model: 'discrete' } as const;
    expect(probeFloor(null, discrete, ['device'])).toBeNull();
    for (const kind of ['managed', 'pinned', 'system'] as const)
      expect(probeFloor(null, discrete, ['device', kind])).not.toBeNull();
    expect(takesHostMemory('device', 'unknown')).toBe(true);
  });

  it('is as requested, but below 2 GiB only where a frozen machine is accepted', () => {
    expect(probeFloor(3 * GiB, spark, ['device'])).toEqual({ bytes: 3 * GiB, from: 'as requested' });
    expect(() => check({ floorBytes: 1024 })).toThrow(/floorBytes is 1\.0 KiB; expected at least 2 GiB, because/);
    expect(check({ floorBytes: 1024, acceptAFrozenMachine: true }).floorBytes).toBe(1024);
  });
});

describe('options', () => {
  it.each([
    [{ kind: 'gpu' }, /kind is "gpu"; expected one of device, managed, pinned, system/],
    [{ maxBytes: 0 }, /maxBytes is 0; expected 1 to 2\^53 − 1 whole bytes/],
    [{ maxBytes: 2 ** 53 }, /maxBytes is 9007199254740992; expected/],
    [{ chunkBytes: MiB }, /chunkBytes is 1048576; expected 2097152 to 68719476736 whole bytes/],
    [{ holdMs: -1 }, /holdMs is -1/],
    [{ verify: 1 }, /verify is 1; expected true or false/],
    [{ device: -1 }, /device is -1/],
    [{ journal: '' }, /journal is ""; expected a path/],
    [{ journal: 3 }, /journal is 3; expected a path or false/],
    [{ timeoutMs: 5 }, /timeoutMs is 5; expected 100 to 86400000/],
    [{ signal: {} }, /signal is an object; expected an AbortSignal/],
  ])('%j is refused with its name and what was expected', (options, message) => {
    expect(() => check(options)).toThrow(message);
  });

  it('have steps that fit the device', () => {
    expect(stepSizes('unified', 'device', null)).toEqual({ chunkBytes: 4 * GiB, resolutionBytes: 64 * MiB });
    expect(stepSizes('discrete', 'device', null).resolutionBytes).toBe(2 * MiB);
    expect(stepSizes('discrete', 'pinned', null).chunkBytes).toBe(4 * GiB);
    expect(stepSizes('unified', 'device', 16 * MiB)).toEqual({ chunkBytes: 16 * MiB, resolutionBytes: 16 * MiB });
  });
});

describe('starting', () => {
  /** The rest of the memory is held by a process, so that no other rule speaks. */
  const HELD = { processes: [{ pid: 7, name: 'vllm', gpuBytes: 70 * GiB }] };
  interface Start {
    full?: number;
    largeShare?: number;
    floor?: Conditions['floor'];
    acceptAFrozenMachine?: boolean;
    swapBytesPerSecond?: number | null;
  }
  function conditions(host: Partial<HostMemory>, start: Start = {}): Conditions {
    const { acceptAFrozenMachine = false, full = 0, largeShare = 0.97, swapBytesPerSecond = 0 } = start;
    const floor = start.floor === undefined ? { bytes: 9 * GiB, from: 'a test' } : start.floor;
    const snapshot = snapshotOf({ host, full, largeShare, ...(host.available === undefined ? {} : HELD) });
    return { facts: { snapshot, swapBytesPerSecond }, floor, acceptAFrozenMachine };
  }
  const found = (...args: Parameters<typeof conditions>) => unsafeCondition(conditions(...args))?.cause ?? null;

  it('is fine on a machine at rest', () => expect(found({})).toBeNull());

  it('is refused below the floor, even with acceptAFrozenMachine', () => {
    expect(found({ available: 9 * GiB })).toBe('floor');
    expect(found({ available: 9 * GiB }, { acceptAFrozenMachine: true })).toBe('floor');
    expect(found({ available: null })).toBe('floor');
  });

  it('counts free pages in the lists of the processors, which the kernel takes back first', () => {
    const rests = conditions({ available: 9 * GiB });
    expect(unsafeCondition(rests)?.cause).toBe('floor');
    const { snapshot } = rests.facts;
    const facts = {
      ...rests.facts,
      snapshot: { ...snapshot, kernel: { ...snapshot.kernel, freeInCpuLists: 2 * GiB } },
    };
    expect(unsafeCondition({ ...rests, facts })).toBeNull();
  });

  it('is refused under pressure: 10 % of the last 10 s, and 0.3 means 0.3 %', () => {
    expect(found({}, { full: 10 })).toBe('pressure');
    expect(found({}, { full: 0.3 })).toBeNull();
    expect(found({}, { full: 98, acceptAFrozenMachine: true })).toBeNull();
  });

  it('is refused while the machine swaps, and with full swap where little is available', () => {
    expect(found({}, { swapBytesPerSecond: 20 * MiB })).toBe('swap');
    expect(found({}, { swapBytesPerSecond: null })).toBeNull();
    expect(found({ swapFree: GiB, available: 38 * GiB })).toBe('swap');
    expect(found({ swapFree: GiB })).toBeNull(); // pushed out long ago; there is memory
    expect(found({ swapTotal: 0, swapFree: 0, available: 38 * GiB })).toBeNull();
  });

  it('is not refused with fragmented memory: each step is checked, and takes what there is', () => {
    expect(found({}, { largeShare: 0.001 })).toBeNull();
    expect(found({ free: 2 * GiB }, { largeShare: 0.001 })).toBeNull();
  });

  it('is refused for nothing else that refuses a load: the GPU is looked for before', () => {
    const lost = changed(({ devices, libraries }) => {
      devices[0]?.failures.push(deviceFailure('nvml', nvmlFailure('GPU_IS_LOST', 15)));
      libraries.cuda = { ...libraries.cuda, state: 'missing', path: null, reason: 'not found' };
    });
    expect(lost.judgement.findings.filter(refuses).map(({ id }) => id)).toEqual(['gpu.state', 'library.cuda']);
    expect(unsafeCondition({ ...conditions({}), facts: { snapshot: lost, swapBytesPerSecond: 0 } })).toBeNull();
  });

  it('needs no floor if nothing is taken from the host, but waits for a stall all the same', () => {
    const discrete = (full: number) => snapshotOf({ model: 'discrete', full, host: { available: GiB, free: GiB / 2 } });
    const cause = (full: number) =>
      unsafeCondition({
        ...conditions({}, { floor: null }),
        facts: { snapshot: discrete(full), swapBytesPerSecond: 0 },
      })?.cause ?? null;
    expect(cause(0)).toBeNull();
    expect(cause(98)).toBe('pressure');
  });

  it('tells which danger it is, and what to do', () => {
    const error = refusalError('stress', unsafeCondition(conditions({}, { full: 45 })) as never);
    expect(error).toMatchObject({ code: 'ERR_UMA_FLOOR', nativeName: 'REFUSED_PRESSURE' });
    expect(error.message).toMatch(/^stress: not started: .*45\.0 % of the last 10 s.*Wait until it is over/);
    const stall = unsafeCondition(conditions({ available: 38 * GiB, swapFree: GiB / 4 }, { full: 45 }));
    expect(refusalError('stress', stall as never).message).toMatch(/this is how a freeze begins\. Stop the largest/);
  });
});

describe('a step', () => {
  const terms = { floor: 8 * GiB, memoryModel: 'unified', pressureFull: 10 } as const;
  const reading: HostReading = {
    unpinnable: 0,
    memAvailable: 20 * GiB,
    memFree: 15 * GiB,
    pressureFull: 0,
    inLargeBlocks: 14 * GiB,
    stuck: null,
  };
  const step = (bytes: number, more: Partial<PlannedStep> = {}): PlannedStep => ({
    kind: 'device',
    heldBytes: GiB,
    targetBytes: GiB + bytes,
    ...more,
  });
  const why = (planned: PlannedStep, seen: Partial<HostReading> = {}, other: object = {}) =>
    stepRefusal({ ...terms, ...other }, { ...reading, ...seen }, planned)?.cause ?? null;

  it('is made while what it costs leaves the floor and its margin', () => {
    const room = 12 * GiB - stepMargin(8 * GiB);
    expect(why(step(room))).toBeNull();
    expect(why(step(room + 1))).toBe('floor');
    expect(why(step(GiB, { predictedCost: room + 1 }))).toBe('floor');
    expect(why(step(GiB), { memAvailable: null })).toBe('floor');
  });

  it('is not made under pressure, nor without blocks', () => {
    expect(why(step(1), { pressureFull: 10 })).toBe('pressure');
    expect(why(step(1), { pressureFull: 98 }, { pressureFull: null })).toBeNull();
    expect(why(step(8 * GiB), { inLargeBlocks: GiB, memFree: 18 * GiB })).toBe('contiguity');
    expect(why(step(8 * GiB), { inLargeBlocks: null })).toBeNull();
  });

  it('costs the host nothing on a discrete GPU', () => {
    expect(why(step(100 * GiB), {}, { memoryModel: 'discrete' })).toBeNull();
    expect(why(step(100 * GiB, { kind: 'pinned' }), {}, { memoryModel: 'discrete' })).toBe('floor');
    expect(needsLargeBlocks('device', 'discrete')).toBe(false);
    expect(needsLargeBlocks('managed', 'unified')).toBe(false);
  });

  it('finds blocks in page cache, at the share that free memory has where compaction is not known to help', () => {
    const room = (seen: Partial<HostReading>) => roomOf({ ...reading, ...seen });
    expect(room({ memFree: GiB, inLargeBlocks: GiB })).toBe(20 * GiB);
    expect(room({ memFree: 16 * GiB, inLargeBlocks: 0 })).toBe(0);
    expect(room({ memFree: 16 * GiB, inLargeBlocks: 0, stuck: 6 * GiB })).toBe(10 * GiB + 4 * GiB);
    expect(room({ inLargeBlocks: null })).toBeNull();
  });
});

it('memory is low below 8 GiB, or a quarter of a small machine, and critical below a quarter of that', () => {
  expect(lowMemory(120 * GiB)).toEqual({ low: 8 * GiB, critical: 2 * GiB });
  expect(lowMemory(16 * GiB)).toEqual({ low: 4 * GiB, critical: GiB });
});

it('a floor leaves something of the memory', () => {
  expect(() => checkBelowTotal('floorBytes', 120 * GiB - 1, 120 * GiB)).not.toThrow();
  expect(() => checkBelowTotal('floorBytes', null, 120 * GiB)).not.toThrow();
  expect(() => checkBelowTotal('floorBytes', 120 * GiB, 120 * GiB)).toThrow(
    'floorBytes is 120.00 GiB (128.85 GB); expected less than MemTotal',
  );
});
