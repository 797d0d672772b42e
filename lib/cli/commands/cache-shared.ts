/** What several cache commands share: options, drop levels, and a walk that shows progress and stops at a signal. */

import { clean, formatBytes } from '../../base/format.ts';
import { withDefault } from '../../base/options.ts';
import { STATUS } from '../../core/cache/options.ts';
import { truncate } from '../../show/render/text-layout.ts';
import type { CacheEvent } from '../../types/index.ts';
import type { Context } from '../core/command.ts';
import { onInterrupt } from '../core/interrupt.ts';

/** On a screen fewer files are listed. */
export const TOP = { top: withDefault(STATUS.top, 10) };

/** Of the description of a command that takes paths. */
export const UNREADABLE_EXIT = 'Exit code: 1 if a given path could not be read.';

/** Walks that end sooner show no progress. */
const FIRST_PROGRESS_MS = 400;
/** Interval of progress lines: ten a second are as many as can be read. */
const PROGRESS_MS = 100;
const CLEAR_LINE = '\r\x1b[K';

export interface WalkOptions {
  signal: AbortSignal;
  onEvent: (event: CacheEvent) => void;
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
  const interrupt = onInterrupt(() => undefined);
  let due = performance.now() + FIRST_PROGRESS_MS;
  let drawn = false;
  const onEvent = ({ files, bytes, path }: CacheEvent): void => {
    if (!stderr.isTty || performance.now() < due) return;
    due = performance.now() + PROGRESS_MS;
    drawn = true;
    const line = `${files.toLocaleString('en-US')} files, ${formatBytes(bytes)}  ${clean(path)}`;
    stderr.control(CLEAR_LINE);
    stderr.write(truncate(line, stderr.columns - 1));
  };
  try {
    return { report: await work({ signal: interrupt.signal, onEvent }), exitCode: interrupt.exitCode() };
  } catch (error) {
    // A signal must not hide another error.
    if (interrupt.exitCode() === null || error !== interrupt.signal.reason) throw error;
    return { report: null, exitCode: interrupt.exitCode() };
  } finally {
    interrupt.close();
    if (drawn) stderr.control(CLEAR_LINE);
  }
}
