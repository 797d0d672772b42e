/**
 * Layers of a config that keep a state of fixed size instead of keys and values: delta networks, state-space models, RWKV,
 * short convolutions, lightning attention. Facts are those of the model's code in transformers or vLLM.
 */

import {
  type CacheLayers,
  deltaAttention,
  type LayerMemory,
  type StateLayers,
  state,
  stateLayer,
} from './architecture.ts';
import type { ModelConfig } from './model-config.ts';

interface StateShape {
  hidden: number;
  heads: number | null;
  keyDim: number;
}

export function kimiLayer(index: number, linear: ModelConfig, full: CacheLayers): LayerMemory {
  const fullLayers = linear.list('full_attn_layers') ?? []; // counted from 1
  linear.repeats('kda_layers', 'gate_lower_bound');
  if (fullLayers.includes(index + 1)) return full;
  return kimiState(linear);
}

export function kimiState(linear: ModelConfig): StateLayers {
  const heads = linear.needed(['linear_num_heads', 'num_heads']);
  const dim = linear.needed(['linear_head_dim', 'head_dim']);
  const kernel = linear.count(['linear_conv_kernel_dim', 'short_conv_kernel_size']) ?? 4;
  return deltaAttention(heads, dim, kernel);
}

export function mambaLayer(config: ModelConfig, { hidden }: StateShape): StateLayers {
  const heads = config.count(['mamba_num_heads', 'mamba_n_heads', 'n_mamba_heads', 'num_heads']);
  const headDim = config.count(['mamba_head_dim', 'mamba_d_head', 'mamba_headdim', 'head_dim']);
  const expand = config.count(['mamba_expand', 'expand']) ?? 2;
  const model = config.text('model_type') ?? '';
  const kernel = config.count(['conv_kernel', 'mamba_d_conv', 'd_conv', 'conv_kernel_size']) ?? 4;
  const first = /^(?:mamba|falcon_mamba|jamba|phi4flash|zamba)$/.test(model);
  const stateSize = config.count(['ssm_state_size', 'mamba_d_state', 'state_size']) ?? (first ? 16 : 128);
  const inner =
    config.count(['mamba_d_ssm']) ?? (heads !== null && headDim !== null && !first ? heads * headDim : expand * hidden);
  if (first) {
    const size = model === 'mamba' || model === 'falcon_mamba' ? (config.count(['intermediate_size']) ?? inner) : inner;
    return stateLayer('Mamba', size, stateSize, 0, kernel);
  }
  const chunk = config.count(['chunk_size', 'mamba_chunk_size']) ?? 256;
  const groups = config.count(['n_groups', 'mamba_n_groups', 'mamba_ngroups']) ?? 1;
  return {
    ...stateLayer('Mamba-2', inner, stateSize, groups, kernel),
    ...(heads === null ? {} : { scanElements: chunk * heads * stateSize }),
  };
}

/** Gated delta networks (Qwen3-Next, Qwen3.5): a state of key × value elements for each value head. */
export function deltaNetLayer(config: ModelConfig): StateLayers {
  const valueHeads = config.needed(['linear_num_value_heads']);
  const keyHeads = config.needed(['linear_num_key_heads']);
  const keyDim = config.needed(['linear_key_head_dim']);
  const valueDim = config.needed(['linear_value_head_dim']);
  const kernel = config.count(['linear_conv_kernel_dim']) ?? 4;
  const convElements = (kernel - 1) * (2 * keyHeads * keyDim + valueHeads * valueDim);
  return state('gated delta network', valueHeads * keyDim * valueDim, convElements);
}

/** RWKV from version 5 on: a matrix for each head, and the last token of both halves of a layer. */
export function rwkvLayer(config: ModelConfig, { hidden }: StateShape): StateLayers {
  const headDim = config.count(['head_dim', 'head_size']) ?? 64;
  return state('RWKV', hidden * headDim, 2 * hidden);
}

/** xLSTM: a matrix, a vector and a number for each head. */
export function xlstmLayer(config: ModelConfig, { hidden, heads }: StateShape): StateLayers {
  const count = heads ?? 1;
  const keys = roundedUp(hidden * (config.number('qk_dim_factor') ?? 0.5), 64);
  const values = roundedUp(hidden * (config.number('v_dim_factor') ?? 1), 64);
  config.repeats('embedding_dim', 'num_blocks');
  return state('mLSTM', (keys * values) / count + keys + count, 0);
}

/** Rounds a width as models do. */
export function roundedUp(width: number, multiple: number): number {
  return Math.ceil(width / multiple) * multiple;
}

/** LFM2's short convolutions, RecurrentGemma's recurrent blocks. */
export function convLayer(config: ModelConfig, { hidden }: StateShape): StateLayers {
  const width = config.count(['lru_width']);
  const kernel = config.count(['conv_L_cache', 'conv1d_width']) ?? 4;
  const convWidth = width ?? config.count(['conv_dim', 'conv_dim_out']) ?? hidden;
  return state('short convolution', width ?? 0, (kernel - 1) * convWidth);
}

export function lightningLayer({ heads, keyDim }: StateShape): LayerMemory {
  return state('lightning attention', (heads ?? 1) * keyDim ** 2, 0);
}
