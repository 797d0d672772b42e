/** Common to cache commands: options, drop levels, and a walk that shows progress and stops at a signal. */

import { clean, formatBytes } from '../../base/format.ts';
import { withDefault } from '../../base/options.ts';
import { STATUS } from '../../core/cache/options.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import { truncate } from '../../show/render/text-layout.ts';
import type { CacheEvent } from '../../types/index.ts';
import { type CommandOutcome, type Context, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { onInterrupt } from '../core/interrupt.ts';

/** A screen lists fewer files. */
export const TOP = { top: withDefault(STATUS.top, 10) };

/** Part of the description of a command that takes paths. */
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

/** The part that the reports of walks have in common: a given path has no file in it if it could not be read at all. */
interface Walked {
  targets: { path: string; problems: { path: string }[]; files: number }[];
}

/** Runs a walk over files. A signal stops it, and what it reports then is shown. */
export async function walk<Report extends Walked>(
  { stderr }: Pick<Context, 'stderr'>,
  work: (options: WalkOptions) => Promise<Report>,
  page: (report: Report, options: RenderOptions) => string[],
): Promise<CommandOutcome> {
  const interrupt = onInterrupt();
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
    const report = await work({ signal: interrupt.signal, onEvent });
    const isMissing = report.targets.some(
      ({ files, path, problems }) => files === 0 && problems.some((problem) => problem.path === path),
    );
    return shown(report, page, interrupt.exitCode() ?? (isMissing ? EXIT.negative : EXIT.success));
  } finally {
    interrupt.close();
    if (drawn) stderr.control(CLEAR_LINE);
  }
}
