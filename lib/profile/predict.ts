/**
 * The peak of a configuration from the trials before it. Growth is faster than linear in the field (batch 2, 4, 8, 16 of a
 * Qwen3-0.6B SFT on a GB10: 21.1, 29.0, 46.8, 80.9 GB), so no curve bends down.
 */

import { formatBytes, MiB } from '../base/format.ts';
import type { ProfileCurve, ProfileParameters, ProfilePrediction } from '../types/index.ts';
import { parametersText, sameParameters } from './plan.ts';

/** A trial that ended by itself: what it added to the memory in use before it, in bytes. */
export interface Measured {
  params: ProfileParameters;
  bytes: number;
}

/** Exponent that two trials are continued with: that of the SFT above is 1.17. */
const ASSUMED_EXPONENT = 1.2;
/** Upper end for two trials: attention without a fused kernel grows with the square of the length. */
const HIGH_EXPONENT = 2;
/** Three trials may bend steeper than that where something new is allocated; no further. */
const MAX_EXPONENT = 4;
/** What else moves on a machine at rest, and the share by which the same trial differs from run to run. */
const NOISE_BYTES = 128 * MiB;
const NOISE_OF_PEAK = 0.02;

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
  if (line.length >= 3) return fromThree(line.slice(-3), value, raised);
  if (line.length === 2) return fromTwo(line, value, raised);
  return fromProbe(params, raised, last, trials) ?? fromOne(last, value, raised);
}

interface Point {
  value: number;
  bytes: number;
}

/** Trials with the same other parameters and a smaller value, rising. */
function lineOf(params: ProfileParameters, raised: string, trials: readonly Measured[]): Point[] {
  return trials
    .filter((trial) => sameParameters({ ...trial.params, [raised]: 0 }, { ...params, [raised]: 0 }))
    .map((trial) => ({ value: trial.params[raised] as number, bytes: trial.bytes }))
    .filter(({ value }) => value < (params[raised] as number))
    .sort((a, b) => a.value - b.value);
}

function fromOne(only: Point, value: number, name: string): ProfilePrediction {
  const proportional = (only.bytes * value) / only.value;
  return widened(
    (only.bytes + proportional) / 2,
    only.bytes,
    proportional,
    `one trial (${name} ${only.value}) tells no growth: between none and in proportion`,
    1,
  );
}

function fromTwo(line: readonly Point[], value: number, name: string): ProfilePrediction {
  const at = (exponent: number) => powerAt(line, value, exponent);
  return widened(
    at(ASSUMED_EXPONENT),
    at(1),
    at(HIGH_EXPONENT),
    `a + b·${name}^${ASSUMED_EXPONENT} through ${names(line, name)}; the interval is from linear to ${name}^${HIGH_EXPONENT}`,
    2,
  );
}

function fromThree(line: readonly Point[], value: number, name: string): ProfilePrediction {
  const exponent = exponentOf(line);
  const lastTwo = line.slice(-2);
  const linear = powerAt(lastTwo, value, 1);
  const power = powerAt(lastTwo, value, exponent);
  const quadratic = quadraticAt(line, value);
  return widened(
    power,
    Math.min(linear, quadratic),
    Math.max(linear, quadratic),
    `a + b·${name}${powerText(exponent)} through ${names(line, name)}; the interval is from linear to quadratic`,
    3,
  );
}

/**
 * The rise of the parameter at the smallest configuration, enlarged as the rest of the configuration is: with a fixed part
 * (weights) it is enlarged more, by as much as the curve of the parameters before says.
 */
function fromProbe(
  params: ProfileParameters,
  raised: string,
  last: Point,
  trials: readonly Measured[],
): ProfilePrediction | null {
  for (const probe of trials) {
    if (probe.params[raised] !== params[raised] || sameParameters(probe.params, params)) continue;
    const below = trials.find((trial) => sameParameters(trial.params, { ...probe.params, [raised]: last.value }));
    if (below === undefined || below.bytes <= 0) continue;
    const rise = Math.max(0, probe.bytes - below.bytes);
    // A smaller variable part than what moves anyway tells nothing.
    const fixed = Math.min(fixedBytes(below.params, trials), Math.max(0, below.bytes - NOISE_BYTES));
    const whole = last.bytes + rise * Math.max(1, (last.bytes - fixed) / (below.bytes - fixed));
    return widened(
      whole,
      last.bytes + rise,
      whole,
      `the rise of ${formatBytes(rise)} from ${raised} ${last.value} to ${params[raised]} at ${parametersText(below.params)}, enlarged as ${formatBytes(below.bytes)} became ${formatBytes(last.bytes)}`,
      3,
    );
  }
  return null;
}

