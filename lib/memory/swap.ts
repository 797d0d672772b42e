/** Swap: when it is full, and when a machine waits for it. GPU memory cannot be swapped, so swap is never room for it. */

import { MiB } from '../base/format.ts';
import type { HostMemory } from '../types/index.ts';

/** Share of all swap. In the best documented wedge swap was full while 38 of 120 GiB were free (blackbox, four wedges). */
const FULL_SHARE = 0.9;

/** Bytes a second, both ways. zswap and a desktop at rest move less; a machine that moves this much waits for it. */
export const SWAPPING_BYTES_PER_SECOND = 16 * MiB;

/** Swap as it is; null: this machine has none, or the kernel does not say. */
export function swapUse({ swapFree, swapTotal }: HostMemory): { used: number; total: number; full: boolean } | null {
  if (swapTotal === null || swapFree === null || swapTotal === 0) return null;
  const used = swapTotal - swapFree;
  return { used, total: swapTotal, full: used >= swapTotal * FULL_SHARE };
}
