/** Parameters of what sees and hears, from its part of a config: transformers over patches or frames, roughly. */

import type { ModelConfig } from './model-config.ts';

/** Fields under which configs keep them. */
const TOWERS = ['vision_config', 'audio_config'] as const;

/** Fields of a tower that change its first and last layers, or nothing: the range has them. */
export const TOWER_DETAILS =
  /^(?:(?:\w+_)?(?:image|patch|window|crop|kernel|merge|pos_emb|position|positions|feature|chunk|mel)\w*|num_(?:channels|heads|attention_heads|patches|position_embeddings|mel_bins|key_value_heads|global_tokens)|n_window\w*|in_(?:channels|chans)|\w*_?(?:patch|merge|window)_size|temporal_\w+|tokens_per_second|fullatt_block_indexes|deepstack_visual_indexes|(?:out|output)_(?:hidden_size|dim)|projection_(?:dim|intermediate_size)|projector_\w+|attention_heads|encoder_attention_heads|vision_output_dim|attn_sep|head_dim|layer_scale_init_value|layerscale_value|pixel_shuffle_ratio|max_source_positions|vocab_size|hidden_stride|out_features|out_indices|use_(?:head|mean_pooling|absolute_position_embeddings|abs_pos|rel_pos)|conv_chunksize|downsample_hidden_size|spatial_\w+|intermediate_layers_indices|supported_aspect_ratios|max_num_tiles|attention_norm|pooling_kernel_size|default_output_length|global_head_dim|standardize|use_clipped_linears|attention_(?:chunk_size|context_(?:left|right)|invalid_logits_value)|conv_kernel_size|gradient_clipping|output_proj_dims|residual_weight|subsampling_conv_channels|num_registers|num_cls_tokens|interpolate_mode|num_layers|num_encoder_layers|torch_dtype|dtype|qkv_bias|feature_layer)$/;

/** True if a field is part of a tower: "thinker_config.vision_config.depth". */
export function isTower(path: string): boolean {
  return TOWERS.some((name) => path.startsWith(`${name}.`) || path.includes(`.${name}.`));
}

/** A rough count: the true one is 0.8 to 1.5 times as large. `odd` names those whose config does not say how large they are. */
export function towerParameters(whole: ModelConfig): { parameters: number; odd: string[] } {
  const holders = [whole, whole.inner('thinker_config')].filter((holder) => holder !== null);
  const odd: string[] = [];
  let parameters = 0;
  for (const holder of holders)
    for (const name of TOWERS) {
      const tower = holder.inner(name);
      if (tower === null) continue;
      const count = transformer(tower);
      if (count === null) odd.push(name);
      parameters += count ?? 0;
    }
  return { parameters, odd };
}

function transformer(tower: ModelConfig): number | null {
  // Qwen2-VL's hidden size is that of the output.
  const width = tower.count(['embed_dim', 'hidden_size', 'd_model', 'width']);
  const layers = tower.count(['depth', 'num_hidden_layers', 'encoder_layers', 'layers']);
  if (width === null || layers === null) return null;
  if (tower.has('embed_dim')) tower.count(['hidden_size']);
  const global = tower.count(['num_global_layers'], 0) ?? 0; // Llama 3.2
  const ratio = tower.number('mlp_ratio') ?? 4;
  const inner = tower.count(['intermediate_size', 'encoder_ffn_dim', 'mlp_dim'], 0) ?? ratio * width;
  const activation = tower.text('hidden_act') ?? tower.text('activation_function') ?? '';
  const matrices = activation === 'silu' || activation === 'swiglu' ? 3 : 2;
  const out = tower.count(['out_hidden_size', 'output_dim', 'projection_dim']) ?? 0;
  const feed = matrices * width * inner;
  // A conformer has a second feed-forward layer, and a convolution between two projections.
  const conformer = tower.has('conv_kernel_size') ? feed + 3 * width * width : 0;
  return (layers + global) * (4 * width * width + feed + conformer) + 4 * width * (4 * width + out);
}
