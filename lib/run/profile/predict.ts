/**
 * The peak of a configuration from the trials before it: a + b·x^p·y^q…, where a parameter whose rise is within the noise has the
 * exponent 0. Growth is faster than linear in the field (batch 2, 4, 8, 16 of a Qwen3-0.6B SFT on a GB10: 21.1, 29.0, 46.8,
 * 80.9 GB), so no curve bends down.
 */

import { formatBytes, MiB } from '../../base/format.ts';
import type { ProfileCurve, ProfileParameters, ProfilePrediction } from '../../types/index.ts';
import { sameParameters } from './plan.ts';

/** A trial that ended by itself: bytes that it added to the memory in use before it. */
export interface Measured {
  params: ProfileParameters;
  bytes: number;
}

/** Other changes of a machine at rest, and the share by which a trial differs from run to run (standard deviation). */
const NOISE_BYTES = 128 * MiB;
const NOISE_OF_PEAK = 0.03;
/** Exponents of the field are 1 to 1.3 (1.17 is that of the SFT above); steeper ones are the less likely, by this deviation. */
const USUAL_EXPONENT = 1.3;
const STEEPER_BY = 0.3;
/** Something new may be allocated at a size; no curve is steeper than this. */
const MAX_EXPONENT = 4;
/** Exponents that are tried: none, and 1 to 4. */
const EXPONENTS = [0, ...Array.from({ length: (MAX_EXPONENT - 1) * 20 + 1 }, (_, index) => 1 + index / 20)];
/** The same, of the parameters beside the one that is raised: their fit is repeated for each of its exponents. */
const COARSE = EXPONENTS.filter((exponent) =>
  exponent <= 2 ? Number.isInteger(exponent * 10) : Number.isInteger(exponent * 2),
);
/** An exponent whose misfit is within 2.5 standard deviations of the best one is possible. */
const POSSIBLE = 2.5 ** 2;
/** Each parameter's exponent is found with the others fixed; so often round. */
const ROUNDS = 2;

/** null: there is no trial that differs from this configuration in one parameter alone. */
export function predict(
  params: ProfileParameters,
  raised: string,
  trials: readonly Measured[],
): ProfilePrediction | null {
  const line = lineOf(params, raised, trials);
  const value = params[raised] as number;
  const last = line.at(-1);
  if (last === undefined) return null;
  // Three of the same line have its own exponent; fewer need the other trials.
  const data = line.length >= 3 ? line : trials;
  if (new Set(data.map((trial) => trial.params[raised])).size < 2) return fromOne(last, value, raised);
  const table = tableOf(data);
  const candidates = EXPONENTS.map((exponent) => {
    const fit = bestFit(table, { [raised]: exponent });
    const rise = at(fit, params) - at(fit, last.params);
    return { fit, misfit: fit.misfit, bytes: last.bytes + Math.max(0, rise), isFlat: exponent === 0 };
  });
  const best = Math.min(...candidates.map(({ misfit }) => misfit));
  const likeliest = candidates.find(({ misfit }) => misfit === best)?.fit as Fit;
  const possible = candidates.filter(({ misfit }) => misfit <= best + POSSIBLE).map(({ bytes }) => bytes);
  return widened(
    meanOf(candidates, best),
    Math.min(...possible, ...(isRising(data, raised) ? [] : [last.bytes])),
    Math.max(...possible),
    `${modelText(likeliest.exponents)} through ${trialsText(data, line, raised)}; the interval has every exponent of ${raised} that these allow`,
    data.length,
  );
}

/** Trials with the same other parameters and a smaller value, rising. */
function lineOf(params: ProfileParameters, raised: string, trials: readonly Measured[]): Measured[] {
  const raisedTo = (trial: Measured) => trial.params[raised] as number;
  return trials
    .filter((trial) => sameParameters({ ...trial.params, [raised]: 0 }, { ...params, [raised]: 0 }))
    .filter((trial) => raisedTo(trial) < (params[raised] as number))
    .sort((a, b) => raisedTo(a) - raisedTo(b));
}

