/**
 * The kind of each layer of a config: which field gives it differs from model to model, and so do its names. Facts are those of
 * the model's code in transformers or vLLM.
 */

import type { ModelConfig } from './model-config.ts';
import { words } from './words.ts';

export type Kind =
  | 'full'
  | 'sliding'
  | 'chunked'
  | 'linear'
  | 'mamba'
  | 'hybrid'
  | 'conv'
  | 'lightning'
  | 'image'
  | 'none';

/** Names of layer kinds in `layer_types` and `layers_block_type`. */
const NAMES: Readonly<Partial<Record<Kind, string>>> = {
  full: 'full_attention attention self_attention deepseek_sparse_attention indexed_attention global',
  sliding: 'sliding_attention sliding_window_attention local',
  chunked: 'chunked_attention',
  linear: 'linear_attention',
  mamba: 'mamba mamba2',
  hybrid: 'hybrid',
  conv: 'conv recurrent',
  none: 'moe mlp',
};
const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries(NAMES).flatMap(([kind, names]) => words(names).map((name) => [name, kind as Kind])),
);

/** Fields from which transformers makes `layer_types`, where it is not given. */
const REPEATED = words(`sliding_window_pattern _sliding_window_pattern max_window_layers full_attention_interval
  global_attn_every_n_layers full_attn_idxs hybrid_layer_ids layer_switch order_of_interleaved_layers`);

/** Granite's models without Mamba layers describe them all the same. */
const MAMBA_FIELDS = words('mamba_n_heads mamba_d_head mamba_d_state mamba_d_conv mamba_expand mamba_n_groups');

export function eachLayer<T>(layers: number, of: (index: number) => T): T[] {
  return Array.from({ length: layers }, (_, index) => of(index));
}

/** The kind of each layer, by whichever field the config has. */
export function kindsOf(config: ModelConfig, layers: number): Kind[] {
  const each = (kind: (index: number) => Kind): Kind[] => eachLayer(layers, kind);
  const field = ['layer_types', 'layers_block_type', 'block_types', '_block_types'].find((name) => config.list(name));
  if (field !== undefined) return namedKinds(config, field, layers);
  const flags = config.list('hybrid_layer_pattern'); // MiMo: 1 slides
  if (flags !== null) config.repeats('attention_chunk_size');
  if (flags !== null) return flags.map((flag) => (flag === 1 ? 'sliding' : 'full'));
  const softmax = config.list('attn_type_list'); // MiniMax-01: 0 is lightning attention
  if (softmax !== null) return softmax.map((type) => (type === 0 ? 'lightning' : 'full'));
  const crossing = config.list('cross_attention_layers'); // Llama 3.2: these keep the tokens of an image
  if (crossing !== null) return each((index) => (crossing.includes(index) ? 'image' : 'full'));
  const attentionLayers =
    config.list('attn_layer_indices') ??
    config.list('full_attn_idxs') ??
    (config.text('model_type') === 'bamba' ? [] : null);
  if (attentionLayers !== null) {
    const other = config.has('mamba_d_state') ? 'mamba' : 'conv'; // Bamba, LFM2
    return each((index) => (attentionLayers.includes(index) ? 'full' : other));
  }
  const period = config.count(['attn_layer_period']); // Jamba
  if (period !== null) {
    const offset = config.count(['attn_layer_offset'], 0) ?? 0;
    return each((index) => (index % period === offset ? 'full' : 'mamba'));
  }
  const interval = config.count(['full_attention_interval']); // Qwen3-Next
  if (interval !== null) return each((index) => ((index + 1) % interval === 0 ? 'full' : 'linear'));
  return slidingKinds(config, each);
}

/** Kinds by a list of names, which may be that of a group of layers that repeats (RecurrentGemma). */
function namedKinds(config: ModelConfig, field: string, layers: number): Kind[] {
  const named = config.list(field) ?? [];
  if (named.length !== layers && !field.endsWith('block_types')) config.notUnderstood(field, `${named.length} layers`);
  const model = config.text('model_type');
  const kinds = eachLayer(layers, (index) => kindOf(config, field, named[index % named.length]));
  config.repeats(...REPEATED);
  if (!kinds.includes('sliding')) config.repeats('sliding_window');
  if (!kinds.includes('conv')) config.repeats('conv_L_cache');
  if (!kinds.includes('mamba') && model === 'granitemoehybrid') config.repeats(...MAMBA_FIELDS);
  if (model === 'recurrent_gemma') return kinds.map((kind) => (kind === 'full' ? 'sliding' : kind)); // all have a window
  return windowsOff(config) ? kinds.map((kind) => (kind === 'sliding' ? 'full' : kind)) : kinds;
}

/** A kind that is not known counts as full attention, and the answer is not known. */
function kindOf(config: ModelConfig, field: string, name: unknown): Kind {
  const kind = KINDS.get(String(name));
  // transformers 5 calls the layers of Mamba so, and those of lightning attention.
  if (kind === 'linear' && (config.has('mamba_d_state') || config.has('ssm_state_size'))) return 'mamba';
  if (kind === 'linear' && config.text('model_type') === 'minimax') return 'lightning';
  if (kind === undefined) config.notUnderstood(field, name);
  return kind ?? 'full';
}

/** Qwen and others name a window that is switched off. */
function windowsOff(config: ModelConfig): boolean {
  return config.flag('use_sliding_window') === false;
}

/** Every how many layers one looks back at everything, where the config does not say. */
const FULL_EVERY: Readonly<Record<string, number>> = {
  gemma2: 2,
  gpt_oss: 2,
  cohere2: 4,
  exaone4: 4,
  olmo3: 4,
  gemma3n_text: 5,
  gemma3: 6,
  gemma3_text: 6,
};

function slidingKinds(config: ModelConfig, each: (kind: (index: number) => Kind) => Kind[]): Kind[] {
  const model = config.text('model_type') ?? '';
  if (config.has('attention_chunk_size') && model.startsWith('llama4')) {
    const unroped = config.list('no_rope_layers'); // 0: no positions, and attention to everything
    return each((index) =>
      (unroped !== null && unroped.length > 0 ? unroped[index] === 0 : (index + 1) % 4 === 0) ? 'full' : 'chunked',
    );
  }
  const window = config.count(['sliding_window', 'sliding_window_size', 'attention_window_size'], 0);
  if (window === null || window === 0 || windowsOff(config)) {
    config.repeats('max_window_layers', 'sliding_window_pattern', '_sliding_window_pattern');
    return each(() => 'full');
  }
  const written = config.text('sliding_window_pattern'); // EXAONE: "LLLG"
  if (written !== null && written !== '')
    return each((index) => (written[index % written.length] === 'G' ? 'full' : 'sliding'));
  const order = config.text('order_of_interleaved_layers'); // Cohere 2
  if (order !== null && order !== 'local_attn_first') config.notUnderstood('order_of_interleaved_layers', order);
  const every =
    config.count(['sliding_window_pattern', '_sliding_window_pattern', 'layer_switch']) ?? FULL_EVERY[model];
  if (every !== undefined) return each((index) => ((index + 1) % every === 0 ? 'full' : 'sliding'));
  if (model.startsWith('qwen')) {
    const first = config.count(['max_window_layers'], 0) ?? 28;
    return each((index) => (index < first ? 'full' : 'sliding'));
  }
  return each(() => 'sliding');
}
