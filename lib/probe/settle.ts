/** Waits until the memory of a process that is gone has come back, and says what did not. */

import { formatBoth, formatBytes, MiB } from '../base/format.ts';
import { hostMemorySync } from '../host/meminfo.ts';
import { DROP_POOLS } from '../memory/remedies.ts';
import { snapshot as takeSnapshot } from '../snapshot/index.ts';
import type { DeviceSnapshot, Settled, Snapshot } from '../types/index.ts';

const LOOK_EVERY_MS = 50;
/** 92 GB came back within 5 s (driver 580.178.04); what has not moved for this long is not on its way. */
const STILL_MS = 1_000;
const LONGEST_MS = 20_000;
const DEVICE_LONGEST_MS = 5_000;
/** Less than this comes and goes on an idle machine. */
const NOISE = 64 * MiB;
/** The change below which nothing is said to be missing: page tables, caches and other programs. */
const SMALL = 256 * MiB;

const SNAPSHOT = { memGetInfo: 'never', deadlineMs: 2_000, childDeadlineMs: 2_000 } as const;

/** @param before taken before the child was started. */
export async function settle(before: Snapshot, ordinal: number): Promise<Settled> {
  const started = performance.now();
  const settled = await comesToRest(before.host.available);
  const find = ({ devices }: Snapshot) => devices.find(({ cudaIndex }) => cudaIndex === ordinal);
  const change = (from: number | null | undefined, to: number | null | undefined) =>
    from == null || to == null ? null : to - from;
  // The driver gives a device's own memory back by itself, with no line of meminfo to tell of it.
  const lacksDevice = (now: Snapshot) => (change(deviceFree(find(before)), deviceFree(find(now))) ?? 0) < -SMALL;
  let after = await takeSnapshot(SNAPSHOT);
  while (lacksDevice(after) && performance.now() - started < DEVICE_LONGEST_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    after = await takeSnapshot(SNAPSHOT);
  }
  const afterMs = performance.now() - started;
  const changes = {
    memAvailableChange: change(before.host.available, after.host.available),
    memFreeChange: change(before.host.free, after.host.free),
    cudaFreeChange: change(deviceFree(find(before)), deviceFree(find(after))),
  };
  return { afterMs, settled, ...changes, missing: missing(before, after, changes, find(after)) };
}

async function comesToRest(goal: number | null): Promise<boolean> {
  const started = performance.now();
  let last = hostMemorySync().available;
  let stillSince = started;
  for (;;) {
    if (last === null || (goal !== null && last >= goal - NOISE)) return true;
    if (performance.now() - stillSince >= STILL_MS) return true;
    if (performance.now() - started >= LONGEST_MS) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const now = hostMemorySync().available;
    if (now === null || Math.abs(now - last) > NOISE / 8) {
      stillSince = performance.now();
      last = now;
    }
  }
}

/** Of the device's own memory, without a context of ours: NVML's, where the device has any; else it is the host's MemFree. */
function deviceFree(device: DeviceSnapshot | undefined): number | null {
  return device?.cuda?.free ?? device?.nvml?.free ?? null;
}

function missing(
  before: Snapshot,
  after: Snapshot,
  changes: Pick<Settled, 'memAvailableChange' | 'cudaFreeChange'>,
  device: DeviceSnapshot | undefined,
): Settled['missing'] {
  if (device !== undefined && device.memoryModel !== 'unified' && (changes.cudaFreeChange ?? 0) < -SMALL) {
    const bytes = -(changes.cudaFreeChange ?? 0);
    const others = device.processes?.length ?? 0;
    return {
      bytes,
      explanation: `${formatBoth(bytes)} of the device’s memory are less free than before; ${others === 0 ? 'no process is listed that holds them' : `another process may have taken them (${others} listed)`}`,
    };
  }
  const bytes = -(changes.memAvailableChange ?? 0);
  if (bytes < SMALL) return null;
  return { bytes, explanation: hostExplanation(before, after, bytes) };
}

function hostExplanation(before: Snapshot, after: Snapshot, bytes: number): string {
  const { poolBytes, systemMemoryPools } = after.driver;
  const grown = (poolBytes ?? 0) - (before.driver.poolBytes ?? 0);
  if (poolBytes !== null && grown > bytes / 2)
    return `the driver’s page pools grew by ${formatBoth(grown)}: freed GPU memory that the next CUDA program can have and no other. To give it back: ${DROP_POOLS}`;
  const anonymous = (after.host.anonPages ?? 0) - (before.host.anonPages ?? 0);
  if (anonymous > bytes / 2)
    return `programs hold ${formatBoth(anonymous)} more than before: somebody else took it meanwhile`;
  if (poolBytes === null && (systemMemoryPools ?? 0) !== 0)
    return `most likely the driver’s page pools, which only root can see: freed GPU memory that the next CUDA program can have. To give it back: ${DROP_POOLS}`;
  return `${formatBytes(bytes)} less are available than before, and no counter that is read here says where they are`;
}
