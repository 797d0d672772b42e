/** A use with every default filled in, as the parts of an estimate read it. */

import type {
  EstimatedSettings,
  EstimateProgram,
  EstimateUse,
  LoraTargets,
  Offload,
  Optimizer,
  TrainingDtype,
} from '../../types/index.ts';
import type { ModelFacts } from '../files/model.ts';

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

/** vLLM and SGLang compute a model of FP32 in 16 bits (vLLM's _resolve_auto_dtype), unless they are told not to. */
export function prefersHalf(program: EstimateProgram | null): boolean {
  return program === 'vllm' || program === 'sglang';
}

/** True if weights of FP32 are loaded in 16 bits. */
export function loadsInHalf({ dtype, quantization }: ModelFacts, { program }: Pick<Use, 'program'>): boolean {
  return dtype === 'float32' && quantization === null && prefersHalf(program);
}
