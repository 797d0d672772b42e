/**
 * Parameters of a model counted from its config.json, for a model whose files are not here. Each matrix of the published
 * model code is a product below; vectors (norms, biases) are left out, which is less than 0.1 %.
 */

import { isObject } from '../../base/objects.ts';
import type { Architecture, AttentionLayers, CacheLayers, LatentLayers, StateLayers } from './architecture.ts';
import { ENCODERS, expertsOf, expertWidthOf, sharedWidth } from './architecture-config.ts';
import { encoderDecoderParameters, isEncoderDecoder } from './encoder-decoder.ts';
import type { ModelConfig } from './model-config.ts';

import { roundedUp } from './state-layers.ts';
import type { ParameterCounts } from './weights.ts';

/** Feed-forward parts of two matrices instead of three: without a gate. */
const UNGATED = /^(gpt2|gpt_neox|gptj|gpt_bigcode|falcon|starcoder2|phi|bloom|opt|mpt|nemotron|nemotron_h|rwkv\d?)$/;
const UNGATED_ACTIVATIONS: readonly (string | null)[] = ['relu2', 'xielu'];
/** The embedding is the output layer, where the config does not say. */
const TIED = /^(gemma|cohere|gpt2|gpt_bigcode|falcon(?!_h1)|bloom|opt|minicpm|mpt|mamba|zamba|lfm2)/;

/** null: the shape is not known well enough. */
export function parametersOf(config: ModelConfig, architecture: Architecture): ParameterCounts | null {
  const { hidden, layers, name, vocab } = architecture;
  if (isEncoderDecoder(config)) return encoderDecoderParameters(config);
  // Configs of other models describe encoder and decoder each in its own way.
  if (vocab === null || config.flag('is_encoder_decoder') === true || name === 'phi4flash') return null;
  const tied = ENCODERS.test(name) || (architecture.tied ?? TIED.test(name));
  const mixers = mixersOf(config, architecture);
  const counts: ParameterCounts = {
    embedding: vocab * hidden + perLayerEmbeddings(config, layers, hidden),
    output: tied ? 0 : vocab * hidden,
    blocks: mixers,
    experts: 0,
    mtp: 0,
    vision: 0,
  };
  for (let layer = 0; layer < layers; layer++) {
    const { dense, experts } = feedForward(config, architecture, layer);
    counts.blocks += dense;
    counts.experts += experts;
  }
  const last = feedForward(config, architecture, layers - 1);
  // GLM-4.5 and DeepSeek keep copies of embedding and output layer with each.
  const copies = /^(glm4_moe|deepseek_v3|deepseek_v32)$/.test(name) ? 2 * vocab * hidden : 0;
  counts.mtp = architecture.mtpLayers * (mixers / layers + last.dense + last.experts + 2 * hidden * hidden + copies);
  return counts;
}

function perLayerEmbeddings(config: ModelConfig, layers: number, hidden: number): number {
  const width = config.count(['hidden_size_per_layer_input'], 0) ?? 0;
  const vocab = config.count(['vocab_size_per_layer_input'], 0) ?? 0;
  // Three projections of each layer's share, and Gemma 3n's low-rank residual.
  const rank = config.count(['laurel_rank'], 0) ?? 0;
  config.repeats('altup_num_inputs', 'altup_active_idx');
  return layers * (width * (vocab + 3 * hidden) + 2 * hidden * rank);
}

/** Attention, state-space and linear-attention parts of all layers. */
function mixersOf(config: ModelConfig, architecture: Architecture): number {
  const { hidden, layers, name } = architecture;
  const projected = config.count(['word_embed_proj_dim']) ?? hidden; // OPT 350M
  if (projected !== hidden) config.notUnderstood('word_embed_proj_dim', projected);
  config.inner('ffn_config')?.repeats('hidden_size');
  if (ENCODERS.test(name)) return layers * 4 * hidden * hidden;
  if (name.startsWith('zamba')) return zambaParameters(config, architecture);
  // Cross-attention keeps no tokens of the text.
  const crossing = config.list('cross_attention_layers')?.length ?? 0;
  if (crossing > 0) return (mixersOfKept(config, architecture) * layers) / Math.max(1, layers - crossing);
  return mixersOfKept(config, architecture);
}

/** Parameters of the layers that keep something, and of those that use what others keep. */
function mixersOfKept(config: ModelConfig, { cache, heads, hidden, layers, name }: Architecture): number {
  const sharing = config.count(['num_kv_shared_layers'], 0) ?? 0;
  const own = cache.reduce((sum, group) => sum + group.layers * mixerOf(config, group, heads ?? 1, hidden), 0);
  // Layers that use the keys and values of others still have queries and an output, in Gemma 3n unused keys, too.
  const dim = config.count(['head_dim'], 0) ?? 0;
  const unused = name === 'gemma3n_text' ? (config.count(['num_key_value_heads']) ?? 0) : 0;
  return own + Math.min(sharing, layers) * 2 * hidden * ((heads ?? 1) + unused) * dim;
}

