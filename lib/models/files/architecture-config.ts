/**
 * The architecture of a config.json of Hugging Face. Facts are those of the model's code in transformers or vLLM: which
 * field gives the kind of each layer, and the default of a field that is left out.
 */

import { isObject } from '../../base/objects.ts';
import {
  type Architecture,
  attention,
  type CacheLayers,
  cacheOfMtp,
  grouped,
  type LatentLayers,
  type LayerMemory,
} from './architecture.ts';
import { contextOf } from './context-length.ts';
import { encoderDecoder, isEncoderDecoder } from './encoder-decoder.ts';
import { isKnownType } from './known-types.ts';
import { eachLayer, type Kind, kindsOf } from './layer-kinds.ts';
import { checkLayers, type ModelConfig } from './model-config.ts';

import { defaultsOf } from './nested-defaults.ts';
import {
  convLayer,
  deltaNetLayer,
  kimiLayer,
  kimiState,
  lightningLayer,
  mambaLayer,
  roundedUp,
  rwkvLayer,
  xlstmLayer,
} from './state-layers.ts';
import { words } from './words.ts';

/** Fields under which multimodal models keep the config of their language model. */
const TEXT_CONFIGS = ['text_config', 'llm_config', 'language_config', 'thinker_config', 'decoder', 'language_model'];

/** The part of a config that describes the language model. */
export function languageConfig(outer: ModelConfig): ModelConfig {
  for (const name of TEXT_CONFIGS) {
    const inner = outer.inner(name);
    if (inner === null) continue;
    // Qwen Omni nests twice: thinker_config.text_config.
    const text = inner.inner('text_config');
    return text === null ? inner.within([outer], defaultsOf(inner)) : text.within([inner, outer], defaultsOf(text));
  }
  return outer;
}

/** @throws UmaError ERR_UMA_MODEL for a field that is absurd, and for a config without layers. */
export function architectureOf(config: ModelConfig): Architecture {
  if (isEncoderDecoder(config)) return encoderDecoder(config);
  const shape = shapeOf(config);
  const layers = layerMemories(config, shape);
  if (config.flag('is_encoder_decoder') === true) config.notUnderstood('is_encoder_decoder', true);
  if (shape.heads === null && layers.some(({ kind }) => kind === 'attention'))
    config.notUnderstood('num_attention_heads');
  const mtpLayers = mtpLayersOf(config);
  return {
    name: config.text('model_type') ?? 'unknown',
    layers: shape.layers,
    mtpLayers,
    hidden: shape.hidden,
    heads: shape.heads,
    vocab: config.count(['vocab_size', 'padded_vocab_size']),
    intermediate: feedForwardWidth(config),
    experts: expertsOf(config),
    expertsPerToken: config.count(PER_TOKEN, 0) ?? config.inner('ffn_config')?.count(['moe_top_k'], 0) ?? 0,
    expertIntermediate: expertWidthOf(config),
    ...expertHidden(config),
    ...mixtureOf(config),
    ...contextOf(config),
    softcap: (config.number('final_logit_softcapping') ?? 0) > 0,
    tied: tiedOf(config),
    cache: grouped(layers),
    mtpCache: mtpLayers === 0 ? null : cacheOfMtp(layers, mtpLayers),
    notes: notesOf(config, layers),
  };
}

const PER_TOKEN = words(
  'num_experts_per_tok num_experts_per_token experts_per_token moe_topk moe_k moe_top_k top_k_experts',
);

/** Cohere's first configs have a name of their own for it. */
function tiedOf(config: ModelConfig): boolean | null {
  const shared = config.flag('use_embedding_sharing');
  return config.outerFlag('tie_word_embeddings') ?? shared;
}

function expertHidden(config: ModelConfig): { expertHidden?: number } {
  const size = config.count(['routed_expert_hidden_size', 'moe_latent_size'], 0);
  return size === null ? {} : { expertHidden: size };
}

