/** An error as an exit code, a message for people and a document for scripts. */
import { UmaError } from '../../base/errors.ts';
import { clean } from '../../base/format.ts';
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
} as const;

/** Exit codes by the error's code; see docs/cli.md. */
const EXIT_OF_CODE: Readonly<Record<string, number>> = {
  ERR_USAGE: EXIT.usage,
  ERR_INVALID_ARG_TYPE: EXIT.usage,
  ERR_INVALID_ARG_VALUE: EXIT.usage,
  ERR_OUT_OF_RANGE: EXIT.usage,
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
};

export interface ErrorDocument {
  schema: 'umaprobe/error/1';
  error: {
    code: string;
    message: string;
    exitCode: number;
    /** The native call that failed, if there was one. */
    source: string | null;
    call: string | null;
    status: number | null;
    nativeName: string | null;
    /** The underlying error, where the message leaves it out for length. */
    detail: string | null;
  };
}

export interface Failure {
  exitCode: number;
  /** For stderr, with the newline. */
  message: string;
  document: ErrorDocument;
}

export function describe(error: unknown, debug: boolean): Failure {
  const message =
    stringField(error, 'syscall') === 'uv_cwd'
      ? 'the current folder was removed: change to another one'
      : (error instanceof Error ? error.message : String(error)).trim();
  const code = stringField(error, 'code') ?? 'ERR_INTERNAL';
  const known = isBrokenInstallation(error) ? EXIT.negative : isKernelLate(error) ? EXIT.stopped : EXIT_OF_CODE[code];
  const exitCode = known ?? EXIT.negative;
  const stack = error instanceof Error ? (error.stack ?? message) : message;
  // An unforeseen error is a bug of ours, not a user's mistake: a report needs its stack.
  const unexpected = known === undefined && !code.startsWith('ERR_UMA_') && !isSystemCode(code);
  const lines = [`umaprobe: ${clean(message)}${error instanceof UsageError ? ` See umaprobe ${helpOf(error)}.` : ''}`];
  if (unexpected && !debug) lines.push('This looks like a bug in umaprobe. UMAPROBE_DEBUG=1 shows where it happened.');
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

/** Whether umaprobe's own binary is missing or broken, which says nothing about a GPU or its driver. */
function isBrokenInstallation(error: unknown): boolean {
  if (!(error instanceof UmaError) || error.code !== 'ERR_UMA_LIBRARY_MISSING') return false;
  // A probe that finds no CUDA has the same source, but says NO_DEVICE.
  return error.source === 'umaprobe' && error.nativeName !== 'NO_DEVICE';
}

/** Whether the kernel, a file system or sudo, and not the GPU, did not answer in time. */
function isKernelLate(error: unknown): boolean {
  if (!(error instanceof UmaError) || error.code !== 'ERR_UMA_TIMEOUT' || error.source === 'nvml') return false;
  return error.nativeName === 'TIMEOUT' && !/^(cu|nvml)/.test(error.call);
}

function helpOf({ command }: UsageError): string {
  return command === null ? '--help' : `${command} --help`;
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
