/** The rule of all verdicts, and fit() over made-up machines: more need, less memory or a wider range never help. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { isWorse, type Judged, judged } from '../../../../lib/models/fit/judge.ts';
import type { FitProgram, FitRange, FitReport } from '../../../../lib/types/index.ts';
import { MODEL_PROGRAM_NAMES } from '../../../../lib/types/programs.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GiB, MiB } from '../../../support/units.ts';

/** From the best to the worst, by names alone. */
const ORDER = ['fits', 'fits-after', 'tight', 'no'];
const rank = ({ verdict }: Pick<Judged, 'verdict'>): number => ORDER.indexOf(verdict);

const amount = fc.integer({ min: 1, max: 200 });
const rangeOf = fc
  .tuple(amount, fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 }))
  .map(([bytes, less, more]): FitRange => ({ bytes, low: Math.max(0, bytes - less), high: bytes + more }));
/** A limit, and what the remedies add to it; null: there are none. */
const limits = fc.tuple(amount, fc.option(fc.integer({ min: 0, max: 100 })));
const more = fc.integer({ min: 0, max: 150 });

const answer = (need: FitRange, [limit, gain]: [number, number | null]): Judged =>
  judged(need, limit, gain === null ? null : limit + gain);

describe('the rule', () => {
  it.each([
    // need of 10, expected; at most 14
    [14, null, 'fits', true],
    [13, null, 'tight', true],
    [10, null, 'tight', true],
    [9, null, 'no', false],
    [13, 14, 'fits-after', true],
    [9, 14, 'fits-after', false],
    // After the remedies only the upper end is too large: that is no "no".
    [9, 13, 'tight', false],
    [9, 10, 'tight', false],
    [5, 9, 'no', false],
    // A remedy that takes something away is none.
    [14, 3, 'fits', true],
  ])('10, at most 14, into %d, %s after remedies: %s', (limit, later, verdict, expectedFits) => {
    expect(judged({ bytes: 10, low: 6, high: 14 }, limit, later)).toEqual({ verdict, expectedFits });
  });

  it('never says yes where the upper end does not fit, nor no where the expected size does', () => {
    fc.assert(
      fc.property(rangeOf, limits, (need, [limit, gain]) => {
        const { expectedFits, verdict } = answer(need, [limit, gain]);
        const reachable = limit + (gain ?? 0);
        expect(verdict === 'fits').toBe(need.high <= limit);
        expect(verdict === 'fits' || verdict === 'fits-after').toBe(need.high <= reachable);
        expect(verdict === 'no').toBe(need.bytes > reachable);
        expect(expectedFits).toBe(need.bytes <= limit);
      }),
    );
  });

  it('is monotonic in need', () => {
    fc.assert(
      fc.property(rangeOf, limits, more, (need, limit, extra) => {
        const larger = { bytes: need.bytes + extra, low: need.low + extra, high: need.high + extra };
        expect(rank(answer(larger, limit))).toBeGreaterThanOrEqual(rank(answer(need, limit)));
      }),
    );
  });

  it('is monotonic in memory, now and after the remedies', () => {
    fc.assert(
      fc.property(rangeOf, limits, more, more, (need, [limit, gain], extra, gained) => {
        const before = rank(answer(need, [limit, gain]));
        expect(rank(answer(need, [limit + extra, gain]))).toBeLessThanOrEqual(before);
        expect(rank(answer(need, [limit, (gain ?? 0) + gained]))).toBeLessThanOrEqual(before);
      }),
    );
  });

  it('is monotonic in the width of the range: who knows less gets no better answer', () => {
    fc.assert(
      fc.property(rangeOf, limits, more, more, (need, limit, down, up) => {
        const wider = { bytes: need.bytes, low: Math.max(0, need.low - down), high: need.high + up };
        expect(rank(answer(wider, limit))).toBeGreaterThanOrEqual(rank(answer(need, limit)));
      }),
    );
  });

  it('of two answers takes the worse, and of equal ones the one that needs a step', () => {
    const now: Judged = { verdict: 'tight', expectedFits: true };
    const later: Judged = { verdict: 'tight', expectedFits: false };
    expect(isWorse(later, now)).toBe(true);
    expect(isWorse(now, later)).toBe(false);
    const order = ['fits', 'fits-after', 'tight', 'unknown', 'not-now', 'no'] as const;
    for (const [place, verdict] of order.entries())
      for (const better of order.slice(0, place))
        expect(isWorse({ verdict, expectedFits: true }, { verdict: better, expectedFits: false })).toBe(true);
    expect(isWorse({ verdict: 'no', expectedFits: false }, { verdict: 'unknown', expectedFits: null })).toBe(true);
  });
});

