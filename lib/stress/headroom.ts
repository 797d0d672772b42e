/** What the next step may take, from a reading of the machine. */

import { isFailure } from '../base/facts.ts';
import { takesHostMemory } from '../memory/floor.ts';
import type { ChildContext, HostReading } from '../probe/context.ts';
import { blockRoom, stepMargin } from '../probe/step-check.ts';
import type { AllocatorKind } from '../types/index.ts';
import type { Room } from './search.ts';

/** On a device with memory of its own `managed` lies there while it fits, and never more is asked for than fits. */
export function costsHost(kind: AllocatorKind, { memoryModel }: ChildContext['terms']): boolean {
  if (kind === 'managed' && (memoryModel === 'discrete' || memoryModel === 'coherent')) return false;
  return takesHostMemory(kind, memoryModel);
}

/** @param pooled bytes that MemAvailable lacks and the next block of this process gets all the same (driver pools). */
export async function roomFor(
  { binding, terms }: ChildContext,
  kind: AllocatorKind,
  reading: HostReading,
  pooled: number,
): Promise<Room> {
  const { floor, memoryModel } = terms;
  const blocks = blockRoom(reading);
  const above = floor === null ? null : Math.max(0, (reading.memAvailable ?? 0) - floor - stepMargin(floor)) + pooled;
  return {
    host: costsHost(kind, terms) ? above : null,
    blocks: blocks === null ? null : blocks + pooled,
    device: memoryModel === 'unified' || !(kind === 'device' || kind === 'managed') ? null : await deviceRoom(),
  };

  async function deviceRoom(): Promise<Room['device']> {
    const read = await binding.memGetInfo(terms.device, terms.stepDeadlineMs);
    // Unknown is no licence for lazy memory, which is not refused but moved to the host.
    if (isFailure(read)) return kind === 'managed' ? { bytes: 0, hard: true } : null;
    return { bytes: read[0], hard: kind === 'managed' };
  }
}