/**
 * Zamba2 has few blocks of attention and feed-forward that many layers share, each with a projection and adapters of its
 * own. They read the layer and the embedding side by side.
 */
function zambaParameters(config: ModelConfig, { cache, heads, hidden, intermediate }: Architecture): number {
  const blocks = config.count(['num_mem_blocks']) ?? 1;
  const width = intermediate ?? 4 * hidden;
  const rank = config.count(['adapter_rank', 'lora_rank'], 0) ?? 0;
  config.repeats('attention_hidden_size', 'kv_channels', 'num_query_groups');
  let total = 0;
  for (const group of cache)
    if (group.kind === 'attention') {
      const inner = (heads ?? 1) * group.keyDim;
      total += blocks * (3 * 2 * hidden * inner + inner * hidden + 3 * hidden * width);
      total += group.layers * (hidden * hidden + rank * (hidden + 2 * width));
    } else total += group.layers * mixerOf(config, group, heads ?? 1, hidden);
  return total;
}

function mixerOf(config: ModelConfig, group: CacheLayers, heads: number, hidden: number): number {
  switch (group.kind) {
    case 'attention':
      return attentionParameters(config, group, heads, hidden);
    case 'latent':
      return latentParameters(config, group, hidden);
    case 'compressed':
      return compressedParameters(config, group.dim, heads, hidden);
    case 'state':
      return stateParameters(config, group, hidden);
    case 'cross':
      return 0; // those models count their parts themselves
  }
}

function attentionParameters(
  config: ModelConfig,
  { indexDim = 0, keyDim, kvHeads, valueDim, window }: AttentionLayers,
  heads: number,
  hidden: number,
): number {
  const rank = config.count(['share_q_dim'], 0) ?? 0; // Step3
  const queries =
    heads *
    keyDim *
    ((config.flag('attn_output_gate') ?? /^qwen3_(?:5|next)/.test(config.text('model_type') ?? '')) ? 2 : 1);
  // Gemma 4's layers with full attention use the keys as values.
  const shared = config.flag('attention_k_eq_v') === true && window === null && config.has('global_head_dim');
  // Trinity has a gate of its own beside the queries.
  const gate = config.text('model_type') === 'afmoe' ? hidden * heads * valueDim : 0;
  const projected = rank === 0 ? hidden * queries : rank * (hidden + queries);
  const indexHeads = config.inner('sparse_attention_config')?.count(['sparse_num_index_heads']) ?? 0;
  const index = hidden * indexDim * (indexHeads + 1);
  return gate + index + projected + hidden * (kvHeads * keyDim + (shared ? 0 : kvHeads * valueDim) + heads * valueDim);
}

function latentParameters(
  config: ModelConfig,
  { rank, ropeDim, indexDim, expanded }: LatentLayers,
  hidden: number,
): number {
  const { kvHeads: heads, keyDim, valueDim } = expanded;
  const queryRank = config.count(['q_lora_rank'], 0) ?? 0;
  const queries = queryRank === 0 ? hidden * heads * keyDim : queryRank * (hidden + heads * keyDim);
  const keys = hidden * (rank + ropeDim) + rank * heads * (keyDim - ropeDim + valueDim);
  const indexHeads = config.count(['index_n_heads'], 0) ?? 0;
  const indexer = indexDim === 0 ? 0 : (queryRank || hidden) * indexHeads * indexDim + hidden * (indexDim + indexHeads);
  return queries + keys + indexer + hidden * heads * valueDim;
}

function compressedParameters(config: ModelConfig, dim: number, heads: number, hidden: number): number {
  const queryRank = config.count(['q_lora_rank'], 0) ?? hidden;
  const outputRank = config.count(['o_lora_rank'], 0) ?? hidden;
  const groups = config.count(['o_groups'], 0) ?? 1;
  config.repeats('index_n_heads', 'qk_rope_head_dim'); // less than 1 % of a layer
  return (
    queryRank * (hidden + heads * dim) + 3 * hidden * dim + heads * dim * outputRank + groups * outputRank * hidden
  );
}

