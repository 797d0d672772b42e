/** Which steps a sweep has, in which order, and which of them are refused before anything is allocated. */

import { isFailure, reason } from '../base/facts.ts';
import { formatBoth } from '../base/format.ts';
import { KINDS, staysOnDevice } from '../memory/kinds.ts';
import type { NativeAllocator } from '../native/contract.ts';
import type { AllocatorKind, MemoryModel } from '../types/index.ts';
import type { PlannedSize, SweepRequest } from './protocol.ts';

export interface PlanFacts {
  kinds: NativeAllocator['kinds'];
  /** cudaMemGetInfo total; null: cannot be read. */
  deviceTotal: number | null;
}

/**
 * Kind by kind, small to large: what a machine cannot hold is met as late as possible, and a smaller size has shown before
 * what it costs. Sizes that are refused stay in the list, so that the report says why they were not made.
 */
export function planSweep({ kinds, sizes }: Pick<SweepRequest, 'kinds' | 'sizes'>, facts: PlanFacts): PlannedSize[] {
  const chosen = kinds === 'all' ? KINDS.filter((kind) => !isFailure(facts.kinds[kind])) : kinds;
  const rising = sizes.map((bytes, size) => ({ bytes, size })).sort((a, b) => a.bytes - b.bytes);
  return chosen.flatMap((kind) =>
    rising.map(({ bytes, size }) => ({ kind, size, bytes, refusal: staticRefusal(kind, bytes, facts) })),
  );
}

/** What no state of the machine would change. */
function staticRefusal(kind: AllocatorKind, bytes: number, facts: PlanFacts): PlannedSize['refusal'] {
  const way = facts.kinds[kind];
  if (isFailure(way)) return { state: 'unsupported', reason: reason(way) };
  const { deviceTotal } = facts;
  if (staysOnDevice(kind) && deviceTotal !== null && bytes > deviceTotal)
    return { state: 'refused', reason: `${formatBoth(bytes)} is more than the device has, ${formatBoth(deviceTotal)}` };
  return null;
}

export interface ManagedFacts {
  memoryModel: MemoryModel;
  /** cudaMemGetInfo free, now. */
  deviceFree: number | null;
  memAvailable: number | null;
  floor: number | null;
  oversubscribe: boolean;
}

/**
 * Managed memory on a device that has its own may not pass what is free there unless that is asked for, and then not what
 * the host can spare in addition. null: it may be made.
 */
export function managedRefusal(bytes: number, facts: ManagedFacts): string | null {
  const { deviceFree, floor, memAvailable, memoryModel, oversubscribe } = facts;
  if (memoryModel === 'unified') return null;
  if (deviceFree === null) return 'what is free on the device cannot be read, and managed memory would spill unseen';
  if (bytes <= deviceFree) return null;
  const past = `${formatBoth(bytes)} is more than is free on the device, ${formatBoth(deviceFree)}`;
  if (!oversubscribe) return `${past}; oversubscribe lets it spill into host memory`;
  if (memAvailable === null) return `${past}, and what the host could spare cannot be read`;
  const spare = Math.max(0, memAvailable - (floor ?? 0));
  if (bytes - deviceFree <= spare) return null;
  return `${past}, and the rest more than the ${formatBoth(spare)} that the host can spare above its floor`;
}
