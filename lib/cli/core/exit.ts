/** An error as an exit code, a message for people and a document for scripts. */
import type { UmaErrorCode, UsageErrorCode } from '../../base/error-codes.ts';
import { UmaError } from '../../base/errors.ts';
import { clean } from '../../base/format.ts';
import type { ErrorDocument } from '../../types/index.ts';
import { UsageError } from './usage.ts';

export const EXIT = {
  success: 0,
  /** The answer is no, or umaprobe is broken. */
  negative: 1,
  usage: 2,
  noGpu: 3,
  permission: 4,
  refused: 5,
  stopped: 6,
  /** doctor found failures, or cluster a machine in danger. A script must tell them from its own mistake, 2. */
  failures: 7,
} as const;

/** The codes for the help and docs/errors.md, in a few words and in a sentence. */
export const EXIT_MEANINGS: readonly (readonly [code: string, short: string, more: string])[] = [
  ['0', 'success', 'Also of `snapshot` without a GPU, and of `sweep` with a size that is too large'],
  [
    '1',
    'the answer is no, doctor has warnings, or umaprobe is broken',
    '`fit` or `cluster check` says anything but *fits*, and `launch` started nothing; `cluster` has warnings; `sweep`, `layout`, `stress` or `profile` failed or found nothing that fits; `prepare`, `cache compact` or `cache reclaim` did not reach its goal; a named path does not exist; `explain --error` knows no message of the text',
  ],
  ['2', 'wrong usage', 'Nothing was done. The line says what is wrong and which help to read'],
  [
    '3',
    'no usable GPU or driver, or a machine of a cluster gave no usable answer',
    '`--sim gb10` runs the same command on a simulated Spark',
  ],
  ['4', 'no permission', 'Nothing was changed. The message has the command to type'],
  [
    '5',
    'refused for safety before anything was changed',
    'The machine can take no load or test now, another run is live, or the journal cannot be kept',
  ],
  [
    '6',
    'stopped by a floor, the guard or a time limit',
    'The results so far are valid, of `stress` as a lower bound. `guard` and `launch`: the guard stopped the program. `profile`: the memory did not come back. Also a journal that could no longer be written, and a kernel or file system that does not answer',
  ],
  ['7', 'doctor found failures, or cluster a danger', 'Not 2, so that a script can tell them from its own mistake'],
  [
    '128+n',
    'ended by signal n',
    'Ctrl-C is 130: the results so far are printed, and a second signal ends it at once. `sim run`, `guard` and `launch` pass on the code of their program; 126 and 127: it could not be started',
  ],
];

/** Exit codes by the error's code; a code that is not here is 1. */
export const EXIT_OF_CODE: Readonly<Record<UmaErrorCode | UsageErrorCode, number> & Record<string, number>> = {
  ERR_USAGE: EXIT.usage,
  ERR_INVALID_ARG_TYPE: EXIT.usage,
  ERR_INVALID_ARG_VALUE: EXIT.usage,
  ERR_OUT_OF_RANGE: EXIT.usage,
  ERR_UMA_MODEL: EXIT.usage,
  ERR_UMA_PATH: EXIT.usage,
  ERR_UMA_LIBRARY_MISSING: EXIT.noGpu,
  ERR_UMA_SYMBOL_MISSING: EXIT.noGpu,
  ERR_UMA_DRIVER_UNUSABLE: EXIT.noGpu,
  ERR_UMA_NO_DEVICE: EXIT.noGpu,
  ERR_UMA_DEVICE_LOST: EXIT.noGpu,
  ERR_UMA_TIMEOUT: EXIT.noGpu,
  ERR_UMA_PERMISSION: EXIT.permission,
  EACCES: EXIT.permission,
  EPERM: EXIT.permission,
  ERR_UMA_BUSY: EXIT.refused,
  // Thrown only before anything is allocated: later, how a probe ended is a result with an exit code of its own.
  ERR_UMA_FLOOR: EXIT.refused,
  ERR_UMA_JOURNAL: EXIT.refused,
  ERR_UMA_NOT_SUPPORTED: EXIT.negative,
  ERR_UMA_NOT_FOUND: EXIT.negative,
  ERR_UMA_OUT_OF_MEMORY: EXIT.negative,
  ERR_UMA_NETWORK: EXIT.negative,
  ERR_UMA_CALL_FAILED: EXIT.negative,
};

