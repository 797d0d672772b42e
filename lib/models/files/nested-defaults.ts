/**
 * Fields that transformers leaves out of a config inside another one, because they equal the defaults of its class: the
 * text_config of Gemma 3 4B has no number of heads, that of LLaVA 1.5 not even layers.
 */

import type { ModelConfig } from './model-config.ts';
import type { JsonObject } from './model-file.ts';

/** Defaults of configuration_*.py of transformers 4.57, by `model_type`. */
const DEFAULTS: Readonly<Record<string, JsonObject>> = {
  gemma: {
    vocab_size: 256_000,
    hidden_size: 3072,
    intermediate_size: 24_576,
    num_hidden_layers: 28,
    num_attention_heads: 16,
    num_key_value_heads: 16,
    head_dim: 256,
    max_position_embeddings: 8192,
  },
  gemma2: {
    vocab_size: 256_000,
    hidden_size: 2304,
    intermediate_size: 9216,
    num_hidden_layers: 26,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 256,
    max_position_embeddings: 8192,
    sliding_window: 4096,
    final_logit_softcapping: 30,
  },
  gemma3_text: {
    vocab_size: 262_208,
    hidden_size: 2304,
    intermediate_size: 9216,
    num_hidden_layers: 26,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 256,
    max_position_embeddings: 131_072,
    sliding_window: 4096,
  },
  llama: {
    vocab_size: 32_000,
    hidden_size: 4096,
    intermediate_size: 11_008,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    max_position_embeddings: 2048,
  },
  mistral: {
    vocab_size: 32_000,
    hidden_size: 4096,
    intermediate_size: 14_336,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    max_position_embeddings: 131_072,
  },
  qwen2: {
    vocab_size: 151_936,
    hidden_size: 4096,
    intermediate_size: 22_016,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 32,
    max_position_embeddings: 32_768,
  },
};

/** Fields that the class of a nested config would fill in. */
export function defaultsOf(config: ModelConfig): JsonObject {
  return DEFAULTS[config.text('model_type') ?? ''] ?? {};
}
