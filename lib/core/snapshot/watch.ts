/** watch(): snapshots at a steady pace. */

import { checkOptions } from '../../base/options.ts';
import type { Snapshot } from '../../types/index.ts';
import { snapshot } from './index.ts';
import { type CheckedSnapshotOptions, WATCH, type WatchOptions } from './options.ts';

/**
 * Snapshots at a steady pace: the first at once, then one every `intervalMs`, measured from start to start. A reading
 * that takes longer than the interval delays the next one; readings do not queue up.
 *
 * Ends when the loop is left or `signal` is aborted, which is not an error. An abort does not wait for a pause or for a
 * reading that hangs.
 *
 * @example
 * ```ts
 * import { watch } from 'umaprobe';
 *
 * const signal = AbortSignal.timeout(60_000);
 * for await (const { at, host } of watch({ intervalMs: 5000, signal })) console.log(at, host.available);
 * ```
 *
 * @throws as `snapshot()`; RangeError for an interval outside 10 ms to 1 h.
 */
export function watch(options: WatchOptions = {}): AsyncGenerator<Snapshot, void, void> {
  const { intervalMs, signal, ...reading } = checkOptions('watch()', options, WATCH);
  return readings(intervalMs, signal, reading);
}

/** Milliseconds until the next reading, never below 0: Node 24 warns about a negative time. */
export function pauseUntilNext(due: number, intervalMs: number, now: number): number {
  return Math.max(0, due + intervalMs - now);
}

async function* readings(
  intervalMs: number,
  signal: AbortSignal | undefined,
  options: CheckedSnapshotOptions,
): AsyncGenerator<Snapshot, void, void> {
  // Imported here, so that `import 'umaprobe'` does not load it.
  const { setTimeout: sleep } = await import('node:timers/promises');
  let due = performance.now();
  while (!signal?.aborted) {
    let reading: Snapshot;
    try {
      reading = await snapshot(signal === undefined ? options : { ...options, signal });
    } catch (error) {
      if (signal?.aborted === true && error === signal.reason) return;
      throw error;
    }
    yield reading;
    const now = performance.now();
    const pause = pauseUntilNext(due, intervalMs, now);
    due = now + pause;
    try {
      await sleep(pause, undefined, { signal });
    } catch (error) {
      if (signal?.aborted) return;
      throw error;
    }
  }
}