/** The smallest constant part of the curves that begin at this configuration; 0: none is known. */
function fixedBytes(start: ProfileParameters, trials: readonly Measured[]): number {
  const parts = Object.keys(start).flatMap((name) => {
    const line = lineOf({ ...start, [name]: Number.POSITIVE_INFINITY }, name, trials);
    return line.length < 2 ? [] : [curveThrough(line).fixed];
  });
  return Math.max(0, ...parts);
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

/** The curve a + b·value^exponent through the last two points, continued; it never falls. */
function powerAt(line: readonly Point[], value: number, exponent: number): number {
  const [before, last] = line.slice(-2) as [Point, Point];
  const rise = Math.max(0, last.bytes - before.bytes);
  const power = (x: number) => (x / last.value) ** exponent;
  return last.bytes + (rise * (power(value) - 1)) / (1 - power(before.value));
}

/** The parabola through three points, continued; never below the line through the last two. */
function quadraticAt(line: readonly Point[], value: number): number {
  const [first, middle, last] = line as [Point, Point, Point];
  const early = (middle.bytes - first.bytes) / (middle.value - first.value);
  const late = (last.bytes - middle.bytes) / (last.value - middle.value);
  const bend = Math.max(0, (late - early) / (last.value - first.value));
  return last.bytes + Math.max(0, late) * (value - last.value) + bend * (value - middle.value) * (value - last.value);
}

/** Exponent of the power through three points, from 1 to 4: what bends down counts as linear. */
function exponentOf(line: readonly Point[]): number {
  const [first, middle, last] = line.slice(-3) as [Point, Point, Point];
  const early = middle.bytes - first.bytes;
  const late = last.bytes - middle.bytes;
  if (late <= 0) return 1;
  if (early <= 0) return late > NOISE_BYTES ? MAX_EXPONENT : 1;
  const ratio = (exponent: number) =>
    (last.value ** exponent - middle.value ** exponent) / (middle.value ** exponent - first.value ** exponent);
  let [low, high] = [1, MAX_EXPONENT];
  if (ratio(low) >= late / early) return low;
  if (ratio(high) <= late / early) return high;
  for (let step = 0; step < 40; step++) {
    const half = (low + high) / 2;
    if (ratio(half) < late / early) low = half;
    else high = half;
  }
  return (low + high) / 2;
}

function powerText(exponent: number): string {
  return exponent < 1.005 ? '' : `^${exponent.toFixed(2)}`;
}

function names(line: readonly Point[], name: string): string {
  return `${name} ${line.map(({ value }) => value).join(', ')}`;
}

function curveThrough(line: readonly Point[]): { fixed: number; unit: number; exponent: number } {
  const exponent = line.length < 3 ? 1 : exponentOf(line);
  const [before, last] = line.slice(-2) as [Point, Point];
  const unit = Math.max(0, (last.bytes - before.bytes) / (last.value ** exponent - before.value ** exponent));
  return { fixed: last.bytes - unit * last.value ** exponent, unit, exponent };
}

/** The curve of a parameter through its largest trials; null: fewer than two. */
export function curveOf(params: ProfileParameters, parameter: string, peaks: readonly Measured[]): ProfileCurve | null {
  const line = lineOf({ ...params, [parameter]: Number.POSITIVE_INFINITY }, parameter, peaks);
  if (line.length < 2) return null;
  const { exponent, fixed, unit } = curveThrough(line);
  const { [parameter]: _, ...at } = params;
  return {
    parameter,
    at,
    points: line.map(({ bytes, value }) => ({ value, peakBytes: bytes })),
    fixedBytes: Math.round(fixed),
    unitBytes: unit,
    exponent,
    formula:
      unit < 1
        ? `${formatBytes(Math.round(fixed))}, whatever ${parameter} is`
        : `${formatBytes(Math.round(fixed))} + ${formatBytes(Math.round(unit))} · ${parameter}${powerText(exponent)}`,
  };
}
