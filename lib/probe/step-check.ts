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
    why: 'pressure',
    sentence: `${stalledText(pressureFull)} (PSI full, limit ${formatPercent(limit, 0)})`,
  };
}

function floor(bytes: number, { memAvailable }: HostReading, step: PlannedStep): Refusal | null {
  if (memAvailable === null) return { why: 'floor', sentence: 'MemAvailable can no longer be read' };
  const cost = hostCost(step);
  const margin = stepMargin(bytes);
  if (memAvailable - cost >= bytes + margin) return null;
  return {
    why: 'floor',
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
export function blockRoom({ inBlocks, memAvailable, memFree }: HostReading): number | null {
  if (inBlocks === null || memAvailable === null || memFree === null) return null;
  const share = memFree > ENOUGH_TO_TELL ? Math.min(1, inBlocks / memFree) : 1;
  return inBlocks + Math.floor(share * Math.max(0, memAvailable - memFree));
}

function contiguity(reading: HostReading, step: PlannedStep): Refusal | null {
  const room = blockRoom(reading);
  const grows = hostCost(step);
  if (room === null || grows <= room) return null;
  return {
    why: 'contiguity',
    sentence: `${formatBoth(reading.memAvailable)} are available, but only ${formatBytes(room)} in free blocks of 2 MiB or page cache that can become such, and the next step takes ${formatBytes(grows)}`,
  };
}
