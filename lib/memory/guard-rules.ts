/**
 * Thresholds of guard(): the one table, each with its evidence. The native guard has none of its own: every number goes to
 * it as an argument.
 *
 * Several signs are needed, because each alone has killed healthy programs: MemFree below 2 GiB did with 7 GiB available
 * (MiaAI Qwen3.8-Single PR 54), 6 GiB of it killed healthy loads, PSI full at 98.5 % for two minutes was healthy
 * (lcasarin/blackbox), and idle Sparks rest at 4.9 GiB available (hermes-agent #90713). MemAvailable alone misses the
 * wedges that begin with 38 to 46 GB available.
 */

import { GiB, MiB } from '../base/format.ts';
import { floorFor, lowMemory } from './floor.ts';
import { STALLED_PERCENT } from './pressure.ts';

/** What the native guard judges by. Bytes, milliseconds, percent. */
export interface GuardThresholds {
  floor: { bytes: number; from: string };
  killBelowBytes: number;
  /** SIGTERM if the floor is nearer than this at the present slope. */
  horizonMs: number;
  /** SIGKILL at once if it is nearer than this. */
  killHorizonMs: number;
  /** And SIGTERM only if it is nearer than this in bytes, SIGKILL at half of it. */
  nearBytes: number;
  /** How long a fall must be seen. */
  slopeMs: number;
  /** A fall by less is noise. */
  minFallBytes: number;
  /** How long MemAvailable is below the floor, with another sign, before SIGTERM. */
  lowForMs: number;
  /** PSI full over 10 s that counts as a sign. */
  pressureFullPercent: number;
  /** How long PSI full is above, as a mean, to be enough by itself. */
  pressureForMs: number;
  /** Free memory in blocks of 2 MiB or more below which it counts as a sign. */
  minBlocksBytes: number;
  /** MemFree below which caches are dropped while the program loads. */
  loadFreeBytes: number;
  /** Between two drops. */
  loadEveryMs: number;
}

/** A load that wedged went from 29 to 6 GiB in 8 s, 2.9 GiB/s: a second is time for the handler of a program. */
const HORIZON_MS = 1000;
const KILL_HORIZON_MS = 250;

/**
 * An engine that reserves 38 GiB at once falls as fast as a runaway, and ends with 9 GiB left (util 0.75, MiaAI PR 115), 0.6 GiB
 * above the floor of a Spark. At 4 GiB/s, SIGKILL is sent 64 ms before the floor, twice what a machine with all cores busy takes.
 */
const NEAR_BYTES = 512 * MiB;

/**
 * Ten readings. An engine that allocates one block and goes on computing makes a step, and no fall: what fell in the first
 * half of this time only does not count.
 */
const SLOPE_MS = 100;
/**
 * Twice the margin that a probe keeps for small allocations of other programs (floor.ts). In 100 ms it is a fall of
 * 1.25 GiB/s; a slower one is seen over a longer time.
 */
const MIN_FALL_BYTES = 128 * MiB;

/**
 * A healthy spike of 2 s at 98 % holds avg10 above 10 % for 6 s after it began to fall (98 × (1 − e^(−2/10)) = 17.8 %), and
 * idle Sparks are below the floor all day: the two together must not be enough.
 */
const LOW_FOR_MS = 10_000;

/** "full ≥ 10 % for 300 s": no miss and no false alarm in 19,696 samples with four wedges (lcasarin/blackbox). */
const PRESSURE_FOR_MS = 300_000;

/**
 * Healthy after 90 GiB pinned: 500 to 650 MiB in blocks of 2 MiB (tonyd2wild PR 19). Four nodes that were about to wedge
 * had no block of 4 MiB (MiaAI DeepSeek-v4.1-Flash #23).
 */
const MIN_BLOCKS_BYTES = 128 * MiB;

