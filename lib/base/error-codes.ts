/**
 * Every code of an error, when it occurs and what helps. docs/errors.md is made from these tables, and the types of codes
 * are their keys; nothing else imports them when umaprobe runs.
 */

export interface CodeFacts {
  readonly when: string;
  readonly remedy: string;
}

/** Codes of `UmaError`: a library, the kernel or umaprobe itself refused. */
export const UMA_ERRORS = {
  ERR_UMA_LIBRARY_MISSING: {
    when: "umaprobe's own binary, CUDA or NVML is not installed, or cannot be opened",
    remedy: 'Install the driver, and in a container pass the GPU in (`--gpus all`). Without a GPU: `--sim gb10`',
  },
  ERR_UMA_SYMBOL_MISSING: {
    when: 'This version of a library does not have the function',
    remedy: 'Update the driver',
  },
  ERR_UMA_DRIVER_UNUSABLE: {
    when: 'The library is installed and finds no driver that it can use: not loaded, too old, or of another version',
    remedy: 'After an update of the driver reboot; else see `umaprobe doctor`',
  },
  ERR_UMA_NO_DEVICE: {
    when: 'There is no CUDA device with this number',
    remedy: '`umaprobe snapshot` lists the devices; `CUDA_VISIBLE_DEVICES` may hide some',
  },
  ERR_UMA_DEVICE_LOST: {
    when: 'The GPU fell off the bus, or has to be reset',
    remedy: 'Reboot. The kernel log (`dmesg`) has the Xid',
  },
  ERR_UMA_NOT_SUPPORTED: {
    when: 'The device, the driver or this kernel does not have it: the normal answer of NVML on unified memory',
    remedy: 'None: use another reading',
  },
  ERR_UMA_NOT_FOUND: {
    when: 'A process, unit, cgroup, recorder or recording that was named does not exist',
    remedy: 'Check the name in the message',
  },
  ERR_UMA_PATH: {
    when: 'A file or folder that was named is missing, or is something else',
    remedy: 'Name another one',
  },
  ERR_UMA_OUT_OF_MEMORY: {
    when: 'There was not enough memory, or not even for a CUDA context',
    remedy: '`umaprobe snapshot` says who holds it, `umaprobe prepare <size>` makes room',
  },
  ERR_UMA_PERMISSION: {
    when: 'The kernel or the driver refused this user. Nothing was changed',
    remedy: 'The message has the command for root',
  },
  ERR_UMA_TIMEOUT: {
    when: 'No answer within the time limit, or the library still hangs in an earlier call',
    remedy: 'Allow more time (`--deadline`). A library that never answers needs a reboot',
  },
  ERR_UMA_BUSY: {
    when: 'Another run has the journal, or the machine is under memory pressure, or the device is in use',
    remedy: 'Wait for the other run, or give `--journal <file>`; under pressure see `umaprobe doctor`',
  },
  ERR_UMA_FLOOR: {
    when: 'A test was not started because that is not safe (`nativeName` says why). Nothing was allocated',
    remedy: 'The message has the numbers and what to do; `umaprobe prepare <size>` makes room',
  },
  ERR_UMA_JOURNAL: {
    when: 'The journal of a test cannot be opened or written, or is damaged before its end',
    remedy: 'Give another file (`--journal <file>`), or none (`--journal none`)',
  },
  ERR_UMA_MODEL: {
    when: 'There is no model of that path or name, or a file of it is damaged or incomplete',
    remedy: 'Check the name, or download it again',
  },
  ERR_UMA_NETWORK: {
    when: 'The Hugging Face Hub could not be asked, or its answer cannot be used',
    remedy: 'The message says what to do. What was read before is there without a network',
  },
  ERR_UMA_CALL_FAILED: {
    when: 'Any other failure of a library or of the kernel',
    remedy: '`call`, `status` and `nativeName` say which',
  },
} as const satisfies Readonly<Record<string, CodeFacts>>;

/** Codes of mistakes of the caller: `TypeError` and `RangeError`, and what the command line refuses. */
export const USAGE_ERRORS = {
  ERR_INVALID_ARG_TYPE: {
    when: 'An argument or option has the wrong type (`TypeError`)',
    remedy: 'The message names it, and what was expected',
  },
  ERR_INVALID_ARG_VALUE: {
    when: 'A value is not allowed, an option is not known, or a machine file is wrong (`TypeError`)',
    remedy: 'The message names it, and the nearest known word',
  },
  ERR_OUT_OF_RANGE: {
    when: 'A number is outside its limits (`RangeError`)',
    remedy: 'The message has the limits',
  },
  ERR_USAGE: {
    when: 'The command line is wrong: an unknown command or option, a missing unit, two options that exclude each other',
    remedy: 'The message ends with the help page to read',
  },
} as const satisfies Readonly<Record<string, CodeFacts>>;

/** Codes that the command line gives to what has none. */
export const OTHER_ERRORS = {
  EACCES: { when: 'A file may not be read or written (also `EPERM`)', remedy: 'Choose another file, or another user' },
  ERR_INTERNAL: {
    when: 'A mistake in umaprobe itself',
    remedy: 'Please report it, with the output under `UMAPROBE_DEBUG=1`',
  },
} as const satisfies Readonly<Record<string, CodeFacts>>;

/** Codes of `UmaError`, stable across versions. docs/errors.md says when each occurs and what helps. */
export type UmaErrorCode = keyof typeof UMA_ERRORS;
export type UsageErrorCode = keyof typeof USAGE_ERRORS;