/** Layers for further tokens. */
function mtpLayersOf(config: ModelConfig): number {
  const blocks = config.text('mtp_hybrid_override_pattern') ?? config.list('mtp_layers_block_type'); // Nemotron 3
  const layers = config.count(['num_nextn_predict_layers', 'mtp_num_hidden_layers', 'num_mtp_layers'], 0);
  if (blocks !== null)
    return (
      (layers ?? 1) *
      [...blocks].filter((kind) => kind === '*' || kind === 'attention' || kind === 'full_attention').length
    );
  const modules = config.flag('use_mtp') === false ? 0 : (config.count(['num_mtp_modules'], 0) ?? 0); // MiniMax
  if (layers === null && modules === 0 && config.text('model_type') === 'qwen3_next') return 1; // its config has no field for it
  return layers ?? modules * (config.count(['mtp_transformer_layers'], 0) ?? 1);
}

/** Dense layers at the start of a mixture, and the width of the experts that every token uses. */
function mixtureOf(config: ModelConfig): Pick<Architecture, 'denseLayers' | 'sharedIntermediate'> {
  if (expertsOf(config) === 0) return {};
  const width = feedForwardWidth(config) ?? 0;
  const kinds = config.list('mlp_layer_types');
  const first = config.count(['first_k_dense_replace', 'moe_layer_start_index', 'num_dense_layers'], 0) ?? 0;
  const denseLayers = kinds === null ? first : kinds.filter((kind) => kind === 'dense').length;
  return { denseLayers, sharedIntermediate: sharedWidth(config, width, expertWidthOf(config) ?? width) };
}

const SHARED_WIDTH = words(
  'shared_expert_intermediate_size moe_shared_expert_intermediate_size shared_intermediate_size share_expert_dim',
);

/** Width of the experts that every token uses. */
export function sharedWidth(config: ModelConfig, width: number, expertWidth: number): number {
  const given = config.count(SHARED_WIDTH, 0);
  const names = ['n_shared_experts', 'num_shared_experts', 'num_shared_expert', 'moe_num_shared_experts'];
  if (given !== null) {
    config.repeats(...names); // one part, whatever their number
    return given;
  }
  const shared = config.count(names, 0);
  if (shared !== null) return shared * expertWidth;
  return (config.text('model_type') ?? '').startsWith('llama4') ? width : 0;
}

/** Width of a feed-forward part; null: the config does not say. */
function feedForwardWidth(config: ModelConfig): number | null {
  const factor = config.number('ffn_proj_factor'); // xLSTM
  if (factor !== null)
    return roundedUp(
      factor * (config.count(['hidden_size']) ?? 0),
      config.count(['ffn_round_up_to_multiple_of']) ?? 64,
    );
  const names = ['intermediate_size', 'ffn_hidden_size', 'n_inner', 'ffn_dim', 'd_ff', 'block_ff_dim'];
  const width = config.count(names, 0) ?? config.inner('ffn_config')?.count(names, 0) ?? null;
  if (width === null) {
    const expansion = config.number('expansion_ratio'); // MPT
    return expansion === null ? null : expansion * config.needed(HIDDEN);
  }
  // Qwen 1 and RecurrentGemma give both halves of the gated part.
  if (/^(?:qwen|recurrent_gemma)$/.test(config.text('model_type') ?? '')) return width / 2;
  if (config.flag('block_auto_adjust_ff_dim') !== true) return width;
  // LFM2 takes two thirds of it.
  const multiple = config.count(['block_multiple_of']) ?? 256;
  const scaled = Math.floor((2 * width) / 3) * (config.number('block_ffn_dim_multiplier') ?? 1);
  return Math.ceil(Math.floor(scaled) / multiple) * multiple;
}

