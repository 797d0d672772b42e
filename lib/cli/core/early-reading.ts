/**
 * The reading of the plain command begins before the rest of the command is loaded: the driver of a GPU takes longer to
 * start than all of it (170 ms on an H200), and does so on threads of its own.
 */
import { loadSnapshot, snapshot } from '../../core/snapshot/index.ts';
import type { SnapshotOptions } from '../../core/snapshot/options.ts';
import type { Snapshot } from '../../types/index.ts';

/** Options of `umaprobe` if no option says otherwise. */
export const PLAIN_READING = {
  // This process ends soon, and its contexts with it.
  memGetInfo: 'neededInProcess',
  deadlineMs: 2000,
  // Half of the library's limit, since a person is waiting: creating a context takes some 100 ms.
  childDeadlineMs: 5000,
  hiddenDevices: true,
} as const satisfies SnapshotOptions;

let begun: Promise<Snapshot> | null = null;

/** Returns once the reading has begun. */
export async function beginPlainReading(): Promise<void> {
  await loadSnapshot();
  begun = snapshot(PLAIN_READING);
  // The command awaits it and reports what went wrong, unless a word was typed twice.
  begun.catch(() => undefined);
}

/** The reading that has begun; null: none has. */
export function begunReading(): Promise<Snapshot> | null {
  return begun;
}
