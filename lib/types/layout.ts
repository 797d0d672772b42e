/** A layout: several blocks held at the same time, like the parts of a model. */

import type { AllocatorKind } from './kinds.ts';
import type { CountersMoved, ProbeEvent, ProbeHeader } from './probe.ts';
import type { ResultWord, RunState, StepState } from './results.ts';
import type { Amount, Natural, Positive } from './scalars.ts';

/**
 * One block of a layout, as expected and as measured. Sizes in bytes, times by the monotonic clock around the CUDA
 * call.
 */
export interface LayoutPart {
  name: string;
  expectedBytes: Positive;
  state: StepState;
  reason: string | null;
  allocMs: Amount | null;
  firstTouchMs: Amount | null;
}

export interface LayoutReport extends ProbeHeader {
  schema: 'umaprobe/layout/1';
  /** "13b"; null: the parts were given. */
  preset: string | null;
  kind: AllocatorKind;
  state: RunState | Extract<ResultWord, 'incomplete'>;
  reason: string | null;
  parts: LayoutPart[];
  /** Sum of the parts, in bytes requested. */
  expectedBytes: Natural;
  /** Sum of the blocks that were allocated. */
  allocatedBytes: Natural;
  /**
   * Drop of the counter `consumedFrom` while all parts were held, measured before and then; negative: it rose. null:
   * not read.
   */
  consumedBytes: number | null;
  /** Counter behind `consumedBytes`: MemAvailable on a unified machine, else CUDA free. */
  consumedFrom: string;
  /** `consumedBytes` less `allocatedBytes`; null: not known. */
  overheadBytes: number | null;
  moved: CountersMoved | null;
  settled: Settled;
}

/** The memory's return after all blocks were freed and the child process had exited. */
export interface Settled {
  /** Time until the counters were stable, by the monotonic clock. */
  afterMs: Amount;
  /** False: the counters still changed at the time limit. */
  settled: boolean;
  /** Change in bytes of MemAvailable since before the probe; negative: less than before. null: cannot be read. */
  memAvailableChange: number | null;
  /** The same of MemFree, in bytes. */
  memFreeChange: number | null;
  /** The same of the free bytes of cudaMemGetInfo. */
  cudaFreeChange: number | null;
  /**
   * Memory that did not come back, in bytes as measured by these changes, and its probable holder (driver pools,
   * another process). null: all came back.
   */
  missing: { bytes: Natural; explanation: string } | null;
}

/** Progress of `layout()`, in a counted number of parts. */
export type LayoutEvent = ProbeEvent | { type: 'part'; part: LayoutPart; progress: { done: number; total: number } };
