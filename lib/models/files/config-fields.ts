/**
 * Fields of a config.json that no rule has to read, because they change no memory that counts. Every other field is read by a
 * rule, or the answer is unknown: sizes, counts, lists of layers and further parts are never in this table.
 */

import { words } from './words.ts';

interface Harmless {
  why: string;
  /** Whole names. */
  names?: string;
  /** Names that many models spell differently. */
  spelling?: RegExp;
}

const HARMLESS: readonly Harmless[] = [
  {
    why: 'names and versions',
    names: `_name_or_path name_or_path architectures auto_map model_type license processor_class _commit_hash _from_model_config
      custom_pipelines for_llm_compressor seed transformers_weights`,
    spelling: /^\w*version$|^tokenizer_(?:class|name)$/,
  },
  {
    why: 'labels of a classifier',
    names: 'id2label label2id num_labels problem_type finetuning_task task_specific_params',
    spelling: /^classifier_/,
  },
  {
    why: 'numbers of tokens in the vocabulary',
    spelling: /^(?!.*(?:layer|expert|block|head)).*(?:^|_)(?:id|ids|token_index)$/,
  },
  {
    why: 'positions: computed, or one small table',
    names: `use_rope partial_rotary_factor max_position_embeddings original_max_position_embeddings max_sequence_length max_seq_len
      initial_context_length model_max_length n_ctx n_positions seq_length use_alibi alibi learned_pos_emb position_biased_input
      type_vocab_size task_type_vocab_size attn_temperature_tuning attn_scale floor_scale llama_4_scaling rotary_dim rope_3d
      rope_interleave alibi_bias_max relative_attention_num_buckets`,
    spelling:
      /^(?:\w+_)?(?:rope|rotary|yarn|mrope)_(?:theta|scaling|parameters?|type|ratio|pct|percent|factor|base|emb_base|embedding_base|interleaved?|local_base_freq|freq_base)$|^partial_rotary_factor|^no_rope_layer|position_embedding_type$|^rope_(?:parameters|scaling|theta)$/,
  },
  {
    why: 'training only',
    names: `label_smoothing seq_aux router_jitter_noise input_jitter_noise gradient_checkpointing use_gradient_checkpointing mlp_recompute gradient_clipping
      aux_loss_alpha freeze_text_layers freeze_vision_layers`,
    spelling: /dropout|pdrop$|layerdrop$|drop_?path_rate$|_coeff?$|_loss(?:_|$)|_loss_weight$/,
  },
  {
    why: 'values before training',
    spelling:
      /^initializer_|^init_(?:std|method|device|cutoff)|(?:^|_)init_(?:std|scheme|value|floor|variance_scale)$|_init$|_init_variance_scale$|^(?:emb|embed)_init_std$/,
  },
  { why: 'small constants', spelling: /(?:^|_)eps(?:ilon)?(?:_|$)/ },
  {
    why: 'factors',
    names: `dim_model_base query_pre_attn_scalar embeddings_scale_by_sqrt_dim swiglu_limit swiglu_alpha qk_scale_factor hc_mult hc_magnitude
      hc_sinkhorn_iters altup_coef_clip altup_correct_scale scale_emb scale_depth scale_embedding scale_attn_weights
      scale_attn_by_inverse_layer_idx reorder_and_upcast_attn gate_soft_cap output_logit_soft_cap logits_soft_cap clip_qkv`,
    spelling:
      /^(?:embedding|residual|attention|attention_in|attention_out|lm_head|key|logits?|output|ssm|ssm_in|ssm_out|mlp)_multipliers?$|^(?!.*(?:width|depth|size|dim|ffn|layer|head|window|rank)).*(?:^|_)(?:scale|scaling|scaling_factor|softcapping|softcap|logit_cap)$|_(?:alpha|beta)_factor$|^(?:layernorm|mup)_\w+_?(?:alpha|beta|scale)$/,
  },
  {
    why: 'vectors: less than 0.1 % of the weights',
    names: 'use_bias no_bias',
    spelling: /(?:^|_)bias$|^add_\w*bias$|^use_\w*bias$|^attention_sinks?$/,
  },
  {
    why: 'norms: less than 0.1 % of the weights',
    names:
      'normalization_type normalization_function norm_type norm_reduction_force_float32 linear_attn_norm_group_size add_out_norm apply_residual_connection_post_layernorm',
    spelling:
      /^(?:use_|mamba_|ssm_)?(?:q|k|qk|post|pre|rms|layer|sandwich)?_?(?:layer)?norm(?:_type|_before_gate|_elementwise_affine|_placement)?$|^(?:mamba|ssm)_norm_before_gate$|^do_layer_norm_before$|^use_rmsnorm$/,
  },
  {
    why: 'activation functions',
    names:
      'activation_sparsity_pattern dense_act_fn is_gated_act use_gated_activation block_use_swiglu output_gate_type',
    spelling: /(?:^|_)(?:act|activation|act_fn|activation_fn|activation_func|activation_function|activation_type)$/,
  },
  {
    why: 'which experts and tokens are chosen, not how many there are',
    names: `n_group topk_group topk_method scoring_func score_func score_function num_expert_group expert_selection_fn norm_topk_prob
      moe_renormalize use_grouped_topk ep_size moe_norm_min moe_capacity moe_gate moe_use_aux_free moe_apply_router_weight_on_input
      moe_router_activation_func moe_router_enable_expert_bias router_aux_loss_factor output_router_logits index_topk index_topk_blocks
      index_block_size index_local_blocks index_kpool_always_select_tail sparse_topk_blocks sparse_block_size sparse_local_block
      sparse_init_block sparse_score_type sparse_disable_index_value use_moe moe_multimodal_dispatch_use_allgather zero_expert_num
      zero_expert_type moe_normalize_expert_weights moe_layer_sharding moe_shared_expert_overlap expert_capacity router_dtype`,
  },
  {
    why: 'how a state is computed, not its size',
    names: `time_step_rank time_step_min time_step_max time_step_floor time_step_limit time_step_scale mamba_dt_rank mamba_dt_min mamba_dt_max
      mamba_dt_floor mamba_dt_init_floor chunk_size mamba_chunk_size chunk_size_feed_forward rescale_every residual_in_fp32
      linear_lower_bound linear_a_log_max linear_allow_neg_eigval use_mamba_kernels use_associative_scan use_mambapy chunkwise_kernel
      sequence_kernel step_kernel max_inference_chunksize inference_state_dtype autocast_kernel_dtype weight_mode mode mamba_ssm_dtype mla_use_nope use_pos_enc`,
  },
  {
    why: 'how it is computed, and what is returned',
    names: `use_cache return_dict return_last_states output_attentions output_hidden_states torchscript pruned_heads use_bfloat16
      attn_implementation _attn_implementation _attn_implementation_autoset attn_impl use_flash_attn flash_attn num_logits_to_keep
      tf_legacy_loss is_decoder add_cross_attention is_causal pretraining_tp softmax_in_fp32 attention_softmax_in_fp32
      scale_attention_softmax_in_fp32 bf16 fp16 fp32 dtype torch_dtype legacy sparse_prediction sparse_pred_ignore_index
      reference_compile deterministic_flash_attn use_dynamic_ntk use_logn_attn use_cache_quantization use_cache_kernel
      use_bidirectional_attention parallel_attn use_parallel_residual new_decoder_architecture use_parallel_block use_parallel_embedding cache_implementation keep_window_size
      apply_query_key_layer_scaling interleaved_qkv original_rope post_layer_norm is_llama_config enable_moe_fp32_combine embedding_fraction rescale_prenorm_residual mamba_ssm_cache_dtype block_size`,
    spelling: /^pooler_(?:fn|type|hidden_act|dropout)$/,
  },
  {
    why: 'how text is generated',
    names: `max_length min_length max_new_tokens do_sample early_stopping num_beams num_beam_groups num_return_sequences diversity_penalty
      temperature top_k top_p typical_p repetition_penalty length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size
      bad_words_ids remove_invalid_values exponential_decay_length_penalty suppress_tokens begin_suppress_tokens prefix`,
    spelling: /^summary_|^forced_/,
  },
  {
    why: 'how pictures and sound become tokens',
    names: `vision_feature_layer vision_feature_layers vision_feature_select_strategy image_seq_length video_seq_length image_size
      image_aspect_ratio image_grid_pinpoints vision_aspect_ratio mm_tokens_per_image vision_soft_tokens_per_image
      audio_soft_tokens_per_image spatial_merge_size downsample_ratio downsample_factor pixel_shuffle_factor scale_factor ps_version
      select_layer force_image_size dynamic_image_size use_thumbnail min_dynamic_patch max_dynamic_patch template pad2square
      projection_dim projection_hidden_size projector_type num_image_tokens merge_kernel_size spatial_conv_size temporal_conv_size
      pixel_hidden_size spatial_pool_mode spatial_pool_stride position_id_per_seconds seconds_per_chunk temporal_patch_size use_image_start_end`,
    spelling: /^(?:mm_|multimodal_)?projector_(?:hidden_act|hidden_size|bias|use_layernorm|layernorm_eps)$/,
  },
];

const WHY = new Map(
  HARMLESS.flatMap(({ names = '', why }) => words(names).map((name): [string, string] => [name, why])),
);

/** Returns why a field changes no memory that counts; null: it may. */
export function harmless(name: string, value: unknown): string | null {
  if (isOff(value) && !isIndex(name, value)) return 'switched off';
  return WHY.get(name) ?? HARMLESS.find(({ spelling }) => spelling?.test(name))?.why ?? null;
}

/** Layers by their number, of which the first is 0. */
function isIndex(name: string, value: unknown): boolean {
  return Array.isArray(value) && value.includes(0) && /layer_(?:ids?|idx|indices|indexes)$/.test(name);
}

function isOff(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0 || value === '') return true;
  if (Array.isArray(value)) return value.every(isOff);
  return typeof value === 'object' && Object.values(value).every(isOff);
}
