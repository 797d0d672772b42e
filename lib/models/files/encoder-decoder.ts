/**
 * Models with an encoder and a decoder (T5, BART, Whisper), from their config. Facts are those of the model's code in
 * transformers: each layer of the decoder keeps its own keys and values, and those of the encoder's input.
 */

import { formatCount } from '../../base/format.ts';
import { type Architecture, attention, type CrossLayers, DENSE, grouped } from './architecture.ts';
import { checkLayers, type ModelConfig } from './model-config.ts';
import type { ParameterCounts } from './weights.ts';
import { words } from './words.ts';

const T5 = /^(t5|mt5|umt5)$/;
const BART = /^(bart|mbart|marian|m2m_100|pegasus|blenderbot|blenderbot-small|plbart)$/;
const WHISPER = 'whisper';

/** Fields about computing positions, masks and scales. */
const NO_MEMORY =
  words(`relative_attention_num_buckets relative_attention_max_distance scale_decoder_outputs dense_act_fn is_gated_act
  mask_feature_length mask_feature_prob mask_time_length mask_time_min_masks mask_time_prob median_filter_width`);

/** Kernel of Whisper's two convolutions over the spectrum. */
const WHISPER_KERNEL = 3;

interface EncoderDecoderShape {
  hidden: number;
  vocab: number | null;
  encoder: Stack;
  decoder: Stack;
  /** Matrices of a feed-forward part: 3 with a gate. */
  matrices: 2 | 3;
  /** Tokens that the encoder makes of any input; null: as many as the input has. */
  encoderTokens: number | null;
  /** Positions of encoder and decoder that are looked up in a table; 0: there is none. */
  positions: number;
  /** Parameters in front of the encoder. */
  front: number;
  tied: boolean;
  maxContext: number | null;
}

interface Stack {
  layers: number;
  heads: number;
  headDim: number;
  /** Its width; null: the config does not say. */
  feedForward: number | null;
}

/** True if a config describes an encoder and a decoder whose parts are known here. */
export function isEncoderDecoder(config: ModelConfig): boolean {
  const name = config.text('model_type') ?? '';
  return T5.test(name) || BART.test(name) || name === WHISPER;
}

export function encoderDecoder(config: ModelConfig): Architecture {
  config.repeats('is_encoder_decoder', 'num_hidden_layers', ...NO_MEMORY);
  const { decoder, encoder, encoderTokens, hidden, maxContext, tied, vocab } = shapeOf(config);
  const own = { ...attention(decoder.heads, decoder.headDim, decoder.headDim), layers: decoder.layers };
  const cross: CrossLayers = {
    kind: 'cross',
    layers: decoder.layers,
    kvHeads: decoder.heads,
    keyDim: decoder.headDim,
    valueDim: decoder.headDim,
    tokens: encoderTokens,
  };
  return {
    name: config.text('model_type') ?? 'unknown',
    layers: encoder.layers + decoder.layers,
    hidden,
    heads: decoder.heads,
    vocab,
    intermediate: decoder.feedForward,
    ...DENSE,
    maxContext,
    tied,
    cache: grouped([own, cross]),
    notes: [
      encoderTokens === null
        ? 'The input of the encoder is counted as long as the context: the decoder keeps keys and values of both.'
        : `The decoder keeps keys and values of the ${formatCount(encoderTokens)} positions of its encoder, besides those of the context.`,
    ],
  };
}

/** null: the vocabulary or a width is not known. */
export function encoderDecoderParameters(config: ModelConfig): ParameterCounts | null {
  const { decoder, encoder, front, hidden, matrices, positions, tied, vocab } = shapeOf(config);
  if (vocab === null || encoder.feedForward === null || decoder.feedForward === null) return null;
  const attentions = ({ headDim, heads }: Stack): number => 4 * hidden * heads * headDim;
  const perLayer = matrices * hidden;
  return {
    embedding: vocab * hidden + positions * hidden,
    output: tied ? 0 : vocab * hidden,
    blocks:
      front +
      encoder.layers * (attentions(encoder) + perLayer * encoder.feedForward) +
      decoder.layers * (2 * attentions(decoder) + perLayer * decoder.feedForward),
    experts: 0,
    mtp: 0,
    vision: 0,
  };
}

function shapeOf(config: ModelConfig): EncoderDecoderShape {
  const name = config.text('model_type') ?? '';
  const shape = T5.test(name) ? t5(config) : bart(config);
  checkLayers(shape.encoder.layers + shape.decoder.layers, config.path);
  return name === WHISPER ? whisper(config, shape) : shape;
}

function t5(config: ModelConfig): EncoderDecoderShape {
  const hidden = config.needed(['d_model', 'hidden_size']);
  const layers = config.needed(['num_layers', 'num_hidden_layers']);
  const heads = config.needed(['num_heads', 'num_attention_heads']);
  const stack = {
    layers,
    heads,
    headDim: config.count(['d_kv']) ?? Math.floor(hidden / heads),
    feedForward: config.count(['d_ff']),
  };
  const gated = (config.text('feed_forward_proj') ?? 'relu').startsWith('gated');
  return {
    hidden,
    vocab: config.count(['vocab_size']),
    encoder: stack,
    decoder: { ...stack, layers: config.count(['num_decoder_layers']) ?? layers },
    matrices: gated ? 3 : 2,
    encoderTokens: null,
    positions: 0, // relative
    front: 0,
    tied: config.flag('tie_word_embeddings') ?? true,
    maxContext: null, // n_positions is the length of the training, and no limit
  };
}

function bart(config: ModelConfig): EncoderDecoderShape {
  const hidden = config.needed(['d_model', 'hidden_size']);
  const stackOf = (side: 'encoder' | 'decoder'): Stack => {
    const heads = config.needed([`${side}_attention_heads`]);
    return {
      layers: config.needed([`${side}_layers`]),
      heads,
      headDim: Math.floor(hidden / heads),
      feedForward: config.count([`${side}_ffn_dim`]),
    };
  };
  const context = config.count(['max_position_embeddings']);
  // The other models of the family compute their positions.
  const isLearned = /^(bart|mbart|plbart)$/.test(config.text('model_type') ?? '');
  return {
    hidden,
    vocab: config.count(['vocab_size']),
    encoder: stackOf('encoder'),
    decoder: stackOf('decoder'),
    matrices: 2,
    encoderTokens: null,
    positions: isLearned ? 2 * (context ?? 0) : 0,
    front: 0,
    tied: config.flag('tie_word_embeddings') ?? true,
    maxContext: context,
  };
}

function whisper(config: ModelConfig, shape: EncoderDecoderShape): EncoderDecoderShape {
  const encoderTokens = config.count(['max_source_positions']) ?? 1500;
  const maxContext = config.count(['max_target_positions']) ?? 448;
  const { hidden } = shape;
  return {
    ...shape,
    encoderTokens,
    positions: encoderTokens + maxContext,
    front: WHISPER_KERNEL * hidden * ((config.count(['num_mel_bins']) ?? 80) + hidden),
    maxContext,
  };
}
