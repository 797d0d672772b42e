/** A plot in characters, on logarithmic or linear axes: eight dots a cell with Unicode, else one. */
import type { RenderOptions } from './options.ts';
import type { Style } from './paint.ts';
import { padEnd, padStart, widthOf } from './text-layout.ts';

export interface Series {
  /** Marks its points, so that the plot reads without colour. */
  letter: string;
  name: string;
  style: Style;
  points: readonly (readonly [x: number, y: number])[];
  /** A line without points: a limit. */
  bare?: boolean;
}

export interface Plot {
  title: string;
  series: readonly Series[];
  /** Never logarithmic, whatever the range: for counts of steps, and amounts that add up. */
  linear?: boolean;
  /** "time", "size". */
  xName: string;
  yName: string;
  /** Label of a value on an axis. */
  xText(x: number): string;
  yText(y: number): string;
}

/** Odd, so that the middle row can be labelled as well as both ends. */
const ROWS = 9;

/** Marks a cell where lines meet: the line drawn last must not look like the only one. */
const SEVERAL = '*';

/** Minimum of cells from one letter of a line to the next: letters closer together hide the line. */
const LETTER_GAP = 3;

/** Ratio of largest to smallest value above which an axis is logarithmic: small values would lie on one another. */
const LOG_ABOVE = 20;

/** Dots of a cell by column and row, as Unicode numbers them for braille. */
const BRAILLE = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

interface Axis {
  log: boolean;
  from: number;
  to: number;
  /** 0 to 1. */
  at(value: number): number;
  /** The value at a share of the axis. */
  value(share: number): number;
}

/** A logarithmic axis needs values above 0; a linear axis of times and rates starts at 0, so that heights compare. */
export function axisOf(values: readonly number[], { fromZero, linear }: { fromZero: boolean; linear: boolean }): Axis {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const log = !linear && least > 0 && most / least > LOG_ABOVE;
  const from = log || !fromZero ? least : Math.min(0, least);
  const to = most > from ? most : from + 1;
  const scale = log ? Math.log : (value: number) => value;
  const span = scale(to) - scale(from);
  return {
    log,
    from,
    to,
    at: (value) => (scale(value) - scale(from)) / span,
    value: (share) => (log ? Math.exp(Math.log(from) + share * span) : from + share * span),
  };
}

/** The lines of the plot; [] without at least two values of x. */
export function plot(
  { title, series, linear = false, xName, yName, xText, yText }: Plot,
  options: RenderOptions,
): string[] {
  const points = series.flatMap(({ points }) => points);
  if (new Set(points.map(([x]) => x)).size < 2) return [];
  const x = axisOf(
    points.map(([value]) => value),
    { fromZero: false, linear },
  );
  const y = axisOf(
    points.map(([, value]) => value),
    { fromZero: true, linear },
  );
  const last = ROWS - 1;
  const labels = Array.from({ length: ROWS }, (_, row) =>
    row % (last / 2) === 0 ? yText(y.value((last - row) / last)) : '',
  );
  const gutter = Math.max(...labels.map((label) => label.length));
  const columns = Math.max(10, options.width - gutter - 2);
  const canvas = createCanvas(columns, ROWS, options.unicode);
  for (const line of series) draw(line, x, y, canvas);
  const edge = options.unicode ? '┤' : '|';
  const plain = options.unicode ? '│' : '|';
  const body = labels.map(
    (label, row) =>
      options.paint('dim', `${padStart(label, gutter)} ${label === '' ? plain : edge}`) +
      canvas.row(row, options).trimEnd(),
  );
  const scales = [y.log ? yName : null, x.log ? xName : null].filter((name) => name !== null);
  const [corner, rule] = options.unicode ? ['└', '─'] : ['+', '-'];
  return [
    ...heading(title, series, scales, options),
    ...body,
    options.paint('dim', `${' '.repeat(gutter + 1)}${corner}${rule.repeat(columns)}`.slice(0, options.width)),
    options.paint('dim', `${' '.repeat(gutter + 2)}${xLabels(x, columns, xText)}`),
  ];
}

