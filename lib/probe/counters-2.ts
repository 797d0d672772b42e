/** Arithmetic on counters: which of them moved by how much, over the repeats of a step. */

import type { Counter, CounterChange, CountersMoved } from '../types/index.ts';

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

/** The counters around one allocation. */
export interface CounterSeries {
  before: Counters;
  afterAlloc: Counters | null;
  afterTouch: Counters | null;
  afterFree: Counters | null;
}

const PHASES = ['afterAlloc', 'afterTouch', 'afterFree'] as const;

/** The middle of them, or the mean of the middle two; null of none. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** Change against before, counter by counter, median over the repeats in which it could be read. null: nothing was allocated. */
export function movedOver(repeats: readonly CounterSeries[]): CountersMoved | null {
  if (repeats.every(({ afterAlloc }) => afterAlloc === null)) return null;
  const change = (counter: Counter): CounterChange => {
    const of = (phase: (typeof PHASES)[number]): number | null => {
      const changes = repeats.flatMap(({ before, [phase]: after }) => {
        const [from, to] = [before[counter], after?.[counter] ?? null];
        return from === null || to === null ? [] : [to - from];
      });
      const middle = median(changes);
      return middle === null ? null : Math.round(middle);
    };
    return { afterAlloc: of('afterAlloc'), afterTouch: of('afterTouch'), afterFree: of('afterFree') };
  };
  return Object.fromEntries(COUNTERS.map((counter) => [counter, change(counter)])) as CountersMoved;
}