describe('fit()', () => {
  /** What can be available beside the huge pages. */
  const MOST_AVAILABLE = 100 * GiB;

  /** Page cache and huge pages, so that there are remedies of the machine and of the programs' readings. */
  async function ask(need: FitRange, available: number, program: FitProgram | null): Promise<FitReport> {
    const machine = snapshotOf({
      host: {
        available,
        free: Math.min(available, 20 * GiB),
        cached: 60 * GiB,
        mapped: 0,
        hugePagesTotal: 8192,
        hugePagesFree: 8192,
        hugetlb: 16 * GiB,
      },
    });
    const estimate = { total: need, terms: [{ name: 'weights', ...need }] };
    return fitInto({ estimate, snapshot: machine, ...(program === null ? {} : { program }) });
  }

  const size = fc.integer({ min: 1, max: 1000 }).map((eighths) => eighths * 128 * MiB);
  const need = fc
    .tuple(size, size, size)
    .map(([bytes, less, up]): FitRange => ({ bytes, low: Math.max(1, bytes - less), high: bytes + up }));
  const available = fc.integer({ min: 80, max: 400 }).map((quarters) => quarters * 256 * MiB);

  it.each([null, ...MODEL_PROGRAM_NAMES])('is monotonic in need, memory and width: %s', async (program) => {
    await fc.assert(
      fc.asyncProperty(need, available, size, async (range, memory, extra) => {
        const first = await ask(range, memory, program);
        const shifted = { bytes: range.bytes + extra, low: range.low + extra, high: range.high + extra };
        expect(rank(await ask(shifted, memory, program))).toBeGreaterThanOrEqual(rank(first));
        expect(rank(await ask({ ...range, high: range.high + extra }, memory, program))).toBeGreaterThanOrEqual(
          rank(first),
        );
        const most = Math.min(memory + extra, MOST_AVAILABLE);
        expect(rank(await ask(range, most, program))).toBeLessThanOrEqual(rank(first));
      }),
      { numRuns: 100 },
    );
  });

  it('takes a share that holds the need to the last byte', async () => {
    // 0.58 × 100 GiB, which is a byte less in floating point.
    const range = { bytes: 33_017_561_088, low: 32_883_343_360, high: 62_277_025_792 };
    expect((await ask(range, 100 * GiB, 'sglang')).verdict).toBe('fits');
  });

  it('says tight, with the steps, where after them only the upper end is too large', async () => {
    const range = { bytes: 28 * GiB, low: 20 * GiB, high: 60 * GiB };
    const report = await ask(range, 30 * GiB, null);
    expect(report).toMatchObject({ verdict: 'tight', expectedFits: false, headroom: null, binding: 'machine' });
    expect(report.limit.after).toBeGreaterThan(28 * GiB);
    expect(report.limit.after).toBeLessThan(60 * GiB);
    expect(report.remedies.map(({ command }) => command)).toContain('echo 0 | sudo tee /proc/sys/vm/nr_hugepages');
    expect(report.summary).toContain('the expected size fits after the steps below, the upper end not even then');
    expect(report.summary).toMatch(/, and \d+\.\d\d GiB after the steps\.$/);
  });
});
