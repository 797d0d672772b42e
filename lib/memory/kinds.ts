/** What follows from the facts of a kind of memory: the list, and whose memory an allocation takes. */

import type { MemoryModel } from '../types/index.ts';
import { ALLOCATOR_KINDS, type AllocatorKind } from '../types/kinds.ts';

/** Every kind, in the order in which they are shown. */
export const KINDS = Object.keys(ALLOCATOR_KINDS) as readonly AllocatorKind[];

/** Kinds that lie on the device, or may. On a device with memory of its own only they can fill it, or spill out of it. */
export function liesOnDevice(kind: AllocatorKind): boolean {
  return ALLOCATOR_KINDS[kind].place !== 'host';
}

/** Kinds that are host memory on every device. */
export function liesOnHost(kind: AllocatorKind): boolean {
  return ALLOCATOR_KINDS[kind].place === 'host';
}

/** Kinds that lie on the device and nowhere else: an allocation that does not fit there is refused. */
export function staysOnDevice(kind: AllocatorKind): boolean {
  return ALLOCATOR_KINDS[kind].place === 'device';
}

/** Whether all pages are there once it is allocated. */
export function isEager(kind: AllocatorKind): boolean {
  return ALLOCATOR_KINDS[kind].eager;
}

/**
 * Whether such an allocation can take memory from the host. A device of which nobody knows is treated as unified, and memory
 * that may be evicted to the host counts.
 */
export function takesHostMemory(kind: AllocatorKind, model: MemoryModel): boolean {
  return model === 'unified' || model === 'unknown' || !staysOnDevice(kind);
}

/** Whether the kind takes free blocks of 2 MiB from the host, which reclaim may not be able to make. */
export function needsLargeBlocks(kind: AllocatorKind, model: MemoryModel): boolean {
  return model === 'unified' && isEager(kind);
}

/** A value for each kind. */
export function byKind<T>(value: (kind: AllocatorKind) => T): Record<AllocatorKind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, value(kind)])) as Record<AllocatorKind, T>;
}