/** True if two trials that differ in this parameter alone differ by more than noise. */
function isRising(trials: readonly Measured[], raised: string): boolean {
  return trials.some((high) =>
    lineOf(high.params, raised, trials).some(
      (low) => high.bytes - low.bytes > Math.sqrt(2 * POSSIBLE) * Math.hypot(NOISE_OF_PEAK * high.bytes, NOISE_BYTES),
    ),
  );
}

function fromOne(only: Measured, value: number, name: string): ProfilePrediction {
  const first = only.params[name] as number;
  const proportional = (only.bytes * value) / first;
  return widened(
    (only.bytes + proportional) / 2,
    only.bytes,
    proportional,
    `one trial (${name} ${first}) tells no growth: between none and in proportion`,
    1,
  );
}

/** The mean of the candidates by their likelihood; no growth is as likely beforehand as all growth together. */
function meanOf(candidates: readonly { misfit: number; bytes: number; isFlat: boolean }[], best: number): number {
  let [sum, weights] = [0, 0];
  for (const { bytes, isFlat, misfit } of candidates) {
    const weight = Math.exp((best - misfit) / 2) / (isFlat ? 1 : GROWTH_WEIGHT);
    sum += weight * bytes;
    weights += weight;
  }
  return sum / weights;
}

/** Penalty in squared standard deviations. */
function penaltyOf(exponent: number): number {
  return (Math.max(0, exponent - USUAL_EXPONENT) / STEEPER_BY) ** 2;
}

const GROWTH_WEIGHT = EXPONENTS.filter((exponent) => exponent > 0).reduce(
  (sum, exponent) => sum + Math.exp(-penaltyOf(exponent) / 2),
  0,
);

type Exponents = Readonly<Record<string, number>>;

/** fixed + growing · Π (value / first)^exponent. */
interface Fit {
  fixed: number;
  growing: number;
  first: ProfileParameters;
  exponents: Exponents;
  /** Sum of the squared differences, in standard deviations of the noise, and what steep exponents are less likely. */
  misfit: number;
}

/** Trials with the logarithms of their parameters, relative to the first trial: a fit takes some microseconds. */
interface Table {
  first: ProfileParameters;
  /** Parameters with more than one value. */
  names: readonly string[];
  points: readonly { weight: number; y: number; logs: readonly number[] }[];
}

function tableOf(trials: readonly Measured[]): Table {
  const first = (trials[0] as Measured).params;
  const names = Object.keys(first).filter((name) => new Set(trials.map(({ params }) => params[name])).size > 1);
  const points = trials.map(({ bytes, params }) => ({
    weight: 1 / ((NOISE_OF_PEAK * bytes) ** 2 + NOISE_BYTES ** 2),
    y: bytes,
    logs: names.map((name) => Math.log((params[name] as number) / (first[name] as number))),
  }));
  return { first, names, points };
}

/** Fits with the likeliest exponents beside the given ones; with none if none or one explains as much. */
function bestFit(table: Table, given: Exponents): Fit {
  const exponents = table.names.map((name) => given[name] ?? 1);
  const free = [...table.names.keys()].filter((index) => given[table.names[index] as string] === undefined);
  const likely = (index: number): number => {
    let [best, least] = [1, Number.POSITIVE_INFINITY];
    for (const exponent of table.names.length === 1 ? EXPONENTS : COARSE) {
      exponents[index] = exponent;
      const misfit = linesThrough(table, exponents).misfit + penaltyOf(exponent);
      if (misfit < least - 1e-9) [best, least] = [exponent, misfit];
    }
    return best;
  };
  for (let round = 0; round < (free.length === 1 ? 1 : ROUNDS); round++)
    for (const index of free) exponents[index] = likely(index);
  const { misfit, ...line } = linesThrough(table, exponents);
  return {
    ...line,
    first: table.first,
    exponents: Object.fromEntries(table.names.map((name, index) => [name, exponents[index] as number])),
    misfit: misfit + exponents.reduce((sum, exponent) => sum + penaltyOf(exponent), 0),
  };
}

