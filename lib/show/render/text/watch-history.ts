/** The history of watch: memory over time as a graph, and the share of time in which no task could run below it. */
import { formatDuration, formatPercent, GiB, UNKNOWN } from '../../../base/format.ts';
import { headroom, totalOf, unifiedDevice } from '../../../core/memory/headroom.ts';
import { STALLED_PERCENT } from '../../../core/memory/pressure.ts';
import type { LedgerEntry, Snapshot } from '../../../types/index.ts';
import { type Axis, axisOf } from '../axis.ts';
import { createCanvas } from '../canvas.ts';
import { amount, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { padStart } from '../text-layout.ts';
import { flow } from './frame.ts';

/** A line of the graph. */
interface GraphLine {
  letter: string;
  name: string;
  style: Style;
  /** Amount in bytes; null: unknown. */
  bytes: number | null;
}

interface Point {
  atMs: number;
  courses: readonly GraphLine[];
  /** The memory that the courses are a part of, in bytes. */
  total: number;
  stalledPercent: number | null;
}

/** A moment that the graph shows. */
export interface Mark {
  atMs: number;
  /** Text below the graph; '': none. */
  text: string;
}

export interface History {
  points: Point[];
  marks: Mark[];
}

/** Readings kept: an hour of one a second. */
const HISTORY_LENGTH = 3600;

/** Readings that the graph spans, as the key `t` goes through them. */
export const SPANS = [120, 600, 3600] as const;

export function addReading(history: History, snapshot: Snapshot): void {
  history.points.push({
    atMs: Date.parse(snapshot.at),
    courses: coursesOf(snapshot),
    total: totalShown(snapshot),
    stalledPercent: snapshot.pressure?.full.avg10 ?? null,
  });
  if (history.points.length > HISTORY_LENGTH) history.points.shift();
}

/** GPUs with memory of their own that have a line. */
const GPUS = 4;

/** Courses of the pool if memory is shared; else of each GPU's own memory, for which its programs compete. */
function coursesOf(snapshot: Snapshot): GraphLine[] {
  const { devices, ledger } = snapshot;
  const { afterReclaim, immediate } = headroom(snapshot);
  const own = devices.filter(({ memoryModel }) => memoryModel !== 'unified');
  if (devices.length > 0 && unifiedDevice(snapshot) === undefined)
    return own.slice(0, GPUS).map(({ allocatable, index }, at) => ({
      letter: String(index % 10),
      name: `free on GPU ${index}`,
      style: GPU_STYLES[at] ?? 'gpu',
      bytes: allocatable.immediate,
    }));
  const gpu = ledger.entries.find(({ label }) => label === 'gpuProcesses');
  return [
    { letter: 'a', name: 'available', style: 'notice', bytes: afterReclaim },
    { letter: 'f', name: 'free', style: 'free', bytes: immediate },
    ...(devices.length === 0
      ? []
      : [{ letter: 'G', name: gpuName(gpu), style: 'gpu', bytes: gpu?.bytes ?? null } as const]),
  ];
}

/** Name as in the log: the driver may not list every process that holds memory. */
function gpuName(entry: LedgerEntry | undefined): string {
  return entry?.bound === undefined ? 'GPU' : `GPU at ${entry.bound === 'atMost' ? 'most' : 'least'}`;
}

const GPU_STYLES: readonly Style[] = ['gpu', 'anonymous', 'cache', 'shared'];

function totalShown(snapshot: Snapshot): number {
  const { devices, host } = snapshot;
  if (devices.length === 0 || unifiedDevice(snapshot) !== undefined) return host.total;
  return Math.max(...devices.slice(0, GPUS).map((device) => totalOf(device, host.total) ?? 0)) || host.total;
}

export interface GraphView {
  /** Time between the starts of two readings. */
  intervalMs: number;
  /** Readings that fit. */
  span: number;
  /** Lines of the whole graph. */
  rows: number;
}

/** A title, four rows of dots, the line of pressure and that of times. */
export const LEAST_GRAPH = 7;

/** A reading that is this many intervals late leaves a gap. */
const GAP_INTERVALS = 3;

/** [] before the first reading. */
export function graphLines({ marks, points }: History, view: GraphView, options: RenderOptions): string[] {
  const latest = points.at(-1);
  if (latest === undefined) return [];
  const title = titleLines(latest, view, options);
  const height = Math.max(1, view.rows - title.length - 2);
  const y = axisOf([0, latest.total], { log: false, fromZero: true, unit: GiB, intervals: Math.max(1, height >> 1) });
  const labels = yLabels(y, latest.total, height);
  const gutter = Math.max(SCALE.length, ...labels.map((label) => label.length));
  const columns = Math.max(10, options.width - gutter - 2);
  const canvas = createCanvas(columns, height, options.unicode);
  const spanMs = view.span * view.intervalMs;
  const place = (atMs: number): number => 1 - (latest.atMs - atMs) / spanMs;
  const shown = points.filter(({ atMs }) => place(atMs) >= 0 && place(atMs) <= 1);
  for (const [index, { letter, style }] of latest.courses.entries()) {
    const value = (point: Point) => point.courses.find((course) => course.letter === letter)?.bytes ?? null;
    const at = (point: Point, bytes: number) =>
      [
        Math.round(place(point.atMs) * (canvas.width - 1)),
        Math.round((1 - Math.min(1, Math.max(0, y.at(bytes)))) * (canvas.height - 1)),
      ] as const;
    for (const run of runsOf(shown, value, GAP_INTERVALS * view.intervalMs))
      canvas.line(
        run.map(({ bytes, point }) => at(point, bytes)),
        style,
      );
    const now = value(latest);
    if (now === null) continue;
    // One beside the other: lines that lie on one another keep their letters.
    const [column, row] = at(latest, now);
    canvas.letter(Math.max(0, column - 2 * index * canvas.dotsAcross), row, letter, style);
  }
  const visible = marks.filter(({ atMs }) => place(atMs) >= 0 && place(atMs) <= 1);
  const cellOf = ({ atMs }: { atMs: number }): number => Math.round(place(atMs) * (columns - 1));
  const behind = new Map(visible.map((mark) => [cellOf(mark), options.unicode ? '┊' : ':']));
  const edge = options.unicode ? ['┤', '│'] : ['|', '|'];
  const body = labels.map(
    (label, row) =>
      options.paint('dim', `${padStart(label, gutter)} ${label === '' ? edge[1] : edge[0]}`) +
      canvas.row(row, options, behind).trimEnd(),
  );
  const stalls = stallsOf(shown, cellOf, columns, GAP_INTERVALS * view.intervalMs);
  return [
    ...title,
    ...body,
    `${options.paint('dim', `${padStart(SCALE, gutter)} ${edge[1]}`)}${options.paint('warning', sparkline(stalls, STALLED_PERCENT, options.unicode))}`,
    options.paint('dim', `${' '.repeat(gutter + 2)}${timeLine(visible, cellOf, columns, spanMs)}`.trimEnd()),
  ].slice(0, view.rows);
}

/** Full height of the line of pressure: the alarm. Noise would look like trouble on a smaller scale. */
const SCALE = `${STALLED_PERCENT}%`;

/** The total at the top, 0 at the bottom, and whole numbers between them. */
function yLabels(y: Axis, total: number, height: number): string[] {
  const labels = Array.from({ length: height }, () => '');
  const bottom = height - 1;
  for (const tick of y.ticks) {
    const row = Math.round((1 - y.at(tick)) * bottom);
    if (row > 1 || tick === 0) labels[row] = String(tick / GiB);
  }
  labels[0] = String(Math.round(total / GiB));
  return labels;
}

/** Names of the lines, with their last values. */
function titleLines({ courses, stalledPercent }: Point, view: GraphView, options: RenderOptions): string[] {
  const legend = courses.map(({ bytes, letter, name, style }) =>
    options.paint(style, `${letter} ${name} ${options.exact ? amount(bytes, options) : tenths(bytes)}`),
  );
  const stalled = options.paint('warning', `stalled ${formatPercent(stalledPercent)}`);
  const span = spanText(view.span * view.intervalMs);
  return flow([options.paint('heading', `GiB, last ${span}`), ...legend, stalled], options, { dots: false });
}

/** GiB, as the title says. */
function tenths(bytes: number | null): string {
  return bytes === null ? UNKNOWN : (bytes / GiB).toFixed(1);
}

/** The highest share of each cell; between two readings the later one's, which is of the time before it. */
function stallsOf(
  points: readonly Point[],
  cellOf: (point: Point) => number,
  columns: number,
  gapMs: number,
): (number | null)[] {
  const stalls = Array.from({ length: columns }, (): number | null => null);
  for (const [index, point] of points.entries()) {
    const { atMs, stalledPercent } = point;
    if (stalledPercent === null) continue;
    const before = points[index - 1];
    const cell = cellOf(point);
    const from = before === undefined || atMs - before.atMs > gapMs ? cell : Math.min(cell, cellOf(before) + 1);
    for (let at = from; at <= cell; at++) stalls[at] = Math.max(stalls[at] ?? 0, stalledPercent);
  }
  return stalls;
}

interface RunPoint {
  point: Point;
  bytes: number;
}

/** Known values without a gap between them. */
function runsOf(points: readonly Point[], value: (point: Point) => number | null, gapMs: number): RunPoint[][] {
  const runs: RunPoint[][] = [];
  let last: Point | null = null;
  for (const point of points) {
    const bytes = value(point);
    if (bytes === null) {
      last = null;
      continue;
    }
    if (last === null || point.atMs - last.atMs > gapMs) runs.push([]);
    runs.at(-1)?.push({ point, bytes });
    last = point;
  }
  return runs;
}

/** "-2 min", "-1 min" and "now", where the texts of marks leave room. */
function timeLine(marks: readonly Mark[], cellOf: (mark: Mark) => number, columns: number, spanMs: number): string {
  let line = ' '.repeat(columns);
  const put = (text: string, center: number): void => {
    const start = Math.max(0, Math.min(columns - text.length, center - (text.length >> 1)));
    if (text.length > columns || line.slice(Math.max(0, start - 1), start + text.length + 1).trim() !== '') return;
    line = line.slice(0, start) + text + line.slice(start + text.length);
  };
  for (const mark of marks.toReversed()) put(mark.text, cellOf(mark));
  put('now', columns - 1);
  for (const share of [0.5, 0]) put(`-${spanText((1 - share) * spanMs)}`, Math.round(share * (columns - 1)));
  return line;
}

/** "2 min", "90 s". */
function spanText(ms: number): string {
  return formatDuration(ms)
    .replace('.00 s', ' s')
    .replace(/ 0 (s|min)$/, '');
}

/** One mark a value, from empty at 0 to full at `top` and above; a space where the value is unknown. */
export function sparkline(values: readonly (number | null)[], top: number, unicode: boolean): string {
  const marks = unicode ? '▁▂▃▄▅▆▇█' : '_.-~=+*#';
  return values
    .map((value) => {
      if (value === null) return ' ';
      const step = Math.floor((value / top) * marks.length);
      return marks[Math.min(marks.length - 1, Math.max(0, step))] ?? ' ';
    })
    .join('');
}
