/**
 * Swap: when it is full, and when a machine waits for it. GPU memory cannot be swapped, so swap never adds to headroom.
 */

import { MiB } from '../../base/format.ts';
import type { HostMemory } from '../../types/index.ts';

/**
 * Share of swap that counts as full. Swap was full with 38 of 120 GiB free in the best documented wedges (blackbox,
 * four wedges).
 */
const FULL_SHARE = 0.9;

/**
 * Bytes per second, in and out together. zswap and an idle desktop move less; a machine that moves this much waits for
 * swap.
 */
export const SWAPPING_BYTES_PER_SECOND = 16 * MiB;

/** Swap in use, in bytes; null: this machine has no swap, or the kernel does not report it. */
export function swapUse({
  swapFree,
  swapTotal,
}: Pick<HostMemory, 'swapFree' | 'swapTotal'>): { used: number; total: number; full: boolean } | null {
  if (swapTotal === null || swapFree === null || swapTotal === 0) return null;
  const used = swapTotal - swapFree;
  return { used, total: swapTotal, full: used >= swapTotal * FULL_SHARE };
}

/**
 * Share of MemTotal. Full swap beside more available memory only shows an earlier shortage. The wedges above had at
 * most 46 of 128.5 GB available.
 */
const LITTLE_AVAILABLE = 0.4;

/** True if so little is available that full swap is no sign of an earlier shortage. */
export function isLittleForSwap({ available, total }: Pick<HostMemory, 'available' | 'total'>): boolean {
  return available !== null && available <= total * LITTLE_AVAILABLE;
}

/** Swap is full and little is available: nothing more can be moved out of the way. */
export function swapExhausted(host: Pick<HostMemory, 'available' | 'swapFree' | 'swapTotal' | 'total'>): boolean {
  return isLittleForSwap(host) && swapUse(host)?.full === true;
}