function stateParameters(config: ModelConfig, group: StateLayers, hidden: number): number {
  const kernel =
    config.count(['linear_conv_kernel_dim', 'conv_kernel', 'mamba_d_conv', 'conv_L_cache', 'conv1d_width']) ?? 4;
  if (config.text('model_type') === 'recurrent_gemma') {
    const width = config.count(['lru_width']) ?? hidden;
    return 3 * hidden * width + (2 * width * width) / (config.count(['num_attention_heads']) ?? 1) + kernel * width;
  }
  switch (group.what) {
    case 'gated delta network':
      return deltaNetParameters(config, hidden, kernel);
    case 'Kimi delta attention':
      return kimiParameters(config.inner('linear_attn_config') ?? config, hidden);
    case 'RWKV':
      return 4 * hidden * hidden;
    case 'mLSTM':
      return mlstmParameters(config, hidden);
    case 'lightning attention':
      // Queries, keys, values, gate and output; a state is heads × dim × dim.
      return (5 * hidden * group.stateElements) / (config.count(['head_dim']) ?? 128);
    case 'short convolution':
      return 4 * hidden * hidden + kernel * hidden;
    default:
      return mambaParameters(config, group, hidden, kernel);
  }
}

function deltaNetParameters(config: ModelConfig, hidden: number, kernel: number): number {
  const keys = config.needed(['linear_num_key_heads']) * config.needed(['linear_key_head_dim']);
  const valueHeads = config.needed(['linear_num_value_heads']);
  const values = valueHeads * config.needed(['linear_value_head_dim']);
  return hidden * (2 * keys + 2 * values + 2 * valueHeads) + kernel * (2 * keys + values) + values * hidden;
}

function kimiParameters(linear: ModelConfig, hidden: number): number {
  const heads = linear.needed(['linear_num_heads', 'num_heads']);
  const dim = linear.needed(['linear_head_dim', 'head_dim']);
  const lowRank = dim * (hidden + heads * dim);
  const gate = linear.flag('use_full_rank_gate') === true ? hidden * heads * dim : lowRank;
  return 4 * hidden * heads * dim + lowRank + gate + hidden * heads;
}

function mlstmParameters(config: ModelConfig, hidden: number): number {
  const keys = roundedUp(hidden * (config.number('qk_dim_factor') ?? 0.5), 64);
  const values = roundedUp(hidden * (config.number('v_dim_factor') ?? 1), 64);
  return hidden * (2 * keys + 3 * values);
}

function mambaParameters(config: ModelConfig, group: StateLayers, hidden: number, kernel: number): number {
  const stateSize = config.count(['ssm_state_size', 'mamba_d_state', 'state_size']) ?? 16;
  const inner = group.stateElements / stateSize;
  if (group.what === 'Mamba') {
    const rank = config.count(['mamba_dt_rank', 'time_step_rank']) ?? Math.ceil(hidden / 16);
    return 3 * hidden * inner + inner * (kernel + rank + 2 * stateSize + rank + stateSize);
  }
  const groups = config.count(['n_groups', 'mamba_n_groups']) ?? 1;
  const heads = config.count(['mamba_num_heads', 'mamba_n_heads', 'num_heads']) ?? 1;
  return (
    hidden * (2 * inner + 2 * groups * stateSize + heads) + kernel * (inner + 2 * groups * stateSize) + inner * hidden
  );
}

interface FeedForward {
  /** Dense part, shared experts and router. */
  dense: number;
  experts: number;
}

function feedForward(config: ModelConfig, architecture: Architecture, layer: number): FeedForward {
  const { hidden, name } = architecture;
  const activation = config.text('hidden_act') ?? config.text('mlp_hidden_act');
  // StarCoder2: the other is gated.
  if ((config.text('mlp_type') ?? 'default') !== 'default') config.notUnderstood('mlp_type', config.text('mlp_type'));
  const isUngated = UNGATED.test(name) || UNGATED_ACTIVATIONS.includes(activation) || isPlainEncoder(name);
  const matrices = isUngated ? 2 : 3;
  const of = (width: number): number => matrices * hidden * width;
  if (name.startsWith('llama4')) config.repeats('intermediate_size_mlp');
  const isWide =
    config.flag('use_double_wide_mlp') === true &&
    layer >= architecture.layers - (config.count(['num_kv_shared_layers'], 0) ?? 0);
  const width = (architecture.intermediate ?? 4 * hidden) * (isWide ? 2 : 1);
  const searched = searchedWidth(config, hidden, layer);
  if (searched !== null) return { dense: of(searched), experts: 0 };
  const kind = kindOfLayer(config, layer);
  if (kind === 'none') return { dense: 0, experts: 0 };
  const experts = expertsOf(config);
  if (experts === 0 || kind === 'dense' || !isMixture(config, layer))
    return { dense: of(denseWidth(config, width)), experts: 0 };
  const expertWidth = expertWidthOf(config) ?? width;
  // LongCat has a dense part behind each of the two attention blocks of a layer.
  const dense = config.flag('enable_moe_block') === true ? 1 : name.startsWith('longcat') ? 2 : 0;
  const alongside = dense * of(width);
  const routed = architecture.expertHidden ?? hidden;
  return {
    dense:
      alongside +
      of(sharedWidth(config, width, expertWidth)) +
      hidden * experts +
      (routed === hidden ? 0 : 2 * hidden * routed),
    experts: experts * matrices * routed * (expertWidth + secondWidth(config)),
  };
}

