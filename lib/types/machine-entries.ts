/** The entries of a simulated machine's lists: devices, processes, events, faults and files. */

import type { Amount, Factor, Integer, Natural, Positive } from './scalars.ts';

/**
 * Text on one line.
 * @minLength 1
 * @maxLength 400
 * @pattern ^[^\n]*$
 */
export type Line = string;

/** One CUDA device, as the machine file gives it. */
export interface MachineDevice {
  /**
   * Device name.
   * @maxLength 95
   */
  name: Line;
  /**
   * GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.
   * @pattern ^GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$
   */
  uuid: string;
  /**
   * domain:bus:device.function, upper case, a domain of four digits.
   * @pattern ^[0-9A-F]{4}:[0-9A-F]{2}:[0-9A-F]{2}\.0$
   */
  pciBusId: string;
  /**
   * PCI device and vendor, such as 2E1210DE.
   * @pattern ^[0-9A-F]{8}$
   */
  pciDeviceId: string;
  /**
   * Major.minor.
   * @pattern ^[0-9]{1,2}\.[0-9]$
   */
  computeCapability: string;
  /** The device's memory is the host's. */
  sharesHostMemory: boolean;
  /**
   * The device's own memory as NVML counts it, in bytes; null on a device that shares the host's. A number there is a
   * carve-out, which is not in MemTotal and which NVML reports with `nvml.memory` OWN.
   * @minimum 1048576
   */
  memory: Natural | null;
  /** Part of its own memory that CUDA cannot allocate, in bytes. */
  reserved: Natural;
  /** Size of one CUDA context, in bytes. */
  contextBytes: Natural;
  /** An allocation that the device's own memory cannot hold spills into host memory instead of failing. */
  sysmemFallback: boolean;
  /** Largest allocation when nothing else is allocated, in bytes; null: no such limit. */
  largestAllocation: Positive | null;
  /** Largest sum of several allocations, in bytes; null: no such limit. */
  largestTotal: Positive | null;
  /**
   * Total that CUDA reports on a device that shares the host's memory, in bytes, where it is less than MemTotal;
   * default null: MemTotal.
   * @minimum 1048576
   */
  cudaTotal?: Natural | null;
  /** CUDA device attributes under CUDA's names. */
  attributes: {
    /** The device shares the host's memory. */
    integrated: Flag;
    /** cudaMallocManaged works. */
    managedMemory: Flag;
    /** CPU and GPU may use managed memory at the same time. */
    concurrentManagedAccess: Flag;
    /** The GPU can access malloc'ed memory. */
    pageableMemoryAccess: Flag;
    /** It does so through the host's page tables. */
    pageableMemoryAccessUsesHostPageTables: Flag;
    /** The host can access managed memory on the device without migration. */
    directManagedMemAccessFromHost: Flag;
    /** cudaHostRegister works. */
    hostRegisterSupported: Flag;
    /** cudaHostRegisterReadOnly works. */
    hostRegisterReadOnlySupported: Flag;
    /** Host memory can be mapped into the device's address space. */
    canMapHostMemory: Flag;
    /** One address space with the host. */
    unifiedAddressing: Flag;
    /** cudaMallocAsync works. */
    memoryPoolsSupported: Flag;
    /** GPUDirect RDMA works. */
    gpuDirectRdmaSupported: Flag;
    /** dma-buf export works. */
    dmaBufSupported: Flag;
    /** L2 cache, in bytes. */
    l2CacheSize: Natural;
    /** Number of SMs. */
    multiProcessorCount: Natural;
    /** Memory bus, in bits. */
    globalMemoryBusWidth: Natural;
    /** Peak memory clock, in kHz. */
    memoryClockRateKHz: Natural;
    /** Peak SM clock, in kHz. */
    clockRateKHz: Natural;
    /** Copy engines. */
    asyncEngineCount: Natural;
    /**
     * Number of the NUMA node of the host closest to the device; -1: none.
     * @minimum -1
     */
    hostNumaId: Integer;
  };
  /** NVML's results for the device: a number, or the name of an error status. */
  nvml: {
    /**
     * Memory info: an error status, `OWN` (the device's own memory), or `HOST` (SUCCESS with MemTotal and MemFree, as
     * some reports claim).
     */
    memory: 'OWN' | 'HOST' | 'NOT_SUPPORTED' | 'NO_PERMISSION' | 'GPU_IS_LOST' | 'UNKNOWN';
    /** true: the process lists report bytes; false: NVML_VALUE_NOT_AVAILABLE. */
    processMemory: boolean;
    /** nvmlDeviceAddressingModeType_t: 0 NONE, 1 HMM, 2 ATS. */
    addressingMode: NvmlReading;
    /** Current and pending MIG mode: 0 off, 1 on. */
    migMode: NvmlReading;
    /** GPU utilization when idle, percent; while CUDA works it is 96. */
    utilizationPercent: NvmlReading;
    /** Temperature, degrees Celsius. */
    temperatureC: NvmlReading;
    /** Power draw, milliwatts. */
    powerMilliwatt: NvmlReading;
    /** SM clock, MHz. */
    smClockMHz: NvmlReading;
    /** Highest SM clock, MHz. */
    maxSmClockMHz: NvmlReading;
    /** Memory clock, MHz. */
    memoryClockMHz: NvmlReading;
    /** nvmlPstates_t: 8 is P8. */
    performanceState: NvmlReading;
    /**
     * Number of the generation of the PCIe link at present. This field and those below may be absent: NVML then answers
     * NOT_SUPPORTED.
     */
    pcieGeneration?: NvmlReading;
    /** Number of lanes of the PCIe link at present. */
    pcieWidth?: NvmlReading;
    /** Number of the highest generation of the PCIe link. */
    maxPcieGeneration?: NvmlReading;
    /** Largest number of lanes of the PCIe link. */
    maxPcieWidth?: NvmlReading;
    /** Bytes sent, and as many received, over PCIe, KB a second. */
    pcieThroughputKBps?: NvmlReading;
    /** Temperature at which the GPU shuts down, degrees Celsius. */
    shutdownTemperatureC?: NvmlReading;
    /** Temperature at which the GPU slows down, degrees Celsius. */
    slowdownTemperatureC?: NvmlReading;
    /** Highest operating temperature, degrees Celsius. */
    maxTemperatureC?: NvmlReading;
    /** Fan speed, percent of full speed. */
    fanPercent?: NvmlReading;
    /** Number of fans. */
    fanCount?: NvmlReading;
    /** Power limit: the one set, the default and the enforced one, milliwatts. */
    powerLimitMilliwatt?: NvmlReading;
    /** Lowest power limit that can be set, milliwatts. */
    minPowerLimitMilliwatt?: NvmlReading;
    /** Highest power limit that can be set, milliwatts. */
    maxPowerLimitMilliwatt?: NvmlReading;
    /** Utilization of the video encoder, percent. */
    encoderPercent?: NvmlReading;
    /** Utilization of the video decoder, percent. */
    decoderPercent?: NvmlReading;
    /** Size of BAR1, bytes; the driver itself maps 2 MiB of it. */
    bar1Bytes?: NvmlReading;
    /** nvmlBrandType_t: 5 GeForce, 14 NVIDIA. */
    brand?: NvmlReading;
    /** Number of CUDA cores. */
    gpuCores?: NvmlReading;
    /** Current and pending ECC mode: 0 off, 1 on. On: no errors are counted. */
    eccMode?: NvmlReading;
    /** 0 off, 1 on. */
    persistenceMode?: NvmlReading;
    /** nvmlComputeMode_t: 0 default, 2 prohibited, 3 exclusive process. */
    computeMode?: NvmlReading;
    /** 1: a display is connected; 0: none is. */
    displayMode?: NvmlReading;
    /** 1: a display uses the GPU; 0: none does. */
    displayActive?: NvmlReading;
    /**
     * Serial number, or the name of an error status.
     * @maxLength 31
     */
    serial?: string;
    /**
     * Version of the VBIOS, or the name of an error status.
     * @maxLength 31
     */
    vbiosVersion?: string;
  };
}

