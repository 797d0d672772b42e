/** An allocation sweep: the same sizes for each kind of memory. */

import type { DType } from './dtypes.ts';
import type { AllocatorKind } from './kinds.ts';
import type { CountersMoved, ProbeEvent, ProbeHeader, Times } from './probe.ts';
import type { ResultWord, RunState, StepState } from './results.ts';
import type { Amount, Natural, Positive } from './scalars.ts';

/** A requested tensor: the number of its elements, and their bytes. Given by the caller. */
export interface Tensor {
  dtype: DType;
  /** null: only the number of elements was given. */
  shape: Positive[] | null;
  elements: Positive;
  bytes: Positive;
  /**
   * Set for scales that are not counted and for a partial last byte: "4 bits over: rounded up to
   * 500,000,001 bytes".
   */
  note: string | null;
}

/**
 * One size of one kind, allocated, touched and freed. Sizes in bytes, given by the caller or the preset; times by the
 * monotonic clock around the CUDA call.
 */
export interface SweepStep {
  kind: AllocatorKind;
  requestedBytes: Positive;
  /** The tensor behind the size; null for a plain size. */
  tensor: Tensor | null;
  /** `ok`: all repeats succeeded. */
  state: StepState | Extract<ResultWord, 'unsupported'>;
  /** The reason why the state is not `ok`; null if it is. */
  reason: string | null;
  /** Number of completed repeats. */
  repeats: Natural;
  allocMs: Times | null;
  /** The GPU writes every byte for the first time. */
  firstTouchMs: Times | null;
  /** The GPU writes every byte again. */
  secondTouchMs: Times | null;
  freeMs: Times | null;
  /** requestedBytes / median of secondTouchMs, in 10^9 bytes per second. */
  gbPerSecond: Amount | null;
  /** The same of `firstTouchMs`. */
  firstTouchGbPerSecond: Amount | null;
  /** Median over the repeats; null: nothing was allocated. */
  moved: CountersMoved | null;
  /**
   * Time of one repeat outside CUDA calls: readings and messages (median over the repeats) and the journal's share of
   * the step. The unit is real milliseconds, also on a simulated machine.
   */
  overheadMs: Amount | null;
}

/** Managed memory beyond the device's memory, detected by its cost. */
export interface Spill {
  kind: AllocatorKind;
  /** Smallest size that shows it, of those measured. */
  atBytes: Positive;
  /**
   * Factor: median bandwidth of the smaller sizes divided by the lowest bandwidth from that size on. null: no smaller
   * size to compare with.
   */
  slowdown: Amount | null;
  /** `capacity`: an allocation beyond the device's memory succeeded. `bandwidth`: a knee in the touch bandwidth. */
  evidence: ('capacity' | 'bandwidth')[];
  sentence: string;
}

export interface SweepReport extends ProbeHeader {
  schema: 'umaprobe/sweep/1';
  /** "lab" or "quick"; null: the sizes were given. */
  preset: string | null;
  /**
   * Number of repeats of each step, given by the caller.
   * @asType integer
   * @minimum 1
   * @maximum 1000
   */
  repeat: number;
  state: RunState;
  /** The reason why the sweep ended early; null when complete. */
  reason: string | null;
  steps: SweepStep[];
  spills: Spill[];
  /** Largest size in bytes of each kind that was allocated, of those given; null: none. */
  largest: Record<AllocatorKind, Positive | null>;
}

/** Progress of `sweep()`. */
export type SweepEvent = ProbeEvent | { type: 'step'; step: SweepStep; progress: SweepProgress };

/** Progress of a sweep, in a counted number of steps, and the time that is left. */
export interface SweepProgress {
  done: number;
  total: number;
  /** Expected time until the end, from the durations of the steps so far; null: not known yet. */
  etaMs: number | null;
}
