/** Arithmetic of ranges: an expected number of bytes, and the least and the most that it may be. Pure. */

import type { EstimateRange } from '../../types/index.ts';

/** A number that is certain. */
export function exactly(bytes: number): EstimateRange {
  return { bytes, low: bytes, high: bytes };
}

/** A range whose three numbers are whole and in order. */
export function range(bytes: number, low: number, high: number): EstimateRange {
  const middle = Math.round(bytes);
  return { bytes: middle, low: Math.min(middle, Math.round(low)), high: Math.max(middle, Math.round(high)) };
}

export function plus(a: EstimateRange, b: EstimateRange): EstimateRange {
  return { bytes: a.bytes + b.bytes, low: a.low + b.low, high: a.high + b.high };
}

/** A sum without one of its parts. */
export function without(sum: EstimateRange, part: EstimateRange): EstimateRange {
  return { bytes: sum.bytes - part.bytes, low: sum.low - part.low, high: sum.high - part.high };
}

export function sumOf(ranges: readonly EstimateRange[]): EstimateRange {
  return ranges.reduce(plus, exactly(0));
}
