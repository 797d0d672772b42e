import type { Failure } from '../base/errors.ts';
import type { MemoryModel } from '../types/index.ts';

/** The facts that decide whether a device shares the host's memory. null: not readable. */
export interface ModelFacts {
  integrated: number | null;
  pageableMemoryAccessUsesHostPageTables: number | null;
  /** NVML's words: "NONE", "HMM", "ATS". */
  addressingMode: string | null;
  /** How NVML memory info ended: its numbers, its refusal, or null where NVML could not be asked. */
  nvmlMemory: { total: number } | Failure | null;
}

/**
 * Decides the memory model, and says from what.
 *
 * CUDA's *integrated* attribute decides, as in ggml, RMM and vLLM. Not a product name (names change), not totals that
 * look alike (true only after another tool's substitution), not NVML's silence alone (a MIG slice, a lost GPU and a
 * broken driver are silent too). Only where CUDA cannot be asked does NVML's pair *ATS and NOT_SUPPORTED* stand in for
 * it: a GH200 has ATS but answers, and everything that is merely broken has no addressing mode.
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
    return {
      model: 'unified',
      from: 'NVML addressing mode ATS with memory info NOT_SUPPORTED (CUDA could not be asked)',
    };
  }
  return { model: 'unknown', from: 'the CUDA attribute integrated could not be read' };
}
