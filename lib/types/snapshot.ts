/** The whole: one instant of a machine, and how to ask for it. */

import type { DeviceSnapshot, LibraryStatus } from './device.ts';
import type { CgroupLimits, DriverFacts, FreeBlocks, HostMemory, KernelMemory, Ledger, Pressure } from './host.ts';

/** One instant of a machine: where its memory is, and what that means for the next allocation. */
export interface Snapshot {
  schema: 'umaprobe/snapshot/1';
  /** ISO 8601, UTC. */
  at: string;
  bootId: string | null;
  /** Name of the simulated machine, or null on real hardware. */
  simulated: string | null;
  host: HostMemory;
  ledger: Ledger;
  pressure: Pressure | null;
  contiguity: FreeBlocks[] | null;
  kernel: KernelMemory;
  driver: DriverFacts;
  cgroup: CgroupLimits | null;
  libraries: { cuda: LibraryStatus; nvml: LibraryStatus };
  devices: DeviceSnapshot[];
  /** Why `devices` is empty; null when it is not. */
  noDevices: string | null;
  /** Path ("host.cmaFree", "pressure", "driver.poolBytes") → file it came from, or why it is null. */
  from: Record<string, string>;
  /** Time this reading took, in milliseconds. */
  durationMs: number;
}

export interface SnapshotOptions {
  /**
   * How to read `cudaMemGetInfo`, which needs a CUDA context (some hundred MiB).
   * - `auto` (default): only if this process has a context already.
   * - `child`: in a short-lived child process with a time limit; the command line does this.
   * - `inProcess`: create a context here if there is none.
   * - `never`.
   */
  memGetInfo?: 'auto' | 'child' | 'inProcess' | 'never';
  /** Limit for each library, in milliseconds: 1 to 600000. Default 2000. */
  deadlineMs?: number;
  /** Limit for the child of `memGetInfo: 'child'`, in milliseconds: 1 to 600000. Default 10000. */
  childDeadlineMs?: number;
}

export interface WatchOptions extends SnapshotOptions {
  /** Time from one reading to the next, in milliseconds: 10 to 3600000. Default 1000. */
  intervalMs?: number;
  /** Stops the iteration. */
  signal?: AbortSignal;
}

/** `cudaMemGetInfo`, word for word. */
export interface MemGetInfo {
  free: number;
  total: number;
}
