/** Several blocks held at once, as a model's parts are. */

import type { AllocatorKind } from './kinds.ts';
import type { CountersMoved, ProbeHeader, ProbeOptions } from './probe.ts';

export interface LayoutPart {
  name: string;
  expectedBytes: number;
  state: 'ok' | 'refused' | 'out-of-memory' | 'stopped' | 'failed' | 'not-reached';
  reason: string | null;
  allocMs: number | null;
  firstTouchMs: number | null;
}

export interface LayoutReport extends ProbeHeader {
  schema: 'umaprobe/layout/1';
  preset: string | null;
  kind: AllocatorKind;
  state: 'complete' | 'incomplete' | 'aborted' | 'stopped' | 'timeout' | 'lost';
  reason: string | null;
  parts: LayoutPart[];
  /** Sum of what was asked for, of what the allocator gave, and what the machine lost while all of it was held. */
  expectedBytes: number;
  allocatedBytes: number;
  consumedBytes: number | null;
  /** Counter that `consumedBytes` is taken from: MemAvailable on a unified machine, else CUDA free. */
  consumedFrom: string;
  /** consumed − allocated. */
  overheadBytes: number | null;
  moved: CountersMoved | null;
  settled: Settled;
}

/** Whether memory came back after everything was freed and the process had ended. */
export interface Settled {
  /** Time until it no longer moved, in milliseconds. */
  afterMs: number;
  /** False: it still moved when waiting ended. */
  settled: boolean;
  /** Against before the probe; negative: less than before. null: cannot be read. */
  memAvailableChange: number | null;
  memFreeChange: number | null;
  cudaFreeChange: number | null;
  /** What did not come back, and where it probably is (driver pools, another process). null: all of it did. */
  missing: { bytes: number; explanation: string } | null;
}

export interface LayoutOptions extends ProbeOptions {
  /** Default `device`. */
  kind?: AllocatorKind;
  onPart?: (part: LayoutPart, progress: { done: number; total: number }) => void;
}
