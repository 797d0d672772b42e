/** The floor, the checks before a start, and the check of a step. */

import { describe, expect, it } from 'vitest';
import { largeBlockHeadroom } from '../../../lib/memory/contiguity.ts';
import { floorFor, stepMargin } from '../../../lib/memory/floor.ts';
import { needsLargeBlocks, takesHostMemory } from '../../../lib/memory/kinds.ts';
import { type Conditions, refusalError, unsafeCondition } from '../../../lib/probe/conditions.ts';
import type { HostReading, PlannedStep } from '../../../lib/probe/context.ts';
import { checkProbeOptions } from '../../../lib/probe/options.ts';
import { stepRefusal } from '../../../lib/probe/step-check.ts';
import { checkStressOptions, stepSizes } from '../../../lib/stress/options.ts';
import type { Snapshot } from '../../../lib/types/index.ts';
import { GiB, MiB } from '../../support/units.ts';
import { hostWith } from '../../support/unknown-facts.ts';

const spark = { total: 125_506_464 * 1024, model: 'unified' } as const;

describe('the floor', () => {
  it('is the larger of 8 GiB and 7 % of shared memory', () => {
    expect(floorFor(null, spark, ['device'])).toMatchObject({ bytes: Math.ceil(spark.total * 0.07) });
    expect(floorFor(null, { ...spark, total: 64 * GiB }, ['device'])?.bytes).toBe(8 * GiB);
    expect(floorFor(null, spark, ['device'])?.from).toMatch(/7 % of MemTotal, 119\.69 GiB \(128\.52 GB\)/);
  });

  it('is a quarter of a small machine, at least 2 GiB', () => {
    expect(floorFor(null, { ...spark, total: 7_990_898_688 }, ['device'])?.bytes).toBe(2 * GiB);
    expect(floorFor(null, { ...spark, total: 16 * GiB }, ['device'])?.bytes).toBe(4 * GiB);
  });

  it('guards the host on a discrete GPU only for kinds that take host memory', () => {
    const discrete = { ...spark, model: 'discrete' } as const;
    expect(floorFor(null, discrete, ['device'])).toBeNull();
    for (const kind of ['managed', 'pinned', 'system'] as const)
      expect(floorFor(null, discrete, ['device', kind])).not.toBeNull();
    expect(takesHostMemory('device', 'unknown')).toBe(true);
  });

  it('is as requested, but below 2 GiB only where a frozen machine is accepted', () => {
    expect(floorFor(3 * GiB, spark, ['device'])).toEqual({ bytes: 3 * GiB, from: 'as requested' });
    expect(() => checkProbeOptions({ floor: 1024 }, null)).toThrow(
      /floor is 1024; expected at least 2147483648 bytes \(2 GiB\)/,
    );
    expect(checkProbeOptions({ floor: 1024, acceptAFrozenMachine: true }, null).floor).toBe(1024);
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
    expect(() => checkStressOptions(options as never)).toThrow(message);
  });

  it('have steps that fit the device', () => {
    expect(stepSizes('unified', 'device', null)).toEqual({ chunkBytes: 4 * GiB, resolutionBytes: 64 * MiB });
    expect(stepSizes('discrete', 'device', null).resolutionBytes).toBe(2 * MiB);
    expect(stepSizes('discrete', 'pinned', null).chunkBytes).toBe(4 * GiB);
    expect(stepSizes('unified', 'device', 16 * MiB)).toEqual({ chunkBytes: 16 * MiB, resolutionBytes: 16 * MiB });
  });
});

describe('starting', () => {
  const blocks = (freeBlocks: number) => [
    { order: 0, blockBytes: 4096, freeBlocks: 1_000 },
    { order: 13, blockBytes: 32 * MiB, freeBlocks },
  ];
  const idle = { available: 112 * GiB, free: 107 * GiB, swapTotal: 16 * GiB, swapFree: 16 * GiB };
  function conditions(
    host: object,
    changes: Partial<Conditions> & { full?: number; freeBlocks?: number } = {},
  ): Conditions {
    const { freeBlocks = 3_000, full = 0, ...rest } = changes;
    const memory = hostWith({ ...idle, ...host });
    const psi = { avg10: full, avg60: 0, avg300: 0, totalUs: 0 };
    const snapshot = {
      host: memory,
      ledger: { total: memory.total, entries: [] },
      pressure: { some: psi, full: psi },
      contiguity: blocks(freeBlocks),
      devices: [],
    } as unknown as Snapshot;
    const floor = { bytes: 9 * GiB, from: 'a test' };
    return {
      snapshot,
      model: 'unified',
      kinds: ['device'],
      floor,
      swapBytesPerSecond: 0,
      acceptAFrozenMachine: false,
      ...rest,
    };
  }
  const found = (...args: Parameters<typeof conditions>) => unsafeCondition(conditions(...args))?.cause ?? null;

  it('is fine on a machine at rest', () => expect(found({})).toBeNull());

  it('is refused below the floor, even with acceptAFrozenMachine', () => {
    expect(found({ available: 9 * GiB })).toBe('floor');
    expect(found({ available: 9 * GiB }, { acceptAFrozenMachine: true })).toBe('floor');
    expect(found({ available: null })).toBe('floor');
  });

  it('is refused under pressure: 10 % of the last 10 s, and 0.3 means 0.3 %', () => {
    expect(found({}, { full: 10 })).toBe('pressure');
    expect(found({}, { full: 0.3 })).toBeNull();
    expect(found({}, { full: 98, acceptAFrozenMachine: true })).toBeNull();
  });

  it('is refused while the machine swaps, and with full swap where little is available', () => {
    expect(found({}, { swapBytesPerSecond: 20 * MiB })).toBe('swap');
    expect(found({ swapFree: GiB, available: 38 * GiB })).toBe('swap');
    expect(found({ swapFree: GiB })).toBeNull(); // pushed out long ago; there is memory
    expect(found({ swapTotal: 0, swapFree: 0, available: 38 * GiB })).toBeNull();
  });

  it('is refused with fragmented memory for eager kinds only, and page cache counts as future blocks', () => {
    expect(found({}, { freeBlocks: 3 })).toBe('contiguity');
    expect(found({}, { freeBlocks: 3, kinds: ['managed'] })).toBeNull();
    expect(found({}, { freeBlocks: 3, model: 'discrete', kinds: ['pinned'] })).toBeNull();
    expect(found({ free: 2 * GiB }, { freeBlocks: 3 })).toBeNull();
  });

  it('is never refused if nothing is taken from the host', () => {
    expect(found({ available: GiB }, { full: 98, floor: null })).toBeNull();
  });

  it('tells which danger it is, and what to do', () => {
    const error = refusalError('stress', unsafeCondition(conditions({}, { full: 45 })) as never);
    expect(error).toMatchObject({ code: 'ERR_UMA_FLOOR', nativeName: 'REFUSED_PRESSURE' });
    expect(error.message).toMatch(/^stress: not started: .*45\.0 % of the last 10 s.*Stop the largest/);
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

  it('finds blocks in page cache, but not if free memory is fragmented', () => {
    expect(largeBlockHeadroom({ ...reading, memFree: GiB, inLargeBlocks: GiB })).toBe(20 * GiB);
    expect(largeBlockHeadroom({ ...reading, memFree: 16 * GiB, inLargeBlocks: 0 })).toBe(0);
    expect(largeBlockHeadroom({ ...reading, inLargeBlocks: null })).toBeNull();
  });
});
