/** Builds the report's steps from the child's measurements: medians and bandwidth. Pure. */

import type { AllocatorKind, SweepStep, Times } from '../../types/index.ts';
import { byKind } from '../memory/kinds.ts';
import { median, movedOver } from '../probe/counters.ts';
import type { Measurement, PlannedSize } from './protocol.ts';
import type { SweepSize } from './sizes.ts';

/** null: no samples. */
export function timesOf(samples: readonly number[]): Times | null {
  const middle = median(samples);
  if (middle === null) return null;
  return { min: Math.min(...samples), median: middle, max: Math.max(...samples) };
}

/** Rate in 10^9 bytes per second; null: no time, or one too short for the clock. */
export function gbPerSecond(bytes: number, times: Times | null): number | null {
  return times === null || times.median <= 0 ? null : bytes / times.median / 1e6;
}

export function measuredStep(
  planned: PlannedSize,
  sizes: readonly SweepSize[],
  measurement: Omit<Measurement, 'hung' | 'state'> & Pick<SweepStep, 'state'>,
): SweepStep {
  const { bytes: requestedBytes, kind } = planned;
  const firstTouchMs = timesOf(measurement.firstTouchMs);
  const secondTouchMs = timesOf(measurement.secondTouchMs);
  return {
    kind,
    requestedBytes,
    tensor: sizes[planned.size]?.tensor ?? null,
    state: measurement.state,
    reason: measurement.reason,
    repeats: measurement.secondTouchMs.length,
    allocMs: timesOf(measurement.allocMs),
    firstTouchMs,
    secondTouchMs,
    freeMs: timesOf(measurement.freeMs),
    gbPerSecond: gbPerSecond(requestedBytes, secondTouchMs),
    firstTouchGbPerSecond: gbPerSecond(requestedBytes, firstTouchMs),
    moved: movedOver(measurement.moved),
    overheadMs: measurement.overheadMs,
  };
}

/** The measurement of a step that was not made. */
export const UNMEASURED = { allocMs: [], firstTouchMs: [], secondTouchMs: [], freeMs: [], moved: [], overheadMs: null };

/** The largest size of each kind whose state is ok. */
export function largestOf(steps: readonly SweepStep[]): Record<AllocatorKind, number | null> {
  const largest = byKind<number | null>(() => null);
  for (const { kind, requestedBytes, state } of steps)
    if (state === 'ok') largest[kind] = Math.max(largest[kind] ?? 0, requestedBytes);
  return largest;
}
