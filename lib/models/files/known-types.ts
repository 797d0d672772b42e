/** Model types whose layers are known here. Each vouches for itself alone: another of its family may keep other things. */

import type { ModelConfig } from './model-config.ts';
import { words } from './words.ts';

/** `model_type` of config.json, of the language model where there are several. */
const KNOWN = new Set(
  words(`
  afmoe apertus arcee axk1 baichuan bailing_hybrid bailing_moe bailing_moe_linear bailing_moe_v2 bamba bloom chatglm codegen cohere
  cohere2 cwm dbrx deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 dots1 ernie4_5 ernie4_5_moe ernie4_5_moe_vl ernie4_5_vl_moe
  ernie4_5_vl_moe_text exaone exaone4 falcon falcon_h1 falcon_mamba flex_olmo gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text
  gemma4 gemma4_text glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe glm4v_moe_text glm4v_text glm_moe_dsa gpt2 gpt_bigcode gpt_neox
  gpt_oss gptj granite granitemoe granitemoehybrid granitemoeshared helium hunyuan_v1_dense hunyuan_v1_moe internlm2 internlm3 jamba
  kimi_k2 kimi_k25 kimi_k3 kimi_linear lfm2 lfm2_moe lfm2_vl llama llama4 llama4_text llava llava_next longcat_flash mamba mamba2
  mimo_v2_flash minicpm minicpm3 minimax minimax_m2 minimax_m3 minimax_text_01 ministral ministral3 mistral mistral3 mistral4 mixtral
  mllama mllama_text_model mpt nemotron nemotron-nas nemotron_h olmo olmo2 olmo3 olmoe opt persimmon phi phi3 phi4flash phimoe qwen
  qwen2 qwen2_5_vl qwen2_5_vl_text qwen2_moe qwen2_vl qwen2_vl_text qwen3 qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen3_moe
  qwen3_next qwen3_vl qwen3_vl_moe qwen3_vl_moe_text qwen3_vl_text recurrent_gemma rwkv5 rwkv6 rwkv7 seed_oss smallthinker smollm3 stablelm starcoder2
  audioflamingo3 cohere2_vision cosmos3_omni exaone4_5 exaone4_5_text glm46v idefics3 internvl kimi_k25 lighton_ocr llava_next_video
  llava_onevision paligemma qwen2_audio smolvlm video_llama_3 vipllava voxtral
  step3_text step3_vl step3p7 xlstm xverse zamba2
  albert bert camembert deberta deberta-v2 distilbert electra ernie modernbert mpnet nomic_bert roberta xlm-roberta
  bart blenderbot blenderbot-small m2m_100 marian mbart mt5 pegasus plbart t5 umt5 whisper
  `),
);

export function isKnownType(config: ModelConfig): boolean {
  return KNOWN.has(config.text('model_type') ?? '');
}
