import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { axisOf, clockAxis, clockText, isLogLog, tickText } from '../../../../lib/show/render/axis.ts';
import { sizeUnit } from '../../../../lib/show/render/numbers.ts';
import { GB, GiB } from '../../../support/units.ts';

const intervals = 5;
const linear = { log: false, fromZero: true, wholeEnds: true, intervals };
const log = { log: true, wholeEnds: true, intervals };

describe('the choice of axes', () => {
  it.each([
    [
      [
        [1, 1],
        [20, 20],
      ],
      false,
    ],
    [
      [
        [1, 1],
        [21, 1],
      ],
      true,
    ],
    [
      [
        [1, 1],
        [2, 21],
      ],
      true,
    ],
    [
      [
        [0, 1],
        [2, 100],
      ],
      false,
    ],
    [
      [
        [1, 0],
        [2, 100],
      ],
      false,
    ],
    [[], false],
  ] as [[number, number][], boolean][])('%j: logarithmic %s', (points, expected) =>
    expect(isLogLog(points)).toBe(expected),
  );
});

describe('ticks', () => {
  it.each([
    [[0, 69.1], linear, [0, 20, 40, 60, 80]],
    [[0, 112.3], linear, [0, 25, 50, 75, 100, 125]],
    [[0, 0.14], linear, [0, 0.05, 0.1, 0.15]],
    [[0, 12], linear, [0, 5, 10, 15]],
    [[9.9, 4344], log, [10, 100, 1000]],
    [[225, 232], log, [100, 200, 500, 1000]],
    [[100, 1000], log, [100, 200, 500, 1000]],
    [[0.0010000000000000009, 0.001000000000000001], { log: false, intervals }, [0.2, 0.4, 0.6, 0.8, 1]],
    [[], log, [1, 2, 5, 10]],
    [[], linear, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [[7], { log: false, intervals }, [7, 7.2, 7.4, 7.6, 7.8, 8]],
    [[1, 36], { log: false, intervals, smallestStep: 1 }, [10, 20, 30]],
    [[1, 3], { log: false, intervals, smallestStep: 1 }, [1, 2, 3]],
    [
      [0.25 * GiB, 8 * GiB],
      { log: true, binary: true, unit: GiB, intervals },
      [0.25, 0.5, 1, 2, 4, 8].map((n) => n * GiB),
    ],
    [
      [0.25 * GiB, 64 * GiB],
      { log: true, binary: true, unit: GiB, intervals },
      [0.25, 1, 4, 16, 64].map((n) => n * GiB),
    ],
    [[0, 104 * GiB], { ...linear, unit: GiB }, [0, 25, 50, 75, 100, 125].map((n) => n * GiB)],
  ])('of %j with %j: %j', (values, options, expected) => expect(axisOf(values, options).ticks).toEqual(expected));

  it('lie on the axis in ascending order, with every value between its ends', () => {
    const value = fc.double({ min: 1e-3, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 9 }),
        fc.boolean(),
        fc.boolean(),
        (values, isLog, whole) => {
          const axis = axisOf(values, { log: isLog, wholeEnds: whole, fromZero: true, intervals });
          const slack = (axis.to - axis.from) * 1e-9;
          expect(axis.from).toBeLessThanOrEqual(Math.min(...values) + slack);
          expect(axis.to).toBeGreaterThanOrEqual(Math.max(...values) - slack);
          expect(axis.ticks.length).toBeLessThanOrEqual(intervals + 2);
          for (const [index, tick] of axis.ticks.entries()) {
            expect(tick).toBeGreaterThan(axis.ticks[index - 1] ?? Number.NEGATIVE_INFINITY);
            expect(axis.at(tick)).toBeGreaterThanOrEqual(-1e-6);
            expect(axis.at(tick)).toBeLessThanOrEqual(1 + 1e-6);
          }
        },
      ),
    );
  });

  it('place values in proportion', () => {
    expect([0, 5, 10].map(axisOf([5, 10], linear).at)).toEqual([0, 0.5, 1]);
    expect(axisOf([1, 100], log).at(10)).toBeCloseTo(0.5);
  });

  it.each([
    [0, '0'],
    [0.05, '0.05'],
    [1000, '1,000'],
    [2e6, '2e+6'],
  ])('%d reads %s', (value, text) => expect(tickText(value)).toBe(text));
});

it('the unit of sizes is the one in which they were typed', () => {
  expect(sizeUnit([GB, 2 * GB]).name).toBe('GB');
  expect(sizeUnit([GiB / 4, GiB]).name).toBe('GiB');
  expect(sizeUnit([GiB, GB]).name).toBe('GB');
  expect(sizeUnit([]).name).toBe('GB');
});

describe('the axis of a clock', () => {
  const noon = Date.parse('2026-11-20T12:00:00.000Z') / 1000;
  const labels = (from: number, to: number) =>
    clockAxis(noon + from, noon + to, 6).ticks.map((tick) => clockText(tick, to - from));
  it.each([
    [
      0.2,
      1.4,
      ['12:00:00.20', '12:00:00.40', '12:00:00.60', '12:00:00.80', '12:00:01.00', '12:00:01.20', '12:00:01.40'],
    ],
    [1, 61, ['12:00:10', '12:00:20', '12:00:30', '12:00:40', '12:00:50', '12:01:00']],
    [60, 3600, ['12:10:00', '12:20:00', '12:30:00', '12:40:00', '12:50:00', '13:00:00']],
    [0, 172_800, ['11-20 12:00', '11-21 00:00', '11-21 12:00', '11-22 00:00', '11-22 12:00']],
  ])('from %d to %d seconds has whole parts of a minute, an hour, a day', (from, to, expected) =>
    expect(labels(from, to)).toEqual(expected),
  );
  it('has room for a month', () => expect(clockAxis(noon, noon + 30 * 86_400, 6).ticks.length).toBeLessThanOrEqual(7));
  it('an axis has more values than a call takes arguments', () =>
    expect(
      axisOf(
        Array.from({ length: 300_000 }, (_, index) => index),
        linear,
      ).to,
    ).toBe(300_000));
});