/** The width of an expert; null: the config does not say. */
export function expertWidthOf(config: ModelConfig): number | null {
  // ERNIE-4.5-VL: of the experts for text, and of those for images.
  const [first] = /^ernie4_5_(?:moe_vl|vl_moe)/.test(config.text('model_type') ?? '')
    ? (config.list('moe_intermediate_size') ?? [])
    : [];
  if (typeof first === 'number') return first;
  return config.count(['moe_intermediate_size', 'expert_dim', 'expert_ffn_hidden_size'], 0);
}

/** Families with routed experts; the programs of all others read no number of experts. */
const MIXTURES =
  /moe|mixtral|^(?:afmoe|axk1|bailing|cosmos3|dbrx|deepseek|dots1|flex_olmo|gemma4|gpt_oss|jamba|kimi|llama4|longcat|mimo|minimax|mistral4|nemotron_h|qwen3_next|smallthinker|step3|xverse)/;

export function expertsOf(config: ModelConfig): number {
  const names = ['n_routed_experts', 'num_local_experts', 'num_experts', 'moe_num_experts', 'num_routed_experts'];
  const experts = config.count(names, 0) ?? config.inner('ffn_config')?.count(names, 0) ?? 0; // DBRX nests them
  const type = config.text('model_type') ?? '';
  // One expert is a dense layer. A type that is not known is unread for its name.
  if (experts > 1 && isKnownType(config) && !MIXTURES.test(type)) config.notUnderstood(`experts of ${type}`, experts);
  return experts;
}

const HIDDEN = ['hidden_size', 'n_embd', 'd_model', 'dim', 'block_dim'];

const HEADS = ['num_attention_heads', 'n_head', 'n_heads', 'num_heads', 'swa_num_attention_heads'];

interface ModelShape {
  layers: number;
  hidden: number;
  heads: number | null;
  kvHeads: number;
  keyDim: number;
  valueDim: number;
}

function shapeOf(config: ModelConfig): ModelShape {
  // Nemotron 3 Ultra gives the list of its layers, and null for their number.
  const layers =
    config.count(['num_hidden_layers']) ??
    config.list('layers_block_type')?.length ??
    config.needed(['num_hidden_layers', 'n_layer', 'num_layers', 'n_layers']);
  if (config.count(['num_layers']) !== null && config.count(['num_layers']) !== layers)
    config.notUnderstood('num_layers');
  checkLayers(layers, config.path);
  const hidden = config.needed(HIDDEN);
  const heads = config.count(HEADS);
  const dim = config.count(['head_dim', 'attention_head_dim', 'kv_channels', 'd_kv', 'd_head'], 0) ?? 0;
  const keyDim = dim > 0 ? dim : Math.floor(hidden / (heads ?? 1));
  const valueDim = config.has('kv_lora_rank') ? keyDim : (config.count(['v_head_dim', 'value_head_dim']) ?? keyDim);
  return { layers, hidden, heads, kvHeads: kvHeadsOf(config, heads), keyDim, valueDim };
}

function kvHeadsOf(config: ModelConfig, heads: number | null): number {
  const grouped = config.count([
    'num_key_value_heads',
    'num_kv_heads',
    'n_head_kv',
    'multi_query_group_num', // ChatGLM
    'num_attention_groups', // Step3
  ]);
  const inner = config.inner('attn_config'); // DBRX, MPT
  config.repeats('multi_query_attention');
  const nested = inner?.count(['kv_n_heads']) ?? (inner?.text('attn_type') === 'multiquery_attention' ? 1 : null);
  if (grouped !== null || nested !== null) {
    // Falcon's first models name a number of heads but share one pair of them.
    if (config.flag('multi_query') === true && config.flag('new_decoder_architecture') !== true) return 1;
    return grouped ?? nested ?? 1;
  }
  return config.flag('multi_query') === true ? 1 : (heads ?? 1);
}