function heading(
  title: string,
  series: readonly Series[],
  scales: readonly string[],
  options: RenderOptions,
): string[] {
  const legend = series
    .filter(({ points }) => points.length > 0)
    .map(({ letter, name, style }) => options.paint(style, `${letter} ${name}`))
    .concat(series.length > 1 ? [options.paint('dim', `${SEVERAL} several`)] : [])
    .join('  ');
  const axes = scales.length === 0 ? '' : options.paint('dim', ` (${scales.join(', ')}: logarithmic)`);
  const line = options.paint('heading', title) + axes;
  return widthOf(line) + widthOf(legend) + 3 <= options.width ? [`${line}   ${legend}`] : [line, legend];
}

/** Labels below both ends and, where there is room, the middle. */
function xLabels(x: Axis, columns: number, text: (value: number) => string): string {
  const [left, middle, right] = [text(x.from), text(x.value(0.5)), text(x.to)];
  const start = Math.round(columns / 2 - middle.length / 2);
  const fits = start > left.length + 2 && start + middle.length + 2 < columns - right.length;
  const line = fits ? padEnd(left, start) + middle : left;
  return padEnd(line, Math.max(line.length + 1, columns - right.length)) + right;
}

interface Canvas {
  /** Dots across and down, and across one cell. */
  dotsAcross: number;
  width: number;
  height: number;
  dot(column: number, row: number, style: Style): void;
  /** A letter over the dots of its cell. */
  letter(column: number, row: number, letter: string, style: Style): void;
  row(index: number, options: RenderOptions): string;
}

interface Cell {
  dots: number;
  letter: string | null;
  style: Style;
}

function createCanvas(columns: number, rows: number, unicode: boolean): Canvas {
  const [across, down] = unicode ? [2, 4] : [1, 1];
  const cells = Array.from({ length: rows }, () => Array.from({ length: columns }, (): Cell | null => null));
  const at = (column: number, row: number): [Cell[] | (Cell | null)[], number] => [
    cells[Math.floor(row / down)] ?? [],
    Math.floor(column / across),
  ];
  const mark = (column: number, row: number, style: Style, change: (cell: Cell) => void): void => {
    const [line, index] = at(column, row);
    const cell = line[index] ?? { dots: 0, letter: null, style };
    if (cell.letter === null) cell.style = style;
    change(cell);
    line[index] = cell;
  };
  return {
    dotsAcross: across,
    width: columns * across,
    height: rows * down,
    dot: (column, row, style) =>
      mark(column, row, style, (cell) => {
        cell.dots |= BRAILLE[column % across]?.[row % down] ?? 1;
      }),
    letter: (column, row, letter, style) =>
      mark(column, row, style, (cell) => {
        const shared = cell.letter !== null && cell.letter !== letter;
        cell.letter = shared ? SEVERAL : letter;
        cell.style = shared ? 'strong' : style;
      }),
    row: (index, options) =>
      (cells[index] ?? [])
        .map((cell) => {
          if (cell === null) return ' ';
          const mark = cell.letter ?? (unicode ? String.fromCodePoint(0x2800 + cell.dots) : '.');
          return options.paint(cell.style, mark);
        })
        .join(''),
  };
}

function draw({ points, letter, style, bare = false }: Series, x: Axis, y: Axis, canvas: Canvas): void {
  const placed = points.map(
    ([px, py]) =>
      [Math.round(x.at(px) * (canvas.width - 1)), Math.round((1 - y.at(py)) * (canvas.height - 1))] as const,
  );
  for (const [index, [toX, toY]] of placed.entries()) {
    const [fromX, fromY] = placed[index - 1] ?? [toX, toY];
    const steps = Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY), 1);
    for (let step = 0; step <= steps; step++) {
      const share = step / steps;
      canvas.dot(Math.round(fromX + (toX - fromX) * share), Math.round(fromY + (toY - fromY) * share), style);
    }
  }
  if (bare) return;
  // From the right: the last point is always marked.
  let free = Number.POSITIVE_INFINITY;
  for (const [column, row] of placed.toReversed()) {
    if (column > free) continue;
    canvas.letter(column, row, letter, style);
    free = column - LETTER_GAP * canvas.dotsAcross;
  }
}
