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

/** A status of a library: its name in the library's header, and what it means here. */
type StatusTable = Readonly<Record<number, readonly [name: string, code: UmaErrorCode]>>;

/** CUresult of cuda.h; cudaError_t has the same numbers, and its own name is given where only the runtime answers it. */
const CUDA: StatusTable = {
  2: ['CUDA_ERROR_OUT_OF_MEMORY', 'ERR_UMA_OUT_OF_MEMORY'],
  3: ['CUDA_ERROR_NOT_INITIALIZED', 'ERR_UMA_DRIVER_UNUSABLE'],
  34: ['CUDA_ERROR_STUB_LIBRARY', 'ERR_UMA_DRIVER_UNUSABLE'],
  35: ['cudaErrorInsufficientDriver', 'ERR_UMA_DRIVER_UNUSABLE'], // also where there is no driver at all
  36: ['cudaErrorCallRequiresNewerDriver', 'ERR_UMA_DRIVER_UNUSABLE'],
  46: ['CUDA_ERROR_DEVICE_UNAVAILABLE', 'ERR_UMA_BUSY'],
  100: ['CUDA_ERROR_NO_DEVICE', 'ERR_UMA_NO_DEVICE'],
  101: ['CUDA_ERROR_INVALID_DEVICE', 'ERR_UMA_NO_DEVICE'],
  214: ['CUDA_ERROR_ECC_UNCORRECTABLE', 'ERR_UMA_DEVICE_LOST'], // the device answers nothing until it is reset
  800: ['CUDA_ERROR_NOT_PERMITTED', 'ERR_UMA_PERMISSION'],
  801: ['CUDA_ERROR_NOT_SUPPORTED', 'ERR_UMA_NOT_SUPPORTED'],
  802: ['CUDA_ERROR_SYSTEM_NOT_READY', 'ERR_UMA_DRIVER_UNUSABLE'],
  803: ['CUDA_ERROR_SYSTEM_DRIVER_MISMATCH', 'ERR_UMA_DRIVER_UNUSABLE'],
  804: ['CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE', 'ERR_UMA_DRIVER_UNUSABLE'],
};

/** nvmlReturn_t of nvml.h. */
const NVML: StatusTable = {
  3: ['NVML_ERROR_NOT_SUPPORTED', 'ERR_UMA_NOT_SUPPORTED'],
  4: ['NVML_ERROR_NO_PERMISSION', 'ERR_UMA_PERMISSION'],
  9: ['NVML_ERROR_DRIVER_NOT_LOADED', 'ERR_UMA_DRIVER_UNUSABLE'],
  10: ['NVML_ERROR_TIMEOUT', 'ERR_UMA_TIMEOUT'],
  12: ['NVML_ERROR_LIBRARY_NOT_FOUND', 'ERR_UMA_LIBRARY_MISSING'], // a library that NVML itself needs
  13: ['NVML_ERROR_FUNCTION_NOT_FOUND', 'ERR_UMA_SYMBOL_MISSING'],
  15: ['NVML_ERROR_GPU_IS_LOST', 'ERR_UMA_DEVICE_LOST'],
  16: ['NVML_ERROR_RESET_REQUIRED', 'ERR_UMA_DEVICE_LOST'],
  17: ['NVML_ERROR_OPERATING_SYSTEM', 'ERR_UMA_PERMISSION'], // the device node is denied by the system or a cgroup
  18: ['NVML_ERROR_LIB_RM_VERSION_MISMATCH', 'ERR_UMA_DRIVER_UNUSABLE'],
  19: ['NVML_ERROR_IN_USE', 'ERR_UMA_BUSY'],
  20: ['NVML_ERROR_MEMORY', 'ERR_UMA_OUT_OF_MEMORY'],
  28: ['NVML_ERROR_GPU_NOT_FOUND', 'ERR_UMA_NO_DEVICE'],
};

const ERRNO: Readonly<Record<string, UmaErrorCode>> = {
  EACCES: 'ERR_UMA_PERMISSION',
  EPERM: 'ERR_UMA_PERMISSION',
  ENOENT: 'ERR_UMA_NOT_SUPPORTED', // a kernel that does not have this file
  ENOMEM: 'ERR_UMA_OUT_OF_MEMORY',
  EBUSY: 'ERR_UMA_BUSY',
};

/** Names that the addon gives itself: they mean the same whatever their source. */
const ADDON: Readonly<Record<string, UmaErrorCode>> = {
  TIMEOUT: 'ERR_UMA_TIMEOUT',
  LIBRARY_MISSING: 'ERR_UMA_LIBRARY_MISSING',
  SYMBOL_MISSING: 'ERR_UMA_SYMBOL_MISSING',
  NOT_SUPPORTED: 'ERR_UMA_NOT_SUPPORTED', // a kind of memory that the device does not have
  STOPPED: 'ERR_UMA_FLOOR', // by the guard
};

/** A status number means something only together with its library. */
const STATUS: Readonly<Partial<Record<Failure['source'], StatusTable>>> = { cudart: CUDA, cuda: CUDA, nvml: NVML };

/** Sources that answer with an errno. */
const ERRNO_SOURCES: readonly Failure['source'][] = ['kernel', 'sim'];

/** The stable code of a failure. */
export function errorCode({ source, status, name }: Pick<Failure, 'source' | 'status' | 'name'>): UmaErrorCode {
  const byName = row(ADDON, name) ?? (ERRNO_SOURCES.includes(source) ? row(ERRNO, name) : undefined);
  const byStatus = status === null ? undefined : STATUS[source]?.[status]?.[1];
  return byName ?? byStatus ?? 'ERR_UMA_CALL_FAILED';
}

/** Own keys only: a name such as "constructor" is in no table. */
function row(table: Readonly<Record<string, UmaErrorCode>>, name: string): UmaErrorCode | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
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
