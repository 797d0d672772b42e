/**
 * Thresholds of both guards, of guard() and of a probe: the one table, each with its evidence. The native guards have none of
 * their own: every number goes to them by name (lib/core/native/guard-protocol.ts says what each is for), and they do not start
 * without one.
 *
 * Several signs are needed, because each alone has killed healthy programs: MemFree below 2 GiB did with 7 GiB available
 * (MiaAI Qwen3.8-Single PR 54), 6 GiB of it killed healthy loads, PSI full at 98.5 % for two minutes was healthy
 * (lcasarin/blackbox), and idle Sparks rest at 4.9 GiB available (hermes-agent #90713). MemAvailable alone misses the
 * wedges that begin with 38 to 46 GB available.
 */

import { GiB, MiB } from '../../base/format.ts';
import { hostFloor, lowMemory } from './floor.ts';
import { PLATEAU_SHARE } from './plateaus.ts';
import { STALLED_PERCENT } from './pressure.ts';

/** A load that wedged went from 29 to 6 GiB in 8 s, 2.9 GiB/s: a second is time for SIGKILL, after the grace of SIGTERM. */
const HORIZON_MS = 1000;
const KILL_HORIZON_MS = 250;

/**
 * An engine that reserves 38 GiB at once falls as fast as a runaway, and ends with 9 GiB left (util 0.75, MiaAI PR 115), 0.6 GiB
 * above the floor of a Spark. At 4 GiB/s, SIGKILL is sent 64 ms before the floor, twice what a machine with all cores busy takes.
 */
const NEAR_BYTES = 512 * MiB;
/** Half of it: a program that got SIGTERM may end by itself. */
const KILL_NEAR_BYTES = NEAR_BYTES / 2;

/**
 * MemAvailable leaves out the free pages in the processors' lists, up to an eighth of memory: they are read with it, and
 * count; often once it is so near that a guard would act. /proc/zoneinfo takes 30 µs on two processors, 70 on 16.
 */
const READ_LISTS = { readListsMs: 100, readListsNearMs: 10 };

/**
 * Ten readings. An engine that allocates one block and goes on computing makes a step, and no fall: what fell in the first
 * half of this time only does not count.
 */
const SLOPE_MS = 100;
/** A fall is looked for over 100, 200, 400 ms and so on: one of 20 MiB/s is no more than noise in three seconds. */
const LONGEST_SLOPE_MS = 6400;
/** Each half of a lasting fall has this share of it: a single jump is over when it is seen. */
const LEAST_HALF_SHARE = 0.25;

/** Of a fall, the share that others must have taken: the program is then warned of, and not stopped. */
const OTHERS_SHARE = 0.75;
/**
 * GPU memory is read twice a second and a fall is seen in a tenth of one. A reading older than a quarter of the fall says
 * nothing about it; then the fall between the last two readings does, unless this one is twice as fast.
 */
const HELD_AGE_SHARE = 0.25;
const FASTER_FACTOR = 2;
const READ_GPU_MS = 500;
/**
 * Twice the margin that a probe keeps for small allocations of other programs (floor.ts). In 100 ms it is a fall of
 * 1.25 GiB/s; a slower one is seen over a longer time.
 */
const MIN_FALL_BYTES = 128 * MiB;
/** A program that takes 20 MiB/s, less than a fall is seen of, has 6 s from here to the floor: its grace, and time to be killed. */
const CROSSING_BYTES = MIN_FALL_BYTES;

/**
 * A program that takes 2 GiB in 70 ms, and rests, is past the floor when that is seen. Once it has done so, the next burst that
 * is as fast is expected to be as large. An engine that reserves its KV cache has done nothing alike in the seconds before.
 */
const BURST = { burstForMs: 250, burstEveryMs: 8, burstStepBytes: 16 * MiB, burstRestMs: 100, burstMemoryMs: 10_000 };

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

/** Full swap and missing blocks are normal at rest: they count while tasks wait for memory at all, at a tenth of a stall. */
const SOME_PRESSURE_PERCENT = STALLED_PERCENT / 10;
/** Less is free: in the wedges all of swap was used up. */
const SWAP_USED_UP_SHARE = 0.05;

/** Memory comes back within this time after a target has ended; then the next one may be stopped. */
const SETTLE_MS = 1000;
/** A process in an uninterruptible call may outlive SIGKILL by minutes: it is not waited for any longer. */
const GIVE_UP_MS = 5000;
/** Between two looks at what is being stopped, and at a control group or a terminal at rest. */
const LOOK_MS = 20;
const LOOK_IDLE_MS = 100;
const REPORT_MS = 100;
/** A command over the network to a machine that froze as well: the guard waits for it before it ends. */
export const NOTIFY_MS = 10_000;

/**
 * The guard that ended the load-time wedges of two Sparks dropped caches and compacted each second while MemFree was below
 * 8 GiB; MemFree then never went below 2.6 GiB (tonyd2wild PR 19). A smaller machine has the same share.
 */
const LOAD_FREE_BYTES = 8 * GiB;
const LOAD_EVERY_MS = 1000;
/**
 * Engines pause between weights and KV cache for some seconds, while kernels are compiled: what has not grown by a percent of
 * memory for half a minute serves. A first compilation takes minutes, so where it is known what the program will hold at
 * least, it loads until then. A load from a network share takes 20 minutes for 100 GB.
 */
const LOAD_PLATEAU_MS = 30_000;
export const LOAD_LIMIT_MS = 30 * 60_000;
/** Without more rights than the program, the guard gets the processor before thousands of its processes at this nice value. */
export const PROGRAM_NICER = 10;

