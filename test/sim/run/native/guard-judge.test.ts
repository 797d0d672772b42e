/** The judge of umaprobe-guard over recorded series. */

import { describe, expect, it } from 'vitest';
import { replayed } from '../../../support/guard-program.ts';
import { GiB, MiB } from '../../../support/units.ts';

/** A series of 100 readings a second: `at` gives what differs from a machine at rest with 40 GiB available. */
function series(seconds: number, at: (t: number) => object, step = 0.01): object[] {
  const rest = {
    available: 40 * GiB,
    free: 30 * GiB,
    pressureFull: 0,
    freeBlocks: 20 * GiB,
    swapFree: 0,
    swapTotal: 0,
  };
  return Array.from({ length: Math.round(seconds / step) }, (_, i) => ({ t: i * step, ...rest, ...at(i * step) }));
}
/** The rules of the field, with a floor of 8 GiB. */
const FIELD = { min_fall_bytes: 128 * MiB };
/** However far it is in bytes. */
const FAR = { near_bytes: 2 ** 50, kill_near_bytes: 2 ** 50 };
const stops = (actions: ReturnType<typeof replayed>) => actions.filter(({ action }) => action !== 'warn');

describe('the judge stops', () => {
  it('a fall from 29 to 6 GiB in 8 seconds, before the floor', () => {
    const actions = replayed(
      series(8, (t) => ({ available: (29 - (23 / 8) * t) * GiB })),
      FAR,
    );
    expect(actions[0]).toMatchObject({ action: 'term', reason: 'floor-near' });
    // The grace of SIGTERM, and a second for SIGKILL.
    expect(actions[0]?.evidence.secondsToFloor).toBeCloseTo(6, 1);
    expect(actions[1]).toMatchObject({ action: 'kill', reason: 'floor-near' });
    expect(actions[1]?.evidence.secondsToFloor).toBeLessThanOrEqual(0.25);
  });

  it.each([8, 20, 50, 170, 500, 2000])('a program that takes %i MiB/s, with its grace before the floor', (rate) => {
    const speed = rate * MiB;
    const series_ = series(Math.min(160, (1.2 * GiB) / speed), (t) => ({
      available: 8.6 * GiB + 0.4 * GiB - speed * t,
    }));
    const [term, kill] = stops(replayed(series_, FIELD));
    expect(term).toMatchObject({ action: 'term', reason: 'floor-near' });
    const seconds = ((term?.evidence.available ?? 0) - 8 * GiB) / speed;
    // Nearer than 512 MiB only: an engine that reserves its cache at once ends above the floor.
    expect(seconds).toBeGreaterThan(Math.min(5, (0.9 * 512 * MiB) / speed));
    // Of a slower one the grace is over before.
    if (rate < 20) return expect(seconds).toBeGreaterThan(6);
    expect(kill).toMatchObject({ action: 'kill' });
    expect(kill?.evidence.available).toBeGreaterThan(8 * GiB);
  });

  // Other processes take a little, too: of what left MemAvailable it is all, of what programs can get it is a tenth.
  it.each([20, 170, 2000])('a program that takes %i MiB/s out of the lists of the processors', (rate) => {
    const taken = (t: number) => rate * MiB * t;
    const series_ = series((1.4 * GiB) / (rate * MiB), (t) => ({
      available: 7.4 * GiB - 0.1 * taken(t),
      freeInCpuLists: 1.6 * GiB - 0.9 * taken(t),
      groupBytes: 0.9 * taken(t),
      othersBytes: 4 * GiB + 0.1 * taken(t),
    }));
    const [term] = stops(replayed(series_, FIELD));
    expect(term).toMatchObject({ action: 'term', reason: 'floor-near' });
    expect(term?.evidence.slope).toBeCloseTo(-rate * MiB, -5);
  });

  it('growth below the floor, where memory was there at the start', () => {
    const [stop] = stops(
      replayed(
        series(60, (t) => ({ available: (7.5 - 0.03 * t) * GiB })),
        FIELD,
      ),
    );
    expect(stop).toMatchObject({ action: 'term', reason: 'low-and-stalled' });
    expect(stop?.seconds).toBeCloseTo(10, 0);
  });

  it('critical memory, by SIGTERM unless nothing is left within a second', () => {
    const low = series(20, (t) => ({
      available: (t < 0.5 ? 4 : 1.9) * GiB,
      othersBytes: (t < 0.5 ? 1 : 4) * GiB,
      groupBytes: GiB,
    }));
    expect(stops(replayed(low, FIELD))[0]).toMatchObject({ action: 'kill', reason: 'below-kill', seconds: 0.5 });
    const still = series(20, () => ({ available: 1.9 * GiB }));
    expect(stops(replayed(still, FIELD))).toMatchObject([{ action: 'term', reason: 'below-kill', seconds: 0 }]);
  });

  it('critical memory that still falls slowly, by SIGTERM first', () => {
    const falling = series(10, (t) => ({ available: (1.99 - 0.05 * t) * GiB }));
    expect(stops(replayed(falling, FIELD))).toMatchObject([{ action: 'term', reason: 'below-kill', seconds: 0 }]);
  });

  it('a burst like the largest of the last ten seconds, and none like an older one', () => {
    const second = (begin: number) => (t: number) => {
      const first = 2 * Math.min(1, Math.max(0, t - 1) / 0.07);
      return { available: (11.9 - first - Math.min(1, Math.max(0, t - begin) / 0.035)) * GiB };
    };
    expect(stops(replayed(series(8, second(6)), FIELD))).toMatchObject([{ reason: 'floor-near' }]);
    expect(stops(replayed(series(18, second(16)), FIELD))).toEqual([]);
  });

  it('bursts of 2 GiB in 70 ms: the second one that would pass the floor, as it begins', () => {
    const bursts = (bytes: number) => (t: number) => {
      const [count, into] = [Math.floor(t), Math.min(1, (t % 1) / 0.07)];
      return { available: 15.5 * GiB - (count + into) * bytes };
    };
    const [stop] = stops(replayed(series(8, bursts(2 * GiB)), FIELD));
    expect(stop).toMatchObject({ action: 'kill', reason: 'floor-near' });
    expect(stop?.seconds).toBeGreaterThan(3);
    expect(stop?.evidence.available).toBeGreaterThan(8.5 * GiB);
    // Three end above it.
    expect(stops(replayed(series(2.9, bursts(2 * GiB)), FIELD))).toEqual([]);
  });

  it('the slow wedge: 10 % pressure for five minutes, while MemAvailable rises', () => {
    const wedge = (t: number) => ({ available: (38 + t / 40) * GiB, pressureFull: t < 60 ? t / 3 : 92 });
    const [stop] = replayed(series(400, wedge, 0.1));
    expect(stop).toMatchObject({ action: 'term', reason: 'stalled' });
    expect(stop?.seconds).toBeCloseTo(330, 0);
  });

  it.each([
    ['pressure', { pressureFull: 12 }],
    ['no free blocks, and some pressure', { freeBlocks: 0, pressureFull: 1.5 }],
    ['swap used up, and some pressure', { swapTotal: 16 * GiB, swapFree: 0.1 * GiB, pressureFull: 1.5 }],
  ])('what rests below the floor with other evidence: %s', (_, evidence) => {
    const actions = stops(replayed(series(15, () => ({ available: 5 * GiB, ...evidence }))));
    expect(actions).toMatchObject([{ action: 'term', reason: 'low-and-stalled' }]);
    expect(actions[0]?.seconds).toBeCloseTo(10, 1);
  });
});

