/** A plot in characters, on two linear or two logarithmic axes: eight dots a cell with Unicode, else one. */

import { type Axis, axisOf, isLogLog } from './axis.ts';
import { type Canvas, createCanvas, SEVERAL } from './canvas.ts';
import type { RenderOptions } from './options.ts';
import type { Style } from './paint.ts';
import { padStart, widthOf } from './text-layout.ts';

export interface Series {
  /** Marks its points, so that the plot reads without colour. */
  letter: string;
  name: string;
  style: Style;
  points: readonly (readonly [x: number, y: number])[];
  /** Places on the x axis where a measurement was tried and failed. */
  failed?: readonly number[];
  /** A line without points: a limit. */
  bare?: boolean;
}

export interface Plot {
  title: string;
  series: readonly Series[];
  /** The x axis counts steps: linear, from the first one, with a whole number of steps from tick to tick. */
  steps?: boolean;
  /** Amounts of which the labels are whole numbers: 2^30 for GiB. Default 1. */
  xUnit?: number;
  yUnit?: number;
  /** Sizes in GiB that double. */
  binary?: boolean;
  /** Label of a value on an axis. */
  xText(x: number): string;
  yText(y: number): string;
}

/** Marks a failed measurement, on the lowest row. */
const FAILED = 'x';

/** Minimum of cells from one letter of a line to the next: letters closer together hide the line. */
const LETTER_GAP = 3;

/** Intervals between the labels of the y axis at most, and rows at least. */
const INTERVALS = 5;
const ROWS = 9;

/** The lines of the plot; [] without at least two values of x. */
export function plot(
  { title, series, steps = false, xUnit = 1, yUnit = 1, binary = false, xText, yText }: Plot,
  options: RenderOptions,
): string[] {
  const points = series.flatMap((line) => line.points);
  if (new Set(points.map(([x]) => x)).size < 2) return [];
  const log = !steps && isLogLog(points);
  const y = axisOf(
    points.map(([, value]) => value),
    { log, fromZero: true, wholeEnds: true, unit: yUnit, intervals: INTERVALS },
  );
  const rows = rowsOf(y);
  const labels = Array.from({ length: rows }, () => '');
  for (const tick of y.ticks) labels[Math.round((1 - y.at(tick)) * (rows - 1))] = yText(tick);
  const gutter = Math.max(...labels.map((label) => label.length));
  const columns = Math.max(10, options.width - gutter - 2);
  const x = axisOf([...points.map(([value]) => value), ...series.flatMap(({ failed = [] }) => failed)], {
    log,
    fromZero: !steps,
    unit: xUnit,
    smallestStep: steps ? 1 : 0,
    binary,
    intervals: Math.max(1, Math.min(6, Math.floor(columns / 10))),
  });
  const canvas = createCanvas(columns, rows, options.unicode);
  for (const line of series) draw(line, x, y, canvas);
  const edge = options.unicode ? '┤' : '|';
  const plain = options.unicode ? '│' : '|';
  const body = labels.map(
    (label, row) =>
      options.paint('dim', `${padStart(label, gutter)} ${label === '' ? plain : edge}`) +
      canvas.row(row, options).trimEnd(),
  );
  const { marks, rule } = xLabels(x, columns, xText, options.unicode);
  const corner = options.unicode ? '└' : '+';
  return [
    ...heading(title, series, log, canvas.shared(), options),
    ...body,
    options.paint('dim', `${' '.repeat(gutter + 1)}${corner}${rule}`.slice(0, options.width)),
    options.paint('dim', `${' '.repeat(gutter + 2)}${marks}`),
  ];
}

/** Rows that put each label of a linear axis on a row of its own, at equal distances. */
function rowsOf({ log, ticks }: Axis): number {
  const intervals = ticks.length - 1;
  if (log || intervals < 1) return ROWS;
  return intervals * Math.max(2, Math.round((ROWS - 1) / intervals)) + 1;
}

function heading(
  title: string,
  series: readonly Series[],
  log: boolean,
  shared: ReadonlySet<string>,
  options: RenderOptions,
): string[] {
  const legend = series
    .filter(({ points }) => points.length > 0)
    .map(({ letter, name, style }) => options.paint(style, `${letter} ${name}`));
  // If the same lines meet everywhere, they are named: the reader knows what lies under the mark.
  const [only] = shared;
  if (only !== undefined)
    legend.push(options.paint('dim', `${SEVERAL} ${shared.size === 1 ? [...only].join(', ') : 'several'}`));
  if (series.some(({ failed = [] }) => failed.length > 0)) legend.push(options.paint('dim', `${FAILED} no result`));
  const axes = log ? options.paint('dim', ' (both axes logarithmic)') : '';
  const line = options.paint('heading', title) + axes;
  const oneLine = `${line}   ${legend.join('  ')}`;
  return widthOf(oneLine) <= options.width ? [oneLine] : [line, legend.join('  ')];
}

/** The rule with a mark at each label, and below it the labels that fit beside one another. */
function xLabels(
  x: Axis,
  columns: number,
  text: (value: number) => string,
  unicode: boolean,
): { rule: string; marks: string } {
  const rule: string[] = Array.from({ length: columns }, () => (unicode ? '─' : '-'));
  let line = '';
  for (const tick of x.ticks) {
    const label = text(tick);
    const column = Math.round(x.at(tick) * (columns - 1));
    const start = Math.min(Math.max(0, column - Math.floor(label.length / 2)), columns - label.length);
    if (start < (line === '' ? 0 : line.length + 2)) continue;
    rule[column] = unicode ? '┬' : '+';
    line = line.padEnd(start) + label;
  }
  return { rule: rule.join(''), marks: line };
}

function draw({ points, failed = [], letter, style, bare = false }: Series, x: Axis, y: Axis, canvas: Canvas): void {
  const placed = points.map(
    ([px, py]) =>
      [Math.round(x.at(px) * (canvas.width - 1)), Math.round((1 - y.at(py)) * (canvas.height - 1))] as const,
  );
  canvas.line(placed, style);
  for (const value of failed)
    canvas.letter(Math.round(x.at(value) * (canvas.width - 1)), canvas.height - 1, FAILED, style);
  if (bare) return;
  // Points are marked from the right: the last one always is.
  let free = Number.POSITIVE_INFINITY;
  for (const [column, row] of placed.toReversed()) {
    if (column > free) continue;
    canvas.letter(column, row, letter, style);
    free = column - LETTER_GAP * canvas.dotsAcross;
  }
}
