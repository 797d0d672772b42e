/** UmaError, the plain failure behind it, and the tables that give each failure its stable code. */

import type { UmaErrorCode } from './error-codes.ts';

export type { UmaErrorCode };

/** A failed call as plain fields. */
export interface Failure {
  failed: true;
  /**
   * Origin of the failure. `kernel`: Linux. `dl`: the dynamic loader. `umaprobe`: the addon itself (deadline, library
   * not open). `hub`: the Hugging Face Hub, or what answered in its place.
   */
  source: 'cudart' | 'cuda' | 'nvml' | 'kernel' | 'dl' | 'sim' | 'hub' | 'umaprobe';
  /** The function or file: "nvmlDeviceGetMemoryInfo_v2", "open /proc/pressure/memory". */
  call: string;
  /** Status number of the call (CUresult, cudaError_t, nvmlReturn_t, errno); null: it has none. */
  status: number | null;
  /**
   * Name of that number in its header, or the addon's own: "NOT_SUPPORTED", "CUDA_ERROR_NO_DEVICE", "ENOENT",
   * "TIMEOUT".
   */
  name: string;
  /**
   * Message of the source; may be empty. It does not repeat call, name and status. With LIBRARY_MISSING it lists every
   * path tried, each with the loader's message.
   */
  message: string;
}

/** A value, or why it could not be read. */
export type Fact<T> = T | Failure;

/** A call that a library, the kernel or umaprobe itself refused, with the fields of its failure. */
export class UmaError extends Error {
  /** Stable across versions: compare this, not the message. */
  readonly code: UmaErrorCode;
  /** Origin of the failure. */
  readonly source: Failure['source'];
  /** The function or file: "nvmlInit_v2", "read /proc/meminfo". */
  readonly call: string;
  /** Status number that CUDA, NVML or the kernel returned for the call; null: it has none. */
  readonly status: number | null;
  /** Name of that number: "NOT_SUPPORTED", "cudaErrorNoDevice", "ENOENT". */
  readonly nativeName: string;

  /** Made by umaprobe from the failure that a library, the kernel or umaprobe itself reported. */
  constructor(code: UmaErrorCode, failure: Omit<Failure, 'failed'>, options?: ErrorOptions) {
    super(describe(failure), options);
    this.code = code;
    this.source = failure.source;
    this.call = failure.call;
    this.status = failure.status;
    this.nativeName = failure.name;
  }

  // A field of the prototype: console.log would print one of the instance.
  override get name(): string {
    return 'UmaError';
  }

  /** For `JSON.stringify()`: also its name, its message and its causes, without the stack. */
  toJSON(): Record<string, unknown> {
    return jsonOf(this);
  }
}

/** Causes of causes in a document: a chain may be a circle. */
const MOST_CAUSES = 4;

/** An error as plain fields. Of the fields of a foreign one, which may be anything, only its code. */
export function jsonOf(error: Error, causes = MOST_CAUSES): Record<string, unknown> {
  const { cause, code, message, name } = error as Error & { code?: unknown };
  const fields = error instanceof UmaError ? { ...error } : typeof code === 'string' ? { code } : {};
  const more =
    cause === undefined || causes === 0
      ? {}
      : { cause: cause instanceof Error ? jsonOf(cause, causes - 1) : String(cause) };
  return { name, message, ...fields, ...more };
}

function describe({ call, message, name, status }: Omit<Failure, 'failed'>): string {
  const result = [name, status].filter((part) => part !== null).join(' ');
  return message === '' ? `${call}: ${result}` : `${call}: ${message} (${result})`;
}

/** Status number of a library → its name in the library's header, and umaprobe's code for it. */
type StatusTable = Readonly<Record<number, readonly [name: string, code: UmaErrorCode]>>;

/**
 * CUresult of cuda.h. cudaError_t has the same numbers; a status that only the runtime returns has the runtime's name.
 */
