/** The readings of a session in the order of time, with its gaps. */
import type { RecordedSession, SeriesPoint } from '../../lib/types/index.ts';

export function secondsOf(at: string): number {
  return Date.parse(at) / 1000;
}

/** Parts of a session that the charts need. */
export type SessionCourse = Pick<
  RecordedSession,
  | 'end'
  | 'endReason'
  | 'floor'
  | 'gpus'
  | 'lastAt'
  | 'lastSeconds'
  | 'marks'
  | 'plateaus'
  | 'processSeries'
  | 'series'
  | 'swapTotal'
  | 'transients'
>;

/** The series, with every frame of the last seconds in place of its last bins, and a gap where nothing was recorded. */
export function pointsOf({ lastSeconds, series }: Pick<SessionCourse, 'lastSeconds' | 'series'>): SeriesPoint[] {
  const from = lastSeconds[0]?.at ?? '9999';
  const all = [...series.filter(({ at }) => at < from), ...lastSeconds];
  return all.flatMap((point, index) => {
    const gap = gapBetween(all[index - 1], point);
    return gap === null ? [point] : [gap, point];
  });
}

/** The gap between two points with no reading between them; null: they are neighbours. */
export function gapBetween(before: SeriesPoint | undefined, { at }: SeriesPoint): SeriesPoint | null {
  if (before === undefined) return null;
  const end = Date.parse(before.at) + before.spanMs;
  const gap = Date.parse(at) - end;
  return gap > 2000 && gap > 2 * before.spanMs ? emptyPoint(end, gap) : null;
}

function emptyPoint(from: number, spanMs: number): SeriesPoint {
  const nothing = { free: null, lowestFree: null, available: null, lowestAvailable: null };
  return {
    at: new Date(from).toISOString(),
    spanMs,
    ...nothing,
    swapUsed: null,
    somePercent: null,
    fullPercent: null,
  };
}
