/** Parts of a need by memory: all of it is the host's if the GPU shares that. Pure. */

import { hasOwnMemory } from '../../core/memory/own-memory.ts';
import { range, sumOf, without } from '../../core/memory/range.ts';
import type { DeviceSnapshot, FitRange, FitTerm } from '../../types/index.ts';
import type { CheckedNeed } from './options.ts';

/** Parts that are in the host's memory also where the GPU has memory of its own. */
const ON_HOST = new Set([
  'compute-buffer-host',
  'data-workers',
  'host-process',
  'offloaded-parameters',
  'offloaded-optimizer',
  'offloaded-activations',
]);

export interface PoolNeed {
  /** Need of the memory that the GPU uses. */
  need: CheckedNeed;
  /** The terms of its peak. */
  terms: FitTerm[];
  /** Need of the host's memory besides; null: the GPU shares it. */
  host: FitRange | null;
}

export function needOn(need: CheckedNeed, device: DeviceSnapshot | null): PoolNeed {
  // Loaders and compilers use the host's memory.
  const { bytes, high, low } = without(need.peak, need.total);
  const start = range(bytes, Math.max(0, low), high);
  if (device === null || !hasOwnMemory(device)) {
    const terms = start.high === 0 ? need.terms : [...need.terms, { name: 'start', ...start }];
    return { need, terms, host: null };
  }
  const host = sumOf(need.terms.filter(({ name }) => ON_HOST.has(name)));
  const terms = need.terms.filter(({ name }) => !ON_HOST.has(name));
  const total = without(need.total, host);
  return { need: { ...need, terms, total, peak: total }, terms, host: sumOf([host, start]) };
}
