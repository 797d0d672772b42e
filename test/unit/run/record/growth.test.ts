import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growthOf, type Pool } from '../../../../lib/run/record/growth.ts';
import { GiB, MiB } from '../../../support/units.ts';

const MINUTE = 60_000;
const POOL: Pool = { total: 120 * GiB, spare: 90 * GiB, unified: true };

/** A process with one value for each 30 s; `value` gives GiB at a minute; null: it is not listed. */
function courseOf(minutes: number, value: (minute: number) => number | null, memory: 'host' | 'gpu' = 'host') {
  const times = Array.from({ length: minutes * 2 + 1 }, (_, index) => index / 2);
  const bytes = times.map((minute) => {
    const gib = value(minute);
    return gib === null ? null : Math.round(gib * GiB);
  });
  const nothing = times.map(() => null);
  const [held, gpuBytes] = memory === 'host' ? [bytes, nothing] : [bytes.map(() => GiB), bytes];
  const process = { pid: 1234, name: 'python3', highestHeld: 0, highestGpuBytes: null, held, gpuBytes };
  return { at: times.map((minute) => new Date(minute * MINUTE).toISOString()), processes: [process] };
}

const growth = (minutes: number, value: (minute: number) => number | null, pool: Partial<Pool> = {}) =>
  growthOf(courseOf(minutes, value), { ...POOL, ...pool });

/** A noise that depends on the time and the seed alone, from -1 to 1. */
const noise = (minute: number, seed: number) => {
  const x = Math.sin(minute * 127.1 + seed * 311.7) * 43_758.545;
  return 2 * (x - Math.floor(x)) - 1;
};

describe('a process that grows', () => {
  it('by 1.8 GiB an hour is told, with what is left at this rate', () =>
    expect(growth(120, (minute) => 10 + (minute / 60) * 1.8)).toEqual([
      {
        pid: 1234,
        name: 'python3',
        memory: 'host',
        bytesPerHour: expect.closeTo(1.8 * GiB, -3),
        bytes: expect.closeTo(3.6 * GiB, -3),
        from: '1970-01-01T00:00:00.000Z',
        to: '1970-01-01T02:00:00.000Z',
        usedUpInMs: expect.closeTo(50 * 60 * MINUTE, -4),
      },
    ]));
  it('in steps of ten minutes is told', () =>
    expect(growth(180, (minute) => 10 + Math.floor(minute / 10) * 0.5)).toHaveLength(1));
  it('on the GPU is told; on a discrete one it takes nothing of the pool', () => {
    const course = courseOf(120, (minute) => 10 + minute / 10, 'gpu');
    expect(growthOf(course, POOL)).toMatchObject([{ memory: 'gpu', usedUpInMs: expect.any(Number) }]);
    expect(growthOf(course, { ...POOL, unified: false })).toMatchObject([{ memory: 'gpu', usedUpInMs: null }]);
  });
  it('comes before one that grows more slowly', () => {
    const [slow, fast] = [1, 2].map((rate) => courseOf(120, (minute) => 10 + (rate * minute) / 30));
    if (slow === undefined || fast === undefined) throw new Error('no course');
    const named = (course: typeof slow, pid: number) => course.processes.map((process) => ({ ...process, pid }));
    const processes = [...named(slow, 1), ...named(fast, 2)];
    expect(growthOf({ at: slow.at, processes }, POOL).map(({ pid }) => pid)).toEqual([2, 1]);
  });
  it('and was ended in the middle is told without a prediction', () =>
    expect(growth(120, (minute) => (minute > 90 ? null : minute / 2))).toMatchObject([
      { usedUpInMs: null, to: '1970-01-01T01:30:00.000Z' },
    ]));
  it('through what a collector of garbage frees in between', () =>
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 60, max: 600 }),
        fc.double({ min: 1, max: 20, noNaN: true }),
        (seed, minutes, rate) => {
          const total = (rate * minutes) / 60;
          const found = growth(
            minutes,
            (minute) => 10 + (total * minute) / minutes + 0.1 * total * noise(minute, seed),
          );
          expect(found).toHaveLength(1);
          expect((found[0]?.bytesPerHour ?? 0) / GiB / rate).toBeGreaterThan(0.85);
          expect((found[0]?.bytesPerHour ?? 0) / GiB / rate).toBeLessThan(1.15);
        },
      ),
      { numRuns: 100 },
    ));
});

