/** A model of which only the number of parameters is known: the architecture that dense models of its size have. */

import { type Architecture, attention, DENSE } from '../files/architecture.ts';

/** Keys and values have this many heads in most models since 2023. */
const KV_HEADS = 8;
const HEAD_DIM = 128;
const VOCAB = 128_256;

/** 8 billion parameters have 32 layers, 70 billion 80. */
export function typicalArchitecture(parameters: number): Architecture {
  const layers = Math.min(128, Math.max(24, Math.round(32 * (parameters / 8e9) ** 0.42)));
  // Four matrices of attention, of which two are small, and three of a feed-forward part 3.5 times as wide.
  const hidden = Math.max(HEAD_DIM * KV_HEADS, Math.round(Math.sqrt(parameters / layers / 13) / HEAD_DIM) * HEAD_DIM);
  return {
    name: 'typical',
    layers,
    hidden,
    heads: hidden / HEAD_DIM,
    vocab: VOCAB,
    intermediate: Math.round(3.5 * hidden),
    ...DENSE,
    maxContext: null,
    tied: null,
    cache: [{ ...attention(KV_HEADS, HEAD_DIM, HEAD_DIM), layers }],
    notes: [],
  };
}

/** Caches of published models as shares of the typical one: from latent attention to as many heads of keys as of queries, in more layers. */
export function cacheShares({ heads }: Architecture): { low: number; high: number } {
  return { low: 0.1, high: Math.max(1, (1.25 * (heads ?? KV_HEADS)) / KV_HEADS) };
}
