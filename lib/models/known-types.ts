/** Model types whose layers are known here; what a config says of any other is read as if it were one of Llama's kind. */

import type { ModelConfig } from './model-config.ts';

/** `model_type` of config.json, of the language model where there are several. */
const KNOWN = new RegExp(
  `^(?:${[
    'afmoe|apertus|arcee|baichuan|bailing(?:_moe|_hybrid)\\w*|bamba|bloom|chatglm|codegen|cohere2?|command|dbrx|deepseek(?:_v2|_v3|_v32|_v4|_ref)?|dots1',
    'ernie4_5\\w*|exaone4?|falcon\\w*|gemma[234]?n?\\w*|glm4?\\w*|gpt2|gpt_bigcode|gpt_neox\\w*|gpt_oss|gptj|granite\\w*|hunyuan\\w*',
    'internlm[23]?|jamba|kimi\\w*|lfm2\\w*|llama4?\\w*|longcat\\w*|mamba2?|mimo\\w*|minicpm\\w*|minimax\\w*|ministral3?|mistral[34]?|mixtral',
    'mllama\\w*|mpt|nemotron[\\w-]*|olmo\\w*|opt|persimmon|phi|phi3\\w*|phi4\\w*|phimoe|pythia|qwen|qwen2\\w*|qwen3\\w*|recurrent_gemma|rwkv\\w*',
    'seed_oss|smallthinker|smollm3|solar\\w*|stablelm|starcoder2|step3\\w*|xverse|yi|zamba2?',
  ].join('|')})$`,
);

/** Fields of layers that keep something other than keys and values, and that no rule of an unknown type reads. */
const UNUSUAL = /ssm|mamba|recurrent|lightning|linear_a|linear_num|lru|retention|compress|latent|hyena|engram/i;

/** Whether the type is not known, and its config names parts that are not those of Llama: nothing can be counted then. */
export function isUnusual(config: ModelConfig): boolean {
  return !isKnownType(config) && config.names().some((name) => UNUSUAL.test(name));
}

function isKnownType(config: ModelConfig): boolean {
  return KNOWN.test(config.text('model_type') ?? '');
}

/** What is assumed of a type that is not known; null: nothing is. */
export function assumptionOf(config: ModelConfig): string | null {
  if (isKnownType(config)) return null;
  const type = config.text('model_type');
  const name = type === null ? 'The config names no model type' : `The model type "${type.slice(0, 40)}" is not known`;
  return isUnusual(config)
    ? `${name}, and its config has parts that are not those of Llama: its parameters are not counted, and its cache as if every layer had full attention.`
    : `${name}: its layers are counted as those of Llama.`;
}
