/** What sweep, layout and stress have in common: kinds of memory, times, counters, how a probe ends. */

import type { MemoryModel } from './device.ts';
import type { AllocatorKind } from './kinds.ts';

/** Several measurements of the same thing, in milliseconds. */
export interface Times {
  min: number;
  median: number;
  max: number;
}

/**
 * A counter that may move with an allocation, each as another source counts it.
 * - `memFree`, `memAvailable`: /proc/meminfo. `cudaFree`: cudaMemGetInfo.
 * - `nvmlProcess`: what NVML attributes to the process that allocates; `nvmlDeviceUsed`: the device's memory in use.
 * - `rss`: resident set of the process (/proc/self/statm). `cgroup`: memory.current of its cgroup.
 */
export type Counter = 'memFree' | 'memAvailable' | 'cudaFree' | 'nvmlProcess' | 'nvmlDeviceUsed' | 'rss' | 'cgroup';

/** Change of a counter against the reading before the step, in bytes, negative for less; null: it cannot be read. */
export interface CounterChange {
  afterAlloc: number | null;
  afterTouch: number | null;
  afterFree: number | null;
}

export type CountersMoved = Record<Counter, CounterChange>;

/** The device that was probed. */
export interface ProbedDevice {
  index: number;
  name: string | null;
  uuid: string | null;
  memoryModel: MemoryModel;
  /** cudaMemGetInfo total. */
  total: number | null;
  driverVersion: string | null;
  cudaVersion: string | null;
}

/** Whether a kind can be used here, and what is called for it. */
export interface KindSupport {
  kind: AllocatorKind;
  supported: boolean;
  /** The function: "cudaMalloc", "cuMemAlloc_v2" where no CUDA runtime is installed, "mmap". null: not supported. */
  call: string | null;
  /** Why not; null where it is supported. */
  reason: string | null;
}

/** What every report of a probe begins with. */
export interface ProbeHeader {
  /** ISO 8601, UTC: when it began. */
  at: string;
  bootId: string | null;
  /** Name of the simulated machine, or null on real hardware. */
  simulated: string | null;
  /** Simulated milliseconds per real one; times in the report are simulated ones. null on real hardware. */
  timeScale: number | null;
  device: ProbedDevice;
  kinds: KindSupport[];
  /** /proc/meminfo when it began. */
  host: { total: number; available: number | null; free: number | null; swapTotal: number | null };
  /** Memory that the host keeps, and why that much. null: nothing allocated here is taken from the host. */
  floor: { bytes: number; from: string } | null;
  /** How first and second touch are done: by a kernel of umaprobe's, or cudaMemset where it cannot be loaded (and why). */
  touch: { by: 'kernel' | 'memset'; reason: string | null };
  /** The journal's file; null: none was kept. */
  journal: string | null;
  /** What the journal knew of an earlier run that did not end: "the machine vanished while taking 96.0 GiB to 100.0 GiB". */
  unfinished: UnfinishedRun | null;
  /** Path in this document ("device.total", "host.available", "moved.cgroup") → where it comes from, or why it is null. */
  from: Record<string, string>;
  durationMs: number;
}

/** An earlier run whose last step has no result. */
export interface UnfinishedRun {
  command: 'sweep' | 'layout' | 'stress';
  at: string;
  bootId: string | null;
  /** Whether that was in an earlier boot: the machine was restarted since. */
  otherBoot: boolean;
  kind: AllocatorKind;
  /** Bytes that were held, and that the step would have made of them. */
  heldBytes: number;
  targetBytes: number;
  /** The most that the run had held without harm; 0: nothing. */
  provenBytes: number;
  /** In words. */
  sentence: string;
}

/** What is known before the first step; the same stands in the report. */
export type ProbeStart = Pick<ProbeHeader, 'floor' | 'unfinished'>;

/** Options that sweep, layout and stress share. */
export interface ProbeOptions {
  /** CUDA ordinal. Default 0. */
  device?: number;
  /**
   * Memory that the host keeps, in bytes. Default, where host memory is taken: the larger of 8 GiB and 7 % of MemTotal, but no
   * more than a quarter of a machine below 32 GiB. At least 2 GiB unless `acceptAFrozenMachine`.
   */
  floor?: number;
  /** Takes a floor below 2 GiB, and starts on a machine that is under pressure, fragmented or swapping; never below the floor. */
  acceptAFrozenMachine?: boolean;
  /** File of the journal; false: none. Default: a file under $XDG_STATE_HOME/umaprobe (~/.local/state/umaprobe). */
  journal?: string | false;
  /** Limit for one native job, in milliseconds: 100 to 600000. Default 60000. */
  stepDeadlineMs?: number;
  /** Limit for the whole, in milliseconds: 100 to 86400000. Default: none for sweeps, 600000 for stress. */
  timeoutMs?: number;
  /** Ends it; what was measured until then is in the report. */
  signal?: AbortSignal;
  /** Called once, when the machine was found fit and before anything is allocated. */
  onStart?: (start: ProbeStart) => void;
}