/** Six levels, in GiB, for twenty minutes each; `dip` is missing for a moment in the fourth. */
const levels = (steps: readonly number[], dip = 0) =>
  growth(120, (minute) => {
    const part = Math.min(5, Math.floor(minute / 20));
    return 10 + steps.slice(0, part).reduce((sum, step) => sum + step, 0) - (minute === 70 ? dip : 0);
  });

describe('the limits of a finding', () => {
  it('are a quarter of the mean growth in each part', () => {
    expect(levels([1, 1, 0.22, 1, 1])).toHaveLength(1);
    expect(levels([1, 1, 0.2, 1, 1])).toEqual([]);
  });
  it('are a fall by half of the growth', () => {
    expect(levels([1, 1, 1, 1, 1], 2.4)).toHaveLength(1);
    expect(levels([1, 1, 1, 1, 1], 2.6)).toEqual([]);
  });
  it('are 1 % of the memory for a process that has ended', () => {
    const ended = (gib: number) => growth(120, (minute) => (minute > 90 ? null : 10 + (gib * minute) / 90));
    expect(ended(0.0105 * 120)).toHaveLength(1);
    expect(ended(0.0095 * 120)).toEqual([]);
  });
});

it('a part has three lists at least', () => {
  const lists = (everyMinutes: number) => {
    const minutes = Array.from({ length: 120 / everyMinutes + 1 }, (_, index) => index * everyMinutes);
    const held = minutes.map((minute) => Math.round((10 + minute / 20) * GiB));
    const process = { pid: 7, name: 'p', highestHeld: 0, highestGpuBytes: null, held, gpuBytes: held.map(() => null) };
    return growthOf(
      { at: minutes.map((minute) => new Date(minute * MINUTE).toISOString()), processes: [process] },
      POOL,
    );
  };
  expect(lists(5)).toHaveLength(1);
  expect(lists(10)).toEqual([]);
});

describe('no finding', () => {
  it('of less than 45 minutes', () => expect(growth(44, (minute) => minute)).toEqual([]));
  it('of what takes longer than a week', () =>
    expect(growth(600, (minute) => 1 + (minute / 600) * 2, { spare: 90 * GiB })).toEqual([]));
  it('of less than 256 MiB', () =>
    expect(growth(60, (minute) => 1 + (minute / 60) * 0.2, { spare: 200 * MiB })).toEqual([]));
  it('of a load at the start, however long, and however large', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 45, max: 300 }),
        fc.double({ min: 0, max: 30, noNaN: true }),
        fc.double({ min: 0, max: 110, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer(),
        (minutes, load, gib, loud, seed) => {
          const value = (minute: number) => gib * Math.min(1, minute / (load + 0.01)) + 1 + loud * noise(minute, seed);
          expect(growth(minutes, value)).toEqual([]);
        },
      ),
      { numRuns: 300 },
    ));
  it('of a sawtooth', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 45, max: 600 }),
        fc.double({ min: 0.02, max: 0.75, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0.5, max: 80, noNaN: true }),
        (minutes, period, phase, gib) => {
          expect(growth(minutes, (minute) => 1 + gib * ((minute / (minutes * period) + phase) % 1))).toEqual([]);
        },
      ),
      { numRuns: 500 },
    ));
  it('of noise around a level, or of a walk that goes down', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 45, max: 300 }),
        fc.double({ min: 0, max: 50, noNaN: true }),
        fc.double({ min: -10, max: 0, noNaN: true }),
        fc.integer(),
        (minutes, loud, slope, seed) => {
          expect(growth(minutes, (minute) => 70 + (slope * minute) / 60 + loud * noise(minute, seed))).toEqual([]);
        },
      ),
      { numRuns: 300 },
    ));
  it('of what levels off, as a cache does', () =>
    expect(growth(180, (minute) => 10 + 20 * (1 - Math.exp(-minute / 20)))).toEqual([]));
});
