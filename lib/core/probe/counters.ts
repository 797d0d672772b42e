/** The counters that an allocation may move: their names, and their changes. Pure. */

import type { Counter, CounterChange, CountersMoved } from '../../types/index.ts';

export const COUNTERS = [
  'memFree',
  'memAvailable',
  'cudaFree',
  'nvmlProcess',
  'nvmlDeviceUsed',
  'rss',
  'cgroup',
] as const satisfies readonly Counter[];

/** All counters at one instant, in bytes; null: cannot be read. */
export type Counters = Record<Counter, number | null>;

/** The file or function that each counter was read from, or the reason for its null. */
export type CounterSources = Record<Counter, string>;

/** The counters around one allocation. */
export interface CounterSeries {
  before: Counters;
  afterAlloc: Counters | null;
  afterTouch: Counters | null;
  afterFree: Counters | null;
}

type Phase = Exclude<keyof CounterSeries, 'before'>;

/** Change against `before`: per counter the median over the repeats that could read it. null: nothing was allocated. */
export function movedOver(repeats: readonly CounterSeries[]): CountersMoved | null {
  if (repeats.every(({ afterAlloc }) => afterAlloc === null)) return null;
  const changeOf = (counter: Counter): CounterChange => {
    const medianAt = (phase: Phase): number | null => {
      const changes = repeats.flatMap(({ before, [phase]: after }) => {
        const [from, to] = [before[counter], after?.[counter] ?? null];
        return from === null || to === null ? [] : [to - from];
      });
      const middle = median(changes);
      return middle === null ? null : Math.round(middle);
    };
    return {
      afterAlloc: medianAt('afterAlloc'),
      afterTouch: medianAt('afterTouch'),
      afterFree: medianAt('afterFree'),
    };
  };
  return Object.fromEntries(COUNTERS.map((counter) => [counter, changeOf(counter)])) as CountersMoved;
}

/** The middle value, or the mean of the two middle values; null for an empty list. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}