/**
 * An attribute that is 0 or 1.
 * @asType integer
 */
export type Flag = 0 | 1;

/** Name of the nvmlReturn_t that is returned instead. */
export type NvmlStatus = 'NOT_SUPPORTED' | 'NO_PERMISSION' | 'GPU_IS_LOST' | 'UNKNOWN';

/** The answer of NVML: a number, or an error. */
export type NvmlReading = Natural | NvmlStatus;

/**
 * Index in `devices`.
 * @asType integer
 * @minimum 0
 * @maximum 7
 */
export type DeviceIndex = number;

/** A process of the simulated machine without a real process, as the machine file gives it. */
export interface MachineProcess {
  /**
   * Name in /proc/<pid>/comm.
   * @minLength 1
   * @maxLength 15
   * @pattern ^[^\s/]+$
   */
  name: string;
  /**
   * Process id, above the largest pid of Linux, so that it is never that of a real process.
   * @minimum 4194305
   * @maximum 2147483647
   */
  pid: Natural;
  /** GPU memory that it holds, as NVML lists it, in bytes. */
  gpuBytes: Natural;
  /** Anonymous memory that it holds, in bytes. */
  anonBytes: Natural;
  /** Index in `devices` of the device that holds `gpuBytes`. */
  device?: DeviceIndex;
  /** NVML's list that it is in. */
  list?: 'compute' | 'graphics';
}

