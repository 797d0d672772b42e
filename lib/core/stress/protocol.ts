/** Messages between parent and child of a stress test. */

import type { AllocatorKind, StressProgress, StressReport, StressState, StressStep } from '../../types/index.ts';
import type { StressMode } from './search.ts';

export interface StressRequest {
  kind: AllocatorKind;
  mode: StressMode;
  /** Bytes that the search must not exceed, and why; null: no ceiling. */
  ceiling: { bytes: number; reason: string } | null;
  /** Memory of the device's own that stays free for its other users. */
  shareBytes: number;
  chunkBytes: number;
  resolutionBytes: number;
  verify: boolean;
  holdMs: number;
  /** The driver keeps freed memory in pools: MemAvailable does not contain it, but the next allocation can use it. */
  pools: boolean;
}

/** A step is done, in whatever state. */
export interface StressMessage {
  step: StressStep;
  progress: StressProgress;
}

export interface StressResult extends Pick<StressReport, 'boundBy' | 'cudaMs' | 'holdMs' | 'maxBytes' | 'verified'> {
  state: StressState;
  steps: StressStep[];
}
