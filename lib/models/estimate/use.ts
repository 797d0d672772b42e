/** The facts that follow from a use. */

import type { EstimateProgram } from '../../types/index.ts';
import type { ModelFacts } from '../files/model.ts';
import type { Use } from './options.ts';

export type { Use };

/** A use with its context, which a model's own length may have given. */
export type UseAt = Use & { context: number };

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