/** One event, as the machine file gives it. */
export interface MachineEvent {
  /** Time of the event, in milliseconds of the simulated clock since boot. */
  atMs: Amount;
  /**
   * `atMs` counts from the first allocation of any process (a context does not count), which makes tests
   * deterministic; default false.
   */
  afterFirstAllocation?: boolean;
  /**
   * `anon`, `shmem`: memory grows. `device`: GPU memory of `process` grows. `fileCache`: clean page cache grows (a
   * file is read); `fileDirty`: a file is written, at most vm.dirty_ratio of it before the disk has taken the rest;
   * `fileDelete`: a file is deleted, and its cache is free. `slab`, `slabUnreclaimable`: memory of the kernel grows.
   * `free`: `process` frees memory, GPU memory first. `exit`: `process` ends; `oomKill`: the kernel kills it for want
   * of memory. `pressure`: all tasks wait for memory for `percent` of the time, whatever the memory is. `lost`:
   * `device` falls off the bus. From then on NVML answers GPU_IS_LOST for it, and CUDA answers UNKNOWN to its work. A
   * device that is lost from the start has atMs 0.
   */
  what:
    | 'anon'
    | 'shmem'
    | 'device'
    | 'fileCache'
    | 'fileDirty'
    | 'fileDelete'
    | 'slab'
    | 'slabUnreclaimable'
    | 'free'
    | 'exit'
    | 'oomKill'
    | 'pressure'
    | 'lost';
  /** Amount in bytes. Not for `exit`, `oomKill`, `pressure` and `lost`. */
  bytes?: Natural;
  /** Duration, in milliseconds; default 0. Required for `pressure` without `points`. */
  overMs?: Amount;
  /** Bytes per second, in place of `overMs`. */
  bytesPerSecond?: Factor;
  /**
   * A curve that the memory follows, in place of `bytes` or `percent`, in the order of its times; all events
   * together have at most 1,024 points. It begins at 0, is a line between two points, a step where two have the same
   * time, and stays at the last one. Where it falls, memory is given back. For `anon`, `shmem`, `device`,
   * `fileCache`, `slab`, `slabUnreclaimable` and `pressure`.
   * @minItems 1
   * @maxItems 1024
   */
  points?: {
    /** Time since the event began, in milliseconds. */
    afterMs: Amount;
    /** Memory that the event holds then, in bytes; of a process besides what it had at boot. */
    bytes?: Natural;
    /**
     * The share of time of `pressure`, as `percent` of the event.
     * @maximum 100
     */
    percent?: Amount;
  }[];
  /**
   * Time after which the curve of `points` begins again, not before its last point; in milliseconds. Default: it
   * happens once.
   */
  repeatMs?: Factor;
  /**
   * Name of the process, one of `processes`. Required for `device`, `free`, `exit` and `oomKill`; without it `anon`
   * belongs to no process that could end.
   * @minLength 1
   * @maxLength 15
   */
  process?: string;
  /** Index in `devices` of the lost device. */
  device?: DeviceIndex;
  /**
   * The behaviour of cuInit in processes that see the lost device and start after the loss: it answers CUDA_ERROR_UNKNOWN
   * (999) or CUDA_ERROR_NO_DEVICE (100), or it succeeds without that device. Default UNKNOWN.
   */
  cuInit?: 'UNKNOWN' | 'NO_DEVICE' | 'LEFT_OUT';
  /**
   * The share of time of `pressure`, as full in /proc/pressure/memory. avg10 reaches 63 % of it after 10 s and 95 %
   * after 30 s.
   * @maximum 100
   */
  percent?: Amount;
}

/** Calls that do not answer as the machine would, as the machine file gives them. */
export interface MachineFault {
  /**
   * Name of the function as exported (nvmlDeviceGetMemoryInfo_v2); a final * stands for any ending (nvml*).
   * @pattern ^[A-Za-z_][A-Za-z0-9_]{0,61}\*?$
   */
  call: string;
  /** Number of calls that succeed before the first one that blocks or fails; default 0. */
  after?: Natural;
  /** Number of calls that block or fail; default all. */
  times?: Positive;
  /**
   * Only calls for that device block or fail, by its NVML handle, its CUDA ordinal or a context on it, and
   * nvmlDeviceGetHandleBy* when it finds that device. Default: all calls, also those for no device.
   */
  device?: DeviceIndex;
}

/** A call that blocks. */
export interface HangingCall extends MachineFault {
  /** Duration, in milliseconds of the simulated clock. */
  ms: Amount;
}

/** A call that fails. */
export interface FailingCall extends MachineFault {
  /**
   * Status that it returns: cudaError_t, CUresult or nvmlReturn_t.
   * @maximum 999
   */
  status: Positive;
}

/**
 * Exported name of a function.
 * @pattern ^[A-Za-z_][A-Za-z0-9_]{0,62}$
 */
export type ExportedName = string;

/** One file. Without `text`, `missing` and `error`, of which it has at most one, it answers as usual, after `hangMs`. */
export interface MachineFile {
  /**
   * Absolute path under /proc or /sys, as programs name it: /proc/self/cgroup is another path than /proc/1234/cgroup.
   * @maxLength 127
   * @pattern ^/(proc|sys)(/(?!\.\.?(/|$))[^/\s]+)+$
   */
  path: string;
  /**
   * Its text, which does not change. All texts together have at most 65,536 bytes.
   * @maxLength 65536
   */
  text?: string;
  /** There is no such file (ENOENT); default false. */
  missing?: boolean;
  /** Reading and writing it fail with this error. */
  error?: 'EACCES' | 'EPERM' | 'EIO' | 'ENODEV' | 'EOPNOTSUPP';
  /**
   * Time until a reading is answered, in milliseconds of the simulated clock; default 0. A file that never answers
   * has a large number, such as 1e12.
   */
  hangMs?: Amount;
}