/**
 * How old a reading may be before it is taken again, in milliseconds, where the guard's own interval is no longer: what moves
 * slowly need not be read each millisecond. /proc/meminfo takes 20 to 30 µs, the others 10 to 15; sysinfo(2), which tells
 * MemFree at each tick, takes 1 to 6.
 */
const READ_EVERY = {
  readAvailableMs: 50,
  // While the kernel reclaims page cache MemFree may stay where it is, so near the floor MemAvailable is read every 10 ms, and
  // at once when MemFree has moved.
  readAvailableNearMs: 10,
  // MemAvailable is at least MemFree less the kernel's reserve, of which 6.2 GiB were seen.
  readNearBytes: 16 * GiB,
  readMovedBytes: 16 * MiB,
  // Means over 10 s, and the kernel's own are of every 2 s.
  readPressureMs: 100,
  // It counts below the floor, after 10 s.
  readBlocksMs: 250,
  ...READ_LISTS,
  // Who belongs to the program, and its memory: the peak of the report.
  // A measurement of a few processes takes 0.2 ms, and some more where the processors are busy; one of thousands is not waited for.
  waitMs: 10,
  readGroupMs: 100,
  readGroupUrgentMs: 20,
  readGroupIdleMs: 500,
  readGpuMs: READ_GPU_MS,
} as const;

/** How often a recorder reads /proc/meminfo, in milliseconds; MemFree it reads each time. */
export const RECORD_MEMINFO_MS = READ_EVERY.readAvailableNearMs;

/** The thresholds of a machine with `total` bytes, with the caller's floor and limit in place of the defaults. */
export function guardThresholds(
  total: number,
  requested: {
    floorBytes?: number | undefined;
    killBelowBytes?: number | undefined;
    loadBytes?: number | undefined;
  } = {},
) {
  const usual = hostFloor(total, requested.floorBytes ?? null);
  const { critical, low } = lowMemory(total);
  // A limit above the floor is the floor; a floor below the critical band is the limit.
  const killBelowBytes = requested.killBelowBytes ?? Math.min(Math.floor(critical), usual.bytes);
  return {
    floor: killBelowBytes > usual.bytes ? { bytes: killBelowBytes, from: 'the limit, as requested' } : usual,
    killBelowBytes,
    horizonMs: HORIZON_MS,
    killHorizonMs: KILL_HORIZON_MS,
    nearBytes: NEAR_BYTES,
    killNearBytes: KILL_NEAR_BYTES,
    crossingBytes: CROSSING_BYTES,
    ...BURST,
    groupHorizonMs: 2 * HORIZON_MS,
    slopeHalfMs: SLOPE_MS / 2,
    longestSlopeHalfMs: LONGEST_SLOPE_MS / 2,
    minFallBytes: MIN_FALL_BYTES,
    leastHalfShare: LEAST_HALF_SHARE,
    othersShare: OTHERS_SHARE,
    heldAgeShare: HELD_AGE_SHARE,
    fasterFactor: FASTER_FACTOR,
    lowForMs: LOW_FOR_MS,
    pressureFullPercent: STALLED_PERCENT,
    somePressurePercent: SOME_PRESSURE_PERCENT,
    pressureForMs: PRESSURE_FOR_MS,
    minBlocksBytes: MIN_BLOCKS_BYTES,
    swapUsedUpShare: SWAP_USED_UP_SHARE,
    settleMs: SETTLE_MS,
    giveUpMs: GIVE_UP_MS,
    loadFreeBytes: Math.floor(Math.min(LOAD_FREE_BYTES, low)),
    loadEveryMs: LOAD_EVERY_MS,
    loadStepBytes: Math.ceil(total * PLATEAU_SHARE),
    loadPlateauMs: LOAD_PLATEAU_MS,
    loadLeastBytes: requested.loadBytes ?? 0,
    loadLimitMs: LOAD_LIMIT_MS,
    ...READ_EVERY,
    lookMs: LOOK_MS,
    lookIdleMs: LOOK_IDLE_MS,
    reportMs: REPORT_MS,
    notifyMs: NOTIFY_MS,
  };
}

/** What the guard of a program judges by, but for what its caller asks for. Bytes, milliseconds, percent. */
export type GuardThresholds = ReturnType<typeof guardThresholds>;

/**
 * Where PSI full is enough for the guard of a probe to act at once: MemAvailable below so many floors. Elsewhere pressure may be
 * the normal cost of reclaim during an allocation: of seven such spikes on a GB10, one reached 98 % for two minutes.
 */
const PRESSURE_NEAR_FLOORS = 1.25;
/** Healthy reclaim makes progress, GiB per second: pages are handed out, and MemAvailable falls. */
const PROGRESS_BYTES = 64 * MiB;
const NO_PROGRESS_MS = 1000;
/** A tenth of the shortest wedge. */
const PROBE_PRESSURE_FOR_MS = 30_000;

/**
 * What the guard of a probe judges by.
 *
 * @param floor in bytes; 0: MemAvailable is not watched, and any pressure above the limit is enough.
 * @param pressureFullPercent the limit; 0: pressure is not watched.
 */
export function probeThresholds(floor: number, pressureFullPercent: number) {
  return {
    floorBytes: floor,
    pressureFullPercent,
    pressureNearBytes: floor === 0 ? Number.MAX_SAFE_INTEGER : floor * PRESSURE_NEAR_FLOORS,
    progressBytes: PROGRESS_BYTES,
    noProgressMs: NO_PROGRESS_MS,
    pressureForMs: PROBE_PRESSURE_FOR_MS,
    readAvailableMs: 20,
    readNearBytes: READ_EVERY.readNearBytes,
    readPressureMs: 20,
    ...READ_LISTS,
    freeEveryMs: 100,
  };
}
