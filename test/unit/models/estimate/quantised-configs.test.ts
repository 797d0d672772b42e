/** Weights of a config alone, before a download, against the size of the files that were published for it. */
import { describe, expect, it } from 'vitest';
import { estimate } from '../../../../lib/models/estimate/index.ts';

const LLAMA_70B = {
  model_type: 'llama',
  hidden_size: 8192,
  num_hidden_layers: 80,
  num_attention_heads: 64,
  num_key_value_heads: 8,
  intermediate_size: 28_672,
  vocab_size: 128_256,
  tie_word_embeddings: false,
};
const QWEN_72B = { ...LLAMA_70B, model_type: 'qwen2', intermediate_size: 29_568, vocab_size: 152_064 };
const DEEPSEEK_V3 = {
  model_type: 'deepseek_v3',
  hidden_size: 7168,
  num_hidden_layers: 61,
  num_attention_heads: 128,
  intermediate_size: 18_432,
  moe_intermediate_size: 2048,
  n_routed_experts: 256,
  n_shared_experts: 1,
  first_k_dense_replace: 3,
  kv_lora_rank: 512,
  q_lora_rank: 1536,
  qk_nope_head_dim: 128,
  qk_rope_head_dim: 64,
  v_head_dim: 128,
  vocab_size: 129_280,
  tie_word_embeddings: false,
};
const KIMI_K2 = {
  ...DEEPSEEK_V3,
  n_routed_experts: 384,
  num_attention_heads: 64,
  first_k_dense_replace: 1,
  vocab_size: 163_840,
};
const DEEPSEEK_V4_FLASH = {
  model_type: 'deepseek_v4',
  expert_dtype: 'fp4',
  hidden_size: 4096,
  num_hidden_layers: 43,
  num_attention_heads: 64,
  num_key_value_heads: 1,
  head_dim: 512,
  moe_intermediate_size: 2048,
  n_routed_experts: 256,
  n_shared_experts: 1,
  q_lora_rank: 1024,
  qk_rope_head_dim: 64,
  o_lora_rank: 1024,
  o_groups: 8,
  index_head_dim: 128,
  index_n_heads: 64,
  sliding_window: 128,
  compress_ratios: [0, 0, ...Array.from({ length: 41 }, (_, index) => (index % 2 === 0 ? 4 : 128))],
  vocab_size: 129_280,
  tie_word_embeddings: false,
};
const FP8 = { quant_method: 'fp8', weight_block_size: [128, 128] };
const int4 = { config_groups: { group_0: { weights: { num_bits: 4, type: 'int', group_size: 32 } } } };

const FILES: [
  name: string,
  config: Record<string, unknown>,
  quantization: Record<string, unknown>,
  gigabytes: number,
][] = [
  ['Llama 3.3 70B AWQ', LLAMA_70B, { quant_method: 'awq', bits: 4, group_size: 128 }, 39.8],
  ['Llama 3.3 70B NVFP4', LLAMA_70B, { quant_method: 'modelopt', quant_algo: 'NVFP4' }, 42.7],
  [
    'Llama 3.1 70B NF4',
    LLAMA_70B,
    { quant_method: 'bitsandbytes', load_in_4bit: true, bnb_4bit_use_double_quant: true },
    39.5,
  ],
  ['Qwen2.5 72B GPTQ Int4', QWEN_72B, { quant_method: 'gptq', bits: 4, group_size: 128 }, 41.6],
  ['Qwen2.5 72B GPTQ Int8', QWEN_72B, { quant_method: 'gptq', bits: 8, group_size: 128 }, 77],
  ['Kimi K2 FP8', KIMI_K2, FP8, 1029],
  // FP8 beside experts in FP4; a download of 158 GB.
  ['DeepSeek V4 Flash', DEEPSEEK_V4_FLASH, FP8, 158],
  ['DeepSeek V4 Flash in FP8', { ...DEEPSEEK_V4_FLASH, expert_dtype: 'fp8' }, FP8, 287],
  ['Kimi K2 Thinking INT4', KIMI_K2, { quant_method: 'compressed-tensors', format: 'pack-quantized', ...int4 }, 594],
];

const weightsOf = async (config: Record<string, unknown>) => {
  const { terms } = await estimate({ config }, { context: 1024 });
  return terms.find(({ name }) => name === 'weights');
};

describe('weights of a quantised model of which only the config is there', () => {
  it.each(FILES)('%s', async (_, config, quantization, gigabytes) => {
    const weights = await weightsOf({ ...config, quantization_config: quantization });
    expect(gigabytes * 1e9).toBeGreaterThan((weights?.low ?? 0) * 0.99);
    expect(gigabytes * 1e9).toBeLessThan((weights?.high ?? 0) * 1.01);
    expect(Math.abs((weights?.bytes ?? 0) / (gigabytes * 1e9) - 1)).toBeLessThan(0.03);
  });

  it('are no range up to 16 bits where the format quantises every layer', async () => {
    const awq = await weightsOf({
      ...LLAMA_70B,
      quantization_config: { quant_method: 'awq', bits: 4, group_size: 128 },
    });
    expect(awq?.high).toBeLessThan((awq?.bytes ?? 0) * 1.02);
    const fp8 = await weightsOf({ ...LLAMA_70B, quantization_config: { quant_method: 'fp8' } });
    expect(fp8?.high).toBeLessThan((fp8?.bytes ?? 0) * 1.35);
  });
});

it('a key of an indexer is its elements in FP8 and a scale', async () => {
  const latent = { ...KIMI_K2, quantization_config: FP8 };
  const perToken = async (config: Record<string, unknown>) =>
    (await estimate({ config }, { program: 'vllm', context: 1024 })).kvBytesPerToken ?? 0;
  const indexed = { ...latent, model_type: 'deepseek_v32', index_head_dim: 128, index_n_heads: 64, index_topk: 2048 };
  expect((await perToken(indexed)) - (await perToken({ ...latent, model_type: 'deepseek_v3' }))).toBe(
    KIMI_K2.num_hidden_layers * (128 + 4),
  );
});
