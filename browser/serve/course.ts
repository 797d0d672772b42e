/** A page's facts of a machine over time: its recordings, and each reading since the page was opened. Bounded. */
import { endOf } from '../../lib/show/render/record-facts.ts';
import type {
  RecordedMark,
  RecordedProcessCourse,
  RecordedProcesses,
  RecordedSession,
  SeriesPoint,
} from '../../lib/types/index.ts';
import { gapBetween, pointsOf, type SessionCourse } from '../report/points.ts';

export const DAY_MS = 24 * 3_600_000;
/** Points of the memory: every reading of half an hour at one a second, before that one a minute. */
const MOST_POINTS = 6000;
const NEWEST_POINTS = 2000;
const POINT_MS = 60_000;
/** Lists of processes, likewise. */
const MOST_LISTS = 1500;
const NEWEST_LISTS = 300;
const LIST_MS = 120_000;
/** Processes with a course: the smallest that have ended are forgotten. */
const MOST_PROCESSES = 24;

export function emptyCourse(): SessionCourse {
  return {
    end: 'running',
    endReason: null,
    floor: 0,
    gpus: [],
    lastAt: '',
    lastSeconds: [],
    marks: [],
    plateaus: [],
    processSeries: { at: [], processes: [] },
    series: [],
    swapTotal: null,
    transients: [],
  };
}

/**
 * The sessions of a day and the readings of this page as one course; the recording counts for a recorded time, also for
 * that before a machine stopped and came back. The end of each session is a mark.
 */
export function addHistory(course: SessionCourse, sessions: readonly RecordedSession[]): void {
  const isLive = ({ at }: { at: string }): boolean =>
    !sessions.some(({ lastAt, startedAt }) => at >= startedAt && at <= lastAt);
  const live = course.series.filter(isLive);
  course.series = inOrder([...sessions.flatMap(pointsOf), ...live]);
  course.marks = sessions.flatMap((session) => [...session.marks, ...endMark(session)]);
  course.plateaus = sessions.flatMap(({ plateaus }) => plateaus);
  course.transients = sessions.flatMap(({ transients }) => transients);
  const last = sessions.at(-1);
  course.gpus = last?.gpus ?? [];
  if (live.length === 0) {
    // No reading has told them.
    course.floor = last?.floor ?? course.floor;
    course.swapTotal = last?.swapTotal ?? course.swapTotal;
  }
  const before = course.processSeries;
  const largest = new Set(
    largestOf([...sessions.map(({ processSeries }) => processSeries), before].flatMap((each) => each.processes)).map(
      keyOf,
    ),
  );
  const lists = ({ at, processes }: SessionCourse['processSeries']): RecordedProcesses[] =>
    listsOf({ at, processes: processes.filter((each) => largest.has(keyOf(each))) });
  const recorded = sessions.flatMap(({ processSeries }) => lists(processSeries));
  course.processSeries = { at: [], processes: [] };
  for (const list of inOrder([...recorded, ...lists(before).filter(isLive)])) addProcesses(course, list);
}