export interface Failure {
  exitCode: number;
  /** Text for stderr, with the newline. */
  message: string;
  document: ErrorDocument;
}

export function describe(error: unknown, debug: boolean): Failure {
  const message =
    stringField(error, 'syscall') === 'uv_cwd'
      ? 'the current folder was removed: change to another one'
      : (error instanceof Error ? error.message : String(error)).trim();
  const code = stringField(error, 'code') ?? 'ERR_INTERNAL';
  const known = isBrokenInstallation(error) ? EXIT.negative : isKernelLate(error) ? EXIT.stopped : exitOf(code);
  const exitCode = known ?? EXIT.negative;
  const stack = error instanceof Error ? (error.stack ?? message) : message;
  // An unforeseen error is a bug of ours, not a user's mistake: a report needs its stack.
  const unexpected = known === undefined && !code.startsWith('ERR_UMA_') && !isSystemCode(code);
  const lines = [`umaprobe: ${clean(message)}${seeHelp(error)}`];
  if (unexpected && !debug) lines.push('This looks like a bug in umaprobe. UMAPROBE_DEBUG=1 shows where it happened.');
  if (code === 'ERR_UMA_TIMEOUT' && exitCode === EXIT.noGpu)
    lines.push('The driver may hang: umaprobe doctor reads everything else, and says what to do.');
  const detail = error instanceof Error && error.cause instanceof Error ? error.cause.message : null;
  if (debug) lines.push(stack, ...(detail === null ? [] : [`Cause: ${detail}`]));
  return {
    exitCode,
    message: `${lines.join('\n')}\n`,
    document: {
      schema: 'umaprobe/error/1',
      error: {
        code,
        message,
        exitCode,
        source: stringField(error, 'source'),
        call: stringField(error, 'call'),
        status: numberField(error, 'status'),
        nativeName: stringField(error, 'nativeName'),
        detail,
      },
    },
  };
}

/** undefined: a code that nobody foresaw. */
function exitOf(code: string): number | undefined {
  return Object.hasOwn(EXIT_OF_CODE, code) ? EXIT_OF_CODE[code] : undefined;
}

/** True if umaprobe's own binary is missing or broken, which says nothing about a GPU or its driver. */
function isBrokenInstallation(error: unknown): boolean {
  if (!(error instanceof UmaError) || error.code !== 'ERR_UMA_LIBRARY_MISSING') return false;
  // A probe that finds no CUDA has the same source, but says NO_DEVICE.
  return error.source === 'umaprobe' && error.nativeName !== 'NO_DEVICE';
}

/** True if the kernel, a file system or sudo, and not the GPU, did not answer in time. */
function isKernelLate(error: unknown): boolean {
  if (!(error instanceof UmaError) || error.code !== 'ERR_UMA_TIMEOUT') return false;
  return error.nativeName === 'TIMEOUT' && !/^(cu|nvml)/.test(error.call);
}

/** " See umaprobe fit --help." of a mistake; else nothing. */
function seeHelp(error: unknown): string {
  if (!(error instanceof UsageError)) return '';
  return ` See umaprobe ${error.command === null ? '' : `${error.command} `}--help.`;
}

/** ENOENT, EISDIR…: the system's answer about a file that the user named. */
function isSystemCode(code: string): boolean {
  return /^E[A-Z0-9]+$/.test(code);
}

function stringField(error: unknown, name: string): string | null {
  const value = field(error, name);
  return typeof value === 'string' ? value : null;
}

function numberField(error: unknown, name: string): number | null {
  const value = field(error, name);
  return typeof value === 'number' ? value : null;
}

function field(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
}
