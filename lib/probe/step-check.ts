/** Whether a step may be made. Pure: readings in, refusal out. */

import { formatBoth, formatBytes, formatPercent, GiB, MiB } from '../base/format.ts';
import { takesHostMemory } from '../memory/kinds.ts';
import { stalledText } from '../memory/pressure.ts';
import type { HostReading, PlannedStep, Refusal, RunLimits } from './context.ts';

/**
 * Kept on top of the floor by planned steps, so that what other programs take in passing does not trip the guard, which
 * acts at the floor itself.
 */
export function stepMargin(floor: number): number {
  return Math.min(64 * MiB, Math.floor(floor / 32));
}

/** Bytes that a step is expected to take from the host. */
export function hostCost(step: PlannedStep): number {
  return step.predictedCost ?? Math.max(0, step.targetBytes - step.heldBytes);
}

export function stepRefusal(
  terms: Pick<RunLimits, 'floor' | 'memoryModel' | 'pressureFull'>,
  reading: HostReading,
  step: PlannedStep,
): Refusal | null {
  if (terms.floor === null || !takesHostMemory(step.kind, terms.memoryModel)) return null;
  return pressure(terms.pressureFull, reading) ?? floor(terms.floor, reading, step) ?? contiguity(reading, step);
}

function pressure(limit: number | null, { pressureFull }: HostReading): Refusal | null {
  if (limit === null || pressureFull === null || pressureFull < limit) return null;
  return {
    cause: 'pressure',
    sentence: `${stalledText(pressureFull)} (PSI full, limit ${formatPercent(limit, 0)})`,
  };
}

function floor(bytes: number, { memAvailable }: HostReading, step: PlannedStep): Refusal | null {
  if (memAvailable === null) return { cause: 'floor', sentence: 'MemAvailable can no longer be read' };
  const cost = hostCost(step);
  const margin = stepMargin(bytes);
  if (memAvailable - cost >= bytes + margin) return null;
  return {
    cause: 'floor',
    sentence:
      `MemAvailable ${formatBoth(memAvailable)} less the next ${formatBytes(cost)} would be below the floor of ${formatBoth(bytes)}` +
      (margin > 0 ? ` and its margin of ${formatBytes(margin)}` : ''),
  };
}

/** With more than this free, what of it lies in blocks says how reclaimed memory will lie, too. */
const ENOUGH_TO_TELL = 4 * GiB;

/**
 * What can be had in blocks of 2 MiB: the free ones, and clean page cache, which reclaim frees in whole runs (112 GiB were
 * allocated with 0.9 GiB free). On a machine that has long been up cache comes back in pieces, as its free memory is:
 * 118 GiB available, and drop_caches made next to no large blocks of them. null: not known, or no matter.
 */
export function largeBlockHeadroom({ inLargeBlocks, memAvailable, memFree }: HostReading): number | null {
  if (inLargeBlocks === null || memAvailable === null || memFree === null) return null;
  const share = memFree > ENOUGH_TO_TELL ? Math.min(1, inLargeBlocks / memFree) : 1;
  return inLargeBlocks + Math.floor(share * Math.max(0, memAvailable - memFree));
}

function contiguity(reading: HostReading, step: PlannedStep): Refusal | null {
  const room = largeBlockHeadroom(reading);
  const grows = hostCost(step);
  if (room === null || grows <= room) return null;
  return {
    cause: 'contiguity',
    sentence: `${formatBoth(reading.memAvailable)} are available, but only ${formatBytes(room)} in free blocks of 2 MiB or page cache that can become such, and the next step takes ${formatBytes(grows)}`,
  };
}