/** Memory that each layer keeps. The first description that a config has decides. */
function layerMemories(config: ModelConfig, shape: ModelShape): LayerMemory[] {
  const each = (memory: (index: number) => LayerMemory): LayerMemory[] => eachLayer(shape.layers, memory);
  const model = config.text('model_type') ?? '';
  config.repeats('qk_head_dim'); // the sum of two others

  const blocks = config.list('block_configs');
  if (blocks !== null) return blocks.map((block) => searchedBlock(block, shape));
  const ratios = config.list('compress_ratios') ?? compressRates(config);
  if (ratios !== null) return each((index) => compressedLayer(config, shape, ratios[index]));
  if (ENCODERS.test(model)) {
    config.repeats('layer_types', 'local_attention', 'global_attn_every_n_layers', 'max_relative_positions');
    return [];
  }
  if (/^rwkv/.test(model)) return each(() => rwkvLayer(config, shape));
  if (model === 'xlstm') return each(() => xlstmLayer(config, shape));
  const pattern = config.text('hybrid_override_pattern') ?? config.list('hybrid_override_pattern');
  if (pattern !== null) return [...pattern].map((letter) => patternLayer(String(letter), config, shape));
  if (model === 'mamba' || model === 'mamba2' || model === 'falcon_mamba') return each(() => mambaLayer(config, shape));
  if (model === 'phi4flash') return each((index) => sambaLayer(config, shape, index));
  const latent = latentLayer(config);
  const beside = besideLinear(config, shape, latent ?? fullLayer(shape));
  if (beside !== null) return each(beside);
  if (latent !== null) {
    if (config.has('layer_types') && kindsOf(config, shape.layers).some((kind) => kind !== 'full'))
      config.notUnderstood('layer_types');
    const indexers = config.list('indexer_types'); // GLM-5.2: most layers use the indexer of another
    const indexDim = (index: number): number => (indexers?.[index] === 'shared' ? 0 : latent.indexDim);
    const layers = model.startsWith('longcat') ? 2 : 1; // two blocks of attention in each layer
    return each((index) => ({ ...latent, layers, indexDim: indexDim(index) }));
  }
  return attentionMemories(config, shape, model);
}

/** Models that have linear attention besides full or latent attention; null: it is none. */
function besideLinear(
  config: ModelConfig,
  shape: ModelShape,
  full: CacheLayers,
): ((index: number) => LayerMemory) | null {
  const group = config.count(['layer_group_size']); // Ring: the last of each group has full attention
  if (group !== null && group > 1)
    return (index) =>
      (index + 1) % group === 0 || index >= shape.layers - (shape.layers % group) ? full : lightningLayer(shape);
  const linear = config.inner('linear_attn_config');
  if (linear !== null) return (index) => kimiLayer(index, linear, full);
  if (config.text('model_type') !== 'kimi_linear') return null;
  const kinds = kindsOf(config, shape.layers);
  return (index) => (kinds[index] === 'linear' ? kimiState(config) : full);
}

function attentionMemories(config: ModelConfig, shape: ModelShape, model: string): LayerMemory[] {
  const each = (memory: (index: number) => LayerMemory): LayerMemory[] => eachLayer(shape.layers, memory);
  const kinds = kindsOf(config, shape.layers);
  const sharing = config.count(['num_kv_shared_layers'], 0) ?? 0;
  const parallel = model === 'falcon_h1';
  if (parallel) config.repeats('mamba_use_mlp', 'mlp_expansion_factor'); // intermediate_size says the width
  const memories = each((index) =>
    index >= shape.layers - sharing
      ? { kind: 'none' }
      : withIndex(layerOfKind(kinds[index] ?? 'full', config, layerShape(config, shape, index)), config, index),
  );
  // Zamba's shared attention keeps the tokens of each layer that uses it.
  const shared = kinds.filter((kind) => kind === 'hybrid').map(() => fullLayer(shape));
  return parallel ? [...memories, ...each(() => mambaLayer(config, shape))] : [...memories, ...shared];
}