/** ERNIE-4.5-VL has a second list of experts, for images: its config gives two widths, and the number twice or once. */
function secondWidth(config: ModelConfig): number {
  if (!/^ernie4_5_(?:moe_vl|vl_moe)/.test(config.text('model_type') ?? '')) return 0;
  const second = config.list('moe_intermediate_size')?.[1];
  return typeof second === 'number' ? second : 0;
}

function isPlainEncoder(name: string): boolean {
  return ENCODERS.test(name) && !/^(modernbert|nomic_bert)$/.test(name);
}

/** Nemotron-H has layers of one kind each: M and * have no feed-forward part, - is dense, E a mixture. */
function kindOfLayer(config: ModelConfig, layer: number): 'none' | 'dense' | 'any' {
  const pattern = config.text('hybrid_override_pattern') ?? config.list('hybrid_override_pattern');
  const isHybrid = /^nemotron_h/.test(config.text('model_type') ?? '');
  const letter = pattern?.[layer] ?? (isHybrid ? config.list('layers_block_type')?.[layer] : undefined);
  if (/^(?:M|\*|mamba|linear_attention|attention|full_attention)$/.test(String(letter))) return 'none';
  if (letter === '-' || letter === 'mlp') return 'dense';
  return /^zamba|mamba/.test(config.text('model_type') ?? '') ? 'none' : 'any';
}

/** Width of a block of a searched architecture (Nemotron NAS), whose config gives a factor; null: it is none. */
function searchedWidth(config: ModelConfig, hidden: number, layer: number): number | null {
  const block = config.list('block_configs')?.[layer];
  if (!isObject(block) || !isObject(block.ffn)) return null;
  const { ffn_mult: factor, no_op: none } = block.ffn;
  if (none === true || typeof factor !== 'number') return 0;
  return Math.ceil(Math.floor((2 * factor * hidden) / 3) / 256) * 256;
}

/** The width of a dense layer in a model whose others are mixtures. */
function denseWidth(config: ModelConfig, width: number): number {
  if (config.text('model_type') === 'granitemoehybrid') return config.count(['shared_intermediate_size']) ?? width;
  return config.count(['dense_intermediate_size', 'intermediate_size_mlp'], 0) ?? width;
}

function isSparse(config: ModelConfig, kind: unknown): boolean {
  if (kind === 'dense') return false;
  if (kind !== 'sparse' && kind !== 'moe' && kind !== 'hash_moe') config.notUnderstood('mlp_layer_types', kind);
  return true;
}

/** True if a layer's feed-forward part is a mixture of experts. */
function isMixture(config: ModelConfig, layer: number): boolean {
  const kinds = config.list('mlp_layer_types');
  if (kinds !== null) {
    config.repeats('first_k_dense_replace', 'moe_layer_freq', 'moe_layers', 'num_dense_layers');
    return isSparse(config, kinds[layer]);
  }
  const listed = config.list('moe_layer_freq');
  if (listed !== null) {
    config.repeats('first_k_dense_replace');
    return listed[layer] === 1;
  }
  if ((config.count(['moe_layer_freq']) ?? 1) > 1) config.notUnderstood('moe_layer_freq');
  if (config.list('mlp_only_layers')?.includes(layer) === true) return false;
  const mixtures = config.list('moe_layers'); // Llama 4
  if (mixtures !== null) {
    config.repeats('interleave_moe_layer_step', 'intermediate_size_mlp');
    return mixtures.includes(layer);
  }
  const enumerated = config.text('moe_layers_enum'); // Step3: "4,5,6"
  if (enumerated !== null) return enumerated.split(',').map(Number).includes(layer);
  const period = config.count(['expert_layer_period']);
  if (period !== null) return layer % period === (config.count(['expert_layer_offset'], 0) ?? 0);
  const step = config.count(['interleave_moe_layer_step', 'decoder_sparse_step']);
  if (step !== null && step > 1) return (layer + 1) % step === 0;
  const first = config.count(['first_k_dense_replace', 'moe_layer_start_index', 'num_dense_layers'], 0) ?? 0;
  const last = config.count(['moe_layer_end_index'], -1) ?? -1; // ERNIE
  const every = config.count(['moe_layer_interval']) ?? 1;
  return layer >= first && (last < 0 || layer <= last) && (layer + 1) % every === 0;
}
