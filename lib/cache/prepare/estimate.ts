/** What each step of `prepare` can be expected to give, from what the kernel counts. */
import type { HostMemory } from '../../types/index.ts';
import type { Pool } from './pool.ts';

/** Page cache that level 1 can drop: clean, not mapped, not shared memory. Mapped counts shared memory, too: an underestimate. */
export function droppable(host: HostMemory): number {
  const { buffers, cached, dirty, mapped, shmem, writeback } = host;
  const all = (cached ?? 0) - (shmem ?? 0) + (buffers ?? 0);
  return Math.max(0, all - (mapped ?? 0) - (dirty ?? 0) - (writeback ?? 0));
}

/** Half of the reclaimable slab is what the kernel itself expects to get (MemAvailable counts no more). */
export function slabAndPools({ sReclaimable }: HostMemory, { hidden }: Pool): number {
  return Math.floor((sReclaimable ?? 0) / 2) + hidden;
}

/** What can be had here at the very most without ending a program. */
export function reachable({ afterReclaim, hidden }: Pool): number | null {
  return afterReclaim === null ? null : afterReclaim + hidden;
}
