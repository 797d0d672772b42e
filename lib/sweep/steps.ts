/** From what the child measured to the steps of the report: medians, bandwidth. */

import { byKind } from '../memory/kinds.ts';
import { median, movedOver } from '../probe/counters.ts';
import type { AllocatorKind, SweepStep, SweepStepState, Times } from '../types/index.ts';
import type { Measured, PlannedSize } from './protocol.ts';
import type { SweepSize } from './sizes.ts';

/** Smallest, middle and largest; null of none. */
export function timesOf(samples: readonly number[]): Times | null {
  const middle = median(samples);
  if (middle === null) return null;
  return { min: Math.min(...samples), median: middle, max: Math.max(...samples) };
}

/** In 10^9 bytes a second. null: there is no time, or none that the clock could see. */
export function gbPerSecond(bytes: number, times: Times | null): number | null {
  return times === null || times.median <= 0 ? null : bytes / times.median / 1e6;
}

export function stepOf(planned: PlannedSize, sizes: readonly SweepSize[], measured: Measured): SweepStep {
  const { bytes: requestedBytes, kind } = planned;
  const firstTouchMs = timesOf(measured.firstTouchMs);
  const secondTouchMs = timesOf(measured.secondTouchMs);
  return {
    kind,
    requestedBytes,
    tensor: sizes[planned.size]?.tensor ?? null,
    state: measured.state,
    reason: measured.reason,
    repeats: measured.secondTouchMs.length,
    allocMs: timesOf(measured.allocMs),
    firstTouchMs,
    secondTouchMs,
    freeMs: timesOf(measured.freeMs),
    gbPerSecond: gbPerSecond(requestedBytes, secondTouchMs),
    firstTouchGbPerSecond: gbPerSecond(requestedBytes, firstTouchMs),
    moved: movedOver(measured.moved),
    overheadMs: measured.overheadMs,
  };
}

/** A step of which nothing was measured. */
export function emptyStep(
  planned: PlannedSize,
  sizes: readonly SweepSize[],
  state: SweepStepState,
  reason: string | null,
): SweepStep {
  return {
    kind: planned.kind,
    requestedBytes: planned.bytes,
    tensor: sizes[planned.size]?.tensor ?? null,
    state,
    reason,
    repeats: 0,
    allocMs: null,
    firstTouchMs: null,
    secondTouchMs: null,
    freeMs: null,
    gbPerSecond: null,
    firstTouchGbPerSecond: null,
    moved: null,
    overheadMs: null,
  };
}

/** For each kind the largest size that was ok. */
export function largestOf(steps: readonly SweepStep[]): Record<AllocatorKind, number | null> {
  const largest = byKind<number | null>(() => null);
  for (const { kind, requestedBytes, state } of steps)
    if (state === 'ok') largest[kind] = Math.max(largest[kind] ?? 0, requestedBytes);
  return largest;
}
