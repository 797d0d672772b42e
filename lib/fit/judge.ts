/** A need against a limit. Pure. */

import type { FitInequality, FitRange, FitVerdict } from '../types/index.ts';

/** From the best to the worst; of several verdicts the worst counts. A missing number is better than a certain no. */
const ORDER: readonly FitVerdict[] = ['fits', 'tight', 'fits-after', 'unknown', 'no'];

export function worst(verdicts: readonly FitVerdict[]): FitVerdict {
  return verdicts.reduce<FitVerdict>(
    (most, verdict) => (ORDER.indexOf(verdict) > ORDER.indexOf(most) ? verdict : most),
    'fits',
  );
}

/**
 * @param limit bytes that there are; null: unknown.
 * @param later the same once the remedies are done; null: unknown, or there are none.
 */
export function verdictOf(need: FitRange, limit: number | null, later: number | null): FitVerdict {
  if (limit === null) return 'unknown';
  if (need.high <= limit) return 'fits';
  if (need.bytes <= limit) return 'tight';
  return later !== null && need.high <= later ? 'fits-after' : 'no';
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