/** Gemma 4 in transformers 5 lists what differs from layer to layer: {"05": {"head_dim": 512}}. */
function layerShape(config: ModelConfig, shape: ModelShape, index: number): ModelShape {
  const own = config.inner('per_layer_config')?.inner(String(index).padStart(2, '0')) ?? null;
  if (own === null) return shape;
  const dim = own.count(['head_dim']);
  return {
    ...shape,
    kvHeads: own.count(['num_key_value_heads']) ?? shape.kvHeads,
    keyDim: dim ?? shape.keyDim,
    valueDim: dim ?? shape.valueDim,
  };
}

/** MiniMax M3 chooses blocks of tokens by a small key of each, which it keeps beside the others. */
function withIndex(memory: LayerMemory, config: ModelConfig, index: number): LayerMemory {
  const sparse = config.inner('sparse_attention_config');
  const dim = sparse?.count(['sparse_index_dim']) ?? null;
  if (sparse === null || dim === null || memory.kind !== 'attention') return memory;
  const isSparse = sparse.flag('use_sparse_attention') !== false && sparse.list('sparse_attention_freq')?.[index] !== 0;
  return isSparse ? { ...memory, indexDim: dim } : memory;
}

/**
 * Phi-4-mini-flash (SambaY): the first half alternates between Mamba and a window, then one layer keeps every token,
 * and all behind it use those.
 */
function sambaLayer(config: ModelConfig, shape: ModelShape, index: number): LayerMemory {
  const half = shape.layers / 2;
  if (config.count(['mb_per_layer']) !== 2) config.notUnderstood('mb_per_layer');
  if (index > half + 1) return { kind: 'none' };
  if (index % 2 === 0) return mambaLayer(config, shape);
  if (index === half + 1) return fullLayer(shape);
  const windows = config.list('sliding_window');
  const window = windows === null ? config.count(['sliding_window']) : windows[index];
  return attention(shape.kvHeads, shape.keyDim, shape.valueDim, typeof window === 'number' ? window : null);
}

/** Models that read a text once and write none keep nothing of it. */
export const ENCODERS =
  /^(bert|roberta|xlm-roberta|camembert|distilbert|electra|deberta|deberta-v2|mpnet|modernbert|nomic_bert|albert|ernie)$/;

function fullLayer({ kvHeads, keyDim, valueDim }: ModelShape): CacheLayers {
  return attention(kvHeads, keyDim, valueDim);
}

/** Llama 3.2 sees an image in up to four tiles of 560 × 560 pixels: 40 × 40 patches and one token for each tile. */
const IMAGE_TOKENS = 4 * (40 * 40 + 1);

function layerOfKind(kind: Kind, config: ModelConfig, shape: ModelShape): LayerMemory {
  const { keyDim, kvHeads, valueDim } = shape;
  switch (kind) {
    case 'none':
      return { kind: 'none' };
    case 'image':
      return { kind: 'cross', layers: 1, kvHeads, keyDim, valueDim, tokens: IMAGE_TOKENS };
    case 'full':
      return globalLayer(config, shape);
    case 'sliding':
      return slidingLayer(config, shape);
    case 'chunked':
      return attention(kvHeads, keyDim, valueDim, config.count(['attention_chunk_size']), 'chunk');
    case 'linear':
      return deltaNetLayer(config);
    case 'mamba':
    case 'hybrid':
      return mambaLayer(config, shape);
    case 'conv':
      return convLayer(config, shape);
    case 'lightning':
      return lightningLayer(shape);
  }
}

/** Gemma 4 gives its layers with full attention heads of their own. */
function globalLayer(config: ModelConfig, shape: ModelShape): LayerMemory {
  const dim = config.count(['global_head_dim']);
  const sliding = config.has('layer_types') && config.has('sliding_window');
  if (dim === null || !sliding) return fullLayer(shape);
  const kvHeads = config.flag('attention_k_eq_v') === true ? config.count(['num_global_key_value_heads']) : null;
  return attention(kvHeads ?? shape.kvHeads, dim, dim);
}

