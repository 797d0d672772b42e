/** Time limit of one native call that allocates, touches or frees a block. */

import { GB } from '../../base/format.ts';
import type { AllocatorKind } from '../../types/index.ts';
import { isEager } from '../memory/kinds.ts';

/** Time that no block size changes: creating a context took seconds, and reclaim before a cudaMalloc up to 30 s. */
const BASE_MS = 60_000;
/**
 * Milliseconds for each 10^9 bytes. Memory that the first touch provides, page by page, took 2.2 s (mmap on unified
 * memory); memory that the allocation provides took 35 ms. Several times as much: a limit is for a call that hangs.
 */
const MS_PER_GB = { lazy: 10_000, eager: 1000 } as const;

/** @param requestedMs the caller's limit, which holds for every call; null: by kind and size. */
export function stepLimitMs(requestedMs: number | null, kind: AllocatorKind, bytes: number): number {
  if (requestedMs !== null) return requestedMs;
  return BASE_MS + Math.ceil((bytes / GB) * (isEager(kind) ? MS_PER_GB.eager : MS_PER_GB.lazy));
}

/** The limit of a call that has nothing to do with a block. */
export function callLimitMs(requestedMs: number | null): number {
  return requestedMs ?? BASE_MS;
}
