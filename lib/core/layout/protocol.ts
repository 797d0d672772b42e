/** Messages between parent and child of a layout. */

import type { AllocatorKind, LayoutPart } from '../../types/index.ts';
import type { Stop } from '../probe/context.ts';
import type { NvmlTarget } from '../probe/counter-reader.ts';
import type { CounterSeries, CounterSources } from '../probe/counters.ts';
import type { Part } from './parts.ts';

export interface LayoutRequest {
  kind: AllocatorKind;
  parts: readonly Part[];
  nvml: NvmlTarget;
}

/** A part is done, in whatever state. */
export interface LayoutMessage {
  index: number;
  part: LayoutPart;
}

export interface LayoutResult {
  stop: Stop | null;
  /** Bytes that were held at the end. */
  allocatedBytes: number;
  /**
   * Readings before the first part, with all parts allocated and touched, and after they were freed. Parts are touched
   * one by one, like a program that loads a model; `afterAlloc` sums up the changes during the allocation calls.
   */
  counters: CounterSeries;
  sources: CounterSources;
}
