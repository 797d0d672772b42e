/** The most that can be allocated, found without going over the edge. */

import type { AllocatorKind } from './kinds.ts';
import type { Settled } from './layout.ts';
import type { ProbeHeader, ProbeOptions } from './probe.ts';

/**
 * How a stress test ends.
 * - `limit`: the `max` that was asked for was reached. `out-of-memory`: the allocator refused, down to the resolution.
 * - `floor`: the next step would take the host below its floor. `pressure`: programs wait for memory (PSI). `contiguity`: there
 *   is memory, but no more blocks of 2 MiB.
 * - `aborted`: by the caller. `timeout`: its time was over. `failed`: verification found wrong bytes, or a call failed.
 * - `lost`: the child process vanished.
 */
export type StressState =
  | 'limit'
  | 'out-of-memory'
  | 'floor'
  | 'pressure'
  | 'contiguity'
  | 'aborted'
  | 'timeout'
  | 'failed'
  | 'lost';

export interface StressStep {
  /** Bytes asked for in this step; in `single` mode the whole block, else what is added. */
  requestedBytes: number;
  /** Held after the step. */
  heldBytes: number;
  /** What the step was expected to cost the machine, and what it did. null: not known. */
  predictedCost: number | null;
  cost: number | null;
  state: 'ok' | 'out-of-memory' | 'stopped' | 'failed';
  reason: string | null;
  allocMs: number | null;
  touchMs: number | null;
  verifyMs: number | null;
  memAvailable: number | null;
  pressureFull: number | null;
}

export interface StressReport extends ProbeHeader {
  schema: 'umaprobe/stress/1';
  kind: AllocatorKind;
  mode: 'total' | 'single';
  state: StressState;
  /** The most that was held at once (`total`) or the largest block (`single`). */
  maxBytes: number;
  /** What bound it, with the numbers: "MemAvailable 16.4 GiB less the next 64.0 MiB would be below the floor of 16.4 GiB". */
  boundBy: string;
  /** Set where the guard's thread intervened: what tripped, and how fast. Times in milliseconds. */
  guard: GuardReport | null;
  chunkBytes: number;
  resolutionBytes: number;
  /** Where the search began; above 0 with `resume`. */
  verified: { bytes: number; mismatches: number; firstMismatch: number | null } | null;
  holdMs: number;
  /** Time inside CUDA calls, in milliseconds. */
  cudaMs: number;
  steps: StressStep[];
  settled: Settled;
}

/** What the native thread that watches the child's machine has seen. */
export interface GuardReport {
  reason: 'floor' | 'pressure' | 'parent';
  memAvailable: number | null;
  pressureFull: number | null;
  /** From the reading that tripped it to the end of the last allocation. null: the process had to leave. */
  stoppedAfterMs: number | null;
  freedAfterMs: number | null;
  /** The memory did not come back in time and the process left with _exit. */
  left: boolean;
}

export interface StressOptions extends ProbeOptions {
  /** Default `device`. */
  kind?: AllocatorKind;
  /** The largest single block instead of the total. */
  single?: boolean;
  /** Stop there: 1 to 2^53 − 1 bytes. */
  max?: number;
  /** Largest step, in bytes: 2 MiB to 64 GiB. Default 4 GiB; 32 GiB of a device's own memory. */
  chunk?: number;
  /** Fill every byte with a pattern on the device, read it back there and compare. */
  verify?: boolean;
  /** Hold the maximum for so long, in milliseconds: 0 to 86400000. Default 0. */
  holdMs?: number;
  /** Begin below the step at which an earlier run was lost (see `unfinished`). */
  resume?: boolean;
  onStep?: (
    step: StressStep,
    progress: { heldBytes: number; expectedBytes: number | null; etaMs: number | null },
  ) => void;
}
