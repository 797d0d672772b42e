/** Memory that a model keeps of earlier tokens, layer by layer, and the sizes on which buffers depend. */

/** Heads of keys and values, and elements of each. */
export interface Heads {
  kvHeads: number;
  keyDim: number;
  valueDim: number;
}

/** Layers that keep the keys and values of earlier tokens. */
export interface AttentionLayers extends Heads {
  kind: 'attention';
  layers: number;
  /** Tokens that these layers look back; null: all. */
  window: number | null;
  /** Elements per token of the index of sparse attention (MiniMax M3), for programs that use it. */
  indexDim?: number;
  /** `chunk`: the window begins anew at its multiples (Llama 4); a cache for it is at most as large. */
  windowKind: 'sliding' | 'chunk' | null;
}

/** Layers that keep one compressed vector per token for all heads (multi-head latent attention, DeepSeek). */
export interface LatentLayers {
  kind: 'latent';
  layers: number;
  rank: number;
  ropeDim: number;
  /** Width into which the queries are compressed; 0 or left out: they are not. */
  queryRank?: number;
  /** Further elements per token of a sparse-attention indexer; 0: none. */
  indexDim: number;
  /** True if programs keep the expanded form: GGUF files from before llama.cpp knew the compressed one. */
  expandedByDefault: boolean;
  /** Sizes in a program that does not compress. */
  expanded: Heads;
}

/** Layers with a state of fixed size for each sequence: state-space models, linear attention, short convolutions. */
export interface StateLayers {
  kind: 'state';
  layers: number;
  what: string;
  /** Elements of the recurrent state, usually in 4 bytes each. */
  stateElements: number;
  /** Elements of the convolution's state. */
  convElements: number;
  /** Elements for each token that transformers' own scan has at once, where the kernels of mamba-ssm are not installed. */
  scanElements?: number;
}

/** Layers that keep one vector for several tokens, besides a window of single ones (DeepSeek V4). */
export interface CompressedLayers {
  kind: 'compressed';
  layers: number;
  /** Tokens in one vector. */
  ratio: number;
  dim: number;
  indexDim: number;
  window: number;
}

/** Layers of a decoder that keep the keys and values of what its encoder has read. */
export interface CrossLayers extends Heads {
  kind: 'cross';
  layers: number;
  /** Positions of one input; null: as many as the context has. */
  tokens: number | null;
}

export type CacheLayers = AttentionLayers | LatentLayers | StateLayers | CompressedLayers | CrossLayers;

export interface Architecture {
  /** `model_type` of config.json, or `general.architecture` of a GGUF file. */
  name: string;
  /** Layers of the main model. */
  layers: number;
  /** Further layers that predict later tokens (multi-token prediction); they cache like the last layer. */
  mtpLayers: number;
  hidden: number;
  heads: number | null;
  vocab: number | null;
  intermediate: number | null;
  /** Routed experts of a layer; 0: dense. */
  experts: number;
  expertsPerToken: number;
  /** Hidden size of one expert; null: dense. */
  expertIntermediate: number | null;
  /** Size of an expert's input and output, if that is not the hidden size (Nemotron 3 Super). */
  expertHidden?: number;
  /** Layers at the start of a mixture that have no experts. */
  denseLayers?: number;
  /** Width of the experts that every token uses. */
  sharedIntermediate?: number;
  maxContext: number | null;
  /** The same without what its config stretches it by, where SGLang does not count that. */
  unstretched?: number;
  /** True if the final logits are capped (Gemma), which needs a second copy of them. */
  softcap: boolean;
  /** True if the output layer uses the embedding's weights. null: unknown. */
  tied: boolean | null;
  cache: CacheLayers[];
  /** Cache of the MTP layers; null: there are none. */
  mtpCache: CacheLayers | null;
  /** Keys of a GGUF file that may change the cache, and that no rule has read. */
  unread?: string[];
  /** Assumptions, as sentences. */
  notes: string[];
}

/** The part that dense models without layers for further tokens have in common. */
export const DENSE = {
  mtpLayers: 0,
  experts: 0,
  expertsPerToken: 0,
  expertIntermediate: null,
  softcap: false,
  mtpCache: null,
} as const;

/** One layer as a file describes it; `none`: it keeps nothing. */
export type LayerMemory = CacheLayers | { kind: 'none' };

/** Equal layers as one entry, in the order of their first. */
export function grouped(layers: readonly LayerMemory[]): CacheLayers[] {
  const groups = new Map<string, CacheLayers>();
  for (const layer of layers) {
    if (layer.kind === 'none') continue;
    const key = JSON.stringify({ ...layer, layers: 0 });
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { ...layer });
    else group.layers += layer.layers;
  }
  return [...groups.values()];
}

export function attention(
  kvHeads: number,
  keyDim: number,
  valueDim: number,
  window: number | null = null,
  windowKind: 'sliding' | 'chunk' = 'sliding',
): AttentionLayers {
  return {
    kind: 'attention',
    layers: 1,
    kvHeads,
    keyDim,
    valueDim,
    window,
    windowKind: window === null ? null : windowKind,
  };
}

export function state(what: string, stateElements: number, convElements: number): StateLayers {
  return { kind: 'state', layers: 1, what, stateElements, convElements };
}

/** Gated state-space and linear-attention layers whose convolution runs over the inner vector and two groups. */
export function stateLayer(
  what: string,
  inner: number,
  stateSize: number,
  groups: number,
  kernel: number,
): StateLayers {
  return state(what, inner * stateSize, Math.max(0, kernel - 1) * (inner + 2 * groups * stateSize));
}

/** Kimi's delta attention: a state of dim × dim for each head, and three short convolutions. */
export function deltaAttention(heads: number, dim: number, kernel: number): StateLayers {
  return state('Kimi delta attention', heads * dim * dim, 3 * (kernel - 1) * heads * dim);
}

/** Cache of layers that predict further tokens: they are built like the last layer with attention. */
export function cacheOfMtp(layers: readonly LayerMemory[], count: number): CacheLayers | null {
  const last = grouped(layers).findLast(({ kind }) => kind !== 'state');
  return last === undefined ? null : { ...last, layers: count };
}
