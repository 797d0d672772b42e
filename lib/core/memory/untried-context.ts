/** CUDA contexts that a reading tries or leaves alone on a device that shares the host's memory. */

import type { DeviceSnapshot, Reading } from '../../types/index.ts';
import { contextFailure } from './device-health.ts';
import { lowMemory } from './floor.ts';
import { hasPools } from './headroom.ts';
import { stalledPercent } from './pressure.ts';

/** A device that CUDA sees and whose cudaMemGetInfo, which needs a context, was neither read nor refused. */
export function isUntried(device: DeviceSnapshot): boolean {
  return device.cuda === null && device.cudaIndex !== null && contextFailure(device) === undefined;
}

/** Text about such a device. */
export const UNTRIED = 'Whether a CUDA program can start was not tried: umaprobe doctor does that.';

/**
 * True if a context may be tried there: nothing of it stays (driver 590 and later keep its memory in their pools), and
 * the machine can spare its 256 MiB and more.
 */
export function mayTryContext({ driver, host, pressure }: Pick<Reading, 'driver' | 'host' | 'pressure'>): boolean {
  const isCalm = stalledPercent(pressure) === null && (host.available ?? 0) >= lowMemory(host.total).low;
  return !hasPools(driver) && isCalm;
}
