/** `keepFreeBytes`: unused model files leave the page cache while the program runs. */

import { setTimeout as sleep } from 'node:timers/promises';
import { keepFree } from '../../core/cache/index.ts';
import type { GuardRun } from './run.ts';

/** A look at MemFree takes 0.1 ms, a walk over 400 GB of models 50 ms. */
const EVERY_MS = 5000;

/** Runs until the signal is aborted. A failed look, as at a model store that does not answer, is tried again. */
export async function keepMemoryFree(bytes: number, run: GuardRun, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { evictedBytes, free } = await keepFree(bytes, signal).catch(() => ({ evictedBytes: 0, free: null }));
    if (evictedBytes > 0) run.evicted(evictedBytes, free);
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
