/** The room in blocks of 2 MiB, from a reading of the child. */

import { blockRoom } from '../memory/contiguity.ts';
import type { HostReading } from './context.ts';

/** Bytes that can be allocated in such blocks for certain; null: not known, or not needed. */
export function roomOf({ inLargeBlocks, memAvailable, memFree, stuck, unpinnable }: HostReading): number | null {
  if (inLargeBlocks === null || memAvailable === null || memFree === null) return null;
  const free = Math.max(inLargeBlocks, memFree - unpinnable);
  return blockRoom({ free, large: inLargeBlocks, stuck }, Math.max(0, memAvailable - memFree)).low;
}