describe('the judge does not stop', () => {
  it.each([
    ['98 % pressure for two seconds', (t: number) => ({ pressureFull: t > 5 && t < 9 ? 98 : 0 }), 60],
    ['98 % pressure for two minutes', (t: number) => ({ pressureFull: t > 5 && t < 125 ? 98 : 0 }), 400],
    ['1.2 GiB MemFree with 12 GiB available', () => ({ free: 1.2 * GiB, available: 12 * GiB }), 60],
    [
      'rest at 4.9 GiB available without pressure',
      (t: number) => ({ available: 4.9 * GiB + Math.sin(t) * 20 * MiB }),
      400,
    ],
    ['few blocks at rest, as after pinning 90 GiB', () => ({ available: 5 * GiB, free: GiB, freeBlocks: 0 }), 60],
    [
      'half of the swap, and some pressure',
      () => ({ available: 5 * GiB, swapTotal: 16 * GiB, swapFree: 8 * GiB, pressureFull: 1.5 }),
      60,
    ],
    [
      'what others take slowly below the floor',
      (t: number) => ({
        available: (7.5 - 0.03 * t) * GiB,
        groupBytes: 3 * GiB,
        groupGpuBytes: 0,
        othersBytes: (5 + 0.03 * t) * GiB,
        othersGpuBytes: 0,
      }),
      60,
    ],
    ['swap used up at rest', () => ({ available: 5 * GiB, swapTotal: 16 * GiB, swapFree: 0 }), 60],
    ['a jump of 20 GiB that ends above the floor', (t: number) => ({ available: (t < 5 ? 40 : 9) * GiB }), 20],
    ['a jump of 1 GiB that ends near the floor', (t: number) => ({ available: (t < 5 ? 9.4 : 8.4) * GiB }), 20],
    ['noise at the floor', (t: number) => ({ available: 8.02 * GiB + Math.sin(9 * t) * 15 * MiB }), 60],
  ])('%s', (_, at, seconds) => {
    expect(stops(replayed(series(seconds, at, 0.02)))).toEqual([]);
  });

  // 37 ms a GiB, as cudaMalloc on a GB10: a second before the floor it is 35 GiB away.
  it('an allocation of 38 GiB at once that leaves 9 GiB, because the floor is not near in bytes', () => {
    const allocation = series(10, (t) => ({ available: Math.max(9, Math.min(47, 47 - (t - 5) * 27)) * GiB }));
    expect(replayed(allocation, FAR)[0]).toMatchObject({ action: 'term', reason: 'floor-near' });
    expect(stops(replayed(allocation))).toEqual([]);
    const further = series(10, (t) => ({ available: Math.max(1, Math.min(47, 47 - (t - 5) * 27)) * GiB }));
    const [stop, end] = stops(replayed(further));
    expect([stop, end]).toMatchObject([{ action: 'term' }, { action: 'kill', reason: 'floor-near' }]);
    expect(end?.evidence.available).toBeGreaterThan(7.5 * GiB);
    const slower = series(10, (t) => ({ available: (28 - 4 * t) * GiB }));
    const [first] = stops(replayed(slower));
    expect(first).toMatchObject({ action: 'term', reason: 'floor-near' });
    expect(first?.evidence.available).toBeGreaterThan(8.3 * GiB);
  });

  it('a program while others are seen to grow, and warns', () => {
    const others = (t: number) => ({
      available: (16 - t) * GiB,
      groupBytes: 3 * GiB,
      groupGpuBytes: 0,
      othersBytes: (5 + t) * GiB,
      othersGpuBytes: 0,
    });
    const [warning, stop] = replayed(series(15, others));
    expect(warning).toMatchObject({ action: 'warn', reason: 'floor-near' });
    expect(warning?.evidence.othersGrewBytes).toBeGreaterThan(64 * MiB);
    expect(stop).toMatchObject({ action: 'term', reason: 'below-kill' });
    // Memory of the GPU is known twice a second only.
    const half = (t: number) => Math.floor(t * 2) / 2;
    const onGpu = (t: number) => ({
      ...others(t),
      othersBytes: 5 * GiB,
      othersGpuBytes: (20 + half(t)) * GiB,
      groupGpuAt: half(t),
    });
    expect(replayed(series(16, onGpu))).toMatchObject([
      { action: 'warn', reason: 'floor-near' },
      { action: 'term', reason: 'below-kill' },
      { action: 'kill', reason: 'below-kill' },
    ]);
    const begins = (t: number) => ({ ...onGpu(t), available: (t < 6.6 ? 16 - t : 9.4 - 8 * (t - 6.6)) * GiB });
    const [sudden] = stops(replayed(series(8, begins), FAR));
    expect(sudden).toMatchObject({ reason: 'floor-near' });
    expect(sudden?.evidence.available).toBeGreaterThan(8.5 * GiB);
  });

  it.each([
    ['the program itself', { groupBytes: 4 * GiB, othersBytes: 0 }],
    ['nobody: tmpfs, pipes, the kernel', { groupBytes: 0, othersBytes: 0 }],
    ['others, for a part', { groupBytes: 0, othersBytes: 2.8 * GiB }],
  ])('spares it only for others: what is taken by %s is the program’s', (_, per4) => {
    const taken = (t: number) => ({
      available: (16 - t) * GiB,
      groupBytes: 3 * GiB + (per4.groupBytes * t) / 4,
      othersBytes: 5 * GiB + (per4.othersBytes * t) / 4,
      groupGpuBytes: 0,
      othersGpuBytes: 0,
    });
    expect(replayed(series(15, taken))[0]).toMatchObject({ action: 'term', reason: 'floor-near' });
  });

  describe('for what others take while 64 MiB of each 200 are nobody’s for a moment', () => {
    const others = (own: number, more: object = {}) => {
      const taken = (t: number) => 600 * MiB * t;
      return series(2.8, (t) => ({
        available: 9.5 * GiB - taken(t) - (t % 0.4 < 0.2 ? 0 : 64 * MiB),
        groupBytes: own,
        groupGpuBytes: 0,
        othersBytes: 4 * GiB + taken(t),
        othersGpuBytes: 0,
        ...more,
      }));
    };

    it('stops no program of 2 MiB, which could give back no more than those', () => {
      const actions = replayed(others(2 * MiB), FIELD);
      expect(actions).toMatchObject([{ action: 'warn', reason: 'floor-near' }]);
      expect(actions[0]?.evidence.othersGrewBytes).toBeGreaterThan(64 * MiB);
      // By this rule alone.
      const [stop] = stops(replayed(others(2 * MiB), { ...FIELD, given_back_share: 0 }));
      expect(stop).toMatchObject({ action: 'term', reason: 'floor-near' });
    });

    it.each([
      ['may give back most of the fall', GiB, {}],
      ['holds memory of the GPU', 2 * MiB, { groupGpuBytes: GiB }],
      ['may hold memory of the GPU', 2 * MiB, { groupGpuBytes: null }],
    ])('stops one that %s', (_, own, more) => {
      expect(stops(replayed(others(own, more), FIELD))[0]).toMatchObject({ action: 'term', reason: 'floor-near' });
    });

    it('stops one that was not measured meanwhile, because all that fell may be its own', () => {
      const readings = others(2 * MiB).map((reading, at) => (at < 150 ? reading : { ...reading, groupBytes: null }));
      expect(stops(replayed(readings, FIELD))[0]).toMatchObject({ action: 'term', reason: 'floor-near' });
    });
  });

  it('stops a program of 2 MiB that takes what is no process’s own, after others gave back as much', () => {
    const taken = (t: number) => 600 * MiB * Math.max(0, t - 1);
    const pipes = series(3.5, (t) => ({
      available: (8.05 + 1.4 * Math.min(1, t)) * GiB - taken(t),
      groupBytes: 2 * MiB,
      groupGpuBytes: 0,
      othersBytes: 4 * GiB,
      othersGpuBytes: 0,
    }));
    const [stop] = stops(replayed(pipes, FIELD));
    expect(stop).toMatchObject({ action: 'term', reason: 'floor-near' });
    expect(stop?.evidence.available).toBeGreaterThan(8.1 * GiB);
  });

  it('processes that end give back less than was counted for each', () => {
    const forks = (t: number) => ({ available: (16 - t) * GiB, groupBytes: (20 - t) * GiB, othersBytes: t * GiB });
    expect(replayed(series(15, forks))[0]).toMatchObject({ action: 'term', reason: 'floor-near' });
  });
});

