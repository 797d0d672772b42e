/** The config.json of Qwen3-8B. */
export const QWEN3_8B = {
  model_type: 'qwen3',
  num_hidden_layers: 36,
  hidden_size: 4096,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 12_288,
  vocab_size: 151_936,
  max_position_embeddings: 40_960,
  tie_word_embeddings: false,
};
