/** Charts of a recorded session: memory, swap and pressure over the time of day, with what happened. */
import { GiB } from '../../lib/base/format.ts';
import { clockText } from '../../lib/show/render/axis.ts';
import { styleAt } from '../../lib/show/render/kinds.ts';
import { endOf } from '../../lib/show/render/record-facts.ts';
import type { RecordedGpu, RecordedProcessCourse, SeriesPoint } from '../../lib/types/index.ts';
import { type ChartSpec, type Line, type Moment, type Stretch, stroke, toGiB } from '../lines.ts';
import type { Zoom } from '../zoom.ts';
import { type SessionCourse, secondsOf } from './points.ts';

/** The x axis of each chart. */
function timeAxis(at: readonly string[], zoom: Zoom) {
  const xText = (seconds: number): string => `${clockText(seconds, 1)} UTC`;
  return { xName: 'time of day, UTC', xs: at.map(secondsOf), time: zoom, xText };
}

export function specsOf(session: SessionCourse, points: readonly SeriesPoint[], zoom: Zoom): ChartSpec[] {
  const { floor, swapTotal } = session;
  const x = timeAxis(
    points.map(({ at }) => at),
    zoom,
  );
  const each = (value: (point: SeriesPoint) => number | null): (number | null)[] => points.map(value);
  const moments = momentsOf(session);
  const events = { moments, stretches: [] };
  const memory: Line[] = [
    { name: 'MemAvailable', colour: 'ink', dash: [], values: each(({ lowestAvailable }) => toGiB(lowestAvailable)) },
    { name: 'MemFree', ...stroke('kind-1'), values: each(({ free }) => toGiB(free)) },
    { name: 'lowest MemFree', ...stroke('kind-3'), values: each(({ lowestFree }) => toGiB(lowestFree)) },
    { name: 'floor', colour: 'warn', dash: [], values: each(() => floor / GiB), bare: true },
  ];
  const pressure: Line[] = [
    { name: 'some tasks', ...stroke('kind-2'), values: each(({ somePercent }) => somePercent) },
    { name: 'all tasks', colour: 'warn', dash: [], values: each(({ fullPercent }) => fullPercent) },
  ];
  const swap: Line[] = [{ name: 'swap', ...stroke('kind-4'), values: each(({ swapUsed }) => toGiB(swapUsed)) }];
  const specs: (ChartSpec | null)[] = [
    {
      ...x,
      title: 'Memory of the host',
      unit: 'GiB',
      lines: memory,
      events: { moments, stretches: [...stretchesOf(session), ...belowFloor(points, floor)] },
      notes: ['┆ mark, or how it ended', '▬ plateau', '▒ transient', '▒ red: below the floor'],
    },
    { ...x, title: 'Time in which tasks waited for memory', unit: '%', lines: pressure, events },
    (swapTotal ?? 0) === 0 ? null : { ...x, title: 'Swap in use', unit: 'GiB', lines: swap, events },
    ...session.gpus.map((gpu) => gpuSpec(gpu, zoom, moments)),
    processSpec(session, 'GPU memory by process', ({ gpuBytes }) => gpuBytes, zoom, moments),
    processSpec(session, 'Memory held by process', ({ held }) => held, zoom, moments),
  ];
  return specs.filter((spec) => spec !== null).filter(hasValues);
}

function gpuSpec({ at, index, total, used }: RecordedGpu, zoom: Zoom, moments: readonly Moment[]): ChartSpec {
  return {
    title: `Memory of GPU ${index}`,
    unit: 'GiB',
    ...timeAxis(at, zoom),
    lines: [
      { name: 'in use', ...stroke('kind-1'), values: used.map((bytes) => bytes / GiB) },
      { name: 'all of it', colour: 'warn', dash: [], values: used.map(() => total / GiB), bare: true },
    ],
    events: { moments, stretches: [] },
  };
}

/** Lines of a chart that can be told apart. */
const MOST_LINES = 6;

/** The largest processes by what `of` says; null: there are none, or they hold nothing. */
function processSpec(
  { processSeries }: SessionCourse,
  title: string,
  of: (course: RecordedProcessCourse) => readonly (number | null)[],
  zoom: Zoom,
  moments: readonly Moment[],
): ChartSpec | null {
  const most = (course: RecordedProcessCourse) =>
    of(course).reduce<number>((high, bytes) => Math.max(high, bytes ?? 0), 0);
  const largest = processSeries.processes
    .filter((course) => most(course) > 0)
    .sort((a, b) => most(b) - most(a))
    .slice(0, MOST_LINES);
  if (largest.length === 0) return null;
  return {
    title,
    unit: 'GiB',
    ...timeAxis(processSeries.at, zoom),
    lines: largest.map((course, place) => ({
      name: `${course.name ?? 'unnamed'} ${course.pid}`,
      ...stroke(styleAt(place)),
      values: of(course).map(toGiB),
    })),
    events: { moments, stretches: [] },
  };
}

function hasValues({ lines }: ChartSpec): boolean {
  return lines.some(({ bare, values }) => bare !== true && values.some((value) => value !== null));
}

function momentsOf(session: SessionCourse): Moment[] {
  const { end, lastAt, marks } = session;
  const { label, style } = endOf(session);
  const marked = marks.map(({ at, text }): Moment => ({ at: secondsOf(at), label: text, colour: 'soft' }));
  if (end === 'running') return marked;
  return [...marked, { at: secondsOf(lastAt), label, colour: style === 'danger' ? 'warn' : 'ink' }];
}

function stretchesOf({ plateaus, transients }: SessionCourse): Stretch[] {
  return [
    ...plateaus.map(({ free, from, to }): Stretch => {
      return { from: secondsOf(from), to: secondsOf(to), height: free / GiB, colour: 'kind-1' };
    }),
    ...transients.map(({ at, durationMs }): Stretch => {
      return { from: secondsOf(at), to: secondsOf(at) + durationMs / 1000, height: null, colour: 'kind-3' };
    }),
  ];
}

/** Stretches of points below the floor; neighbours are one. */
function belowFloor(points: readonly SeriesPoint[], floor: number): Stretch[] {
  const found: Stretch[] = [];
  let isBelow = false;
  for (const { at, lowestAvailable, spanMs } of points) {
    const from = secondsOf(at);
    const last = found.at(-1);
    const below = lowestAvailable !== null && lowestAvailable < floor;
    if (below && isBelow && last !== undefined) last.to = from + spanMs / 1000;
    else if (below) found.push({ from, to: from + spanMs / 1000, height: null, colour: 'warn' });
    isBelow = below;
  }
  return found;
}
