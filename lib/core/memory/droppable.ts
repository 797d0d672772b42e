/** Page cache that can be dropped at once. */

import type { HostMemory } from '../../types/index.ts';

/** Page cache that level 1 drops: clean, not mapped, not shared. A lower bound: Mapped contains shared memory. */
export function droppable(host: HostMemory): number {
  const { buffers, cached, dirty, mapped, shmem, writeback } = host;
  const fileCache = (cached ?? 0) - (shmem ?? 0) + (buffers ?? 0);
  return Math.max(0, fileCache - (mapped ?? 0) - (dirty ?? 0) - (writeback ?? 0));
}
