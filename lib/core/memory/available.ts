/** Available memory: the kernel can hand it out without swapping. */

import type { HostMemory, KernelMemory } from '../../types/index.ts';

/**
 * MemAvailable, and the free pages in the lists of the processors: both lack them, though the kernel takes them back before an
 * allocation fails. They are 0.3 to 2 GiB, and up to an eighth of memory. null: MemAvailable is unknown.
 */
export function availableBytes(
  { available }: Pick<HostMemory, 'available'>,
  { freeInCpuLists }: Pick<KernelMemory, 'freeInCpuLists'>,
): number | null {
  return available === null ? null : available + (freeInCpuLists ?? 0);
}

/**
 * MemFree without the pages below the kernel's watermarks, which an allocation cannot get and MemAvailable does not contain.
 * null: unknown.
 */
export function usableFree({ available, free }: Pick<HostMemory, 'available' | 'free'>): number | null {
  return free === null || available === null ? free : Math.min(free, available);
}

/** Part of the available memory that an allocation gets only after reclaim, in bytes; null: unknown. */
export function reclaimable({ available, free }: Pick<HostMemory, 'available' | 'free'>): number | null {
  return available === null || free === null ? null : Math.max(0, available - free);
}
