/** Blocks of free memory: the gate of `cache compact`, and the room in blocks of 2 MiB, which is a range without a cliff. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  blockRoom,
  contiguityGate,
  gateText,
  meetsGate,
  needsMovable,
  readGate,
} from '../../../../lib/core/memory/contiguity.ts';
import { reserveFor } from '../../../../lib/core/memory/safe.ts';
import type { Allocatable, FreeBlocks } from '../../../../lib/types/index.ts';
import { changed, hostOf, type MachineFixture, snapshotOf } from '../../../support/snapshots.ts';
import { GiB, MiB } from '../../../support/units.ts';

const LOADED = { processes: [{ pid: 7, name: 'vllm', gpuBytes: 60 * GiB }] };

function gateOn(fixture: MachineFixture, contiguity?: FreeBlocks[]) {
  const snapshot = snapshotOf(fixture);
  const reading = readGate(snapshot, contiguity ?? snapshot.contiguity ?? []);
  return { ...reading, met: meetsGate(reading), text: gateText(reading) };
}

describe('the gate before a launch', () => {
  it.each<[string, MachineFixture, boolean, object]>([
    ['ready', {}, true, { loaded: null, cacheInTheWay: false }],
    ['fragmented', { largeShare: 0.04 }, false, {}],
    ['large blocks that are CMA', { largeShare: 0.07, host: { cmaTotal: 0, cmaFree: 9.3 * GiB } }, false, {}],
    ['cached', { host: { free: 3 * GiB, cached: 104 * GiB } }, false, { cacheInTheWay: true }],
    ['too little', { host: { available: 80 * GiB } }, false, {}],
    ['loaded', { host: { free: 47 * GiB, available: 50 * GiB }, ...LOADED }, false, { loaded: 60 * GiB }],
    [
      'perhaps loaded',
      { host: { free: 47 * GiB, available: 50 * GiB }, container: true },
      false,
      { loaded: expect.closeTo(60 * GiB, -10) },
    ],
    [
      'the same shares on a smaller machine',
      { host: { total: 62 * GiB, free: 56 * GiB, available: 57 * GiB } },
      true,
      {},
    ],
  ])('%s', (_, fixture, met, more) => expect(gateOn(fixture)).toMatchObject({ met, ...more }));

  it('is 96 GiB and 200 blocks on 120 GiB, the same shares on less, and no more on more', () => {
    const sizes = [120, 60, 240].map((gib) => contiguityGate(gib * GiB));
    expect(sizes.map(({ availableBytes, blocks }) => [availableBytes / GiB, blocks])).toEqual([
      [96, 200],
      [48, 100],
      [96, 200],
    ]);
  });

  it('does not apply where GPU processes hold a tenth of the memory', () => {
    const holding = (gib: number) =>
      gateOn({
        host: { free: 60 * GiB, available: 65 * GiB },
        processes: [{ pid: 7, name: 'vllm', gpuBytes: gib * GiB }],
      }).loaded;
    const tenth = hostOf().total / GiB / 10;
    expect(holding(tenth - 0.1)).toBeNull();
    expect(holding(tenth + 0.1)).not.toBeNull();
  });

  it('finds page cache in the way where more than half of what is available is not free', () => {
    const inTheWay = (free: number) => gateOn({ host: { free: free * GiB, available: 112 * GiB } }).cacheInTheWay;
    expect([inTheWay(58), inTheWay(54)]).toEqual([false, true]);
  });

  it('counts large blocks of a kernel whose orders end at 4 MiB', () => {
    const blocks = (freeBlocks: number) => [{ order: 10, blockBytes: 4 * MiB, freeBlocks, movableBlocks: null }];
    expect(gateOn({}, blocks(1600))).toMatchObject({
      met: true,
      text: expect.stringContaining('200 × 32 MiB in blocks of 4.0 MiB'),
    });
    expect(gateOn({}, blocks(1599)).met).toBe(false);
  });

  it('does not count free CMA among the large blocks, and says so', () => {
    const host = { cmaTotal: 0, cmaFree: 9.3 * GiB };
    expect(gateOn({ largeShare: 0.09, host }).text).toContain('9.3 GiB of free CMA not counted');
    expect(gateOn({ host }).met).toBe(true);
  });
});

/** What can be loaded with this share of the free memory in blocks of 2 MiB, free and available in GiB. */
function rangeOf(share: number, { available = 112, free = 107, movableShare = -1, pools = 0 } = {}): Allocatable {
  const [device] = snapshotOf({
    host: { free: free * GiB, available: available * GiB },
    largeShare: 0,
    mediumShare: share,
    pools: { parameter: 529, bytes: pools * GiB },
    ...(movableShare < 0 ? {} : { movableShare }),
  }).devices;
  if (device === undefined) throw new Error('no device');
  return device.allocatable;
}

const permille = fc.integer({ min: 0, max: 990 }).map((part) => part / 1000);
const sizes = fc
  .record({ available: fc.integer({ min: 12, max: 118 }), freePart: fc.integer({ min: 1, max: 100 }) })
  .map(({ available, freePart }) => ({ available, free: (available * freePart) / 100 }));

