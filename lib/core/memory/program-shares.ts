/** Defaults of programs for options that their command line lacks: shares of the memory, and limits of a context. */

import type { FitProgram } from '../../types/index.ts';

/** --gpu-memory-utilization of vLLM since 0.20 (vllm-project/recipes PR 632), and before. */
export const VLLM_SHARE = { newest: 0.92, before020: 0.9 } as const;

/** free_gpu_memory_fraction of TensorRT-LLM: of free memory after loading (tensorrt_llm/commands/serve.py, 2026). */
export const TRTLLM_SHARE = 0.9;

/**
 * --mem-fraction-static of SGLang by its documentation. It computes the share itself: 0.86 to 0.9 of free memory in
 * published starts.
 */
export const SGLANG_SHARE = 0.9;

/** Variables with which a server takes a context that is longer than the model was made for, instead of refusing it. */
export const LONGER_CONTEXT: Readonly<Partial<Record<FitProgram, string>>> = {
  vllm: 'VLLM_ALLOW_LONG_MAX_MODEL_LEN',
  sglang: 'SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN',
};
