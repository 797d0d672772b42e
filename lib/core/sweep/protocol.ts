/** Messages between parent and child of a sweep. */

import type { AllocatorKind, SweepStep } from '../../types/index.ts';
import type { Stop } from '../probe/context.ts';
import type { NvmlTarget } from '../probe/counter-reader.ts';
import type { CounterSeries, CounterSources } from '../probe/counters.ts';

export interface SweepRequest {
  /** `all`: every kind that the device supports. */
  kinds: readonly AllocatorKind[] | 'all';
  /** Bytes, in the order of the parent's sizes. */
  sizes: readonly number[];
  repeat: number;
  oversubscribe: boolean;
  nvml: NvmlTarget;
}

/** One size of one kind. Planned in the child, because only its allocator knows the device's capabilities. */
export interface PlannedSize {
  kind: AllocatorKind;
  /** Index into the request's sizes. */
  size: number;
  bytes: number;
  /** The reason why the step will not be made; null: it will be tried. */
  refusal: { state: 'unsupported' | 'refused'; reason: string } | null;
}

/** One step's measurement: one number per repeat in each list, in simulated milliseconds on a simulated machine. */
export interface Measurement {
  state: Exclude<SweepStep['state'], 'lost' | 'not-reached'>;
  reason: string | null;
  /** A native call missed its deadline and has not returned; the sweep cannot go on. */
  hung: boolean;
  allocMs: number[];
  firstTouchMs: number[];
  secondTouchMs: number[];
  freeMs: number[];
  /** The counters of each repeat. */
  moved: CounterSeries[];
  /** Real milliseconds. */
  overheadMs: number | null;
}

export type SweepMessage =
  /** `deviceFree`: cudaMemGetInfo before the first step; null: cannot be read. */
  | { type: 'plan'; steps: PlannedSize[]; deviceFree: number | null }
  | { type: 'begin'; index: number }
  | { type: 'step'; index: number; measurement: Measurement };

export interface SweepResult {
  /** The reason why the sweep ended before its last step; null: it did not. */
  stop: Stop | null;
  sources: CounterSources;
}
