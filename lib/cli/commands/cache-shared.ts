/** Options that several commands of the cache have, and how their values are read. */

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
  summary: 'Let sudo do it, without a password: see umaprobe cache rule',
} as const;

/** "1", "2", "3", or several of them: "1,2". */
export function levelsOf(value: string, command: string): (1 | 2 | 3)[] {
  const words = value.split(',').map((word) => word.trim());
  const levels = words.map((word) => ([1, 2, 3] as const).find((level) => String(level) === word));
  const wrong = words.find((_, index) => levels[index] === undefined);
  if (wrong === undefined) return [...new Set(levels.filter((level) => level !== undefined))];
  throw new UsageError(`--level "${wrong}" is not one of 1, 2, 3.${didYouMean(wrong, ['1', '2', '3'])}`, command);
}

/** What is over sooner needs no line; after that ten a second are as many as can be read. */
const FIRST_AFTER_MS = 400;

const EVERY_MS = 100;

const CLEAR_LINE = '\r\x1b[K';

export interface Walking {
  signal: AbortSignal;
  onProgress: (progress: CacheProgress) => void;
}

export interface Reported<T> {
  /** null: a signal ended the walk before there was anything to report. */
  report: T | null;
  /** Of the signal that ended it; null: none did. */
  exitCode: number | null;
}

/** Runs a walk with progress on a terminal's stderr; SIGINT and SIGTERM end it, and what it reports then is shown. */
export async function reportedOrInterrupted<T>(
  { stderr }: Pick<Context, 'stderr'>,
  work: (walking: Walking) => Promise<T>,
): Promise<Reported<T>> {
  const abort = new AbortController();
  let exitCode: number | null = null;
  const stop = (signal: NodeJS.Signals): void => {
    exitCode = 128 + constants.signals[signal];
    abort.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  let due = performance.now() + FIRST_AFTER_MS;
  let drawn = false;
  const onProgress = ({ files, bytes, path }: CacheProgress): void => {
    if (!stderr.isTty || performance.now() < due) return;
    due = performance.now() + EVERY_MS;
    drawn = true;
    const words = `${files.toLocaleString('en-US')} files, ${formatBytes(bytes)}  ${clean(path)}`;
    stderr.write(`${CLEAR_LINE}${truncate(words, stderr.columns - 1)}`);
  };
  try {
    return { report: await work({ signal: abort.signal, onProgress }), exitCode };
  } catch (error) {
    // A signal that came while something else went wrong must not hide that.
    if (exitCode === null || error !== abort.signal.reason) throw error;
    return { report: null, exitCode };
  } finally {
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
    if (drawn) stderr.write(CLEAR_LINE);
  }
}
