/** Texts about one step, in the table, the plots and the page of a sweep. */
import type { SweepStep } from '../../types/index.ts';

/** Allocation and first touch: allocation alone would flatter kinds that take their pages on first touch. */
export function timeToUse({ allocMs, firstTouchMs }: SweepStep): number | null {
  return allocMs === null || firstTouchMs === null ? null : allocMs.median + firstTouchMs.median;
}

/** Tried without success. A kind that is unsupported and sizes after the end were not tried. */
export function isFailed({ state }: SweepStep): boolean {
  return state !== 'ok' && state !== 'unsupported' && state !== 'not-reached';
}

/** True if the step has times to show. A step that failed in its first repeat has none that mean anything. */
export function isMeasured({ allocMs, repeats, state }: SweepStep): boolean {
  return allocMs !== null && (state === 'ok' || repeats > 0);
}