/** The best constant part and growing part for these exponents; neither is negative. */
function linesThrough({ points }: Table, exponents: readonly number[]): Pick<Fit, 'fixed' | 'growing' | 'misfit'> {
  const xs = points.map(({ logs }) => {
    let log = 0;
    for (let index = 0; index < logs.length; index++) log += (logs[index] as number) * (exponents[index] as number);
    return Math.exp(log);
  });
  let [w, wx, wxx, wy, wxy] = [0, 0, 0, 0, 0];
  let at = 0;
  for (const { weight, y } of points) {
    const x = xs[at++] as number;
    w += weight;
    wx += weight * x;
    wxx += weight * x * x;
    wy += weight * y;
    wxy += weight * x * y;
  }
  const spread = w * wxx - wx * wx;
  let growing = spread > 1e-9 * w * wxx ? Math.max(0, (w * wxy - wx * wy) / spread) : 0;
  let fixed = (wy - growing * wx) / w;
  if (fixed < 0) [fixed, growing] = [0, wxy / wxx];
  let misfit = 0;
  at = 0;
  for (const { weight, y } of points) misfit += weight * (fixed + growing * (xs[at++] as number) - y) ** 2;
  return { fixed, growing, misfit };
}

function growthAt(params: ProfileParameters, first: ProfileParameters, exponents: Exponents): number {
  return Object.entries(exponents).reduce(
    (product, [name, exponent]) => product * ((params[name] as number) / (first[name] as number)) ** exponent,
    1,
  );
}

function at({ exponents, first, fixed, growing }: Fit, params: ProfileParameters): number {
  return fixed + growing * growthAt(params, first, exponents);
}

function widened(bytes: number, low: number, high: number, model: string, trials: number): ProfilePrediction {
  const noise = Math.max(NOISE_BYTES, bytes * NOISE_OF_PEAK);
  return {
    bytes: Math.round(bytes),
    low: Math.max(0, Math.round(Math.min(low, bytes) - noise)),
    high: Math.round(Math.max(high, bytes) + noise),
    model,
    trials,
  };
}

/** "a + b·batch^1.16·seq"; parameters that add nothing are left out. */
function modelText(exponents: Exponents): string {
  const parts = Object.entries(exponents).flatMap(([name, exponent]) =>
    exponent === 0 ? [] : [`·${name}${powerText(exponent)}`],
  );
  return parts.length === 0 ? 'a constant' : `a + b${parts.join('')}`;
}

function trialsText(data: readonly Measured[], line: readonly Measured[], name: string): string {
  if (data.length > line.length) return `${data.length} trials`;
  return `${name} ${line.map(({ params }) => params[name]).join(', ')}`;
}

function powerText(exponent: number): string {
  return exponent < 1.005 ? '' : `^${exponent.toFixed(2)}`;
}

/** The curve of a parameter through its trials; null: fewer than two. */
export function curveOf(params: ProfileParameters, parameter: string, peaks: readonly Measured[]): ProfileCurve | null {
  const line = lineOf({ ...params, [parameter]: Number.POSITIVE_INFINITY }, parameter, peaks);
  if (line.length < 2) return null;
  const { exponents, first, fixed, growing } = bestFit(tableOf(line), {});
  const isFlat = exponents[parameter] === 0;
  const exponent = isFlat ? 1 : (exponents[parameter] as number);
  const [fixedBytes, unitBytes] = isFlat
    ? [fixed + growing, 0]
    : [fixed, growing / (first[parameter] as number) ** exponent];
  const { [parameter]: _, ...others } = params;
  return {
    parameter,
    at: others,
    points: line.map((trial) => ({ value: trial.params[parameter] as number, peakBytes: trial.bytes })),
    fixedBytes: Math.round(fixedBytes),
    unitBytes,
    exponent,
    formula:
      unitBytes < 1
        ? `${formatBytes(Math.round(fixedBytes))}, whatever ${parameter} is`
        : `${formatBytes(Math.round(fixedBytes))} + ${formatBytes(Math.round(unitBytes))} · ${parameter}${powerText(exponent)}`,
  };
}
