/** Types shared by sweep, layout and stress: times, counters, the report header, unfinished runs and options. */

import type { MemoryModel, OtherUsers } from './device.ts';
import type { AllocatorKind } from './kinds.ts';
import type { Amount, Factor, Natural, OfMachine, Timestamp } from './scalars.ts';

/** Statistics of repeated time measurements, in milliseconds of the monotonic clock around the CUDA call. */
export interface Times {
  min: Amount;
  median: Amount;
  max: Amount;
}

/**
 * Counters that an allocation may change, by source.
 * - `memFree`, `memAvailable`: /proc/meminfo. `cudaFree`: cudaMemGetInfo.
 * - `nvmlProcess`: memory of the allocating process by NVML; `nvmlDeviceUsed`: used memory of the device by NVML.
 * - `rss`: resident set of the process (/proc/self/statm). `cgroup`: memory.current of its cgroup.
 */
export type Counter = 'memFree' | 'memAvailable' | 'cudaFree' | 'nvmlProcess' | 'nvmlDeviceUsed' | 'rss' | 'cgroup';

/**
 * Change of a counter since the reading before the step, in bytes: later less before; negative: it fell. null: cannot
 * be read.
 */
export interface CounterChange {
  afterAlloc: number | null;
  afterTouch: number | null;
  afterFree: number | null;
}

/** Change of every counter in one step. */
export type CountersMoved = Record<Counter, CounterChange>;

/** The probed device. */
export interface ProbedDevice {
  /** Position in the snapshot. */
  index: Natural;
  name: string | null;
  uuid: string | null;
  memoryModel: MemoryModel;
  /** Bytes of cudaMemGetInfo's total. */
  total: Natural | null;
  driverVersion: string | null;
  cudaVersion: string | null;
}

/** Support of a kind here, and the function that allocates it. */
export interface KindSupport {
  kind: AllocatorKind;
  supported: boolean;
  /** The function: "cudaMalloc", "cuMemAlloc_v2" without the CUDA runtime library, "mmap". null: not supported. */
  call: string | null;
  /** The reason why it is not supported; null if it is. */
  reason: string | null;
}

/** Header of every probe report. */
export interface ProbeHeader extends OfMachine {
  /** Start of the probe, ISO 8601, UTC. */
  at: Timestamp;
  bootId: string | null;
  /**
   * Factor given by the machine file: simulated milliseconds per real millisecond; times in the report are simulated.
   * null on real hardware.
   */
  timeScale: Factor | null;
  device: ProbedDevice;
  kinds: KindSupport[];
  /** Bytes of /proc/meminfo at the start. */
  host: { total: Natural; available: Natural | null; free: Natural | null; swapTotal: Natural | null };
  /**
   * Memory left for the host, in bytes, and the rule or the caller's number that gave this amount. null: no probed kind
   * takes host memory.
   */
  floor: { bytes: Natural; from: string } | null;
  /** The other users of the device; null: there was none. */
  others: OtherUsers | null;
  /** Way to touch memory: umaprobe's GPU kernel, or cudaMemset if the kernel cannot be loaded (`reason` says why). */
  touch: { by: 'kernel' | 'memset'; reason: string | null };
  /** Path of the journal; null: none was kept. */
  journal: string | null;
  /** Repairs of the journal, as sentences: the end of a record that a power cut had torn. Empty: nothing. */
  journalNotes: string[];
  /** An earlier run that never ended, from the journal: "the machine vanished while taking 96.0 GiB to 100.0 GiB". */
  unfinished: UnfinishedRun | null;
  /** Path in this document ("device.total", "host.available", "moved.cgroup") → its source, or why it is null. */
  from: Record<string, string>;
  /** Duration of the call by the monotonic clock, settling included. */
  durationMs: Amount;
}

/** An earlier run whose last step has no result. */
export interface UnfinishedRun {
  command: 'sweep' | 'layout' | 'stress';
  at: string;
  bootId: string | null;
  /** True: the machine was restarted since that run. */
  otherBoot: boolean;
  kind: AllocatorKind;
  /** Bytes held before the last step, as given by the journal. */
  heldBytes: Natural;
  /** Bytes that it would have held after that step, as given by the journal. */
  targetBytes: Natural;
  /** Largest amount that the run held successfully, as given by the journal; 0: none. */
  provenBytes: Natural;
  /** The same as a sentence. */
  sentence: string;
}

/** Reported before `started` if dirty pages are written first, so many that allocations would wait for the disk. */
export interface ProbeWriting {
  type: 'writing';
  /** Dirty of /proc/meminfo, in bytes. */
  dirtyBytes: number;
}

/** Header fields that are known before the first allocation. */
export interface ProbeStarted extends Pick<ProbeHeader, 'floor' | 'journalNotes' | 'others' | 'unfinished'> {
  type: 'started';
  /**
   * The share in the report of a stress test, in bytes, given by the caller or the rule `from`; null for other
   * commands.
   */
  share: { bytes: number; from: string } | null;
  memoryModel: MemoryModel;
}

/** Events that sweep, layout and stress share. */
export type ProbeEvent = ProbeWriting | ProbeStarted;
