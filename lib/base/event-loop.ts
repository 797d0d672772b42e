/** Long loops in turns, so that nobody else on this thread waits for them. */

/** Others have their turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Calls `each` for every item, with a pause after every `turn` of them. */
export async function inBatches<T>(
  items: readonly T[],
  turn: number,
  each: (item: T, index: number) => void,
): Promise<void> {
  for (let from = 0; from < items.length; from += turn) {
    if (from > 0) await yieldToEventLoop();
    const to = Math.min(items.length, from + turn);
    for (let at = from; at < to; at++) each(items[at] as T, at);
  }
}
