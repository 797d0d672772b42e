/** The stress test: the largest amount that can be allocated, found without freezing the machine. */

import type { AllocatorKind } from './kinds.ts';
import type { Settled } from './layout.ts';
import type { ProbeEvent, ProbeHeader } from './probe.ts';
import type { ResultWord, StepState } from './results.ts';
import type { Amount, Natural, Positive } from './scalars.ts';

/**
 * End of a stress test.
 * - `limit`: `maxBytes` was reached. `out-of-memory`: the allocator refused even a step of `resolutionBytes`.
 * - `share`: the next step would take memory that stays free for the GPU's other users.
 * - `floor`: the next step would take the host below its floor. `pressure`: programs wait for memory (PSI).
 *   `contiguity`: memory is free, but no more blocks of 2 MiB.
 * - `journal`: the journal can no longer be written, as on a full disk; `maxBytes` was held until then.
 * - `failed`: verification found wrong bytes, or a call failed.
 */
export type StressState =
  | 'limit'
  | 'share'
  | 'floor'
  | 'pressure'
  | 'contiguity'
  | 'journal'
  | Extract<ResultWord, 'out-of-memory' | 'aborted' | 'timeout' | 'failed' | 'lost'>;

/**
 * One step of a stress test. Bytes are counted by it, milliseconds by the monotonic clock around the CUDA call; null:
 * not done, or unknown.
 */
export interface StressStep {
  /** Bytes requested in this step: the whole block in `single` mode, else the increment. */
  requestedBytes: Positive;
  /** Bytes held after the step. */
  heldBytes: Natural;
  /** Cost of the step to the machine in bytes, calculated from the steps before it. null: unknown. */
  predictedCost: number | null;
  /** Its cost in bytes: MemAvailable before less after. null: unknown. */
  cost: number | null;
  state: Extract<StepState, 'ok' | 'out-of-memory' | 'stopped' | 'failed'>;
  reason: string | null;
  allocMs: Amount | null;
  touchMs: Amount | null;
  verifyMs: Amount | null;
  /** MemAvailable after the step, in bytes. */
  memAvailable: Natural | null;
  /** PSI full of memory over 10 s, in percent, from /proc/pressure/memory. */
  pressureFull: Amount | null;
}

export interface StressReport extends ProbeHeader {
  schema: 'umaprobe/stress/1';
  kind: AllocatorKind;
  mode: 'total' | 'single';
  state: StressState;
  /**
   * Memory of the device that stayed free for its other users, in bytes, and the rule or the caller's number that gave
   * this amount. It is part of the floor if memory is unified: the larger of the two binds. null: nobody else used the
   * device.
   */
  share: { bytes: Natural; from: string } | null;
  /** Largest sum held at one time (`total`), or largest block (`single`). */
  maxBytes: Natural;
  /**
   * The limit of the test, with numbers: "MemAvailable 16.4 GiB less the next 64.0 MiB would be below the floor of 16.4
   * GiB".
   */
  boundBy: string;
  /** Set if the guard thread intervened: its reason and reaction times. */
  guard: ProbeGuardReport | null;
  /** Largest step, given by the caller or the rule for the kind of memory. */
  chunkBytes: Positive;
  /** Smallest step, given by the rule for the kind of memory. */
  resolutionBytes: Positive;
  /**
   * Result of reading back: the bytes compared, the number of wrong ones, and the offset of the first wrong one in the
   * held memory (blocks in the order of their allocation; null: none was wrong), counted by a kernel on the GPU. null:
   * not requested, or not done, because the search failed, the run was stopped, or in `single` mode the largest block
   * could not be allocated again (`boundBy` says so).
   */
  verified: { bytes: Natural; mismatches: Natural; firstMismatch: Natural | null } | null;
  /** Time for which the maximum was held, by the monotonic clock. */
  holdMs: Amount;
  /** Time inside CUDA calls, by the monotonic clock. */
  cudaMs: Amount;
  steps: StressStep[];
  settled: Settled;
}

/** A trip of the guard, the native thread of the child process that watches the machine's memory. */
export interface ProbeGuardReport {
  reason: 'floor' | 'pressure' | 'parent';
  /** MemAvailable at the trip, in bytes; null: not read. */
  memAvailable: Natural | null;
  /** Bytes of free pages in the processors' lists (/proc/zoneinfo), which count besides; null: not known. */
  freeInCpuLists: Natural | null;
  /** PSI full of memory over 10 s, in percent, from /proc/pressure/memory; null: not read. */
  pressureFull: Amount | null;
  /**
   * Time from the reading that tripped the guard to the end of the last allocation, by the monotonic clock. null: the
   * process exited first.
   */
  stoppedAfterMs: Amount | null;
  /** Time from that reading until all was freed, by the monotonic clock. null: the process exited first. */
  freedAfterMs: Amount | null;
  /** The memory did not come back in time, and the process ended itself with _exit. */
  left: boolean;
}

/** Progress of `stress()`. */
export type StressEvent = ProbeEvent | { type: 'step'; step: StressStep; progress: StressProgress };

/**
 * Progress of a stress test: bytes held, bytes to come, and the time that is left, calculated from the steps so far;
 * null: not known.
 */
export interface StressProgress {
  heldBytes: number;
  expectedBytes: number | null;
  etaMs: number | null;
}
