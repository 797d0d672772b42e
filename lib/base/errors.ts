/** What an error is called, and the one table that says when. */

export type UmaErrorCode =
  | 'ERR_UMA_LIBRARY_MISSING'
  | 'ERR_UMA_SYMBOL_MISSING'
  | 'ERR_UMA_DRIVER_UNUSABLE'
  | 'ERR_UMA_NO_DEVICE'
  | 'ERR_UMA_DEVICE_LOST'
  | 'ERR_UMA_NOT_SUPPORTED'
  | 'ERR_UMA_OUT_OF_MEMORY'
  | 'ERR_UMA_PERMISSION'
  | 'ERR_UMA_TIMEOUT'
  | 'ERR_UMA_BUSY'
  | 'ERR_UMA_FLOOR'
  | 'ERR_UMA_VERIFY_FAILED'
  | 'ERR_UMA_JOURNAL'
  | 'ERR_UMA_CALL_FAILED';

/** What a library, the kernel or umaprobe itself refused, with the facts as they were given. */
export class UmaError extends Error {
  /** Stable: made to be compared. */
  readonly code: UmaErrorCode;
  /** Who said no. */
  readonly source: Failure['source'];
  /** The function or file: "nvmlInit_v2", "read /proc/meminfo". */
  readonly call: string;
  /** The number it answered; null where there is none. */
  readonly status: number | null;
  /** The field's own name of that number: "NOT_SUPPORTED", "cudaErrorNoDevice", "ENOENT". */
  readonly nativeName: string;

  constructor(code: UmaErrorCode, failure: Omit<Failure, 'failed'>, options?: ErrorOptions) {
    super(describe(failure), options);
    this.code = code;
    this.source = failure.source;
    this.call = failure.call;
    this.status = failure.status;
    this.nativeName = failure.name;
  }

  // On the prototype, not the instance: console.log would print it as one more field.
  override get name(): string {
    return 'UmaError';
  }
}

function describe({ call, message, name, status }: Omit<Failure, 'failed'>): string {
  const said = [name, status].filter((part) => part !== null).join(' ');
  return message === '' ? `${call}: ${said}` : `${call}: ${message} (${said})`;
}

const CUDA: Readonly<Record<number, UmaErrorCode>> = {
  2: 'ERR_UMA_OUT_OF_MEMORY',
  3: 'ERR_UMA_DRIVER_UNUSABLE', // not initialized: cuInit failed before
  34: 'ERR_UMA_DRIVER_UNUSABLE', // the stub library of the toolkit
  35: 'ERR_UMA_DRIVER_UNUSABLE', // driver older than the runtime, or no driver at all
  36: 'ERR_UMA_DRIVER_UNUSABLE', // call requires a newer driver
  46: 'ERR_UMA_BUSY', // devices busy or unavailable
  100: 'ERR_UMA_NO_DEVICE',
  101: 'ERR_UMA_NO_DEVICE', // no such ordinal
  214: 'ERR_UMA_DEVICE_LOST', // uncorrectable ECC error: the device answers nothing until it is reset
  800: 'ERR_UMA_PERMISSION',
  801: 'ERR_UMA_NOT_SUPPORTED',
  802: 'ERR_UMA_DRIVER_UNUSABLE', // system not ready
  803: 'ERR_UMA_DRIVER_UNUSABLE', // driver and library of different versions
  804: 'ERR_UMA_DRIVER_UNUSABLE', // forward compatibility package on a device that has none
};

const NVML: Readonly<Record<number, UmaErrorCode>> = {
  3: 'ERR_UMA_NOT_SUPPORTED',
  4: 'ERR_UMA_PERMISSION',
  9: 'ERR_UMA_DRIVER_UNUSABLE', // driver not loaded
  10: 'ERR_UMA_TIMEOUT',
  12: 'ERR_UMA_LIBRARY_MISSING', // NVML itself did not find a library that it needs
  13: 'ERR_UMA_SYMBOL_MISSING', // NVML is older than the function
  15: 'ERR_UMA_DEVICE_LOST',
  16: 'ERR_UMA_DEVICE_LOST', // reset required
  17: 'ERR_UMA_PERMISSION', // device node denied by the operating system or a cgroup
  18: 'ERR_UMA_DRIVER_UNUSABLE', // library and kernel module of different versions
  19: 'ERR_UMA_BUSY',
  20: 'ERR_UMA_OUT_OF_MEMORY',
  28: 'ERR_UMA_NO_DEVICE',
};

const ERRNO: Readonly<Record<string, UmaErrorCode>> = {
  EACCES: 'ERR_UMA_PERMISSION',
  EPERM: 'ERR_UMA_PERMISSION',
  ENOENT: 'ERR_UMA_NOT_SUPPORTED', // a kernel that does not have this file
  ENOMEM: 'ERR_UMA_OUT_OF_MEMORY',
  EBUSY: 'ERR_UMA_BUSY',
};

/** The addon's own words mean the same whoever is their source. */
const WORDS: Readonly<Record<string, UmaErrorCode>> = {
  TIMEOUT: 'ERR_UMA_TIMEOUT',
  LIBRARY_MISSING: 'ERR_UMA_LIBRARY_MISSING',
  SYMBOL_MISSING: 'ERR_UMA_SYMBOL_MISSING',
  NOT_SUPPORTED: 'ERR_UMA_NOT_SUPPORTED', // a kind of memory that the device does not have
  STOPPED: 'ERR_UMA_FLOOR', // by the guard
};

/** Numbers and names mean something only with the one who said them. */
const TABLES: Readonly<Record<Failure['source'], Readonly<Record<number | string, UmaErrorCode>>>> = {
  cudart: CUDA,
  cuda: CUDA,
  nvml: NVML,
  kernel: ERRNO,
  sim: ERRNO,
  dl: {},
  umaprobe: {},
};

function row(
  table: Readonly<Record<number | string, UmaErrorCode>>,
  key: number | string | null,
): UmaErrorCode | undefined {
  return key !== null && Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The stable code of a failure. */
export function errorCode({ source, status, name }: Pick<Failure, 'source' | 'status' | 'name'>): UmaErrorCode {
  const table = TABLES[source];
  return row(WORDS, name) ?? row(table, name) ?? row(table, status) ?? 'ERR_UMA_CALL_FAILED';
}

/**
 * @param caller an Error made before the await, so that the stack shows who called umaprobe and not the event loop.
 */
export function toUmaError(failure: Failure, caller?: Error): UmaError {
  const error = new UmaError(errorCode(failure), failure);
  if (caller === undefined) {
    Error.captureStackTrace(error, toUmaError);
  } else {
    const frames = caller.stack?.slice(caller.stack.indexOf('\n    at ')) ?? '';
    error.stack = `${error.name}: ${error.message}${frames}`;
  }
  return error;
}

/** What went wrong, as plain fields. */
export interface Failure {
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

export type Fact<T> = T | Failure;
