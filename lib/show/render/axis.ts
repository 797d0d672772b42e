/** The axes of a chart, linear or logarithmic, with whole numbers as ticks: of the terminal's plot and of the page's. */

export interface Axis {
  log: boolean;
  from: number;
  to: number;
  /** Ascending, each between `from` and `to`. */
  ticks: number[];
  /** 0 to 1. */
  at(value: number): number;
}

export interface AxisOptions {
  log: boolean;
  /** A linear axis of times, rates and amounts begins at 0, so that heights compare. */
  fromZero?: boolean;
  /** Both ends are ticks; otherwise they are the smallest and the largest value. */
  wholeEnds?: boolean;
  /** The amount of which ticks are whole numbers, as 2^30 for GiB. Default 1. */
  unit?: number;
  /** Smallest distance between ticks of a linear axis, in units: 1 for a count of steps. */
  smallestStep?: number;
  /** Logarithmic ticks at powers of two, for sizes in GiB that double. */
  binary?: boolean;
  /** Largest number of intervals between ticks. */
  intervals: number;
}

/** Ratio of largest to smallest value above which small values of a linear axis lie on one another. */
const LOG_ABOVE = 20;

/**
 * True if these points belong on two logarithmic axes. Both are, or neither: a straight line looks exponential on a
 * single one. 0 has no place on a logarithmic axis.
 */
export function isLogLog(points: readonly (readonly [x: number, y: number])[]): boolean {
  if (points.length === 0 || points.some(([x, y]) => x <= 0 || y <= 0)) return false;
  const ratio = (values: readonly number[]): number => Math.max(...values) / Math.min(...values);
  return ratio(points.map(([x]) => x)) > LOG_ABOVE || ratio(points.map(([, y]) => y)) > LOG_ABOVE;
}

export function axisOf(values: readonly number[], options: AxisOptions): Axis {
  const { log, unit = 1 } = options;
  const known = values.map((value) => value / unit).filter((value) => !log || value > 0);
  // Math.min(...known) would fail: a recording has more values than a call takes arguments.
  const least = known.reduce((lowest, value) => Math.min(lowest, value), known[0] ?? (log ? 1 : 0));
  const most = known.reduce((highest, value) => Math.max(highest, value), known[0] ?? (log ? 10 : 1));
  const { from, to, ticks } = log ? logarithmic(least, most, options) : linear(least, most, options);
  const scale = log ? Math.log : (value: number) => value;
  const [start, end] = [scale(from * unit), scale(to * unit)];
  return {
    log,
    from: from * unit,
    to: to * unit,
    ticks: ticks.map((tick) => tick * unit),
    at: (value) => (scale(value) - start) / (end - start),
  };
}

interface Ends {
  from: number;
  to: number;
  ticks: number[];
}

function linear(least: number, most: number, { fromZero, wholeEnds, smallestStep = 0, intervals }: AxisOptions): Ends {
  const low = fromZero ? Math.min(0, least) : least;
  const high = differ(low, most) ? most : low + 1;
  const step = Math.max(smallestStep, wholeStep((high - low) / intervals));
  // 0.3 / 0.1 is 2.9999999999999996.
  const first = Math.ceil(low / step - 1e-9);
  const last = wholeEnds ? Math.ceil(high / step - 1e-9) : Math.floor(high / step + 1e-9);
  const ticks = range(first, last).map((count) => rounded(count * step));
  return { from: low, to: wholeEnds ? (ticks.at(-1) ?? high) : high, ticks };
}

/** Distances between ticks of a clock, in seconds: parts of a second, of a minute, of an hour and of a day, and days. */
const CLOCK_STEPS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600,
  43_200, 86_400,
];

/** An axis of the time of day, UTC, in seconds since 1970. */
export function clockAxis(from: number, to: number, intervals: number): Axis {
  const least = (to - from) / intervals;
  const step = CLOCK_STEPS.find((seconds) => seconds >= least * (1 - 1e-6)) ?? 86_400 * Math.ceil(least / 86_400);
  const ticks = range(Math.ceil(from / step - 1e-9), Math.floor(to / step + 1e-9)).map((count) =>
    rounded(count * step),
  );
  return { log: false, from, to, ticks, at: (value) => (value - from) / (to - from) };
}

/** "09:09:54", or "09:09:54.25" where ticks are parts of a second, or "11-22 09:00" where they are hours. */
export function clockText(seconds: number, span: number): string {
  const iso = new Date(Math.round(seconds * 1000)).toISOString();
  if (span > 86_400) return iso.slice(5, 16).replace('T', ' ');
  return span < 10 ? iso.slice(11, 22) : iso.slice(11, 19);
}

/** True if an axis can show the difference: rounding of ticks leaves twelve digits. */
function differ(least: number, most: number): boolean {
  return most - least > 1e-9 * Math.max(Math.abs(least), Math.abs(most));
}

/** The smallest of 1, 2, 5, 10 … that is at least `step`; 25, 250 … too, but not 2.5. */
function wholeStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const factors = power >= 10 ? [1, 2, 2.5, 5, 10] : [1, 2, 5, 10];
  return rounded((factors.find((factor) => factor * power >= step * (1 - 1e-9)) ?? 10) * power);
}

/** A logarithmic axis with whole ends covers at least a decade: a narrower one would show noise as a slope. */
function logarithmic(least: number, most: number, { wholeEnds, binary = false, intervals }: AxisOptions): Ends {
  let [from, to] = differ(least, most) ? [least, most] : [least / 2, most * 2];
  if (wholeEnds) {
    const marks = steps125(from / 10, to * 10);
    from = marks.findLast((mark) => mark <= least * (1 + 1e-9)) ?? from;
    to = marks.find((mark) => mark >= most * (1 - 1e-9)) ?? to;
    if (to / from < 10 * (1 - 1e-9)) {
      const power = floorLog(from, 10);
      [from, to] = [10 ** power, 10 ** Math.max(power + 1, ceilLog(to, 10))];
    }
  }
  const inside = (ticks: readonly number[]): number[] =>
    ticks.filter((tick) => tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9));
  const base = binary ? 2 : 10;
  const powers = inside(range(floorLog(from, base), ceilLog(to, base)).map((power) => rounded(base ** power)));
  const fine = binary ? powers : inside(steps125(from, to));
  if (fine.length <= intervals + 1) return { from, to, ticks: fine };
  const every = Math.ceil(powers.length / (intervals + 1));
  return { from, to, ticks: powers.filter((_, index) => index % every === 0) };
}

/** 1, 2, 5, 10, 20 … from the decade of `from` to that of `to`. */
function steps125(from: number, to: number): number[] {
  return range(floorLog(from, 10), ceilLog(to, 10)).flatMap((power) => [1, 2, 5].map((n) => rounded(n * 10 ** power)));
}

function floorLog(value: number, base: number): number {
  return Math.floor(Math.log(value) / Math.log(base) + 1e-9);
}

function ceilLog(value: number, base: number): number {
  return Math.ceil(Math.log(value) / Math.log(base) - 1e-9);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

/** Drops the last digits of binary fractions: 3 × 0.1 is 0.30000000000000004. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

/** "0.05", "3", "1,000": the label of a tick. */
export function tickText(value: number): string {
  return value >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(0)
    : value.toLocaleString('en-US', { maximumFractionDigits: 3 });
}
