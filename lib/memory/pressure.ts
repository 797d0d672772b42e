/** Whether memory is so short that taking page cache away would hurt whoever works. */
import { UmaError } from '../base/errors.ts';
import { formatPercent } from '../base/format.ts';
import type { Snapshot } from '../types/index.ts';

/**
 * Percent of the last 10 s in which some task waited for memory. Field guards warn from 10 % on (gb10-facts: French
 * sentinel). What is cached then is what programs are working on: dropped, it is read again at once, and 237 major
 * faults were counted after one drop under load.
 */
export const PRESSED_PERCENT = 10;

/** "tasks waited for memory for 23.0 % of the last 10 s"; null: nobody waits, or the kernel does not say. */
export function pressed({ pressure }: Pick<Snapshot, 'pressure'>): string | null {
  if (pressure === null || pressure.some.avg10 < PRESSED_PERCENT) return null;
  return `tasks waited for memory for ${formatPercent(pressure.some.avg10)} of the last 10 s`;
}

/** @throws UmaError ERR_UMA_BUSY, which the command line answers with 5: refused before anything was touched. */
export function refuseUnderPressure(snapshot: Pick<Snapshot, 'pressure'>, call: string): void {
  const words = pressed(snapshot);
  if (words === null) return;
  throw new UmaError('ERR_UMA_BUSY', {
    source: 'umaprobe',
    call,
    status: null,
    name: 'PRESSURE',
    message: `refused, nothing was changed: ${words}, and what is dropped now is read again at once. Stop the largest program first, or force it (--force)`,
  });
}

/** full ≥ 10 % of the last 10 s told every wedge of 19,696 samples apart (lcasarin/blackbox, GB10). */
export const STALLED_PERCENT = 10;
