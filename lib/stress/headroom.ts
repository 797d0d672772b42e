/** What the next step may take, from a reading of the machine. */

import { isFailure } from '../base/facts.ts';
import { liesOnDevice, staysOnDevice, takesHostMemory } from '../memory/kinds.ts';
import type { ChildContext, HostReading } from '../probe/context.ts';
import { largeBlockHeadroom, stepMargin } from '../probe/step-check.ts';
import type { AllocatorKind } from '../types/index.ts';
import type { StressEvent } from './protocol.ts';
import type { Bounds, Headroom, SearchState } from './search.ts';

/** On a device with memory of its own `managed` lies there while it fits, and never more is asked for than fits. */
export function costsHost(kind: AllocatorKind, { memoryModel }: ChildContext['limits']): boolean {
  if (liesOnDevice(kind) && (memoryModel === 'discrete' || memoryModel === 'coherent')) return false;
  return takesHostMemory(kind, memoryModel);
}

/** @param pooled bytes that MemAvailable lacks and the next block of this process gets all the same (driver pools). */
export async function headroomFor(
  { binding, limits }: ChildContext,
  kind: AllocatorKind,
  reading: HostReading,
  pooled: number,
): Promise<Headroom> {
  const { floor, memoryModel } = limits;
  const blocks = largeBlockHeadroom(reading);
  const above = floor === null ? null : Math.max(0, (reading.memAvailable ?? 0) - floor - stepMargin(floor)) + pooled;
  return {
    host: costsHost(kind, limits) ? above : null,
    blocks: blocks === null ? null : blocks + pooled,
    device: memoryModel === 'unified' || !liesOnDevice(kind) ? null : await deviceRoom(),
  };

  async function deviceRoom(): Promise<Headroom['device']> {
    const read = await binding.memGetInfo(limits.device, limits.stepDeadlineMs);
    // Unknown is no licence for lazy memory, which is not refused but moved to the host.
    if (isFailure(read)) return staysOnDevice(kind) ? null : { bytes: 0, hard: true };
    return { bytes: read[0], hard: !staysOnDevice(kind) };
  }
}

/**
 * How far it is, and where the rate so far leads: to where the room would be used up.
 *
 * @param room as it was before the step, when `heldBefore` was held.
 */
export function progress(
  search: SearchState,
  bounds: Bounds,
  room: Headroom,
  heldBefore: number,
  elapsedMs: number,
): StressEvent['progress'] {
  const { bestBytes, costPerByte, heldBytes } = search;
  const limits = [
    room.host === null ? null : room.host / costPerByte,
    room.blocks,
    room.device === null ? null : room.device.bytes,
  ].filter((bytes) => bytes !== null);
  const fits = limits.length === 0 ? null : heldBefore + Math.min(...limits);
  const expected = fits === null ? bounds.ceilingBytes : Math.min(fits, bounds.ceilingBytes ?? fits);
  const expectedBytes = expected === null ? null : Math.max(Math.floor(expected), bestBytes);
  const rate = elapsedMs > 0 ? bestBytes / elapsedMs : 0;
  const known = expectedBytes !== null && rate > 0 && bounds.mode === 'total';
  return { heldBytes, expectedBytes, etaMs: known ? Math.round((expectedBytes - bestBytes) / rate) : null };
}
