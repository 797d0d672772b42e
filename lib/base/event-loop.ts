/** Long loops in batches, so that other work on this thread is not delayed. */

/** Lets pending events run before the caller continues. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Calls `each` for every item and yields to the event loop after each batch of `batchSize` items. */
export async function inBatches<T>(
  items: readonly T[],
  batchSize: number,
  each: (item: T, index: number) => void,
): Promise<void> {
  for (let start = 0; start < items.length; start += batchSize) {
    if (start > 0) await yieldToEventLoop();
    const end = Math.min(items.length, start + batchSize);
    for (let index = start; index < end; index++) each(items[index] as T, index);
  }
}
