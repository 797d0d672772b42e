/**
 * The architecture of a GGUF file: the keys of its header, and for what they leave out the values that llama.cpp has for
 * the architecture (src/models/*.cpp, load_arch_hparams).
 */

import {
  type Architecture,
  attention,
  type CacheLayers,
  cacheOfMtp,
  deltaAttention,
  grouped,
  type LayerMemory,
  state,
  stateLayer,
} from './architecture.ts';
import type { GgufHeader, GgufValue } from './gguf.ts';
import { checkLayers, MOST } from './model-config.ts';
import { modelError } from './model-file.ts';

type Header = Pick<GgufHeader, 'metadata' | 'arrayLengths'>;

/** Every how many layers one has full attention, where the file does not say: the last of each group. */
const FULL_EVERY: Readonly<Record<string, number>> = {
  gemma2: 2,
  'gpt-oss': 2,
  afmoe: 4,
  cohere2: 4,
  exaone4: 4,
  llama4: 4,
  olmo2: 4,
  smallthinker: 4,
  gemma3n: 5,
  gemma3: 6,
};
/** Chunked attention of Llama 4, where the file does not say. */
const LLAMA4_CHUNK = 8192;
/** Gemma 3n keeps keys and values in its first 20 layers only. */
const GEMMA3N_LAYERS = 20;

/** @throws UmaError ERR_UMA_MODEL for a key that is absurd; null: the file has no language model (a projector). */
export function architectureOfGguf(header: Header, path: string): Architecture | null {
  const keys = new Keys(header, path);
  const blocks = keys.count('block_count');
  if (blocks === null) return null;
  checkLayers(blocks, path);
  const mtpLayers = Math.min(keys.count('nextn_predict_layers') ?? 0, blocks - 1);
  const hidden = keys.count('embedding_length') ?? 0;
  const memories = Array.from({ length: blocks }, (_, index) => layerMemory(keys, index, blocks, hidden));
  const main = memories.slice(0, blocks - mtpLayers).flat();
  return {
    name: keys.architecture,
    layers: blocks - mtpLayers,
    mtpLayers,
    hidden,
    heads: keys.perLayer('attention.head_count', 0),
    vocab: keys.count('vocab_size') ?? header.arrayLengths.get('tokenizer.ggml.tokens') ?? null,
    intermediate: keys.perLayer('feed_forward_length', 0),
    experts: keys.count('expert_count') ?? 0,
    expertsPerToken: keys.count('expert_used_count') ?? 0,
    expertIntermediate: keys.count('expert_feed_forward_length'),
    maxContext: keys.count('context_length'),
    softcap: keys.number('final_logit_softcapping') !== null || /^gemma[24]/.test(keys.architecture),
    tied: null,
    unread: keys.unread(),
    cache: grouped(main),
    mtpCache:
      mtpLayers === 0 ? null : (grouped(memories.slice(blocks - mtpLayers).flat())[0] ?? cacheOfMtp(main, mtpLayers)),
    notes: [],
  };
}

/** Keys that describe a layer's memory of earlier tokens. The tensors of the file tell what the other keys change. */
const KEPT =
  /^(?:attention|ssm|wkv|shortconv|kda|rwkv|recurrent|indexer|engram|ngram)\.|window|cache|state|recurrent|memory|ngram|compress|latent/;
/** Exceptions: factors, ranks of weights, and sizes of layers that a rule reads if there are such layers. */
const NOT_KEPT =
  /^attention\.(?:\w*norm_\w+|max_alibi_bias|clamp_kqv|\w*scale|temperature_\w+|\w*lora_rank|output_group_count|relative_buckets_count|causal|indexer\.(?:head_count|top_k|key_length)|sliding_window\w*|(?:key|value)_length\w*|head_count\w*)$|^ssm\.(?:time_step_rank|dt_b_c_rms|group_count|state_size|conv_kernel|inner_size)$/;

function isOn(value: GgufValue): boolean {
  return Array.isArray(value) ? value.some(Boolean) : Boolean(value);
}

class Keys {
  readonly architecture: string;
  readonly #header: Header;
  readonly #path: string;
  readonly #read = new Set<string>();

  constructor(header: Header, path: string) {
    this.#header = header;
    this.#path = path;
    this.architecture = String(header.metadata.get('general.architecture') ?? 'unknown');
  }

  value(name: string): GgufValue | null {
    this.#read.add(`${this.architecture}.${name}`);
    return this.#header.metadata.get(`${this.architecture}.${name}`) ?? null;
  }

  /** Keys of what layers keep that no rule has read. */
  unread(): string[] {
    const prefix = `${this.architecture}.`;
    return [...this.#header.metadata]
      .filter(([key, value]) => key.startsWith(prefix) && !this.#read.has(key) && isOn(value))
      .map(([key]) => key)
      .filter((key) => KEPT.test(key.slice(prefix.length)) && !NOT_KEPT.test(key.slice(prefix.length)));
  }

  number(name: string): number | null {
    const value = this.value(name);
    return typeof value === 'number' && Number.isFinite(value) ? value : null;
  }

  count(name: string): number | null {
    return this.#checked(name, this.value(name));
  }

  /** A value that may differ from layer to layer. */
  perLayer(name: string, layer: number): number | null {
    const value = this.value(name);
    return this.#checked(name, Array.isArray(value) ? (value[layer] ?? value[0] ?? null) : value);
  }

  #checked(name: string, value: unknown): number | null {
    if (value === null || Array.isArray(value)) return null;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < MOST) return value;
    throw modelError(
      this.#path,
      `${this.architecture}.${name} is ${String(value).slice(0, 60)}; expected a whole number from 0 to 2^31`,
    );
  }
}

