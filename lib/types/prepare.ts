/** Making memory available before a model is loaded. */

import type { Receipt } from './cache.ts';
import type { PlanState } from './results.ts';
import type { Amount, Integer, Natural, OfMachine, Timestamp } from './scalars.ts';

/** A step of `prepare`, planned or done. */
export interface PrepareStep {
  action: 'measure' | 'evict' | 'drop' | 'compact';
  /** Level of a drop; null for other actions. */
  level: 1 | 2 | null;
  state: PlanState;
  /** Reason for the state: "6 unused model files, 35.58 GiB (38.20 GB) cached and clean". */
  reason: string;
  /**
   * Immediately allocatable memory after this step, by the counters of a snapshot; expected value in a dry run. null:
   * not run.
   */
  immediateBytes: Natural | null;
  /** Change of `immediateBytes` by this step: after less before; expected value in a dry run. */
  gainedBytes: Integer | null;
  /** Duration of the step by the monotonic clock; null: not run. */
  durationMs: Amount | null;
}

/** Result of `prepare()`, and whether the planned allocation fits now. */
export interface PrepareReport extends OfMachine {
  schema: 'umaprobe/prepare/1';
  at: Timestamp;
  dryRun: boolean;
  /** Size of the planned allocation, given by the caller. */
  bytes: Natural;
  /**
   * `enough`: available immediately. `after-reclaim`: available once the kernel has reclaimed page cache, which it does
   * during an allocation; programs that read cudaMemGetInfo do not see that memory. `not-enough`: no step can free
   * enough. `planned`: a dry run whose plan is expected to free enough.
   */
  verdict: 'enough' | 'after-reclaim' | 'not-enough' | 'planned';
  reason: string;
  /** The memory in question: the shared pool of a unified device, or host memory only. */
  pool: 'unified' | 'host';
  /**
   * Sources of the memory in bytes, by the counters of a snapshot, in the order of use. They sum to `after.immediate`,
   * except for what other programs allocated or freed in the meantime.
   */
  sources: { label: string; bytes: Integer }[];
  steps: PrepareStep[];
  /** Bytes that could be allocated before the steps, by the counters of a snapshot. */
  before: { immediate: Natural | null; afterReclaim: Natural | null };
  /** The same bytes after them, by a snapshot; in a dry run the expected ones. */
  after: { immediate: Natural | null; afterReclaim: Natural | null };
  /** Memory left for the host, in bytes, and the rule or the caller's number that gave this amount. */
  floor: { bytes: Natural; from: string };
  /**
   * All that must be available beyond `bytes`: the sum of the floor, its margin, and the program besides its data. The
   * most that can be prepared is therefore `allocatable.safe` of the snapshot.
   */
  reserveBytes: Natural;
  receipt: Receipt;
  /** Duration of the call by the monotonic clock. */
  durationMs: Amount;
}
