/** A need against a limit. Pure. */

import type { FitInequality, FitRange, FitVerdict } from '../../types/index.ts';

/** Verdicts from the best to the worst. A missing number is better than a certain no. */
const ORDER: readonly FitVerdict[] = ['fits', 'fits-after', 'tight', 'unknown', 'not-now', 'no'];

/** A verdict, and whether the expected size fits now, without any step; null: unknown. */
export interface Judged {
  verdict: FitVerdict;
  expectedFits: boolean | null;
}

/** True for the worse of two; with the same verdict, for the one that needs a step first. */
export function isWorse(one: Judged, other: Judged): boolean {
  const rank = ({ expectedFits, verdict }: Judged): number =>
    2 * ORDER.indexOf(verdict) + (expectedFits === true ? 0 : 1);
  return rank(one) > rank(other);
}

/** Limit beyond the certain one, and the condition that it depends on. */
export interface Uncertain {
  high: number;
  why: string;
}

/**
 * The rule of all verdicts. Yes needs the upper end of the range, no the expected size: by the low end an estimate that
 * knows less would refuse less, and with `--accept-tight` start what is expected not to fit.
 *
 * @param limit bytes that there are; null: unknown.
 * @param later the same once the remedies are done; null: unknown, or there are none.
 * @param uncertain null: the limit is certain. A need between the two is neither a yes nor a no.
 */
export function judged(
  need: FitRange,
  limit: number | null,
  later: number | null,
  uncertain: Uncertain | null = null,
): Judged {
  if (limit === null) return { verdict: 'unknown', expectedFits: null };
  const reachable = Math.max(limit, later ?? limit);
  const expectedFits = need.bytes <= limit;
  if (need.high <= limit) return { verdict: 'fits', expectedFits };
  if (need.high <= reachable) return { verdict: 'fits-after', expectedFits };
  if (need.bytes <= reachable) return { verdict: 'tight', expectedFits };
  return uncertain !== null && need.bytes <= uncertain.high
    ? { verdict: 'unknown', expectedFits: null }
    : { verdict: 'no', expectedFits };
}

/** The comparison behind a verdict: of the upper end of the range, or, where even the expected size is too much, of that. */
export function inequalityOf(
  need: FitRange,
  limit: number,
  names: { left: string; right: string; rule: string },
): FitInequality {
  const expected = need.bytes > limit;
  const bytes = expected ? need.bytes : need.high;
  const upper = !expected && need.high > need.bytes ? ', at most' : '';
  return {
    left: { name: `${names.left}${upper}`, bytes },
    relation: bytes <= limit ? '<=' : '>',
    right: { name: names.right, bytes: limit },
    rule: names.rule,
  };
}

/** Condition of a decision about the expected size that the upper end of the range would change. */
export function ifExpected({ high }: FitRange, limit: number): string {
  return high > limit ? ', if it takes no more than expected' : '';
}
