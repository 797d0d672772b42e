/** What the parent asks of the loop, and what the loop tells. */

import type { AllocatorKind, StressReport, StressState, StressStep } from '../types/index.ts';
import type { StressMode } from './search.ts';

export interface StressRequest {
  kind: AllocatorKind;
  mode: StressMode;
  /** null: none. `reason` says whose it is. */
  ceiling: { bytes: number; reason: string } | null;
  chunkBytes: number;
  resolutionBytes: number;
  verify: boolean;
  holdMs: number;
  /** The driver keeps freed memory in pools that MemAvailable does not show; the next block can have it. */
  pools: boolean;
}

export interface StressEvent {
  step: StressStep;
  progress: { heldBytes: number; expectedBytes: number | null; etaMs: number | null };
}

export interface StressResult extends Pick<StressReport, 'boundBy' | 'cudaMs' | 'holdMs' | 'maxBytes' | 'verified'> {
  state: StressState;
  steps: StressStep[];
}
