/** The GPU's side: one device, what each tool would believe of it, and what can be allocated. */

/**
 * `unified`: CPU and GPU share one pool (CUDA *integrated* attribute). `coherent`: memory of its own, reached through the
 * host's page tables (GH200). `discrete`: memory of its own behind a bus. `unknown`: CUDA could not be asked.
 */
export type MemoryModel = 'unified' | 'coherent' | 'discrete' | 'unknown';

/** What happened when a library was opened at run time. */
export interface LibraryStatus {
  /** `unusable`: the library is there but its first call failed (a runtime without a driver answers 35). */
  state: 'loaded' | 'missing' | 'unusable' | 'timeout';
  /** File that was opened. */
  path: string | null;
  /** CUDA: "13.0"; NVML: version of the library, "13.580.65". */
  version: string | null;
  /** Driver version such as "580.142" (NVML), or the CUDA version that the driver supports (CUDA). */
  driverVersion: string | null;
  /** Why it is not `loaded`, with every path that was tried. */
  reason: string | null;
}

/** A process holding GPU memory (`nvmlDeviceGetComputeRunningProcesses_v3` and the graphics list). */
export interface GpuProcess {
  pid: number;
  /** `/proc/<pid>/comm`; null where the pid is of another PID namespace. */
  name: string | null;
  /** Not part of RSS and not to be added to it. null where the driver cannot tell (MIG, permissions). */
  gpuBytes: number | null;
}

/** What can be allocated on this device. */
export interface Allocatable {
  /** Without making the kernel reclaim anything. */
  immediate: number | null;
  /** Once the kernel has given back what it can (clean page cache, reclaimable slab, known driver pools). */
  afterReclaim: number | null;
}

/** Who calls what "free": the same machine through the eyes of each tool. */
export type ViewName = 'cudaMemGetInfo' | 'torch' | 'vllm' | 'sglang' | 'llamaCpp' | 'nvidiaGuidance' | 'nvidiaSmi';

/** One GPU (or what CUDA calls a device). */
export interface DeviceSnapshot {
  /** Position in this list. The devices that CUDA sees come first, in CUDA's order: there it is the CUDA ordinal. */
  index: number;
  /** CUDA ordinal; null when CUDA does not see it (CUDA_VISIBLE_DEVICES, no CUDA). */
  cudaIndex: number | null;
  /** NVML index; null when NVML does not see it. */
  nvmlIndex: number | null;
  name: string | null;
  /** "GPU-…" or "MIG-…". */
  uuid: string | null;
  /** "000F:01:00.0" style: domain of at least four digits, upper case. */
  pciBusId: string | null;
  /** "12.1". */
  computeCapability: string | null;
  memoryModel: MemoryModel;
  /** CUDA device attributes by CUDA's own name in camelCase; read without a context. */
  attributes: Record<DeviceAttribute, number | null>;
  /**
   * `cudaMemGetInfo`, where it was read; else null and `from.cuda` says why. Where a child process read it on a device
   * that shares the host's memory, what the child's own context took is added back, and `from.cuda` says how much.
   */
  cuda: { free: number; total: number } | null;
  /** NVML memory info. null on every GB10: NOT_SUPPORTED is the normal answer there. */
  nvml: { total: number; free: number; used: number; reserved: number | null } | null;
  processes: GpuProcess[] | null;
  allocatable: Allocatable;
  views: Record<ViewName, number | null>;
  /** NVML's addressing mode: "NONE", "HMM" or "ATS". */
  addressingMode: string | null;
  migMode: { current: boolean; pending: boolean } | null;
  utilizationPercent: number | null;
  temperatureC: number | null;
  powerW: number | null;
  smClockMHz: number | null;
  /** Findings of quirks.ts that changed or explain a number of this device. */
  notes: string[];
  /** Path of a property ("nvml", "powerW", "attributes.l2CacheSize", "views.torch") → the call that gave it, or why it is null. */
  from: Record<string, string>;
}

export type DeviceAttribute =
  | 'integrated'
  | 'managedMemory'
  | 'concurrentManagedAccess'
  | 'pageableMemoryAccess'
  | 'pageableMemoryAccessUsesHostPageTables'
  | 'directManagedMemAccessFromHost'
  | 'hostRegisterSupported'
  | 'hostRegisterReadOnlySupported'
  | 'canMapHostMemory'
  | 'unifiedAddressing'
  | 'memoryPoolsSupported'
  | 'gpuDirectRdmaSupported'
  | 'dmaBufSupported'
  | 'l2CacheSize'
  | 'multiProcessorCount'
  | 'globalMemoryBusWidth'
  | 'memoryClockRateKHz'
  | 'clockRateKHz'
  | 'asyncEngineCount'
  | 'hostNumaId'
  | 'totalGlobalMem';
