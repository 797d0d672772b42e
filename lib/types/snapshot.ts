/** A snapshot of the whole machine, and the options of `snapshot()` and `watch()`. */

import type { DeviceSnapshot, LibraryStatus } from './device.ts';
import type { CgroupLimits, DriverFacts, FreeBlocks, HostMemory, KernelMemory, Ledger, Pressure } from './host.ts';
import type { Judgement } from './judgement.ts';
import type { Amount, Timestamp } from './scalars.ts';

/** The memory of a machine at one instant: how it is used, how much the next allocation can get, and what stands in the way. */
export interface Snapshot {
  schema: 'umaprobe/snapshot/1';
  at: Timestamp;
  bootId: string | null;
  /** Name of the simulated machine; null on real hardware. */
  simulated: string | null;
  /** Host name; of a simulated machine its name. */
  hostName: string;
  /** Version of the umaprobe that has read it. */
  umaprobeVersion: string;
  host: HostMemory;
  ledger: Ledger;
  pressure: Pressure | null;
  contiguity: FreeBlocks[] | null;
  kernel: KernelMemory;
  driver: DriverFacts;
  cgroup: CgroupLimits | null;
  libraries: { cuda: LibraryStatus; nvml: LibraryStatus };
  /** CUDA_VISIBLE_DEVICES of this process, which hides devices from CUDA and not from NVML; null: not set. */
  cudaVisibleDevices: string | null;
  devices: DeviceSnapshot[];
  /** The reason why `devices` is empty; null when it is not. */
  noDevices: string | null;
  /** Path of a property ("host.cmaFree", "pressure", "driver.poolBytes") → its source file, or why it is null. */
  from: Record<string, string>;
  /** Duration of this reading, in milliseconds. */
  durationMs: Amount;
  judgement: Judgement;
}

/** A snapshot before it is judged: facts only. */
export type Reading = Omit<Snapshot, 'judgement'>;

/** Options of `snapshot()`. */
export interface SnapshotOptions {
  /**
   * The way to read `cudaMemGetInfo`, which needs a CUDA context (527 MiB on an H200).
   * - `auto` (default): only if this process already has a context.
   * - `needed`: as `child`, but not on a device that shares the host's memory if a context would leave memory behind or
   *   take what is needed: its memory stays in the driver's pools from driver 590 on, and a machine may be short of it.
   * - `neededInProcess`: the same devices, but with contexts in this process, which keeps them. Saves the second start of
   *   CUDA (250 ms on an H200), for programs that end soon.
   * - `child`: for every device, in a short-lived child process with a time limit.
   * - `inProcess`: create a context in this process if it has none.
   * - `never`.
   */
  memGetInfo?: 'auto' | 'needed' | 'neededInProcess' | 'child' | 'inProcess' | 'never';
  /**
   * True: asks CUDA about devices that CUDA_VISIBLE_DEVICES hides from this process, as `umaprobe snapshot` does: a
   * short-lived child process without that variable asks, once for each value of it, and only if a device is hidden.
   * Default false: a hidden device has `visible: false`, and only NVML's facts.
   */
  hiddenDevices?: boolean;
  /**
   * Time limit for each library and for each file of the kernel, in milliseconds: 1 to 600000. Default 2000. A file has
   * at least a second.
   */
  deadlineMs?: number;
  /** Time limit for the contexts or the child process of `memGetInfo` and of `hiddenDevices`, in milliseconds: 1 to 600000. Default 10000. */
  childDeadlineMs?: number;
  /** Rejects with the signal's reason. A library that is being asked is not waited for. */
  signal?: AbortSignal;
}

/** Options of `watch()`. */
export interface WatchOptions extends SnapshotOptions {
  /** Interval between the starts of two readings, in milliseconds: 10 to 3600000. Default 1000. */
  intervalMs?: number;
  /** Ends the iteration, which is not an error. */
  signal?: AbortSignal;
}

/** The two numbers of `cudaMemGetInfo`, unchanged, in bytes. */
export interface MemGetInfo {
  free: number;
  total: number;
}

/** Options of `memGetInfo()`. */
export interface MemGetInfoOptions {
  /** Time limit, in milliseconds: 1 to 600000. Default 10000. */
  deadlineMs?: number;
  /** Rejects with the signal's reason; the call itself goes on until it returns. */
  signal?: AbortSignal;
}
