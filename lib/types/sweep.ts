/** An allocation sweep: the same sizes, kind by kind. */

import type { AllocatorKind } from './kinds.ts';
import type { CountersMoved, ProbeHeader, ProbeOptions, Times } from './probe.ts';

/**
 * `ok`: all repeats. `refused`: not made, because the host would have gone below its floor, or the size passes the device's
 * memory (see `reason`). `out-of-memory`: the allocator said so. `stopped`: the guard intervened. `failed`: anything else that
 * was refused. `aborted`: by the caller, or by the time limit. `lost`: the child process vanished in it. `not-reached`: the
 * sweep ended before it.
 */
export type SweepStepState =
  | 'ok'
  | 'refused'
  | 'out-of-memory'
  | 'unsupported'
  | 'stopped'
  | 'failed'
  | 'aborted'
  | 'lost'
  | 'not-reached';

/** A tensor as it was asked for. */
export interface Tensor {
  dtype: string;
  /** null where only the number of elements was given. */
  shape: number[] | null;
  elements: number;
  bytes: number;
  /** Said where the elements do not fill whole bytes: "1 half-byte element over: rounded up to 500,000,001 bytes". */
  note: string | null;
}

export interface SweepStep {
  kind: AllocatorKind;
  requestedBytes: number;
  /** What the size stands for; null for a plain size. */
  tensor: Tensor | null;
  state: SweepStepState;
  /** Why it is not `ok`. */
  reason: string | null;
  /** Repeats that were done. */
  repeats: number;
  allocMs: Times | null;
  /** The GPU writes every byte for the first time. */
  firstTouchMs: Times | null;
  /** The same again. */
  secondTouchMs: Times | null;
  freeMs: Times | null;
  /** requestedBytes / median of secondTouchMs, in 10^9 bytes a second. */
  gbPerSecond: number | null;
  firstTouchGbPerSecond: number | null;
  /** Median over the repeats; null where nothing was allocated. */
  moved: CountersMoved | null;
  /**
   * Real time of one repeat that was none of CUDA's: readings and messages, median over the repeats, and the journal's part
   * of the step. In milliseconds of this computer, also on a simulated machine.
   */
  overheadMs: number | null;
}

/** Managed memory that went past the device's, seen by its cost. */
export interface Spill {
  kind: AllocatorKind;
  /** The smallest size at which it shows. */
  atBytes: number;
  /** Median bandwidth of the sizes below / the worst one from that size on. null: there is nothing to compare with. */
  slowdown: number | null;
  /** `capacity`: an allocation beyond the device's memory succeeded. `bandwidth`: a knee in the touch bandwidth. */
  evidence: ('capacity' | 'bandwidth')[];
  sentence: string;
}

export interface SweepReport extends ProbeHeader {
  schema: 'umaprobe/sweep/1';
  /** "lab" and the like; null for sizes that were given. */
  preset: string | null;
  repeat: number;
  state: 'complete' | 'aborted' | 'stopped' | 'timeout' | 'lost';
  /** What ended it; null when complete. */
  reason: string | null;
  steps: SweepStep[];
  spills: Spill[];
  /** For each kind: the largest size that was ok. null: none was. */
  largest: Record<AllocatorKind, number | null>;
}

export interface SweepOptions extends ProbeOptions {
  /** Default: `['device']`. Every kind that the device has with `'all'`. */
  kinds?: readonly AllocatorKind[] | 'all';
  /** Bytes, each 1 to 2^53 − 1. One of `sizes`, `range`, `tensors`, `preset`. */
  sizes?: readonly number[];
  /** From..to in linear (`step`) or doubling steps (no `step`). */
  range?: { from: number; to: number; step?: number };
  /** Each dtype with each shape or number of elements. */
  tensors?: { dtypes: readonly string[]; shapes?: readonly (readonly number[])[]; elements?: number };
  preset?: 'lab' | 'quick';
  /** Each step as often: 1 to 1000. Default 1. */
  repeat?: number;
  /** Lets `managed` pass the device's memory on a discrete GPU. Refused on unified machines. */
  oversubscribe?: boolean;
  /** Called when a step is done, with how many there are in all. */
  onStep?: (step: SweepStep, progress: SweepProgress) => void;
}

export interface SweepProgress {
  done: number;
  total: number;
  /** Expected time until the end, from what the steps so far took; null: not known yet. */
  etaMs: number | null;
}