function layerMemory(keys: Keys, layer: number, blocks: number, hidden: number): LayerMemory[] {
  const kept = stateOf(keys, layer, hidden);
  // Falcon-H1 has attention and a state-space model side by side.
  if (kept !== null && keys.architecture !== 'falcon-h1') return [kept];
  const memory = attentionOf(keys, layer, blocks, hidden);
  return kept === null ? [memory] : [memory, kept];
}

/** The state of a recurrent layer; null: the layer has attention. */
function stateOf(keys: Keys, layer: number, hidden: number): CacheLayers | null {
  const kda = keys.count('kda.head_dim');
  if (kda !== null && isRecurrent(keys, layer))
    return deltaAttention(keys.perLayer('attention.head_count', layer) ?? 1, kda, keys.count('ssm.conv_kernel') ?? 4);
  const wkv = keys.count('wkv.head_size');
  // RWKV (llama-hparams.cpp): a matrix for each head, and the last tokens of a layer's halves.
  if (wkv !== null) return state('RWKV', hidden * wkv, (keys.count('token_shift_count') ?? 2) * hidden);
  const shortConv = keys.count('shortconv.l_cache');
  const inner = keys.count('ssm.inner_size');
  if ((inner === null && shortConv === null) || !isRecurrent(keys, layer)) return null;
  if (inner === null) return state('short convolution', 0, ((shortConv ?? 1) - 1) * hidden);
  const stateSize = keys.count('ssm.state_size') ?? 0;
  const groups = keys.count('ssm.group_count') ?? 0;
  return stateLayer('state space', inner, stateSize, groups, keys.count('ssm.conv_kernel') ?? 1);
}

function isRecurrent(keys: Keys, layer: number): boolean {
  const listed = keys.value('attention.recurrent_layers');
  if (Array.isArray(listed)) return Boolean(listed[layer]);
  const interval = keys.count('full_attention_interval');
  const mtpStart = (keys.count('block_count') ?? 0) - (keys.count('nextn_predict_layers') ?? 0);
  if (interval !== null && interval > 0) return layer < mtpStart && (layer + 1) % interval !== 0;
  if (/^qwen3(next|5)/.test(keys.architecture)) return layer < mtpStart && (layer + 1) % 4 !== 0;
  if (/^(mamba|falcon-mamba)/.test(keys.architecture) || keys.architecture === 'falcon-h1') return true;
  // Jamba, Nemotron-H, Granite: layers without heads are recurrent, and of these those without a feed-forward part.
  const feedForward = keys.value('feed_forward_length');
  const bare =
    keys.architecture.startsWith('nemotron_h') && Array.isArray(feedForward) ? feedForward[layer] === 0 : true;
  return keys.perLayer('attention.head_count_kv', layer) === 0 && bare;
}

function attentionOf(keys: Keys, layer: number, blocks: number, hidden: number): LayerMemory {
  const heads = keys.perLayer('attention.head_count', layer) ?? 1;
  const kvHeads = keys.perLayer('attention.head_count_kv', layer) ?? heads;
  // An encoder such as BERT reads a text once and keeps nothing of it.
  if (kvHeads === 0 || keys.value('attention.causal') === false || keys.architecture === 't5encoder')
    return { kind: 'none' };
  const shared = keys.count('attention.shared_kv_layers');
  const keeping = shared === null ? (keys.architecture === 'gemma3n' ? GEMMA3N_LAYERS : blocks) : blocks - shared;
  if (layer >= keeping) return { kind: 'none' };
  const rank = keys.count('attention.kv_lora_rank');
  if (rank !== null && rank > 0) return latentOf(keys, rank, heads, kvHeads);
  const headDim = Math.floor(hidden / Math.max(1, heads));
  const window = windowOf(keys, layer);
  const swa = window !== null;
  const keyDim = (swa ? keys.count('attention.key_length_swa') : null) ?? keys.count('attention.key_length') ?? headDim;
  const valueDim =
    (swa ? keys.count('attention.value_length_swa') : null) ?? keys.count('attention.value_length') ?? headDim;
  return attention(kvHeads, keyDim, valueDim, window, keys.architecture === 'llama4' ? 'chunk' : 'sliding');
}

function windowOf(keys: Keys, layer: number): number | null {
  const chunk = keys.architecture === 'llama4' ? (keys.count('attention.chunk_size') ?? LLAMA4_CHUNK) : null;
  const window = keys.count('attention.sliding_window') ?? chunk;
  // llama.cpp ignores the windows of these.
  if (window === null || window === 0 || /^(phi3|llama|qwen2|qwen3|qwen2moe|starcoder2)$/.test(keys.architecture))
    return null;
  const pattern = keys.value('attention.sliding_window_pattern');
  if (Array.isArray(pattern)) return pattern[layer % pattern.length] ? window : null;
  const every = typeof pattern === 'number' ? pattern : FULL_EVERY[keys.architecture];
  if (every === undefined || every === 0) return window;
  return layer % every < every - 1 ? window : null;
}

/** Files made since llama.cpp knows latent attention have one head of rank + rope; older ones have all of them. */
function latentOf(keys: Keys, rank: number, heads: number, kvHeads: number): LayerMemory {
  const ropeDim = keys.count('rope.dimension_count') ?? 64;
  const keyDim = keys.count('attention.key_length_mla') ?? keys.count('attention.key_length') ?? 192;
  const valueDim = keys.count('attention.value_length_mla') ?? keys.count('attention.value_length') ?? 128;
  const compressed = keys.count('attention.key_length_mla') !== null || kvHeads === 1;
  return {
    kind: 'latent',
    layers: 1,
    rank,
    ropeDim,
    indexDim: keys.count('attention.indexer.key_length') ?? 0,
    expandedByDefault: !compressed,
    expanded: { kvHeads: heads, keyDim, valueDim },
  };
}
