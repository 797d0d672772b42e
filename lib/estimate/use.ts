/** A use with every default filled in, as the parts of an estimate read it. */

import type {
  EstimatedSettings,
  EstimateProgram,
  EstimateUse,
  LoraTargets,
  Offload,
  Optimizer,
  TrainingDtype,
} from '../types/index.ts';

export interface Use extends EstimatedSettings {
  use: EstimateUse;
  program: EstimateProgram | null;
  /** Tokens of one sequence; null: the default of the model. */
  context: number | null;
  sequences: number;
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
