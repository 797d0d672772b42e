/** watch(): snapshots at a steady pace. */

import { checkMilliseconds, checkSignal } from '../base/arguments.ts';
import type { Snapshot, WatchOptions } from '../types/index.ts';
import { snapshot } from './index.ts';

/**
 * Snapshots at a steady pace: the first at once, then one every `intervalMs`, measured from start to start. A reading
 * that takes longer than the interval delays the next one; readings do not queue up.
 *
 * Ends when the loop is left or `signal` is aborted; an abort also ends a pause, and is not an error.
 *
 * @throws as `snapshot()`; RangeError for an interval outside 10 ms to 1 h.
 */
export function watch(options: WatchOptions = {}): AsyncGenerator<Snapshot, void, void> {
  const { intervalMs = 1_000, signal, ...reading } = options;
  checkMilliseconds('intervalMs', intervalMs, 10, 3_600_000);
  checkSignal(signal);
  return readings(intervalMs, signal, reading);
}

async function* readings(
  intervalMs: number,
  signal: AbortSignal | undefined,
  options: WatchOptions,
): AsyncGenerator<Snapshot, void, void> {
  // Imported here, so that `import 'umaprobe'` does not load it.
  const { setTimeout: sleep } = await import('node:timers/promises');
  let due = performance.now();
  while (!signal?.aborted) {
    yield await snapshot(options);
    due = Math.max(due + intervalMs, performance.now());
    try {
      await sleep(due - performance.now(), undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      if (signal?.aborted) return;
      throw error;
    }
  }
}
