/** Making room before a model is loaded. */

import type { Receipt } from './cache.ts';

/** A step of `prepare`: what it would do or did. */
export interface PrepareStep {
  action: 'measure' | 'evict' | 'drop' | 'compact';
  /** Of a drop. */
  level: 1 | 2 | null;
  /** `skipped`: it is not needed, not allowed, or would not help; see `reason`. */
  state: 'planned' | 'done' | 'skipped' | 'failed';
  /** Why, in words: "6 model files, 38.2 GB cached, none mapped". */
  reason: string;
  /** What a next allocation can have at once, after this step; in a dry run as expected. null: not run. */
  immediateBytes: number | null;
  /** By how much the step changed it; in a dry run as expected. */
  gainedBytes: number | null;
  durationMs: number | null;
}

export interface PrepareReport {
  schema: 'umaprobe/prepare/1';
  at: string;
  simulated: string | null;
  dryRun: boolean;
  askedBytes: number;
  /**
   * `enough`: it can be had at once. `after-reclaim`: only once the kernel has taken page cache back, which it does for an
   * allocation; programs that ask cudaMemGetInfo will not see it. `not-enough`: nothing more can be done here.
   * `planned`: a dry run, and by what is known the plan ends with enough.
   */
  verdict: 'enough' | 'after-reclaim' | 'not-enough' | 'planned';
  reason: string;
  /** Whose memory it is: the one pool of a unified device, or the host's alone. */
  pool: 'unified' | 'host';
  /** Where the memory comes from, in the order in which it is taken. Sums to `after.immediate` but for what others took or gave back meanwhile. */
  sources: { label: string; bytes: number }[];
  steps: PrepareStep[];
  before: { immediate: number | null; afterReclaim: number | null };
  after: { immediate: number | null; afterReclaim: number | null };
  /** What must be left for the host, and why that much. */
  floor: { bytes: number; from: string };
  receipt: Receipt;
  durationMs: number;
}

export interface PrepareOptions {
  /** What is going to be allocated. */
  bytes: number;
  /** Files that may be evicted. Default: the model stores that are found. */
  paths?: readonly string[];
  /** Say what would be done, do nothing. */
  dryRun?: boolean;
  /** Memory that must be left for the host, in bytes. Default as for stress: the larger of 8 GiB and 7 % of MemTotal. */
  floor?: number;
  sudo?: boolean;
  signal?: AbortSignal;
}
