/**
 * The GPU's part of a snapshot: one device, the free memory that each tool would report, and the memory that can be
 * allocated.
 */

import type { ResultWord } from './results.ts';
import type { Amount, Integer, Natural } from './scalars.ts';

/**
 * `unified`: CPU and GPU share one memory pool (CUDA attribute *integrated*). `coherent`: the device has its own memory
 * and shares the host's page tables (GH200). `discrete`: the device has its own memory behind a bus. `unknown`: CUDA
 * did not answer.
 */
export type MemoryModel = 'unified' | 'coherent' | 'discrete' | 'unknown';

/** A call to CUDA or NVML that failed, as plain fields. */
export interface CallFailure {
  library: 'cuda' | 'nvml';
  /** The function: "cudaMemGetInfo", "nvmlDeviceGetHandleByIndex_v2". */
  call: string;
  /** Status that the library returned (CUresult, cudaError_t, nvmlReturn_t); null: none, it did not answer in time. */
  status: Integer | null;
  /** Name of that status in the library's header, or TIMEOUT: "cudaErrorDevicesUnavailable", "GPU_IS_LOST". */
  name: string;
  /** The same as a line of a `from` record. */
  reason: string;
}

/** A failed call for one device. */
export interface DeviceFailure extends CallFailure {
  /** The property that is null because of it, the first of several: "cuda", "name", "temperatureC". */
  path: string;
}

/** Result of opening a library at run time. */
export interface LibraryStatus {
  /** `unusable`: the library was opened but its first call failed (a runtime without a driver returns 35). */
  state: 'loaded' | 'unusable' | Extract<ResultWord, 'missing' | 'timeout'>;
  /** The opened file. */
  path: string | null;
  /** CUDA: "13.0"; NVML: version of the library, "13.580.65". */
  version: string | null;
  /** Driver version such as "580.142" (NVML), or the CUDA version that the driver supports (CUDA). */
  driverVersion: string | null;
  /** The reason why it is not `loaded`, with every path tried; null when loaded. */
  reason: string | null;
  /** The failed call behind `unusable` and `timeout`; null for the other states. */
  failure: CallFailure | null;
}

/**
 * A process that holds GPU memory, with its bytes (`nvmlDeviceGetComputeRunningProcesses_v3` and the graphics list).
 */
export interface GpuProcess {
  /** Process id, as NVML lists it. */
  pid: Natural;
  /** `/proc/<pid>/comm`; null: the process has ended, or this process is in a PID namespace of its own. */
  name: string | null;
  /** It is no part of RSS; do not add the two. null: the driver does not report it (MIG, permissions). */
  gpuBytes: Natural | null;
}

/** Other processes that held memory of the probed device at the start. */
export interface OtherUsers {
  /** Largest first. Empty: they are not known by name. */
  processes: GpuProcess[];
  /** Bytes that they hold together, by NVML as `from` says; null: not known. */
  bytes: Natural | null;
  /** Source of `bytes`, or why it is null. */
  from: string;
}

/**
 * Memory that can be allocated on this device, in bytes: sums of counters of the kernel, CUDA and NVML, which `from`
 * names.
 */
export interface Allocatable {
  /** Bytes that need no reclaim by the kernel. */
  immediate: Natural | null;
  /** Bytes after the kernel has reclaimed clean page cache, reclaimable slab and known driver pools. */
  afterReclaim: Natural | null;
  /**
   * Bytes that a program can load: on unified memory `afterReclaim` less the host's floor and the program's own start,
   * and no more than comes in blocks that the GPU can use, as far as `stress()` gets; on other devices free memory less
   * the share of their other users. It is never above CUDA's own total. 0 while a finding refuses every load. null: not
   * known, or no CUDA program can use the device now; `from["allocatable.safe"]` says why.
   */
  safe: Natural | null;
  /**
   * The most that may be loaded: `safe`, and what only compaction or counters that this user may not read would show;
   * `from["allocatable.safeHigh"]` says what. null: not known.
   */
  safeHigh: Natural | null;
}

/** Tools that report free memory; each counts the same machine differently. */
export type ViewName = 'cudaMemGetInfo' | 'torch' | 'vllm' | 'sglang' | 'llamaCpp' | 'nvidiaGuidance' | 'nvidiaSmi';

