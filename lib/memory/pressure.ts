/**
 * Pressure stall information (PSI) of memory: the thresholds of all features, each with its evidence. Percentages are
 * shares of the last 10, 60 or 300 s. `some`: at least one task waited for memory. `full`: no task could run.
 */

import { UmaError } from '../base/errors.ts';
import { formatPercent } from '../base/format.ts';
import type { Pressure, Snapshot } from '../types/index.ts';

/**
 * `full` over 10 s, in percent. It separated all wedges from normal operation in 19,696 samples (lcasarin/blackbox,
 * GB10).
 */
export const STALLED_PERCENT = 10;

/**
 * `some` over 10 s, in percent. Watchdogs in the field warn from 10 %. Programs are then using their page cache: if
 * dropped, it is read again at once (237 major faults after one drop under load).
 */
export const WAITING_PERCENT = 10;

/** `full` over 300 s, in percent: a stall of 3 s in the last five minutes. */
export const RECENTLY_STALLED_PERCENT = 1;

/** Percent of the last 10 s, `some` or `full`. An idle machine stays below: from here on the numbers are shown in colour. */
export const NOTICEABLE_PERCENT = 1;

/** `full` of the last 10 s if it is a stall; null: it is not, or the kernel does not report it. */
export function stalledPercent(pressure: Pressure | null): number | null {
  return pressure !== null && pressure.full.avg10 >= STALLED_PERCENT ? pressure.full.avg10 : null;
}

/** `some` of the last 10 s if tasks wait for memory; null: they do not, or the kernel does not report it. */
export function waitingPercent(pressure: Pressure | null): number | null {
  return pressure !== null && pressure.some.avg10 >= WAITING_PERCENT ? pressure.some.avg10 : null;
}

/** Whether no task could run for at least 3 s of the last five minutes. */
export function recentlyStalled(pressure: Pressure | null): boolean {
  return pressure !== null && pressure.full.avg300 >= RECENTLY_STALLED_PERCENT;
}

/** "no task could run for lack of memory for 12.0 % of the last 10 s". */
export function stalledText(percent: number): string {
  return `no task could run for lack of memory for ${formatPercent(percent)} of the last 10 s`;
}

/** "no task could run … 10 s (PSI full, limit 10 %)": the reason why a probe does not start, or stops. */
export function stalledAtLimitText(percent: number, limit: number): string {
  return `${stalledText(percent)} (PSI full, limit ${formatPercent(limit, 0)})`;
}

/** "tasks waited for memory for 23.0 % of the last 10 s". */
export function waitingText(percent: number): string {
  return `tasks waited for memory for ${formatPercent(percent)} of the last 10 s`;
}

/** Meaning of a stall on a machine that freezes when memory runs out; follows a colon. */
export const FREEZE_BEGINS = 'this is how a freeze begins';

/** @throws UmaError ERR_UMA_BUSY (exit code 5 of the command line) while tasks wait for memory. */
export function refuseUnderPressure({ pressure }: Pick<Snapshot, 'pressure'>, call: string): void {
  const percent = waitingPercent(pressure);
  if (percent === null) return;
  throw new UmaError('ERR_UMA_BUSY', {
    source: 'umaprobe',
    call,
    status: null,
    name: 'PRESSURE',
    message: `refused, nothing was changed: ${waitingText(percent)}, and dropped page cache would be read again at once. Stop the largest program first, or force it (--force)`,
  });
}
