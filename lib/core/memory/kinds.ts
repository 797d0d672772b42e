/** Properties of the kinds of memory: where an allocation lies, and whose memory it takes. */

import type { MemoryModel } from '../../types/index.ts';
import { ALLOCATOR_KINDS, type AllocatorKind } from '../../types/kinds.ts';

/** Every kind, in display order. */
export const KINDS = Object.keys(ALLOCATOR_KINDS) as readonly AllocatorKind[];

/**
 * True if the kind lies on the device or may. Only these kinds can fill a device with its own memory, or spill out of
 * it.
 */
export function liesOnDevice(kind: AllocatorKind): boolean {
  return ALLOCATOR_KINDS[kind].place !== 'host';
}

/** True if the kind is host memory on every device. */
export function liesOnHost(kind: AllocatorKind): boolean {
  return ALLOCATOR_KINDS[kind].place === 'host';
}

/** True if the kind lies on the device only: an allocation that does not fit there is refused. */
export function staysOnDevice(kind: AllocatorKind): boolean {
  return ALLOCATOR_KINDS[kind].place === 'device';
}

/** True if the allocation itself provides all pages. */
export function isEager(kind: AllocatorKind): boolean {
  return ALLOCATOR_KINDS[kind].eager;
}

/**
 * True if an allocation of the kind can take memory from the host. A device of unknown model is treated as unified, and
 * memory that may be evicted to the host counts.
 */
export function takesHostMemory(kind: AllocatorKind, model: MemoryModel): boolean {
  return model === 'unified' || model === 'unknown' || !staysOnDevice(kind);
}

/** True if the kind needs free blocks of 2 MiB from the host, which reclaim may fail to provide. */
export function needsLargeBlocks(kind: AllocatorKind, model: MemoryModel): boolean {
  return model === 'unified' && isEager(kind);
}

/** A value for each kind. */
export function byKind<T>(value: (kind: AllocatorKind) => T): Record<AllocatorKind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, value(kind)])) as Record<AllocatorKind, T>;
}
