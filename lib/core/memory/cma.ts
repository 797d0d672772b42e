/** Memory in CMA blocks, which is free or available for the host and cannot hold GPU memory. */

import type { HostMemory } from '../../types/index.ts';

/**
 * Memory that a GPU allocation can never get, in bytes: CMA blocks take movable pages only, and GPU pages are pinned.
 * `now` is the free CMA. All of CMA may be free after reclaim, because page cache in it is reclaimed too.
 */
export function unpinnable(host: HostMemory): { now: number; afterReclaim: number } {
  const now = host.cmaFree ?? 0;
  return { now, afterReclaim: Math.max(now, host.cmaTotal ?? 0) };
}

/**
 * Memory that kexec-handover has released as CMA pageblocks, in bytes; 0: none. It shows as CmaFree above CmaTotal,
 * which is impossible for real CMA. A lower bound: page cache may occupy some of the blocks.
 */
export function cmaPhantom(host: HostMemory): number {
  return host.cmaFree !== null && host.cmaFree > (host.cmaTotal ?? 0) ? host.cmaFree : 0;
}