describe('what can be loaded of fragmented memory', () => {
  const most = ({ available }: { available: number }) =>
    Math.max(0, available * GiB - reserveFor(hostOf().total, null, null).bytes);

  it('is a range: from what is in blocks to what the floor leaves (property)', () => {
    fc.assert(
      fc.property(permille, sizes, (share, machine) => {
        const { safe, safeHigh } = rangeOf(share, machine);
        expect(safe).toBeLessThanOrEqual(safeHigh as number);
        expect(safeHigh).toBeLessThanOrEqual(most(machine));
      }),
    );
  });

  it('has no cliff: 1 % more of the free memory in blocks gives a few % of the memory more, and never less (property)', () => {
    fc.assert(
      fc.property(permille, sizes, (share, machine) => {
        const less = rangeOf(share, machine);
        const more = rangeOf(share + 0.01, machine);
        const slack = 4 * MiB; // whole blocks
        for (const end of ['safe', 'safeHigh'] as const) {
          const step = (more[end] as number) - (less[end] as number);
          expect(step).toBeGreaterThanOrEqual(-slack);
          // 1 % of what is free, and of the cache, which comes in blocks at the same share.
          expect(step).toBeLessThanOrEqual(0.011 * machine.available * GiB + slack);
        }
      }),
    );
  });

  it('has no cliff in what is free, either: 64 MiB more of it change the answer by less than 2 % of the cache (property)', () => {
    fc.assert(
      fc.property(permille, fc.integer({ min: 1, max: 110 }), (share, free) => {
        const before = rangeOf(share, { free }).safe as number;
        const after = rangeOf(share, { free: free + 1 / 16 }).safe as number;
        expect(Math.abs(after - before)).toBeLessThan(0.02 * 112 * GiB);
      }),
    );
  });

  it('is as much on both sides of a quarter', () => {
    const [below, above] = [rangeOf(0.245), rangeOf(0.255)];
    expect((above.safe as number) - (below.safe as number)).toBeLessThan(1.3 * GiB);
    expect(above.safeHigh).toBe(below.safeHigh);
  });

  it('is one number where it is known which pages move, within the range of an ordinary user (property)', () => {
    fc.assert(
      fc.property(permille, fc.integer({ min: 0, max: 100 }), sizes, (share, movable, machine) => {
        const { safe, safeHigh } = rangeOf(share, { ...machine, movableShare: movable / 100 });
        expect(safe).toBe(safeHigh);
        const open = rangeOf(share, machine);
        expect(safe).toBeGreaterThanOrEqual((open.safe as number) - 4 * MiB);
        expect(safe).toBeLessThanOrEqual((open.safeHigh as number) + 4 * MiB);
      }),
    );
  });

  it('grows with what moves (property)', () => {
    fc.assert(
      fc.property(permille, fc.integer({ min: 0, max: 99 }), sizes, (share, movable, machine) => {
        const safe = (part: number) => rangeOf(share, { ...machine, movableShare: part / 100 }).safe as number;
        expect(safe(movable + 1)).toBeGreaterThanOrEqual(safe(movable));
      }),
    );
  });

  it('reads which pages move only where that changes a gigabyte', () => {
    const asks = (fixture: MachineFixture) => {
      const { contiguity, host } = snapshotOf(fixture);
      return needsMovable(host, contiguity ?? []);
    };
    expect(asks({})).toBe(true); // 3 % of 107 GiB
    expect(asks({ largeShare: 0.995 })).toBe(false);
    expect(asks({ largeShare: 0, host: { free: 0.9 * GiB, available: 0.9 * GiB } })).toBe(false);
  });

  it('takes cache for whole blocks where hardly anything is free', () => {
    expect(blockRoom({ free: GiB, large: 0, stuck: null }, 100 * GiB)).toEqual({ low: 100 * GiB, high: 101 * GiB });
    expect(blockRoom({ free: 10 * GiB, large: 0, stuck: null }, 100 * GiB)).toEqual({ low: 0, high: 110 * GiB });
  });

  it('says what the high end needs', () => {
    const [device] = snapshotOf({ largeShare: 0.1 }).devices;
    expect(device?.from['allocatable.safeHigh']).toMatch(
      /compaction can join .* only root reads \/proc\/pagetypeinfo$/,
    );
    expect(snapshotOf({ largeShare: 0.1, movableShare: 1 }).devices[0]?.from['allocatable.safeHigh']).toBeUndefined();
  });

  it('counts no CMA among the blocks', () => {
    const safe = (cmaFree: number) =>
      snapshotOf({ largeShare: 0.2, host: { cmaTotal: cmaFree, cmaFree } }).devices[0]?.allocatable.safe as number;
    expect(safe(0) - safe(GiB)).toBeGreaterThan(0.9 * GiB);
    expect(changed(({ host }) => Object.assign(host, { cmaFree: GiB })).judgement.safe.bytes).not.toBeNull();
  });
});
