/** The rate at which the kernel swaps, from two readings of its counters. */

import { isFailure } from '../../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';
import { kernelFiles } from './files.ts';
import { parseVmstat } from './procfs.ts';

/** A shorter sample says little about a rate. */
export const SWAP_SAMPLE_MS = 100;

/** Measures swap traffic from now until its result is called: bytes per second; null: the kernel does not say. */
export async function swapMeter(binding: NativeBinding): Promise<() => Promise<number | null>> {
  const swappedPages = async (): Promise<number | null> => {
    const [text] = await kernelFiles(binding).read(['/proc/vmstat']);
    if (text === undefined || isFailure(text)) return null;
    const [pagesIn = null, pagesOut = null] = parseVmstat(text, ['pswpin', 'pswpout']);
    return pagesIn === null || pagesOut === null ? null : pagesIn + pagesOut;
  };
  const before = await swappedPages();
  const started = performance.now();
  return async () => {
    const after = await swappedPages();
    if (before === null || after === null) return null;
    return ((after - before) * binding.pageSize() * 1000) / (performance.now() - started);
  };
}
