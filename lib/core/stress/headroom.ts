/** The next step's limits, from a reading of the machine, and the progress that they imply. */

import { isFailure } from '../../base/facts.ts';
import type { AllocatorKind } from '../../types/index.ts';
import { stepMargin } from '../memory/floor.ts';
import { liesOnDevice, staysOnDevice, takesHostMemory } from '../memory/kinds.ts';
import { roomOf } from '../probe/block-room.ts';
import type { ChildContext, HostReading, RunLimits } from '../probe/context.ts';
import { callLimitMs } from '../probe/step-limit.ts';
import type { StressMessage } from './protocol.ts';
import type { Bounds, Headroom, SearchState } from './search.ts';

/** True if a step takes host memory. `managed` does not on a device with its own: the search stays within it. */
export function costsHost(kind: AllocatorKind, memoryModel: RunLimits['memoryModel']): boolean {
  if (liesOnDevice(kind) && (memoryModel === 'discrete' || memoryModel === 'coherent')) return false;
  return takesHostMemory(kind, memoryModel);
}

/**
 * @param pooledBytes freed bytes in driver pools: not in MemAvailable, but usable by the next block.
 * @param shareBytes memory of the device's own that stays free for its other users.
 */
export async function headroomFor(
  { binding, limits }: ChildContext,
  kind: AllocatorKind,
  reading: HostReading,
  { pooledBytes, shareBytes }: { pooledBytes: number; shareBytes: number },
): Promise<Headroom> {
  const { floor, memoryModel } = limits;
  const blocks = roomOf(reading);
  const aboveFloor =
    floor === null
      ? null
      : Math.max(0, (reading.memAvailable ?? 0) - reading.unpinnable - floor - stepMargin(floor)) + pooledBytes;
  return {
    host: costsHost(kind, memoryModel) ? aboveFloor : null,
    blocks: blocks === null ? null : blocks + pooledBytes,
    device: memoryModel === 'unified' || !liesOnDevice(kind) ? null : await deviceHeadroom(),
  };

  async function deviceHeadroom(): Promise<Headroom['device']> {
    const memGetInfo = await binding.memGetInfo(limits.device, callLimitMs(limits.stepTimeoutMs));
    // If free memory is unknown, lazy memory gets none: it would move to the host and not be refused.
    if (isFailure(memGetInfo)) return staysOnDevice(kind) ? null : { bytes: 0, hard: true };
    return { bytes: Math.max(0, memGetInfo[0] - shareBytes), hard: !staysOnDevice(kind) || shareBytes > 0 };
  }
}

/**
 * The progress after a step, and the time to the expected end at the rate so far. The end is expected where the
 * headroom is used up.
 *
 * @param headroom as it was before the step, with `heldBefore` bytes held.
 */
export function progress(
  search: SearchState,
  bounds: Bounds,
  headroom: Headroom,
  heldBefore: number,
  elapsedMs: number,
): StressMessage['progress'] {
  const { bestBytes, costPerByte, heldBytes } = search;
  const limits = [
    headroom.host === null ? null : headroom.host / costPerByte,
    headroom.blocks,
    headroom.device === null ? null : headroom.device.bytes,
  ].filter((bytes) => bytes !== null);
  const fits = limits.length === 0 ? null : heldBefore + Math.min(...limits);
  const end = fits === null ? bounds.ceilingBytes : Math.min(fits, bounds.ceilingBytes ?? fits);
  const expectedBytes = end === null ? null : Math.max(Math.floor(end), bestBytes);
  const bytesPerMs = elapsedMs > 0 ? bestBytes / elapsedMs : 0;
  const isPredictable = expectedBytes !== null && bytesPerMs > 0 && bounds.mode === 'total';
  const etaMs = isPredictable ? Math.round((expectedBytes - bestBytes) / bytesPerMs) : null;
  return { heldBytes, expectedBytes, etaMs };
}
