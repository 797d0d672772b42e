/** A curve that memory follows: points in the order of their times, a line between two of them. */

import { parseDuration, parseSize } from '../base/format.ts';

export interface CurvePoint {
  /** Milliseconds since the curve began. */
  afterMs: number;
  bytes: number;
}

/** "0s:0GiB,5s:20GiB,5.1s:60GiB" → points; a string says what is wrong with it. */
export function parseCurve(text: string): CurvePoint[] | string {
  const points: CurvePoint[] = [];
  for (const word of text.split(',')) {
    const [time = '', size = '', more] = word.trim().split(':');
    const [afterMs, bytes] = [parseDuration(time), parseSize(size)];
    if (afterMs === null || bytes === null || more !== undefined)
      return `"${word.trim()}" is not a time and a size, such as 5s:20GiB`;
    const before = points.at(-1);
    if (before !== undefined && afterMs < before.afterMs) return `${time} comes after a later time`;
    points.push({ afterMs, bytes });
  }
  return points;
}

/** Bytes at a time: 0 at the beginning, and the last point's for ever. The later of two points holds at a step. */
export function bytesOfCurve(points: readonly CurvePoint[], afterMs: number): number {
  let before: CurvePoint = { afterMs: 0, bytes: 0 };
  for (const next of points) {
    if (next.afterMs > afterMs) {
      const share = (afterMs - before.afterMs) / (next.afterMs - before.afterMs);
      return before.bytes + (next.bytes - before.bytes) * share;
    }
    before = next;
  }
  return before.bytes;
}

export function endOfCurve(points: readonly CurvePoint[]): CurvePoint {
  return points.at(-1) ?? { afterMs: 0, bytes: 0 };
}
