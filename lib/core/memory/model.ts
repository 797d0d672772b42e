/** The memory model of a device: unified, coherent, discrete or unknown. */

import type { Failure } from '../../base/errors.ts';
import type { MemoryModel } from '../../types/index.ts';

/** Facts that decide whether a device shares the host's memory. null: not readable. */
export interface ModelFacts {
  integrated: number | null;
  pageableMemoryAccessUsesHostPageTables: number | null;
  /** "NONE", "HMM" or "ATS", from NVML. */
  addressingMode: string | null;
  /** Result of NVML memory info: its numbers or its failure; null: NVML did not answer. */
  nvmlMemory: { total: number } | Failure | null;
  /** MIG mode: current and pending, or NVML's failure; null: NVML does not see the device. */
  migMode?: readonly number[] | Failure | null;
}

/**
 * Decides the memory model, and names the facts that decided.
 *
 * The CUDA attribute *integrated* decides, as in ggml, RMM and vLLM. A product name does not (names change), nor do
 * equal totals (a substitution by another tool), nor missing NVML memory info alone (a MIG slice, a lost GPU and a
 * broken driver have none either). NVML's *ATS and NOT_SUPPORTED* together decide without CUDA: a GH200 has ATS but
 * reports memory, and a broken GPU has no addressing mode. A GH200 in MIG mode reports no memory either, so they decide
 * nothing there.
 */
export function memoryModel(facts: ModelFacts): { model: MemoryModel; from: string } {
  if (facts.integrated === 1) return { model: 'unified', from: 'CUDA attribute integrated = 1' };
  if (facts.integrated === 0) {
    return facts.pageableMemoryAccessUsesHostPageTables === 1
      ? { model: 'coherent', from: 'CUDA attributes integrated = 0, pageableMemoryAccessUsesHostPageTables = 1' }
      : { model: 'discrete', from: 'CUDA attribute integrated = 0' };
  }
  const refusal = facts.nvmlMemory !== null && 'failed' in facts.nvmlMemory ? facts.nvmlMemory.name : null;
  if (facts.addressingMode === 'ATS' && refusal === 'NOT_SUPPORTED') {
    if (!isMigOff(facts.migMode))
      return {
        model: 'unknown',
        from: 'the CUDA attribute integrated could not be read, and NVML reports no memory of a GPU in MIG mode',
      };
    return {
      model: 'unified',
      from: 'NVML addressing mode ATS with memory info NOT_SUPPORTED (CUDA could not be asked)',
    };
  }
  return { model: 'unknown', from: 'the CUDA attribute integrated could not be read' };
}

/** Integrated GPUs answer NOT_SUPPORTED, and libraries before MIG lack the function; any other failure tells nothing. */
function isMigOff(migMode: ModelFacts['migMode']): boolean {
  if (migMode === null || migMode === undefined) return true;
  if ('failed' in migMode) return migMode.name === 'NOT_SUPPORTED' || migMode.name === 'FUNCTION_NOT_FOUND';
  return migMode[0] === 0;
}

/** Share of MemTotal. CUDA's total of a device without a carve-out is MemTotal itself (GB10, Thor, Orin). */
const ALL_OF_MEMORY = 0.95;

/**
 * True if CUDA gives a device that shares the host's memory only a part of it, as on N1X, where CUDA's total is the
 * carve-out and a share of the rest: 46,477 MiB of 54.2 GiB.
 */
export function hasOwnLimit(cudaTotal: number | null, hostTotal: number): cudaTotal is number {
  return cudaTotal !== null && cudaTotal < hostTotal * ALL_OF_MEMORY;
}
