/**
 * Whether memory of a device went past it and into the host's. No CUDA call tells: it is seen by an allocation that is
 * larger than the device, and by a bandwidth that breaks down and stays down.
 */

import { GB } from '../base/format.ts';
import { KINDS, liesOnDevice } from '../memory/kinds.ts';
import { median } from '../probe/counters.ts';
import type { AllocatorKind, MemoryModel, Spill, SweepStep } from '../types/index.ts';

export interface SpillFacts {
  memoryModel: MemoryModel;
  /** cudaMemGetInfo, when the sweep began; null: cannot be read. */
  deviceFree: number | null;
  deviceTotal: number | null;
}

/**
 * Sizes below are half in the L2 cache (50 MiB on an H200) or are over before the clock has ticked often; their bandwidth
 * is not that of memory.
 */
const LEAST_BYTES = 2 ** 28;
/** A tenth comes from clocks and refresh; a link to the host is slower by more than this. */
const KNEE = 2;
/** Memory that fits does not spill: a knee below this share of what was free has another cause. */
const NEARLY_FULL = 0.75;

const secondTouch = (step: SweepStep): number | null => step.gbPerSecond;
const firstTouch = (step: SweepStep): number | null => step.firstTouchGbPerSecond;

/** Only kinds that lie on the device spill; what host memory costs is no spill. Nothing can spill where all is one memory. */
export function spillsOf(steps: readonly SweepStep[], facts: SpillFacts): Spill[] {
  if (facts.memoryModel === 'unified') return [];
  return KINDS.filter(liesOnDevice).flatMap((kind) => {
    const made = steps
      .filter((step) => step.kind === kind && step.state === 'ok' && step.requestedBytes >= LEAST_BYTES)
      .sort((a, b) => a.requestedBytes - b.requestedBytes);
    const spill = spillOf(kind, made, facts);
    return spill === null ? [] : [spill];
  });
}

function spillOf(kind: AllocatorKind, rising: readonly SweepStep[], facts: SpillFacts): Spill | null {
  const { deviceFree, deviceTotal } = facts;
  const second = kneeOf(rising, secondTouch, deviceFree);
  const first = kneeOf(rising, firstTouch, deviceFree);
  const beyond = rising.find(({ requestedBytes }) => deviceTotal !== null && requestedBytes > deviceTotal);
  const sizes = [second?.atBytes, first?.atBytes, beyond?.requestedBytes].filter((size) => size !== undefined);
  if (sizes.length === 0) return null;
  const atBytes = Math.min(...sizes);
  const knee = second !== null || first !== null;
  const slowdown = knee ? Math.max(second?.slowdown ?? 1, first?.slowdown ?? 1) : worstFrom(rising, atBytes);
  const evidence: Spill['evidence'] = [];
  if (beyond !== undefined) evidence.push('capacity');
  if (knee) evidence.push('bandwidth');
  return { kind, atBytes, slowdown, evidence, sentence: sentence(atBytes, slowdown) };
}

function sentence(atBytes: number, slowdown: number | null): string {
  const at = `spilled at ${(atBytes / GB).toFixed(1)} GB`;
  if (slowdown === null) return `${at}, at an unknown cost`;
  return slowdown >= 1.05 ? `${at}, ${slowdown.toFixed(1)}× slower` : `${at}, no slower`;
}

/** The first size from which on every bandwidth is at most half of the median below it. */
function kneeOf(
  rising: readonly SweepStep[],
  bandwidthOf: (step: SweepStep) => number | null,
  deviceFree: number | null,
): { atBytes: number; slowdown: number } | null {
  const points = rising.flatMap((step) => {
    const bandwidth = bandwidthOf(step);
    return bandwidth === null ? [] : [{ bytes: step.requestedBytes, bandwidth }];
  });
  for (const [at, { bytes }] of points.entries()) {
    const before = median(points.slice(0, at).map(({ bandwidth }) => bandwidth));
    if (before === null || (deviceFree !== null && bytes < deviceFree * NEARLY_FULL)) continue;
    const beyond = points.slice(at).map(({ bandwidth }) => bandwidth);
    if (Math.max(...beyond) <= before / KNEE) return { atBytes: bytes, slowdown: before / Math.min(...beyond) };
  }
  return null;
}

/** What fitted against the slowest of what did not, in the touch that suffered more; null where nothing can be compared. */
function worstFrom(rising: readonly SweepStep[], atBytes: number): number | null {
  const slowdowns = [secondTouch, firstTouch].flatMap((bandwidthOf) => {
    const bandwidths = (fits: boolean): number[] =>
      rising.flatMap((step) => (step.requestedBytes < atBytes === fits ? (bandwidthOf(step) ?? []) : []));
    const before = median(bandwidths(true));
    const beyond = bandwidths(false);
    return before === null || beyond.length === 0 ? [] : [before / Math.min(...beyond)];
  });
  return slowdowns.length === 0 ? null : Math.max(...slowdowns);
}
