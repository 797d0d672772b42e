/** The steps of a sweep, their order, and which of them are refused before anything is allocated. Pure. */

import { isFailure, reason } from '../../base/facts.ts';
import { formatBoth } from '../../base/format.ts';
import type { AllocatorKind, MemoryModel } from '../../types/index.ts';
import { KINDS, staysOnDevice } from '../memory/kinds.ts';
import type { NativeAllocator } from '../native/contract.ts';
import type { PlannedSize, SweepRequest } from './protocol.ts';

export interface PlanFacts {
  kinds: NativeAllocator['kinds'];
  /** cudaMemGetInfo total; null: cannot be read. */
  deviceTotal: number | null;
}

/**
 * Kind by kind, small to large: a size that the machine cannot hold comes as late as possible, after smaller sizes have
 * shown their cost. Refused sizes stay in the list, so that the report can say why they were not measured.
 */
export function planSweep({ kinds, sizes }: Pick<SweepRequest, 'kinds' | 'sizes'>, facts: PlanFacts): PlannedSize[] {
  const chosen = kinds === 'all' ? KINDS.filter((kind) => !isFailure(facts.kinds[kind])) : kinds;
  const ascending = sizes.map((bytes, size) => ({ bytes, size })).sort((a, b) => a.bytes - b.bytes);
  return chosen.flatMap((kind) =>
    ascending.map(({ bytes, size }) => ({ kind, size, bytes, refusal: staticRefusal(kind, bytes, facts) })),
  );
}

/** A refusal that does not depend on the machine's state. */
function staticRefusal(kind: AllocatorKind, bytes: number, facts: PlanFacts): PlannedSize['refusal'] {
  const allocatorCall = facts.kinds[kind];
  if (isFailure(allocatorCall)) return { state: 'unsupported', reason: reason(allocatorCall) };
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
 * Returns why managed memory of this size is refused; null: it is not. It must fit the free memory of a device with its
 * own memory; with `oversubscribe` it may exceed that by the memory that the host can spare above its floor.
 */
export function managedRefusal(bytes: number, facts: ManagedFacts): string | null {
  const { deviceFree, floor, memAvailable, memoryModel, oversubscribe } = facts;
  if (memoryModel === 'unified') return null;
  if (deviceFree === null) return 'the device’s free memory cannot be read, and managed memory could spill unnoticed';
  if (bytes <= deviceFree) return null;
  const excess = `${formatBoth(bytes)} is more than the device has free, ${formatBoth(deviceFree)}`;
  if (!oversubscribe) return `${excess}; oversubscribe lets it spill into host memory`;
  if (memAvailable === null) return `${excess}, and the host’s MemAvailable cannot be read`;
  const spare = Math.max(0, memAvailable - (floor ?? 0));
  if (bytes - deviceFree <= spare) return null;
  return `${excess}, and the rest is more than the ${formatBoth(spare)} that the host can spare above its floor`;
}