/** One CUDA device: a GPU, or a MIG slice of one. */
export interface DeviceSnapshot {
  /**
   * Position in this list, counted from 0. Devices that CUDA sees come first, in CUDA's order, so for them it is the
   * CUDA ordinal.
   */
  index: Natural;
  /** CUDA ordinal in this process; null when CUDA does not see it here (CUDA_VISIBLE_DEVICES, no CUDA). */
  cudaIndex: Natural | null;
  /**
   * True if CUDA in this process sees it. false: CUDA_VISIBLE_DEVICES hides it, or CUDA does not list it for another
   * reason; `from.visible` says which. null: CUDA could not be asked.
   */
  visible: boolean | null;
  /**
   * NVML index; null when NVML does not see it. `from.nvmlIndex` is set where NVML could not identify a lost GPU and it
   * was paired with CUDA's by elimination; null then: there are several.
   */
  nvmlIndex: Natural | null;
  name: string | null;
  /** "GPU-…" or "MIG-…". */
  uuid: string | null;
  /** "000F:01:00.0" style: domain of at least four digits, upper case. */
  pciBusId: string | null;
  /** "12.1". */
  computeCapability: string | null;
  memoryModel: MemoryModel;
  /**
   * CUDA device attributes under CUDA's names in camelCase; read without a context. 0 or 1 of a property, else a count,
   * bytes (`l2CacheSize`, `totalGlobalMem`), bits (`globalMemoryBusWidth`) or the unit in the name.
   */
  attributes: Record<Exclude<DeviceAttribute, 'hostNumaId'>, Amount | null> & {
    /**
     * Number of the NUMA node of the host closest to the device, by CUDA; −1: none.
     * @minimum -1
     */
    hostNumaId: number | null;
  };
  /**
   * Bytes by `cudaMemGetInfo`; null: not read, and `from.cuda` says why. If a child process read it on a device that
   * shares the host's memory, the size of the child's CUDA context is added to `free`, and `from.cuda` says how much.
   */
  cuda: { free: Natural; total: Natural } | null;
  /** NVML memory info, in bytes. null on every GB10, where NVML returns NOT_SUPPORTED. */
  nvml: { total: Natural; free: Natural; used: Natural; reserved: Natural | null } | null;
  /**
   * Processes that hold memory of this device. Empty: none does. null: not known here; `from.processes` says why (NVML
   * failed, or lists nothing because this process is in a PID namespace of its own).
   */
  processes: GpuProcess[] | null;
  /**
   * True if `processes` has every process that holds memory, each with its bytes. false: `from.processesComplete` says
   * what is missing. null: there is no list.
   */
  processesComplete: boolean | null;
  /** Other processes that hold memory of this device, besides the process that read it; null: none. */
  others: OtherUsers | null;
  allocatable: Allocatable;
  /**
   * Free bytes that each tool would report, calculated by its rule from the counters that `from` names; null: unknown.
   */
  views: Record<ViewName, Natural | null>;
  /** NVML's addressing mode: "NONE", "HMM" or "ATS". */
  addressingMode: string | null;
  migMode: { current: boolean; pending: boolean } | null;
  /** Share of the last sample period in which a kernel ran, by NVML: 0 to 100. */
  utilizationPercent: Amount | null;
  /**
   * Degrees Celsius of the GPU's die, by NVML.
   * @minimum -273
   */
  temperatureC: number | null;
  /** Draw of the GPU in watts, by NVML. */
  powerW: Amount | null;
  /** Clock of the SMs now, by NVML. */
  smClockMHz: Amount | null;
  /**
   * Calls for this device that failed although library and device have the value, each once. NOT_SUPPORTED, and
   * functions that a library lacks, are not among them. [] on a device where all is well.
   */
  failures: DeviceFailure[];
  /** Known quirks that explain a number of this device, as sentences. */
  notes: string[];
  /**
   * Path of a property ("nvml", "powerW", "attributes.l2CacheSize", "views.torch") → the call that returned it, or why
   * it is null.
   */
  from: Record<string, string>;
}

/** Attributes of a device that decide how its memory behaves: the names of `cudaDevAttr…` without the prefix. */
export const DEVICE_ATTRIBUTES = [
  'integrated',
  'managedMemory',
  'concurrentManagedAccess',
  'pageableMemoryAccess',
  'pageableMemoryAccessUsesHostPageTables',
  'directManagedMemAccessFromHost',
  'hostRegisterSupported',
  'hostRegisterReadOnlySupported',
  'canMapHostMemory',
  'unifiedAddressing',
  'memoryPoolsSupported',
  'gpuDirectRdmaSupported',
  'dmaBufSupported',
  'l2CacheSize',
  'multiProcessorCount',
  'globalMemoryBusWidth',
  'memoryClockRateKHz',
  'clockRateKHz',
  'asyncEngineCount',
  'hostNumaId',
  'totalGlobalMem',
] as const;

/** One of `DEVICE_ATTRIBUTES`. */
export type DeviceAttribute = (typeof DEVICE_ATTRIBUTES)[number];
