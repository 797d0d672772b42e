/** Whether a step may be made. Pure: readings in, refusal out. */

import { formatBoth, formatBytes, GiB, MiB } from '../base/format.ts';
import { takesHostMemory } from '../memory/kinds.ts';
import { stalledAtLimitText } from '../memory/pressure.ts';
import type { HostReading, PlannedStep, Refusal, RunLimits } from './context.ts';

/** If more than this is free, the share of it in large blocks predicts how reclaimed memory is fragmented. */
const PREDICTIVE_FREE_BYTES = 4 * GiB;

/** Why the step must not be made; null: it may. */
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

/**
 * Margin of planned steps above the floor: without it, small allocations of other programs would trip the guard, which
 * acts at the floor itself.
 */
export function stepMargin(floor: number): number {
  return Math.min(64 * MiB, Math.floor(floor / 32));
}

/**
 * Bytes that can be allocated in blocks of 2 MiB: free blocks, and clean page cache, which reclaim frees in contiguous
 * runs (112 GiB were allocated with 0.9 GiB free). On a machine with a long uptime the cache is as fragmented as its
 * free memory: with 118 GiB available, drop_caches freed almost no large blocks. null: not known, or not needed.
 */
export function largeBlockHeadroom({ inLargeBlocks, memAvailable, memFree }: HostReading): number | null {
  if (inLargeBlocks === null || memAvailable === null || memFree === null) return null;
  const share = memFree > PREDICTIVE_FREE_BYTES ? Math.min(1, inLargeBlocks / memFree) : 1;
  return inLargeBlocks + Math.floor(share * Math.max(0, memAvailable - memFree));
}

function pressureRefusal(limit: number | null, { pressureFull }: HostReading): Refusal | null {
  if (limit === null || pressureFull === null || pressureFull < limit) return null;
  return {
    cause: 'pressure',
    sentence: `${stalledAtLimitText(pressureFull, limit)}`,
  };
}

function floorRefusal(floor: number, { memAvailable }: HostReading, step: PlannedStep): Refusal | null {
  if (memAvailable === null) return { cause: 'floor', sentence: 'MemAvailable can no longer be read' };
  const cost = hostCost(step);
  const margin = stepMargin(floor);
  if (memAvailable - cost >= floor + margin) return null;
  return {
    cause: 'floor',
    sentence:
      `MemAvailable ${formatBoth(memAvailable)} less the next ${formatBytes(cost)} would be below the floor of ${formatBoth(floor)}` +
      (margin > 0 ? ` and its margin of ${formatBytes(margin)}` : ''),
  };
}

function contiguityRefusal(reading: HostReading, step: PlannedStep): Refusal | null {
  const headroom = largeBlockHeadroom(reading);
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
