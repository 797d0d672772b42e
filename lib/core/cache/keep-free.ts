/** Model files that no process has mapped leave the page cache while a server runs that needs what is free. */

import { evictUntil } from './evict.ts';
import { findEvictable } from './prepare/evictable.ts';
import type { System } from './system.ts';

export interface Kept {
  evictedBytes: number;
  /** MemFree afterwards. */
  free: number | null;
}

/** Evicts files, the largest first, while less than `bytes` is free. */
export async function keepFree(system: System, bytes: number, signal: AbortSignal): Promise<Kept> {
  const free = async (): Promise<number | null> => (await system.host()).free;
  const before = await free();
  if (before === null || before >= bytes) return { evictedBytes: 0, free: before };
  const { paths } = await findEvictable(system, undefined, { signal });
  const enough = async (): Promise<boolean> => ((await free()) ?? bytes) >= bytes;
  const evictedBytes = await evictUntil(system, paths, { signal, enough });
  return { evictedBytes, free: await free() };
}