describe('a series that cannot be judged', () => {
  it.each([
    ['{"t":1}', /series\.jsonl:1: expected \{"t":seconds,"available":bytes/],
    ['{"t":2,"available":1e10}\n{"t":1,"available":1e10}', /series\.jsonl:2: t is less than in the line before/],
  ])('%s', (text, message) => {
    const readings = text.split('\n').map((line) => JSON.parse(line) as object);
    expect(() => replayed(readings)).toThrow(message);
  });
});

describe('free pages in the processors’ lists', () => {
  it('count besides MemAvailable where a reading has them', () => {
    const low = { available: 1.9 * GiB, freeInCpuLists: 0.5 * GiB };
    expect(stops(replayed(series(1, () => low)))).toEqual([]);
    const [term] = replayed(series(1, () => ({ ...low, freeInCpuLists: 0.05 * GiB })));
    expect(term).toMatchObject({ action: 'term', reason: 'below-kill', evidence: { freeInCpuLists: 0.05 * GiB } });
    expect(replayed(series(1, () => ({ available: 7.9 * GiB, freeInCpuLists: 0.5 * GiB })))).toEqual([]);
    // Pages move between the two.
    const moving = (t: number) => ({ available: (9 - t) * GiB, freeInCpuLists: t * GiB });
    expect(replayed(series(1.5, moving), { ...FIELD, ...FAR })).toEqual([]);
  });
});
