/** The lines of a chart as data: their names, the lines that they hide, and their text in words. */
import { GiB } from '../lib/base/format.ts';
import { type Axis, axisOf, clockAxis, isLogLog } from '../lib/show/render/axis.ts';
import { type KindStyle, PALETTE } from '../lib/show/render/kinds.ts';
import type { Zoom } from './zoom.ts';

/** A property of the style sheet. */
export type Colour = KindStyle | 'ink' | 'soft' | 'warn';

export interface Line {
  name: string;
  colour: Colour;
  /** Lengths of line and gap in CSS pixels. */
  dash: readonly number[];
  /** One value for each x; null: no result. */
  values: readonly (number | null)[];
  /** The fastest and the slowest repeat at each x; null: one value. */
  spread?: readonly (readonly [least: number, most: number] | null)[];
  /** End of a step without success, at each x: "refused". */
  failed?: readonly (string | null)[];
  /** A line without points: a limit. */
  bare?: boolean;
}

/** Colour and dash of a kind. */
export function stroke(style: KindStyle): { colour: Colour; dash: readonly number[] } {
  return { colour: style, dash: PALETTE[style].dash };
}

/** A value of a line on an axis of GiB. */
export function toGiB(bytes: number | null): number | null {
  return bytes === null ? null : bytes / GiB;
}

/** A moment: a line from top to bottom, with a label at its top. */
export interface Moment {
  at: number;
  label: string;
  colour: Colour;
}

/** A stretch of time: a thick line at this height, or a shade over the whole height. */
export interface Stretch {
  from: number;
  to: number;
  height: number | null;
  colour: Colour;
}

export interface Events {
  moments: readonly Moment[];
  stretches: readonly Stretch[];
}

export interface ChartSpec {
  title: string;
  /** Unit of the y axis. */
  unit: string;
  /** "size, GB" */
  xName: string;
  xs: readonly number[];
  /** Ticks of the x axis at powers of two. */
  binary?: boolean;
  /** The x axis counts steps: linear, from the first one. */
  steps?: boolean;
  /** The x axis is time, in seconds since 1970, and this part of it is shown. Its lines have no marks at their points. */
  time?: Zoom;
  /** Drawn over the lines of a time. */
  events?: Events;
  /** Look of the events, for the text below the chart. */
  notes?: readonly string[];
  xText(x: number): string;
  lines: readonly Line[];
}

/** Points of all lines, for the choice of the axes. */
export function pointsOf({ xs, lines }: ChartSpec): (readonly [number, number])[] {
  return lines.flatMap(({ values }) =>
    values.flatMap((y, index) => (y === null ? [] : [[xs[index] ?? 0, y] as const])),
  );
}

/** True if the charts of a page are easier to read with logarithmic axes; all of them share the choice. */
export function prefersLog(specs: readonly ChartSpec[]): boolean {
  return specs.some((spec) => !isAlwaysLinear(spec) && isLogLog(pointsOf(spec)));
}

/** Steps and times have no logarithm that says anything. */
function isAlwaysLinear({ steps, time }: ChartSpec): boolean {
  return steps === true || time !== undefined;
}

export interface Axes {
  x: Axis;
  y: Axis;
}

export function axesOf(spec: ChartSpec, log: boolean, width: number): Axes {
  const ys = spec.lines.flatMap(({ values, spread = [] }) => [...values, ...spread.flatMap((ends) => ends ?? [])]);
  return {
    x: xAxisOf(spec, log, width),
    y: axisOf(
      ys.filter((y) => y !== null),
      { log: isLog(spec, log), fromZero: true, wholeEnds: true, intervals: 5 },
    ),
  };
}

function isLog(spec: ChartSpec, log: boolean): boolean {
  return log && !isAlwaysLinear(spec) && spec.xs.length > 1;
}

/** Least distance of two labels in CSS pixels: "80", and "09:09:54". */
const LABEL_WIDTH = 56;
export const CLOCK_WIDTH = 84;

export function xAxisOf(spec: ChartSpec, log: boolean, width: number): Axis {
  const { binary, steps, time, xs } = spec;
  const intervals = Math.max(2, Math.min(8, Math.floor(width / (time === undefined ? LABEL_WIDTH : CLOCK_WIDTH))));
  if (time !== undefined) return clockAxis(time.span().from, time.span().to, intervals);
  return axisOf(xs, {
    log: isLog(spec, log),
    fromZero: steps !== true,
    smallestStep: steps === true ? 1 : 0,
    ...(binary === undefined ? {} : { binary }),
    intervals,
  });
}

/** Share of the chart's height within which two lines look like one. */
const CLOSE = 0.02;

/** Number of later lines that lie on a line and hide it, for each line and each x. */
export function hiddenBy(lines: readonly Line[], { at, log }: Axis): number[][] {
  // A logarithmic axis has no place for 0.
  const heightOf = (y: number | null): number | null => (y === null || (log && y <= 0) ? null : at(y));
  return lines.map(({ values, bare }, index) => {
    const later = lines.slice(index + 1).filter((line) => line.bare !== true);
    return values.map((value, place) => {
      const height = heightOf(value);
      if (height === null || bare === true) return 0;
      return later.filter((line) => {
        const other = heightOf(line.values[place] ?? null);
        return other !== null && Math.abs(other - height) < CLOSE;
      }).length;
    });
  });
}

/** Three to four figures: a value under the cursor. */
export function precise(value: number): string {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** "2,722 ms", "refused", or "" where nothing was tried. */
export function valueText({ values, failed = [] }: Line, index: number, unit: string): string {
  const value = values[index] ?? null;
  const text = value === null ? '' : `${precise(value)} ${unit}`;
  return [text, failed[index] ?? ''].filter((part) => part !== '').join(', ');
}

/** "8 GB: device 291 ms, pinned 292 ms": all values at one place of the x axis. */
export function readingText(spec: ChartSpec, index: number): string {
  const values = spec.lines.flatMap((line) => {
    const text = valueText(line, index, spec.unit);
    return text === '' ? [] : [`${line.name} ${text}`];
  });
  return `${spec.xText(spec.xs[index] ?? 0)}: ${values.length === 0 ? 'no result' : values.join(', ')}`;
}

/** The chart in a sentence, for readers who do not see it. */
export function summaryOf(spec: ChartSpec): string {
  const { title, unit, xs, xText, lines } = spec;
  const about = lines.map((line) => {
    const known = line.values.flatMap((y, index) => (y === null ? [] : [[xs[index] ?? 0, y] as const]));
    const [first, last] = [known[0], known.at(-1)];
    if (first === undefined || last === undefined) return `${line.name} has no result`;
    if (line.bare === true) return `the ${line.name} is ${precise(first[1])} ${unit}`;
    const failed = line.failed?.filter((state) => state !== null).length ?? 0;
    const failures = failed === 0 ? '' : `, ${failed} without a result`;
    if (known.length === 1) return `${line.name} ${precise(first[1])} ${unit} at ${xText(first[0])}${failures}`;
    return `${line.name} from ${precise(first[1])} ${unit} at ${xText(first[0])} to ${precise(last[1])} ${unit} at ${xText(last[0])}${failures}`;
  });
  return `Line chart. ${title} in ${unit}: ${about.join('; ')}.`;
}
