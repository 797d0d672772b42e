/**
 * Signs that no CUDA program can start, from a reading that tried no context. On unified memory a context would change
 * what is measured, so `umaprobe` does not try one; doctor does.
 */

import { formatBytes, MiB } from '../base/format.ts';
import type { DeviceSnapshot } from '../types/index.ts';
import { GPU_BLOCK, pinnableInBlocks } from './contiguity.ts';
import { contextFailure } from './device-health.ts';
import { headroom } from './headroom.ts';
import { refusesContexts } from './quirks.ts';
import { DROP_AND_COMPACT, withReceipt } from './remedies.ts';
import type { Rule } from './verdict.ts';

/** A device that CUDA sees and whose cudaMemGetInfo, which needs a context, was neither read nor refused. */
export function isUntried(device: DeviceSnapshot): boolean {
  return device.cuda === null && device.cudaIndex !== null && contextFailure(device) === undefined;
}

/** A driver that is known to refuse contexts. Only trying one shows whether it does here. */
export const suspectDriver: Rule = ({ devices, driver }) => {
  const device = devices.find(isUntried);
  if (device?.memoryModel !== 'unified' || !refusesContexts(driver)) return null;
  return {
    level: 'notice',
    text: `Whether a CUDA program can start was not tried, and driver ${driver.version} is reported to refuse every CUDA context (46, devices busy or unavailable).`,
    next: 'umaprobe doctor --only library.cuda, which tries one; if it fails, use another driver version',
  };
};

/**
 * Bytes in free blocks of 2 MiB or more. A context needs such blocks: one failed with 15 to 19 GiB available, about 1 GiB
 * free and no such block (hasso5703's notes, GB10).
 */
const FEW_BLOCKS = 64 * MiB;

/** Hardly any free block in which a context could begin, and the rest of the memory is page cache or fragments. */
export const noBlockForContext: Rule = (snapshot) => {
  const { contiguity, devices } = snapshot;
  const device = devices.find(isUntried);
  if (contiguity === null || device?.memoryModel !== 'unified') return null;
  const { bytes } = pinnableInBlocks(snapshot, contiguity, GPU_BLOCK);
  if (bytes >= FEW_BLOCKS) return null;
  return {
    level: 'warning',
    text: `A CUDA program may fail to start: only ${formatBytes(bytes)} are free in blocks of 2 MiB or more, which a context needs, though ${formatBytes(headroom(snapshot).afterReclaim)} can be allocated after reclaim.`,
    next: withReceipt(DROP_AND_COMPACT),
  };
};
