/** The kernel's reserve, vm.min_free_kbytes: whether it is raised, and the kernel's own choice. */

import { GiB, KiB } from '../../base/format.ts';
import type { Reading } from '../../types/index.ts';

/** Raised by hand from here on: the kernel's own choice is at most 256 MiB, and more with transparent huge pages. */
const RAISED = GiB;

/** MemAvailable is lower by about this much per byte of min_free: 4 GiB lowered it by 6.2 GiB (tonyd2wild PR 19). */
const LOWERS = 1.5;

/** The raised reserve in bytes, and how much lower MemAvailable is for it; null: it is not raised, or not known. */
export function raisedMinFree({ kernel: { minFree } }: Pick<Reading, 'kernel'>): {
  minFree: number;
  lowers: number;
} | null {
  return minFree === null || minFree < RAISED ? null : { minFree, lowers: minFree * LOWERS };
}

/** The kernel's own choice for this machine, in KiB (`__setup_per_zone_wmarks`); null: pages are not of 4 KiB. */
export function ownMinFreeKib({ host, contiguity }: Pick<Reading, 'host' | 'contiguity'>): number | null {
  const pageSize = contiguity?.find(({ order }) => order === 0)?.blockBytes;
  if (pageSize !== 4 * KiB) return null;
  return Math.min(262_144, Math.max(128, Math.floor(Math.sqrt((host.total / KiB) * 16))));
}

/** The shell command that sets it. */
export function setMinFree(kib: number): string {
  return `echo ${kib} | sudo tee /proc/sys/vm/min_free_kbytes`;
}