function inOrder<Dated extends { at: string }>(all: readonly Dated[]): Dated[] {
  return all.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function endMark(session: RecordedSession): RecordedMark[] {
  return session.end === 'running' ? [] : [{ at: session.lastAt, text: endOf(session).label, pid: null }];
}

/** A reading that the course has already, as after a reconnection, changes nothing. */
export function addPoint(course: SessionCourse, point: SeriesPoint): void {
  const { series } = course;
  if (point.at <= (series.at(-1)?.at ?? '')) return;
  const gap = gapBetween(series.at(-1), point);
  series.push(...(gap === null ? [point] : [gap, point]));
  if (series.length > MOST_POINTS) course.series = thinned(series);
  const since = new Date(Date.parse(point.at) - DAY_MS).toISOString();
  while ((course.series[0]?.at ?? since) < since) course.series.shift();
}

/** Points of the same minute become one, but the newest: the lowest memory, the highest pressure. A gap stays. */
function thinned(series: readonly SeriesPoint[]): SeriesPoint[] {
  const older: SeriesPoint[] = [];
  for (const point of series.slice(0, -NEWEST_POINTS)) {
    const before = older.at(-1);
    if (before !== undefined && canMerge(before, point)) older[older.length - 1] = merged(before, point);
    else older.push(point);
  }
  return [...older, ...series.slice(-NEWEST_POINTS)].slice(-MOST_POINTS);
}

function canMerge(first: SeriesPoint, second: SeriesPoint): boolean {
  return bucketOf(first.at, POINT_MS) === bucketOf(second.at, POINT_MS) && isEmpty(first) === isEmpty(second);
}

function bucketOf(at: string, lengthMs: number): number {
  return Math.floor(Date.parse(at) / lengthMs);
}

function isEmpty({ free, lowestAvailable }: SeriesPoint): boolean {
  return free === null && lowestAvailable === null;
}

function merged(first: SeriesPoint, second: SeriesPoint): SeriesPoint {
  return {
    ...second,
    at: first.at,
    spanMs: Date.parse(second.at) + second.spanMs - Date.parse(first.at),
    lowestFree: extreme(Math.min, first.lowestFree, second.lowestFree),
    lowestAvailable: extreme(Math.min, first.lowestAvailable, second.lowestAvailable),
    somePercent: extreme(Math.max, first.somePercent, second.somePercent),
    fullPercent: extreme(Math.max, first.fullPercent, second.fullPercent),
  };
}

/** Extreme of two values; an unknown one does not count. */
function extreme(of: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : of(a, b);
}

export function addProcesses(course: SessionCourse, { at, processes }: RecordedProcesses): void {
  const { processSeries } = course;
  if (at <= (processSeries.at.at(-1) ?? '')) return;
  const { length } = processSeries.at;
  processSeries.at.push(at);
  const listed = new Map(processes.map((each) => [keyOf(each), each]));
  for (const each of processSeries.processes) {
    const now = listed.get(keyOf(each));
    listed.delete(keyOf(each));
    append(each, now?.held ?? null, now?.gpuBytes ?? null);
  }
  for (const { gpuBytes, held, name, pid } of listed.values()) {
    const none = (): null[] => Array.from({ length }, () => null);
    const course: RecordedProcessCourse = {
      pid,
      name,
      highestHeld: 0,
      highestGpuBytes: null,
      held: none(),
      gpuBytes: none(),
    };
    append(course, held, gpuBytes);
    processSeries.processes.push(course);
  }
  if (processSeries.processes.length > MOST_PROCESSES) processSeries.processes = largestOf(processSeries.processes);
  if (processSeries.at.length > MOST_LISTS) thinLists(course);
}

function keyOf({ name, pid }: { name: string | null; pid: number }): string {
  return `${pid} ${name}`;
}

function append(course: RecordedProcessCourse, held: number | null, gpuBytes: number | null): void {
  course.held.push(held);
  course.gpuBytes.push(gpuBytes);
  course.highestHeld = Math.max(course.highestHeld, held ?? 0);
  course.highestGpuBytes = extreme(Math.max, course.highestGpuBytes, gpuBytes);
}

function largestOf(processes: readonly RecordedProcessCourse[]): RecordedProcessCourse[] {
  return processes.toSorted((a, b) => b.highestHeld - a.highestHeld).slice(0, MOST_PROCESSES);
}

/** Lists of the same two minutes become one, but the newest: the highest value of each process. */
function thinLists({ processSeries }: SessionCourse): void {
  const { at, processes } = processSeries;
  const older = at.length - NEWEST_LISTS;
  const starts = at.flatMap((time, place) =>
    place > older || place === 0 || bucketOf(time, LIST_MS) !== bucketOf(at[place - 1] ?? '', LIST_MS) ? [place] : [],
  );
  const thin = (values: readonly (number | null)[]): (number | null)[] =>
    starts.map((start, place) =>
      values
        .slice(start, starts[place + 1])
        .reduce<number | null>((most, value) => extreme(Math.max, most, value), null),
    );
  processSeries.at = starts.map((place) => at[place] ?? '');
  for (const course of processes) {
    course.held = thin(course.held);
    course.gpuBytes = thin(course.gpuBytes);
  }
}

function listsOf({ at, processes }: SessionCourse['processSeries']): RecordedProcesses[] {
  return at.map((time, place) => ({
    at: time,
    processes: processes.flatMap(({ gpuBytes, held, name, pid }) => {
      const bytes = held[place] ?? null;
      return bytes === null ? [] : [{ pid, name, held: bytes, gpuBytes: gpuBytes[place] ?? null }];
    }),
  }));
}
