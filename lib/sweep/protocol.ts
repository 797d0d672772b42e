/** What parent and child of a sweep say to one another. */

import type { Stop } from '../probe/context.ts';
import type { CounterSeries, NvmlTarget } from '../probe/counters.ts';
import type { AllocatorKind, Counter, SweepStepState } from '../types/index.ts';

export interface SweepRequest {
  /** `all`: those that the device has. */
  kinds: readonly AllocatorKind[] | 'all';
  /** Bytes, in the order of the parent's sizes. */
  sizes: readonly number[];
  repeat: number;
  oversubscribe: boolean;
  nvml: NvmlTarget;
}

/** One kind with one size, as planned in the child, which alone knows what the device can. */
export interface PlannedSize {
  kind: AllocatorKind;
  /** Index into the request's sizes. */
  size: number;
  bytes: number;
  /** Why it will not be made; null: it will be tried. */
  refusal: { state: 'unsupported' | 'refused'; reason: string } | null;
}

/** What was measured of one step; one number a repeat in each list, on a simulated machine in its own milliseconds. */
export interface Measured {
  state: Exclude<SweepStepState, 'lost' | 'not-reached'>;
  reason: string | null;
  /** A native call has outlived its deadline; the sweep cannot go on. */
  hung: boolean;
  allocMs: number[];
  firstTouchMs: number[];
  secondTouchMs: number[];
  freeMs: number[];
  /** One reading a phase for each repeat. */
  moved: CounterSeries[];
  /** Real milliseconds. */
  overheadMs: number | null;
}

export type SweepEvent =
  /** `deviceFree`: cudaMemGetInfo before the first step; null: cannot be read. */
  | { what: 'plan'; steps: PlannedSize[]; deviceFree: number | null }
  | { what: 'begin'; index: number }
  | { what: 'step'; index: number; measured: Measured };

export interface SweepResult {
  /** What ended the sweep before its last step; null: nothing did. */
  stop: Stop | null;
  /** For each counter the file or function that it was read from, or why it is null. */
  counters: Record<Counter, string>;
}
