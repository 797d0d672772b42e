/** Number of compilers that a first start may run: MAX_JOBS, which ninja and PyTorch's extensions read. Pure. */

import type { FitReport } from '../../types/index.ts';
import { COMPILE_JOB } from '../estimate/index.ts';

/** Cores of a Spark: more compilers help nobody. */
const CORES = 20;

/**
 * The need has one job; each further one has to find its place beside it, with the most that it was seen to take. null:
 * another program, a GPU with memory of its own, or a limit that is not known.
 */
export function compileJobsFor({ device, limit, need }: FitReport, program: string | null): number | null {
  if ((program !== 'vllm' && program !== 'sglang') || device?.memoryModel !== 'unified' || limit.bytes === null)
    return null;
  const further = Math.floor((limit.bytes - need.high) / COMPILE_JOB.high);
  return Math.min(CORES, Math.max(1, 1 + further));
}

export function compileJobsText(jobs: number): string {
  const compilers = jobs === 1 ? 'one compiler' : `${jobs} compilers`;
  return `MAX_JOBS=${jobs} lets its first start run ${compilers} at once, of up to 8 GiB; without it one for each core (flashinfer #3634).`;
}
