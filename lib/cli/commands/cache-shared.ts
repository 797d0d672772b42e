/** What several cache commands share: options, drop levels, and a walk that shows progress and stops at a signal. */
import { constants } from 'node:os';
import { clean, formatBytes } from '../../base/format.ts';
import { truncate } from '../../render/text-layout.ts';
import type { CacheProgress } from '../../types/index.ts';
import type { Context } from '../core/command.ts';
import { didYouMean, UsageError } from '../core/usage.ts';

export const TOP = {
  type: 'string',
  placeholder: '<n>',
  summary: 'How many files to list: 0 to 100000 (default 10)',
} as const;

export const SUDO = {
  type: 'boolean',
  summary: 'Run the privileged step with sudo -n (see umaprobe cache rule)',
} as const;

/** "1", "2", "3", or several of them: "1,2". */
export function levelsOf(value: string, command: string): (1 | 2 | 3)[] {
  const words = value.split(',').map((word) => word.trim());
  const levels = words.map((word) => ([1, 2, 3] as const).find((level) => String(level) === word));
  const wrong = words.find((_, index) => levels[index] === undefined);
  if (wrong === undefined) return [...new Set(levels.filter((level) => level !== undefined))];
  throw new UsageError(`--level "${wrong}" is not one of 1, 2, 3.${didYouMean(wrong, ['1', '2', '3'])}`, command);
}

/** Walks that end sooner show no progress. */
const FIRST_PROGRESS_MS = 400;
/** Interval of progress lines: ten a second are as many as can be read. */
const PROGRESS_MS = 100;
const CLEAR_LINE = '\r\x1b[K';

export interface WalkOptions {
  signal: AbortSignal;
  onProgress: (progress: CacheProgress) => void;
}

export interface WalkOutcome<T> {
  /** null: a signal ended the walk before there was anything to report. */
  report: T | null;
  /** 128 + the number of the signal that ended the walk; null: there was none. */
  exitCode: number | null;
}

/** Runs a walk over files. A signal stops it, and what it reports then is shown. */
export async function walk<T>(
  { stderr }: Pick<Context, 'stderr'>,
  work: (options: WalkOptions) => Promise<T>,
): Promise<WalkOutcome<T>> {
  const abort = new AbortController();
  let exitCode: number | null = null;
  const stop = (signal: NodeJS.Signals): void => {
    exitCode = 128 + constants.signals[signal];
    abort.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  let due = performance.now() + FIRST_PROGRESS_MS;
  let drawn = false;
  const onProgress = ({ files, bytes, path }: CacheProgress): void => {
    if (!stderr.isTty || performance.now() < due) return;
    due = performance.now() + PROGRESS_MS;
    drawn = true;
    const line = `${files.toLocaleString('en-US')} files, ${formatBytes(bytes)}  ${clean(path)}`;
    stderr.control(CLEAR_LINE);
    stderr.write(truncate(line, stderr.columns - 1));
  };
  try {
    return { report: await work({ signal: abort.signal, onProgress }), exitCode };
  } catch (error) {
    // A signal must not hide another error.
    if (exitCode === null || error !== abort.signal.reason) throw error;
    return { report: null, exitCode };
  } finally {
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
    if (drawn) stderr.control(CLEAR_LINE);
  }
}