const CUDA: StatusTable = {
  2: ['CUDA_ERROR_OUT_OF_MEMORY', 'ERR_UMA_OUT_OF_MEMORY'],
  3: ['CUDA_ERROR_NOT_INITIALIZED', 'ERR_UMA_DRIVER_UNUSABLE'],
  34: ['CUDA_ERROR_STUB_LIBRARY', 'ERR_UMA_DRIVER_UNUSABLE'],
  35: ['cudaErrorInsufficientDriver', 'ERR_UMA_DRIVER_UNUSABLE'], // also without any driver
  36: ['cudaErrorCallRequiresNewerDriver', 'ERR_UMA_DRIVER_UNUSABLE'],
  46: ['CUDA_ERROR_DEVICE_UNAVAILABLE', 'ERR_UMA_BUSY'],
  100: ['CUDA_ERROR_NO_DEVICE', 'ERR_UMA_NO_DEVICE'],
  101: ['CUDA_ERROR_INVALID_DEVICE', 'ERR_UMA_NO_DEVICE'],
  214: ['CUDA_ERROR_ECC_UNCORRECTABLE', 'ERR_UMA_DEVICE_LOST'], // the device is unusable until it is reset
  220: ['CUDA_ERROR_NVLINK_UNCORRECTABLE', 'ERR_UMA_DEVICE_LOST'],
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
  12: ['NVML_ERROR_LIBRARY_NOT_FOUND', 'ERR_UMA_LIBRARY_MISSING'], // a library that NVML itself loads
  13: ['NVML_ERROR_FUNCTION_NOT_FOUND', 'ERR_UMA_SYMBOL_MISSING'],
  15: ['NVML_ERROR_GPU_IS_LOST', 'ERR_UMA_DEVICE_LOST'],
  16: ['NVML_ERROR_RESET_REQUIRED', 'ERR_UMA_DEVICE_LOST'],
  17: ['NVML_ERROR_OPERATING_SYSTEM', 'ERR_UMA_PERMISSION'], // access to the device node is denied by permissions or a cgroup
  18: ['NVML_ERROR_LIB_RM_VERSION_MISMATCH', 'ERR_UMA_DRIVER_UNUSABLE'],
  19: ['NVML_ERROR_IN_USE', 'ERR_UMA_BUSY'],
  20: ['NVML_ERROR_MEMORY', 'ERR_UMA_OUT_OF_MEMORY'],
  28: ['NVML_ERROR_GPU_NOT_FOUND', 'ERR_UMA_NO_DEVICE'],
};

const ERRNO: Readonly<Record<string, UmaErrorCode>> = {
  EACCES: 'ERR_UMA_PERMISSION',
  EPERM: 'ERR_UMA_PERMISSION',
  ENOENT: 'ERR_UMA_NOT_FOUND',
  ENOTDIR: 'ERR_UMA_NOT_FOUND',
  ENOMEM: 'ERR_UMA_OUT_OF_MEMORY',
  EBUSY: 'ERR_UMA_BUSY',
};

/** Names given by the addon itself; they mean the same for every source. */
const ADDON: Readonly<Record<string, UmaErrorCode>> = {
  TIMEOUT: 'ERR_UMA_TIMEOUT',
  LIBRARY_MISSING: 'ERR_UMA_LIBRARY_MISSING',
  SYMBOL_MISSING: 'ERR_UMA_SYMBOL_MISSING',
  NOT_SUPPORTED: 'ERR_UMA_NOT_SUPPORTED', // the device does not have this kind of memory
  STOPPED: 'ERR_UMA_FLOOR', // by the guard
  MODEL_INVALID: 'ERR_UMA_MODEL', // a file of a model
};

/** The table of each library: the same status number means different things in different libraries. */
const STATUS: Readonly<Partial<Record<Failure['source'], StatusTable>>> = { cudart: CUDA, cuda: CUDA, nvml: NVML };

/** Sources whose names are errno names. */
const ERRNO_SOURCES: readonly Failure['source'][] = ['kernel', 'sim'];

/** Files of the kernel: one that is missing is a feature that this kernel does not have. */
const KERNEL_FILE = /(^| )\/(proc|sys|dev)\//;

/** The stable code of a failure: by name first, then by status number; else ERR_UMA_CALL_FAILED. */
export function errorCode({
  source,
  status,
  name,
  call = '',
}: Pick<Failure, 'source' | 'status' | 'name'> & Partial<Pick<Failure, 'call'>>): UmaErrorCode {
  if (name === 'ENOENT' && source === 'kernel' && KERNEL_FILE.test(call)) return 'ERR_UMA_NOT_SUPPORTED';
  const byName = lookUp(ADDON, name) ?? (ERRNO_SOURCES.includes(source) ? lookUp(ERRNO, name) : undefined);
  const byStatus = status === null ? undefined : STATUS[source]?.[status]?.[1];
  return byName ?? byStatus ?? 'ERR_UMA_CALL_FAILED';
}

/** Looks at own keys only, so that a name such as "constructor" is not found. */
function lookUp(table: Readonly<Record<string, UmaErrorCode>>, name: string): UmaErrorCode | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/**
 * The failure as an exception.
 *
 * @param caller an Error created before the await: its stack shows the caller of umaprobe instead of the event loop.
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
