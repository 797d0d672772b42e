/** What parent and child of a layout say to one another. */

import type { Stop } from '../probe/context.ts';
import type { CounterSeries, NvmlTarget } from '../probe/counters.ts';
import type { AllocatorKind, Counter, LayoutPart } from '../types/index.ts';
import type { Part } from './parts.ts';

export interface LayoutRequest {
  kind: AllocatorKind;
  parts: readonly Part[];
  nvml: NvmlTarget;
}

export interface LayoutEvent {
  index: number;
  part: LayoutPart;
}

export interface LayoutResult {
  stop: Stop | null;
  /** Bytes of the blocks that were held in the end. */
  allocatedBytes: number;
  /**
   * Around all of it: before the first part, with the last one allocated and touched, after all was freed. `afterAlloc` has
   * what the allocator's calls alone have moved: parts are touched as they come, as a program that loads a model does.
   */
  counters: CounterSeries;
  origins: Record<Counter, string>;
}
