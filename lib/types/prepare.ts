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
  /** Immediately allocatable memory after this step; expected value in a dry run. null: not run. */
  immediateBytes: Natural | null;
  /** Change of `immediateBytes` by this step; expected value in a dry run. */
  gainedBytes: Integer | null;
  durationMs: Amount | null;
}

/** Result of `prepare()`, and whether the planned allocation fits now. */
export interface PrepareReport extends OfMachine {
  schema: 'umaprobe/prepare/1';
  at: Timestamp;
  dryRun: boolean;
  /** Size of the planned allocation. */
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
   * Sources of the memory, in the order of use. They sum to `after.immediate`, except for what other programs allocated
   * or freed in the meantime.
   */
  sources: { label: string; bytes: Integer }[];
  steps: PrepareStep[];
  before: { immediate: Natural | null; afterReclaim: Natural | null };
  after: { immediate: Natural | null; afterReclaim: Natural | null };
  /** Memory left for the host, and the rule that gave this amount. */
  floor: { bytes: Natural; from: string };
  /**
   * All that must be available beyond `bytes`: the floor, its margin, and the program besides its data. The most that
   * can be prepared is therefore `allocatable.safe` of the snapshot.
   */
  reserveBytes: Natural;
  receipt: Receipt;
  durationMs: Amount;
}
