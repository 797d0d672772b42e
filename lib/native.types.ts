/**
 * Everything the binary exports: the whole native contract. Native reports facts; TypeScript gives them meaning.
 * A fact that could not be had is a NativeFailure in its place.
 */

/** What went wrong, as plain fields. */
export interface NativeFailure {
  failed: true;
  /** Who said no. `umaprobe`: the addon itself (deadline, library not open). */
  source: 'cudart' | 'cuda' | 'nvml' | 'kernel' | 'dl' | 'sim' | 'umaprobe';
  /** The function or file: "nvmlDeviceGetMemoryInfo_v2", "open /proc/pressure/memory". */
  call: string;
  /** The number it answered (CUresult, cudaError_t, nvmlReturn_t, errno); null where there is none. */
  status: number | null;
  /** The field's name of that number: "NOT_SUPPORTED", "CUDA_ERROR_NO_DEVICE", "ENOENT", "TIMEOUT", "SYMBOL_MISSING", "LIBRARY_MISSING". */
  name: string;
  /**
   * In the words of who said no; may be empty. Call, name and status are not repeated in it. For LIBRARY_MISSING every
   * path tried with the loader's own words.
   */
  message: string;
}

export type Fact<T> = T | NativeFailure;

/** A library opened at run time. Absent properties were not reached before the deadline. */
export interface NativeLibrary {
  path?: string;
  /** Set when it could not be opened or its first call failed. */
  failure?: NativeFailure;
}

/** One device as CUDA reports it. Absent properties were not reached before the deadline (see `timedOut`). */
export interface NativeCudaDevice {
  ordinal?: number;
  name?: Fact<string>;
  uuid?: Fact<string>;
  pciBusId?: Fact<string>;
  computeCapability?: Fact<string>;
  totalMem?: Fact<number>;
  /** Whether this process has a primary context (`cuDevicePrimaryCtxGetState`). */
  contextActive?: Fact<boolean>;
  /** `[free, total]` of cudaMemGetInfo; absent when it was not asked. */
  memGetInfo?: Fact<[number, number]>;
  /** The name of an attribute as in types.ts → value. */
  attributes?: Record<string, Fact<number>>;
}

export interface NativeCudaReport {
  runtime: NativeLibrary;
  driver: NativeLibrary;
  /** 13000 = 13.0. */
  runtimeVersion?: Fact<number>;
  driverVersion?: Fact<number>;
  /** Failure of the count itself: no device, no driver. */
  deviceCount?: Fact<number>;
  devices: NativeCudaDevice[];
  /** Set when the deadline passed; `call` is the call that did not answer. */
  timedOut: NativeFailure | null;
}

export interface NativeNvmlProcess {
  pid: number;
  /** null: the driver says "not available". */
  gpuBytes: number | null;
}

export interface NativeNvmlDevice {
  index?: number;
  name?: Fact<string>;
  uuid?: Fact<string>;
  pciBusId?: Fact<string>;
  /** v2 where the library has it, else v1 (then reserved is null). `call` says which. */
  memory?: Fact<{ total: number; free: number; used: number; reserved: number | null; call: string }>;
  /** Compute and graphics lists merged by pid (the same process in both counts once, with the larger number). */
  processes?: Fact<NativeNvmlProcess[]>;
  /** 0 NONE, 1 HMM, 2 ATS. */
  addressingMode?: Fact<number>;
  /** [current, pending]. */
  migMode?: Fact<[number, number]>;
  utilizationPercent?: Fact<number>;
  temperatureC?: Fact<number>;
  powerMilliwatt?: Fact<number>;
  smClockMHz?: Fact<number>;
}

export interface NativeNvmlReport {
  library: NativeLibrary;
  driverVersion?: Fact<string>;
  nvmlVersion?: Fact<string>;
  /** 13000 = 13.0 */
  cudaDriverVersion?: Fact<number>;
  deviceCount?: Fact<number>;
  devices: NativeNvmlDevice[];
  timedOut: NativeFailure | null;
}

/**
 * A process is on one machine for its life: the first reading of any of its threads decides, by that thread's
 * `process.env` (UMAPROBE_SIM). Each thread reads its `process.env` once. One that names another machine than the
 * process is on gets EBUSY from the simulated and the real kernel alike, and no library.
 */
export interface NativeBinding {
  /** Names of the slots that `hostMemory` fills, in order: the keys of HostMemory. */
  hostMemoryFields(): string[];
  /** Reads /proc/meminfo (of the real or the simulated kernel) into `out`: bytes or counts, NaN where there is no such line. */
  hostMemory(out: Float64Array): NativeFailure | null;
  /** The parser of `hostMemory` on a given text. For tests. */
  parseMeminfo(text: string, out: Float64Array): void;
  /** Texts of kernel files through the same seam. Each at most 1 MiB. */
  readFiles(paths: string[]): Fact<string>[];
  /** Size of a base page of this kernel, in bytes (sysconf); of the simulated kernel on a simulated machine. */
  pageSize(): number;
  /** Names in a directory of /proc or /sys, through the same seam. */
  listDirectory(path: string): Fact<string[]>;

  /** Facts of every CUDA device. `memGetInfo`: 0 never, 1 where a context exists, 2 create one. Never rejects for what CUDA says. */
  readCuda(memGetInfo: 0 | 1 | 2, deadlineMs: number): Promise<NativeCudaReport>;
  readNvml(deadlineMs: number): Promise<NativeNvmlReport>;
  /** Literal cudaMemGetInfo of a device on the addon's thread; creates a context. */
  memGetInfo(device: number, deadlineMs: number): Promise<Fact<[number, number]>>;
  /**
   * The same on the calling thread, without a deadline: out[0] free, out[1] total. Fails at once while a call of any
   * thread of this process has outlived its deadline in CUDA.
   */
  memGetInfoSync(device: number, out: Float64Array): NativeFailure | null;

  /** Name of the simulated machine this process is on, or null for the real one. Counts as a reading. */
  simulatedMachine(): Fact<string> | null;
  /**
   * Environment that puts another process on the same machine with the same libraries, as this thread's `process.env`
   * had it at the first reading; '' is as good as not set. Counts as a reading.
   */
  machineVariables(): Record<string, string>;
  /** Puts the process on a simulated machine, before any reading. EBUSY: there was one, on another machine. */
  enterMachine(library: string, statePath: string): NativeFailure | null;
  /** Creates the state file of a simulated machine from its flat description ("path value" lines). */
  simBoot(library: string, description: string, statePath: string): NativeFailure | null;
  /** The machine's record as JSON text: was it wedged, when, by whom; what was allocated. */
  simRecord(library: string, statePath: string): Fact<string>;
}
