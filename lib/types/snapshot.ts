/** A snapshot of the whole machine, and the options of `snapshot()` and `watch()`. */

import type { DeviceSnapshot, LibraryStatus } from './device.ts';
import type { CgroupLimits, DriverFacts, FreeBlocks, HostMemory, KernelMemory, Ledger, Pressure } from './host.ts';
import type { Judgement } from './judgement.ts';
import type { Amount, OfMachine, Timestamp } from './scalars.ts';

/** The memory of a machine at one instant: how it is used, how much the next allocation can get, and what stands in the way. */
export interface Snapshot extends OfMachine {
  schema: 'umaprobe/snapshot/1';
  at: Timestamp;
  bootId: string | null;
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
  /** Duration of this reading by the monotonic clock. */
  durationMs: Amount;
  judgement: Judgement;
}

/** A snapshot before it is judged: facts only. */
export type Reading = Omit<Snapshot, 'judgement'>;

/** The two numbers of `cudaMemGetInfo`, unchanged, in bytes. */
export interface MemGetInfo {
  free: number;
  total: number;
}
