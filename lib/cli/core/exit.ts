/** What went wrong, as an exit code, one line for people and a document for scripts. */
import { UmaError } from '../../base/errors.ts';
import { UsageError } from './usage.ts';

export const EXIT = {
  fine: 0,
  no: 1,
  usage: 2,
  noGpu: 3,
  permission: 4,
  refused: 5,
  stopped: 6,
} as const;

/** The exit codes of errors that carry a code of ours; see docs/cli.md. */
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
  // Thrown only before anything was allocated: how a probe ends is a result, and its exit code the command's.
  ERR_UMA_FLOOR: EXIT.refused,
  ERR_UMA_JOURNAL: EXIT.refused,
};

export interface ErrorDocument {
  schema: 'umaprobe/error/1';
  error: {
    code: string;
    message: string;
    exitCode: number;
    /** Facts of the native call that failed, where there was one. */
    source: string | null;
    call: string | null;
    status: number | null;
    nativeName: string | null;
    /** What lies behind the message, where that is longer than a line should be. */
    detail: string | null;
  };
}

export interface Failure {
  exitCode: number;
  /** For stderr, with the newline. */
  words: string;
  document: ErrorDocument;
}

export function describe(error: unknown, debug: boolean): Failure {
  const message = (error instanceof Error ? error.message : String(error)).trim();
  const code = stringField(error, 'code') ?? 'ERR_INTERNAL';
  const known = isBrokenInstallation(error) ? EXIT.no : EXIT_OF_CODE[code];
  const exitCode = known ?? EXIT.no;
  const stack = error instanceof Error ? (error.stack ?? message) : message;
  // An error nobody foresaw is ours: its stack is what a report needs, and no user's mistake.
  const unexpected = known === undefined && !code.startsWith('ERR_UMA_') && !isSystemCode(code);
  const lines = [`umaprobe: ${message}${error instanceof UsageError ? ` See umaprobe ${helpOf(error)}.` : ''}`];
  if (unexpected && !debug) lines.push('This looks like a bug in umaprobe. UMAPROBE_DEBUG=1 shows where it happened.');
  const detail = error instanceof Error && error.cause instanceof Error ? error.cause.message : null;
  if (debug) lines.push(stack, ...(detail === null ? [] : [`Cause: ${detail}`]));
  return {
    exitCode,
    words: `${lines.join('\n')}\n`,
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

/** umaprobe's own binary is missing or broken. That says nothing about a GPU or its driver, and must not look like it. */
function isBrokenInstallation(error: unknown): boolean {
  if (!(error instanceof UmaError) || error.code !== 'ERR_UMA_LIBRARY_MISSING') return false;
  // A probe that finds no CUDA says so itself, too, but with NO_DEVICE.
  return error.source === 'umaprobe' && error.nativeName !== 'NO_DEVICE';
}

function helpOf({ command }: UsageError): string {
  return command === null ? '--help' : `${command} --help`;
}

/** ENOENT, EISDIR…: what the system said about something that the user named. */
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
