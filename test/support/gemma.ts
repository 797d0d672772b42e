import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

const CONFIGS = JSON.parse(readFileSync(join(ROOT, 'test/support/models/configs.json'), 'utf8')) as Record<
  string,
  object
>;

/** google/gemma-4-26B-A4B-it, of which vLLM #46307 tells: BF16, 48 GiB of weights, a share of 0.70 on a GB10. */
export const GEMMA_4_26B = {
  ...CONFIGS['Gemma 4 26B-A4B'],
  vision_config: {
    model_type: 'gemma4_vision',
    hidden_size: 1152,
    intermediate_size: 4304,
    num_hidden_layers: 27,
    num_attention_heads: 16,
    num_key_value_heads: 16,
    head_dim: 72,
    global_head_dim: 72,
    patch_size: 16,
    pooling_kernel_size: 3,
    position_embedding_size: 10_240,
    default_output_length: 280,
    standardize: true,
    rope_parameters: { rope_theta: 100, rope_type: 'default' },
  },
};
