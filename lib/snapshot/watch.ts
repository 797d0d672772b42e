import { checkMilliseconds, checkSignal } from '../base/arguments.ts';
import type { Snapshot, WatchOptions } from '../types/index.ts';
import { snapshot } from './index.ts';

/**
 * Snapshots at a steady pace: the first at once, then one each `intervalMs`, measured from start to start. A reading
 * that takes longer than the interval delays the next; none are queued up.
 *
 * Ends when `signal` is aborted (also in the middle of a pause, without an error) or the loop is left.
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
  // Not above: everybody who imports umaprobe would load it.
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