function slidingLayer(config: ModelConfig, shape: ModelShape): LayerMemory {
  const window = config.count(['sliding_window', 'sliding_window_size', 'attention_window_size'], 0);
  const kvHeads = config.count(['swa_num_key_value_heads']) ?? shape.kvHeads;
  const keyDim = config.count(['swa_head_dim']) ?? shape.keyDim;
  const valueDim = config.count(['swa_v_head_dim']) ?? shape.valueDim;
  const context = config.count(['max_position_embeddings']);
  const limited = window !== null && window > 0 && (context === null || window < context);
  return attention(kvHeads, keyDim, valueDim, limited ? window : null);
}

function latentLayer(config: ModelConfig): LatentLayers | null {
  const rank = config.count(['kv_lora_rank'], 0);
  if (rank === null || rank === 0) return null;
  const ropeDim = config.count(['qk_rope_head_dim'], 0) ?? 64;
  const nope = config.count(['qk_nope_head_dim'], 0) ?? 128;
  return {
    kind: 'latent',
    layers: 1,
    rank,
    ropeDim,
    queryRank: config.count(['q_lora_rank'], 0) ?? 0,
    indexDim: config.count(['index_head_dim'], 0) ?? 0,
    expandedByDefault: false,
    expanded: {
      kvHeads: config.count(['num_attention_heads']) ?? 1,
      keyDim: nope + ropeDim,
      valueDim: config.count(['v_head_dim']) ?? nope,
    },
  };
}

/** A block of a searched architecture (Nemotron NAS): some have no attention, the others differ in their heads. */
function searchedBlock(block: unknown, shape: ModelShape): LayerMemory {
  const part = isObject(block) && isObject(block.attention) ? block.attention : {};
  if (part.no_op === true || part.replace_with_linear === true) return { kind: 'none' };
  const inGroup = part.n_heads_in_group;
  const kvHeads = typeof inGroup === 'number' && inGroup > 0 ? Math.floor((shape.heads ?? 1) / inGroup) : shape.kvHeads;
  const sliding = typeof part.window_length === 'number' ? part.window_length : null;
  return attention(kvHeads, shape.keyDim, shape.valueDim, sliding);
}

/** Tokens in one vector of each layer, where the config gives the kinds of its layers (transformers 5). */
function compressRates(config: ModelConfig): unknown[] | null {
  const rates = config.inner('compress_rates');
  if (rates === null) return null;
  return (config.list('layer_types') ?? []).map((kind) =>
    kind === 'sliding_attention' ? 0 : rates.needed([String(kind)]),
  );
}

function compressedLayer(config: ModelConfig, shape: ModelShape, ratio: unknown): LayerMemory {
  const window = config.count(['sliding_window']) ?? 128;
  if (typeof ratio !== 'number' || !(ratio >= 1)) return attention(1, shape.keyDim, 0, window);
  // Only layers that choose among their vectors have an indexer: those that compress little.
  const indexDim = ratio < 64 ? (config.count(['index_head_dim'], 0) ?? 0) : 0;
  return { kind: 'compressed', layers: 1, ratio: Math.floor(ratio), dim: shape.keyDim, indexDim, window };
}

function patternLayer(letter: string, config: ModelConfig, shape: ModelShape): LayerMemory {
  if (letter === 'M') return mambaLayer(config, shape);
  if (letter === '*') return fullLayer(shape);
  if (letter !== '-' && letter !== 'E') config.notUnderstood('hybrid_override_pattern', letter);
  return { kind: 'none' };
}

function notesOf(config: ModelConfig, layers: readonly LayerMemory[]): string[] {
  const notes: string[] = [];
  if (config.has('cross_attention_layers'))
    notes.push('Layers with cross-attention keep the tokens of one image for each sequence.');
  if (layers.some(({ kind }) => kind === 'compressed'))
    notes.push('Compressed attention is new: programs differ in what they keep, and the range says so.');
  return notes;
}
