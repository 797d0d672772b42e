/** Processes that grow steadily over a long recording: a leak is the commonest slow death of a machine. Pure. */

import { MiB } from '../../base/format.ts';
import { PLATEAU_SHARE } from '../../core/memory/plateaus.ts';
import type { ProcessSeries, RecordedGrowth } from '../../types/index.ts';

/** A process is looked at over this time at least. A load of the longest kind, from a network share, is over after half of it. */
const LEAST_MS = 45 * 60_000;
/** Parts of this time. The process holds more in each than in the one before. */
const PARTS = 6;
/** Lists of processes in a part. */
const LEAST_IN_PART = 3;
/** Share of the mean growth of a part that each part has: what levels off, as a cache or a load does, is no leak. */
const LEAST_PART_SHARE = 0.25;
/** Largest fall, as a share of the growth: a program that gives all of it back again and again does not grow. */
const MOST_FALL_SHARE = 0.5;
/** A smaller growth is not told apart from the usual. */
const LEAST_BYTES = 256 * MiB;
/** A growth that takes longer than a week to matter is left to the next recording. */
const MATTERS_MS = 7 * 24 * 3_600_000;
/** Values of which the slope is taken: every pair of them is compared. */
const POINTS = 120;
const HOUR_MS = 3_600_000;

/** Memory of the machine at the end, in bytes. */
export interface Pool {
  total: number;
  /** MemAvailable above the floor; null: not read. */
  spare: number | null;
  /** GPU memory is taken from it. */
  unified: boolean;
}

interface Value {
  ms: number;
  bytes: number;
}

/** Fastest first. */
export function growthOf({ at, processes }: ProcessSeries, pool: Pool): RecordedGrowth[] {
  const times = at.map((time) => Date.parse(time));
  const valuesOf = (held: readonly (number | null)[]): Value[] =>
    held.flatMap((bytes, place) => (bytes === null ? [] : [{ ms: times[place] ?? 0, bytes }]));
  return processes
    .flatMap(({ gpuBytes, held, name, pid }) =>
      ([['host', held] as const, ['gpu', gpuBytes] as const] as const).map(([memory, values]) => {
        const isThere = values.at(-1) != null;
        const spare = isThere && (memory === 'host' || pool.unified) ? pool.spare : null;
        const growth = steadyGrowth(valuesOf(values), pool.total, spare);
        return growth === null ? null : { pid, name, memory, ...growth };
      }),
    )
    .filter((growth) => growth !== null)
    .sort((a, b) => b.bytesPerHour - a.bytesPerHour);
}

/** @param spare bytes that it can still take; null: unknown, or it ended. */
function steadyGrowth(
  values: readonly Value[],
  total: number,
  spare: number | null,
): Omit<RecordedGrowth, 'pid' | 'name' | 'memory'> | null {
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined || last.ms - first.ms < LEAST_MS) return null;
  if (!isSteady(values, first.ms, last.ms)) return null;
  const slope = theilSen(values);
  const bytes = Math.round(slope * (last.ms - first.ms));
  if (bytes < LEAST_BYTES) return null;
  const usedUpInMs = spare === null ? null : Math.round(Math.max(0, spare) / slope);
  const matters = usedUpInMs === null ? bytes >= total * PLATEAU_SHARE : usedUpInMs <= MATTERS_MS;
  if (!matters) return null;
  const iso = (ms: number): string => new Date(ms).toISOString();
  return { bytesPerHour: Math.round(slope * HOUR_MS), bytes, from: iso(first.ms), to: iso(last.ms), usedUpInMs };
}

function isSteady(values: readonly Value[], fromMs: number, toMs: number): boolean {
  const parts: number[][] = Array.from({ length: PARTS }, () => []);
  for (const { bytes, ms } of values)
    parts[Math.min(PARTS - 1, Math.floor(((ms - fromMs) / (toMs - fromMs)) * PARTS))]?.push(bytes);
  if (parts.some(({ length }) => length < LEAST_IN_PART)) return false;
  const medians = parts.map(median);
  const growth = (medians.at(-1) ?? 0) - (medians[0] ?? 0);
  const least = (growth / (PARTS - 1)) * LEAST_PART_SHARE;
  return (
    growth > 0 &&
    medians.every((value, part) => part === 0 || value - (medians[part - 1] ?? 0) >= least) &&
    largestFall(values) <= growth * MOST_FALL_SHARE
  );
}

function largestFall(values: readonly Value[]): number {
  let highest = 0;
  let largest = 0;
  for (const { bytes } of values) {
    highest = Math.max(highest, bytes);
    largest = Math.max(largest, highest - bytes);
  }
  return largest;
}

/** The median slope of all pairs, in bytes per millisecond: values that stand out do not move it. */
function theilSen(values: readonly Value[]): number {
  const step = Math.max(1, values.length / POINTS);
  const points = Array.from(
    { length: Math.min(POINTS, values.length) },
    (_, index) => values[Math.floor(index * step)],
  );
  const slopes = points.flatMap((from, index) =>
    points.slice(index + 1).map((to) => {
      if (from === undefined || to === undefined) return 0;
      return (to.bytes - from.bytes) / (to.ms - from.ms);
    }),
  );
  return median(slopes);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? 0) + high) / 2;
}
