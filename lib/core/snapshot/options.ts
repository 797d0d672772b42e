/** The options of snapshot(), watch(), memory() and memGetInfo(). */

import { checkSignal } from '../../base/arguments.ts';
import { LIMITS } from '../../base/limits.ts';
import { type CheckedOf, custom, flag, milliseconds, type OptionsOf, oneOf, signal } from '../../base/options.ts';

/** Options of `snapshot()`. */
export interface SnapshotOptions extends OptionsOf<typeof SNAPSHOT> {}
/** Options of `watch()`. */
export interface WatchOptions extends SnapshotOptions, OptionsOf<typeof INTERVAL> {}
/** Options of `memory()`. */
export interface MemoryOptions extends OptionsOf<typeof MEMORY> {}
/** Options of `memorySync()`. */
export type MemorySyncOptions = Omit<MemoryOptions, 'signal'>;
/** Options of `memGetInfo()`. */
export interface MemGetInfoOptions extends OptionsOf<typeof MEM_GET_INFO> {}
/** `snapshot()` is ended by its signal; a reading is not. */
export type CheckedSnapshotOptions = Omit<CheckedOf<typeof SNAPSHOT>, 'signal'>;

export const MEMORY = {
  /** Time limit for CUDA, NVML and each file of the kernel, in milliseconds: 1 to 600000. Default 2000. A file has at least a second. */
  deadlineMs: milliseconds({
    ...LIMITS.deadlineMs,
    default: 2000,
    help: 'Time limit for CUDA, NVML and files of the kernel',
    note: '; without an answer, values are unknown',
  }),
  /** Rejects with the signal's reason. */
  signal,
};

export const SNAPSHOT = {
  /**
   * The way in which `cudaMemGetInfo` is read, which needs a CUDA context (527 MiB on an H200).
   * - `auto` (default): only if this process already has a context.
   * - `needed`: as `child`, but not on a device that shares the host's memory where a context would leave something behind
   *   or take what is needed: from driver 590 on its memory stays in the driver's pools, and a machine may be short of it.
   * - `neededInProcess`: the same devices, but with contexts in this process, which keeps them. Saves the second start of
   *   CUDA (250 ms on an H200), for programs that end soon.
   * - `child`: for every device, in a short-lived child process with a time limit.
   * - `inProcess`: create a context in this process if it has none.
   * - `never`.
   */
  memGetInfo: oneOf(['auto', 'needed', 'neededInProcess', 'child', 'inProcess', 'never'], { default: 'auto' }),
  /**
   * true: CUDA is asked about devices that CUDA_VISIBLE_DEVICES hides from this process, as `umaprobe snapshot` does: a
   * short-lived child process without that variable asks, once for each value of it, and only if a device is hidden.
   * Default false: of a hidden device, which has `visible: false`, only what NVML reports is known.
   */
  hiddenDevices: flag(),
  /**
   * Time limit for each library and for each file of the kernel, in milliseconds: 1 to 600000. Default 2000. A file has
   * at least a second.
   */
  deadlineMs: MEMORY.deadlineMs,
  /**
   * Time limit for the contexts or the child process of `memGetInfo` and of `hiddenDevices`, in milliseconds: 1 to 600000.
   * Default 10000. A child process has it from when it runs: its start may take 10 s besides.
   */
  childDeadlineMs: milliseconds({ ...LIMITS.deadlineMs, default: 10_000 }),
  /** Rejects with the signal's reason, and ends the iteration of `watch()`. A library that is being asked is not waited for. */
  signal,
};

const INTERVAL = {
  /** Interval between the starts of two readings, in milliseconds: 10 to 3600000. Default 1000. */
  intervalMs: milliseconds({ min: 10, max: 3_600_000, default: 1000 }),
};
export const WATCH = {
  ...INTERVAL,
  ...SNAPSHOT,
  // One that is aborted already is no error.
  signal: custom((_, value) => checkSignal(value), {}),
};

export const MEM_GET_INFO = {
  /** Time limit, in milliseconds: 1 to 600000. Default 10000. */
  deadlineMs: milliseconds({ ...LIMITS.deadlineMs, default: 10_000 }),
  /** Rejects with the signal's reason; the call itself goes on until it returns. */
  signal,
};
