/** Waits until the memory of the exited child has returned, and explains what is missing. */

import { formatBoth, formatBytes, MiB } from '../../base/format.ts';
import type { DeviceSnapshot, Settled, Snapshot } from '../../types/index.ts';
import { availableBytes } from '../memory/available.ts';
import { hasUnknownPools } from '../memory/headroom.ts';
import { DROP_POOLS } from '../memory/remedies.ts';
import { snapshot as takeSnapshot } from '../snapshot/index.ts';
import { memorySettled, POLL_MS } from '../snapshot/settled.ts';

const HOST_LIMIT_MS = 20_000;
const DEVICE_LIMIT_MS = 5_000;
/** Smaller changes are not reported as missing: page tables, caches and other programs. */
const REPORTED_BYTES = 256 * MiB;

const SNAPSHOT = { memGetInfo: 'never', deadlineMs: 2_000, childDeadlineMs: 2_000 } as const;

type Changes = Pick<Settled, 'memAvailableChange' | 'memFreeChange' | 'cudaFreeChange'>;

/** @param before taken before the child was started. */
export async function settle(before: Snapshot, ordinal: number): Promise<Settled> {
  const started = performance.now();
  const goal = availableBytes(before.host, before.kernel);
  const { settled } = await memorySettled({ goal, limitMs: HOST_LIMIT_MS });
  let after = await takeSnapshot(SNAPSHOT);
  // The driver returns a device's own memory without any change in meminfo: poll the device itself.
  const lacksMemory = () => (deviceFreeChange(before, after, ordinal) ?? 0) < -REPORTED_BYTES;
  while (lacksMemory() && performance.now() - started < DEVICE_LIMIT_MS) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    after = await takeSnapshot(SNAPSHOT);
  }
  const afterMs = performance.now() - started;
  const changes: Changes = {
    memAvailableChange: change(before.host.available, after.host.available),
    memFreeChange: change(before.host.free, after.host.free),
    cudaFreeChange: deviceFreeChange(before, after, ordinal),
  };
  return { afterMs, settled, ...changes, missing: missing(before, after, changes, findDevice(after, ordinal)) };
}

function deviceFreeChange(before: Snapshot, after: Snapshot, ordinal: number): number | null {
  return change(deviceFree(findDevice(before, ordinal)), deviceFree(findDevice(after, ordinal)));
}

function findDevice({ devices }: Snapshot, ordinal: number): DeviceSnapshot | undefined {
  return devices.find(({ cudaIndex }) => cudaIndex === ordinal);
}

/** Read without a CUDA context: NVML's number if the device has its own memory, else the host's MemFree. */
function deviceFree(device: DeviceSnapshot | undefined): number | null {
  return device?.cuda?.free ?? device?.nvml?.free ?? null;
}

function change(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from;
}

export function missing(
  before: Snapshot,
  after: Snapshot,
  changes: Changes,
  device: DeviceSnapshot | undefined,
): Settled['missing'] {
  if (device !== undefined && device.memoryModel !== 'unified' && (changes.cudaFreeChange ?? 0) < -REPORTED_BYTES) {
    const bytes = -(changes.cudaFreeChange ?? 0);
    return { bytes, explanation: deviceExplanation(bytes, device.processes) };
  }
  const bytes = -(changes.memAvailableChange ?? 0);
  if (bytes < REPORTED_BYTES) return null;
  return { bytes, explanation: hostExplanation(before, after, bytes) };
}

function deviceExplanation(bytes: number, processes: DeviceSnapshot['processes']): string {
  const suspects =
    processes === null
      ? 'which processes hold memory there is not known here'
      : processes.length === 0
        ? 'no process is listed that holds it'
        : `another process may have taken it (${processes.length} listed)`;
  return `the device has ${formatBoth(bytes)} less free memory than before; ${suspects}`;
}

function hostExplanation(before: Snapshot, after: Snapshot, bytes: number): string {
  const { poolBytes } = after.driver;
  const poolGrowth = (poolBytes ?? 0) - (before.driver.poolBytes ?? 0);
  if (poolBytes !== null && poolGrowth > bytes / 2)
    return `the driver’s page pools grew by ${formatBoth(poolGrowth)}: freed GPU memory that only the next CUDA program can use. To free it: ${DROP_POOLS}`;
  const anonymousGrowth = (after.host.anonPages ?? 0) - (before.host.anonPages ?? 0);
  if (anonymousGrowth > bytes / 2)
    return `programs hold ${formatBoth(anonymousGrowth)} more than before: another program took the memory meanwhile`;
  if (hasUnknownPools(after))
    return `most likely the driver’s page pools, which only root can read: freed GPU memory that only the next CUDA program can use. To free it: ${DROP_POOLS}`;
  return `${formatBytes(bytes)} less are available than before, and none of the counters explains it`;
}
