/** A use with every default filled in, as the parts of an estimate read it. */

import type { EstimateProgram, EstimateUse, LoraTargets, Offload, Optimizer, TrainingDtype } from '../types/index.ts';

export interface Use {
  use: EstimateUse;
  program: EstimateProgram | null;
  /** Tokens of one sequence; null: the default of the model. */
  context: number | null;
  sequences: number;
  /** As given; null: the program's default. */
  kvDtype: string | null;
  batchTokens: number | null;
  flashAttention: boolean;
  swaFull: boolean;
  kvUnified: boolean;
  /** null: as the file and the program do. */
  mla: boolean | null;
  tensorParallel: number;
  pipelineParallel: number;
  decodeContextParallel: number;
  mtp: boolean;
  languageModelOnly: boolean;
  mmap: boolean;
  method: 'breakdown' | 'rough';
  batch: number;
  checkpointing: boolean;
  optimizer: Optimizer;
  /** null: as the config says. */
  dtype: TrainingDtype | null;
  mixedPrecision: boolean;
  loraRank: number;
  loraTargets: LoraTargets;
  loraDropout: number;
  fusedLoss: boolean;
  offload: readonly Offload[];
  /** Compilers at once in a first start (MAX_JOBS). */
  maxJobs: number;
  workers: number;
  rolloutUtilization: number;
}

/** llama.cpp, and Ollama, which runs it. */
export function isLlama(program: EstimateProgram | null): boolean {
  return program === 'llama.cpp' || program === 'ollama';
}
