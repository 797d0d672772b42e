/** The table of messages. The first of two rows that claim the same words wins: special before general. */

import { LINUX } from './linux.ts';
import { LLAMA_CPP } from './llama-cpp.ts';
import type { Message } from './message.ts';
import { NVIDIA } from './nvidia.ts';
import { OLLAMA } from './ollama.ts';
import { LMDEPLOY, RAY_MESSAGES } from './ray.ts';
import { SGLANG } from './sglang.ts';
import { TORCH } from './torch.ts';
import { VLLM } from './vllm.ts';

export const MESSAGES: readonly Message[] = [
  ...VLLM,
  ...SGLANG,
  ...OLLAMA,
  ...LLAMA_CPP,
  ...TORCH,
  ...RAY_MESSAGES,
  ...LMDEPLOY,
  ...LINUX,
  ...NVIDIA,
];
