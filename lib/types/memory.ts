/** The answer of `memory()`. Every size is in bytes; null is unknown, and never a yes. */

import type { Judgement } from './judgement.ts';
import type { OfMachine } from './scalars.ts';

/** Sizes of one pool of memory, in bytes by a snapshot of it. */
export interface MemoryPool {
  /** MemTotal, or the memory of the GPU by CUDA or NVML; null: not known. */
  total: number | null;
  /** Bytes that the next allocation gets at once. */
  free: number | null;
  /** Bytes once the kernel has given back copies of files: MemAvailable, if CPU and GPU share the pool. */
  available: number | null;
  /** Bytes that a program can load: `available` less the needs of the system and the program. 0: nothing now. */
  safe: number | null;
}

/** One GPU, or one MIG slice of a GPU. A GPU that shares the host's memory has the sizes of that. */
export interface GpuMemory extends MemoryPool {
  name: string | null;
  uuid: string | null;
  /** True if it shares the host's memory; null: CUDA did not say. */
  unified: boolean | null;
}

/**
 * The memory that a program which loads now gets: what CPU and GPU share, else that of the GPU with most left, else (no GPU)
 * the host's, of which all that is available counts as `safe`.
 */
export interface Memory extends MemoryPool, OfMachine {
  /** True if CPU and GPU share it; null: no GPU answered, so it is not known. */
  unified: boolean | null;
  /** Every GPU. Empty: none was found, and `because` says why. */
  gpus: GpuMemory[];
  /** `yes`: up to `safe`. `after`: only once something is done. `not-now`: load nothing. `unknown`: what can be loaded is not known. */
  verdict: Judgement['mayLoad'];
  /** The reason, in one or two sentences. */
  because: string;
}
