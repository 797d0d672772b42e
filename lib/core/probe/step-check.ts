/** Decides whether a step may be made. Pure: readings in, refusal out. */

import { formatBoth, formatBytes } from '../../base/format.ts';
import { stepMargin } from '../memory/floor.ts';
import { takesHostMemory } from '../memory/kinds.ts';
import { stalledAtLimitText } from '../memory/pressure.ts';
import { roomOf } from './block-room.ts';
import type { HostReading, PlannedStep, Refusal, RunLimits } from './context.ts';

/** Returns why the step must not be made; null: it may. */
export function stepRefusal(
  limits: Pick<RunLimits, 'floor' | 'memoryModel' | 'pressureFull'>,
  reading: HostReading,
  step: PlannedStep,
): Refusal | null {
  if (limits.floor === null || !takesHostMemory(step.kind, limits.memoryModel)) return null;
  return (
    pressureRefusal(limits.pressureFull, reading) ??
    floorRefusal(limits.floor, reading, step) ??
    contiguityRefusal(reading, step)
  );
}

function pressureRefusal(limit: number | null, { pressureFull }: HostReading): Refusal | null {
  if (limit === null || pressureFull === null || pressureFull < limit) return null;
  return {
    cause: 'pressure',
    sentence: `${stalledAtLimitText(pressureFull, limit)}`,
  };
}

function floorRefusal(floor: number, { memAvailable, unpinnable }: HostReading, step: PlannedStep): Refusal | null {
  if (memAvailable === null) return { cause: 'floor', sentence: 'MemAvailable can no longer be read' };
  const cost = hostCost(step);
  const margin = stepMargin(floor);
  if (memAvailable - unpinnable - cost >= floor + margin) return null;
  const without = unpinnable === 0 ? '' : `, ${formatBytes(unpinnable)} of which only the host can use,`;
  return {
    cause: 'floor',
    sentence:
      `MemAvailable ${formatBoth(memAvailable)}${without} less the next ${formatBytes(cost)} would be below the floor of ${formatBoth(floor)}` +
      (margin > 0 ? ` and its margin of ${formatBytes(margin)}` : ''),
  };
}

function contiguityRefusal(reading: HostReading, step: PlannedStep): Refusal | null {
  const headroom = roomOf(reading);
  const cost = hostCost(step);
  if (headroom === null || cost <= headroom) return null;
  return {
    cause: 'contiguity',
    sentence: `${formatBoth(reading.memAvailable)} are available, but only ${formatBytes(headroom)} in free blocks of 2 MiB or in page cache that can become such blocks; the next step takes ${formatBytes(cost)}`,
  };
}

/** Host memory that the step is expected to take. */
function hostCost(step: PlannedStep): number {
  return step.predictedCost ?? Math.max(0, step.targetBytes - step.heldBytes);
}
