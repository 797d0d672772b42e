/** The programs that run models, as far as their own rules about memory are known. */

/** Name on the command line → name as it is written. */
export const MODEL_PROGRAMS = {
  vllm: 'vLLM',
  sglang: 'SGLang',
  trtllm: 'TensorRT-LLM',
  'llama.cpp': 'llama.cpp',
  ollama: 'Ollama',
  torch: 'PyTorch',
  accelerate: 'accelerate',
} as const;

/** A program whose rules about memory are known. */
export type ModelProgram = keyof typeof MODEL_PROGRAMS;

/** All of them, in display order. */
export const MODEL_PROGRAM_NAMES = Object.keys(MODEL_PROGRAMS) as ModelProgram[];
