/**
 * Finds the sizes at which device memory spilled into the host's memory. No CUDA call reports a spill. The evidence is
 * an allocation larger than the device, or a bandwidth that drops and stays low. Pure.
 */

import { GB } from '../../base/format.ts';
import type { AllocatorKind, MemoryModel, Spill, SweepStep } from '../../types/index.ts';
import { KINDS, liesOnDevice } from '../memory/kinds.ts';
import { median } from '../probe/counters.ts';

export interface SpillFacts {
  memoryModel: MemoryModel;
  /** cudaMemGetInfo before the first step; null: cannot be read. */
  deviceFree: number | null;
  deviceTotal: number | null;
}

/** The L2 cache (50 MiB on an H200) and the clock's resolution distort the bandwidth of smaller sizes. */
const MIN_BYTES = 2 ** 28;
/** Slowdown that counts as a spill: clocks and refresh cost a tenth, a link to the host costs more than this. */
const SPILL_SLOWDOWN = 2;
/** Share of the device's free memory. A slowdown at a smaller size has another cause: the memory fits. */
const NEARLY_FULL = 0.75;

const secondTouch = (step: SweepStep): number | null => step.gbPerSecond;
const firstTouch = (step: SweepStep): number | null => step.firstTouchGbPerSecond;

/** One spill at most per kind that lies on the device. Unified memory cannot spill. */
export function spillsOf(steps: readonly SweepStep[], facts: SpillFacts): Spill[] {
  if (facts.memoryModel === 'unified') return [];
  return KINDS.filter(liesOnDevice).flatMap((kind) => {
    const ascending = steps
      .filter((step) => step.kind === kind && step.state === 'ok' && step.requestedBytes >= MIN_BYTES)
      .sort((a, b) => a.requestedBytes - b.requestedBytes);
    const spill = spillOf(kind, ascending, facts);
    return spill === null ? [] : [spill];
  });
}

function spillOf(kind: AllocatorKind, ascending: readonly SweepStep[], facts: SpillFacts): Spill | null {
  const { deviceFree, deviceTotal } = facts;
  const second = kneeOf(ascending, secondTouch, deviceFree);
  const first = kneeOf(ascending, firstTouch, deviceFree);
  const oversized = ascending.find(({ requestedBytes }) => deviceTotal !== null && requestedBytes > deviceTotal);
  const sizes = [second?.atBytes, first?.atBytes, oversized?.requestedBytes].filter((size) => size !== undefined);
  if (sizes.length === 0) return null;
  const atBytes = Math.min(...sizes);
  const hasKnee = second !== null || first !== null;
  const slowdown = hasKnee ? Math.max(second?.slowdown ?? 1, first?.slowdown ?? 1) : worstFrom(ascending, atBytes);
  const evidence: Spill['evidence'] = [];
  if (oversized !== undefined) evidence.push('capacity');
  if (hasKnee) evidence.push('bandwidth');
  return { kind, atBytes, slowdown, evidence, sentence: sentence(atBytes, slowdown) };
}

function sentence(atBytes: number, slowdown: number | null): string {
  const at = `spilled at ${(atBytes / GB).toFixed(1)} GB`;
  if (slowdown === null) return `${at}, at an unknown cost`;
  return slowdown >= 1.05 ? `${at}, ${slowdown.toFixed(1)}× slower` : `${at}, no slower`;
}

/** The first size from which every bandwidth is at most half of the median of the smaller sizes. */
function kneeOf(
  ascending: readonly SweepStep[],
  bandwidthOf: (step: SweepStep) => number | null,
  deviceFree: number | null,
): { atBytes: number; slowdown: number } | null {
  const points = ascending.flatMap((step) => {
    const bandwidth = bandwidthOf(step);
    return bandwidth === null ? [] : [{ bytes: step.requestedBytes, bandwidth }];
  });
  for (const [at, { bytes }] of points.entries()) {
    const before = median(points.slice(0, at).map(({ bandwidth }) => bandwidth));
    if (before === null || (deviceFree !== null && bytes < deviceFree * NEARLY_FULL)) continue;
    const beyond = points.slice(at).map(({ bandwidth }) => bandwidth);
    if (Math.max(...beyond) <= before / SPILL_SLOWDOWN)
      return { atBytes: bytes, slowdown: before / Math.min(...beyond) };
  }
  return null;
}

/** Slowdown of the slowest size that did not fit, for the touch that lost more; null: nothing to compare. */
function worstFrom(ascending: readonly SweepStep[], atBytes: number): number | null {
  const slowdowns = [secondTouch, firstTouch].flatMap((bandwidthOf) => {
    const bandwidths = (fits: boolean): number[] =>
      ascending.flatMap((step) => (step.requestedBytes < atBytes === fits ? (bandwidthOf(step) ?? []) : []));
    const before = median(bandwidths(true));
    const beyond = bandwidths(false);
    return before === null || beyond.length === 0 ? [] : [before / Math.min(...beyond)];
  });
  return slowdowns.length === 0 ? null : Math.max(...slowdowns);
}
