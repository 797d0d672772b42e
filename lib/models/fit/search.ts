/** The largest value of a setting that is accepted, where everything below an accepted one is accepted, too. */

import type { FitReport } from '../../types/index.ts';

/** An answer that needs a step first is no yes: the step was not taken. */
export function isYes(
  { expectedFits, verdict }: Pick<FitReport, 'expectedFits' | 'verdict'>,
  acceptTight: boolean,
): boolean {
  return verdict === 'fits' || (expectedFits === true && acceptTight);
}

/**
 * @param range values are the multiples of `step` below `most`, and `most` itself.
 * @returns the largest that is accepted, with its answer; null with the answer of the smallest: none is.
 */
export async function largestAccepted<Answer>(
  { most, step }: { most: number; step: number },
  ask: (value: number) => Promise<Answer>,
  accepts: (answer: Answer) => boolean,
): Promise<{ value: number | null; answer: Answer }> {
  const valueAt = (steps: number): number => Math.min(most, steps * step);
  let low = 1;
  let high = Math.max(1, Math.ceil(most / step));
  let answer = await ask(valueAt(low));
  if (!accepts(answer)) return { value: null, answer };
  if (low === high) return { value: valueAt(low), answer };
  const whole = await ask(valueAt(high));
  if (accepts(whole)) return { value: valueAt(high), answer: whole };
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const tried = await ask(valueAt(middle));
    if (accepts(tried)) [low, answer] = [middle, tried];
    else high = middle;
  }
  return { value: valueAt(low), answer };
}