/**
 * The guard that ended the load-time wedges of two Sparks dropped caches and compacted each second while MemFree was below
 * 8 GiB; MemFree then never went below 2.6 GiB (tonyd2wild PR 19). A smaller machine has the same share.
 */
const LOAD_FREE_BYTES = 8 * GiB;
const LOAD_EVERY_MS = 1000;

/**
 * How old a reading may be before it is taken again, in milliseconds, where the guard's own interval is no longer: what moves
 * slowly need not be read each millisecond. /proc/meminfo takes 20 to 30 µs, the others 10 to 15; sysinfo(2), which tells
 * MemFree at each tick, takes 1 to 6.
 */
const READ_EVERY: Readonly<Record<string, number>> = {
  'available-ms': 50,
  // While the kernel reclaims page cache MemFree may stay where it is, so near the floor MemAvailable is read every 10 ms, and
  // at once when MemFree has moved.
  'available-near-ms': 10,
  // MemAvailable is at least MemFree less the kernel's reserve, of which 6.2 GiB were seen.
  'near-free': 16 * GiB,
  moved: 16 * MiB,
  // Means over 10 s, and the kernel's own are of every 2 s.
  'pressure-ms': 100,
  // It counts below the floor, after 10 s.
  'blocks-ms': 250,
  // Who belongs to the program, and its memory: the peak of the report.
  'group-ms': 100,
  'group-urgent-ms': 20,
};

/** The thresholds of a machine with `total` bytes, with the caller's floor and limit in place of the defaults. */
export function guardThresholds(
  total: number,
  requested: { floorBytes?: number | undefined; killBelowBytes?: number | undefined } = {},
): GuardThresholds {
  // Pinned memory takes host memory on every machine, so this is the host's floor.
  const floor = floorFor(requested.floorBytes ?? null, { total, model: 'discrete' }, ['pinned']);
  const { critical, low } = lowMemory(total);
  const usual = floor ?? { bytes: 0, from: 'none' };
  // A limit above the floor is the floor; a floor below the critical band is the limit.
  const killBelowBytes = requested.killBelowBytes ?? Math.min(Math.floor(critical), usual.bytes);
  return {
    floor: killBelowBytes > usual.bytes ? { bytes: killBelowBytes, from: 'the limit, as requested' } : usual,
    killBelowBytes,
    horizonMs: HORIZON_MS,
    killHorizonMs: KILL_HORIZON_MS,
    nearBytes: NEAR_BYTES,
    slopeMs: SLOPE_MS,
    minFallBytes: MIN_FALL_BYTES,
    lowForMs: LOW_FOR_MS,
    pressureFullPercent: STALLED_PERCENT,
    pressureForMs: PRESSURE_FOR_MS,
    minBlocksBytes: MIN_BLOCKS_BYTES,
    loadFreeBytes: Math.floor(Math.min(LOAD_FREE_BYTES, low)),
    loadEveryMs: LOAD_EVERY_MS,
  };
}

/** The thresholds as the native guard takes them. */
export function guardArguments(thresholds: GuardThresholds): string[] {
  const values: Readonly<Record<string, number>> = {
    floor: thresholds.floor.bytes,
    'kill-below': thresholds.killBelowBytes,
    'horizon-ms': thresholds.horizonMs,
    'kill-horizon-ms': thresholds.killHorizonMs,
    near: thresholds.nearBytes,
    'slope-ms': thresholds.slopeMs,
    'min-fall': thresholds.minFallBytes,
    'low-for-ms': thresholds.lowForMs,
    'pressure-full': thresholds.pressureFullPercent,
    'pressure-for-ms': thresholds.pressureForMs,
    'min-blocks': thresholds.minBlocksBytes,
    'load-free': thresholds.loadFreeBytes,
    'load-every-ms': thresholds.loadEveryMs,
    ...Object.fromEntries(Object.entries(READ_EVERY).map(([key, value]) => [`read-${key}`, value])),
  };
  return Object.entries(values).map(([key, value]) => `--${key}=${value}`);
}
