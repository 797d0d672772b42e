import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the condition holds; false: it still does not after this many milliseconds. */
export async function waitFor(condition: () => boolean, limitMs: number): Promise<boolean> {
  for (const end = performance.now() + limitMs; performance.now() < end; await sleep(10)) if (condition()) return true;
  return condition();
}
