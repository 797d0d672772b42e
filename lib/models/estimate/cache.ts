/** The KV cache and the states of recurrent layers, by the rules of the program that keeps them. */

import { invalidValue } from '../../base/arguments.ts';
import { exactly, range, sumOf } from '../../core/memory/range.ts';
import type { EstimateProgram, EstimateRange, EstimateTerm } from '../../types/index.ts';
import {
  type Architecture,
  type AttentionLayers,
  attention,
  type CacheLayers,
  type CompressedLayers,
  type CrossLayers,
  type Heads,
  type LatentLayers,
  type StateLayers,
} from '../files/architecture.ts';
import { CACHE_TYPES, cacheTypeBytes } from '../files/cache-types.ts';
import type { ModelFacts } from '../files/model.ts';
import { isLlama, prefersHalf, type Use, type UseAt } from './use.ts';

export interface CacheEstimate {
  terms: EstimateTerm[];
  /** Bytes of one more token, in every layer that keeps all of them; null: there is none. */
  bytesPerToken: number | null;
  kvDtype: string;
}

interface Types {
  name: string;
  key: number;
  value: number;
  /** Elements of a recurrent state and of the state of its convolution. */
  state: number;
  conv: number;
}

/** Tokens that a layer has room for, in all sequences together. */
interface Cells {
  full: number;
  /** Tokens of a layer with a window: the program's rule, the least, and those of a program that ignores the window. */
  window(layers: AttentionLayers): EstimateRange;
  sequences: number;
}

/** llama.cpp rounds caches up to this number of cells. */
const LLAMA_PADDING = 256;
/** Tokens of a block of vLLM. */
const VLLM_BLOCK = 16;
/** tokens_per_block of TensorRT-LLM's kv_cache_config. */
const TRTLLM_BLOCK = 32;
/** Default of llama.cpp's -ub, and of vLLM's --max-num-batched-tokens for a server. */
export const UBATCH = 512;
const VLLM_BATCH = 8192;
/** SGLang's default share of cells for layers with a window (swa_full_tokens_ratio). */
const SGLANG_WINDOW_SHARE = 0.8;
/** Scale of an indexer's key: one FP32 for its 128 elements of FP8. */
const INDEX_SCALE = 4;

export function cacheOf(model: ModelFacts, use: UseAt): CacheEstimate {
  const { architecture } = model;
  const types = typesOf(model, use);
  if (architecture === null) return { terms: [], bytesPerToken: null, kvDtype: types.name };
  const cells = cellsOf(use);
  const kept = architecture.cache;
  const caches = kept.filter((layers) => layers.kind !== 'state');
  const states = kept.filter((layers) => layers.kind === 'state');
  const ranges = caches.map((layers) => bytesOf(layers, cells, types, use));
  if (architecture.mtpCache !== null) ranges.push(mtpBytes(architecture.mtpCache, cells, types, use));
  const unified =
    use.program === 'vllm' && states.length > 0 && caches.length > 0
      ? unifiedPages(kept, use.mtp ? architecture.mtpCache : null, types, use)
      : null;
  const terms: EstimateTerm[] = [];
  if (caches.length > 0)
    terms.push(cacheTerm(unified?.cache ?? sumOf(ranges), architecture, types, use, unified?.block ?? null));
  if (states.length > 0) terms.push(stateTerm(unified?.state ?? stateBytes(states, types, use), states, types, use));
  return { terms, bytesPerToken: caches.length === 0 ? null : perToken(caches, types, use), kvDtype: types.name };
}

/** Bytes of one more token in the layers that keep all of them. */
function perToken(caches: readonly CacheLayers[], types: Types, use: Use): number {
  const one: Cells = { full: 1, sequences: 1, window: () => exactly(use.swaFull ? 1 : 0) };
  return Math.round(sumOf(caches.map((layers) => tokenBytes(layers, one, types, use))).bytes);
}

function tokenBytes(layers: CacheLayers, one: Cells, types: Types, use: Use): EstimateRange {
  if (layers.kind === 'cross' && layers.tokens !== null) return exactly(0);
  if (layers.kind !== 'compressed') return bytesOf(layers, one, types, use);
  return exactly((layers.layers * (layers.dim * types.key + indexBytes(layers.indexDim))) / layers.ratio);
}

function typesOf({ quantization, dtype }: ModelFacts, { kvDtype, program }: Use): Types {
  const native = dtype === 'float32' && !prefersHalf(program) ? 'f32' : 'bf16';
  const name = kvDtype ?? (isLlama(program) ? 'f16' : (quantization?.kvDtype ?? native));
  const [key = '', value = key] = name.split('/');
  // llama.cpp keeps states in FP32; the others keep the convolution's in 16 bits.
  return { name, key: elementBytes(key), value: elementBytes(value), state: 4, conv: isLlama(program) ? 4 : 2 };
}

function elementBytes(name: string): number {
  const bytes = cacheTypeBytes(name);
  if (bytes === null)
    throw invalidValue('kvDtype', `one of ${CACHE_TYPES.join(', ')}, or two of them as q8_0/q4_0`, name);
  return bytes;
}

function padded(count: number, multiple: number): number {
  return Math.ceil(count / multiple) * multiple;
}

function cellsOf(use: UseAt): Cells {
  const { context, sequences } = use;
  if (isLlama(use.program)) return llamaCells(use);
  const block = use.program === 'vllm' ? VLLM_BLOCK : use.program === 'trtllm' ? TRTLLM_BLOCK : 1;
  const full = sequences * padded(context, block);
  return {
    full,
    sequences,
    window: ({ window, windowKind }) => {
      const limited = sequences * Math.min(padded(context, block), windowCells(window ?? context, windowKind, use));
      if (use.swaFull) return exactly(full);
      // Programs that cannot mix both kinds of layer keep all tokens in all of them.
      return range(use.program === 'sglang' ? Math.max(limited, full * SGLANG_WINDOW_SHARE) : limited, limited, full);
    },
  };
}

/** Tokens that one sequence keeps in a layer with a window. */
function windowCells(window: number, kind: 'sliding' | 'chunk' | null, { program, batchTokens }: Use): number {
  if (program !== 'vllm') return window;
  // kv_cache_interface.py: the window and the tokens of a step, and a block because the window starts anywhere in one.
  const step = batchTokens ?? VLLM_BATCH;
  return kind === 'chunk' ? padded(window + step, VLLM_BLOCK) : padded(window - 1 + step, VLLM_BLOCK) + VLLM_BLOCK;
}

/** llama-kv-cache-iswa.cpp: one pool for all sequences (unified), or one for each. */
function llamaCells({ context, sequences, kvUnified, batchTokens, swaFull }: UseAt): Cells {
  const pools = kvUnified ? 1 : sequences;
  const size = padded(kvUnified ? context * sequences : context, LLAMA_PADDING);
  const inPool = kvUnified ? sequences : 1;
  return {
    full: pools * size,
    sequences,
    window: ({ window }) => {
      const cells = Math.min(size, (window ?? size) * inPool + (batchTokens ?? UBATCH));
      return exactly(pools * (swaFull ? size : padded(cells, LLAMA_PADDING)));
    },
  };
}

function bytesOf(layers: CacheLayers, cells: Cells, types: Types, use: Use): EstimateRange {
  switch (layers.kind) {
    case 'attention':
      return attentionBytes(layers, cells, types, use);
    case 'latent':
      return latentBytes(layers, cells, types, use);
    case 'compressed':
      return compressedBytes(layers, cells, types);
    case 'state':
      return exactly(0);
    case 'cross':
      return exactly(crossBytes(layers, cells, types, use));
  }
}

/** Heads are divided among devices; where there are fewer than devices, each keeps one. Latent vectors are not divided. */
function keyValueBytes({ keyDim, kvHeads, valueDim }: Heads, types: Types, { tensorParallel }: Use): number {
  return Math.ceil(kvHeads / tensorParallel) * (keyDim * types.key + valueDim * types.value);
}

function attentionBytes(layers: AttentionLayers, cells: Cells, types: Types, use: Use): EstimateRange {
  const each = layers.layers * keyValueBytes(layers, types, use);
  const count = layers.window === null ? exactly(cells.full) : cells.window(layers);
  const index = layers.layers * (layers.indexDim ?? 0) * types.key;
  return range((each + index) * count.bytes, each * count.low, (each + index) * count.high);
}

/** The encoder's positions are computed once for each sequence, and do not grow with the context. */
function crossBytes(layers: CrossLayers, { full, sequences }: Cells, types: Types, use: Use): number {
  const each = layers.layers * keyValueBytes(layers, types, use);
  return each * (layers.tokens === null ? full : sequences * layers.tokens);
}

function latentBytes(layers: LatentLayers, cells: Cells, types: Types, use: Use): EstimateRange {
  const { keyDim, kvHeads, valueDim } = layers.expanded;
  if (!isCompressed(layers, use))
    return attentionBytes({ ...attention(kvHeads, keyDim, valueDim), layers: layers.layers }, cells, types, use);
  const each = layers.layers * ((layers.rank + layers.ropeDim) * types.key + indexBytes(layers.indexDim));
  // llama.cpp kept the value part a second time until 2026.
  const most = isLlama(use.program) ? each + layers.layers * layers.rank * types.value : each;
  return range(each * cells.full, each * cells.full, most * cells.full);
}

function isCompressed(layers: LatentLayers, { mla }: Use): boolean {
  return mla ?? !layers.expandedByDefault;
}

/** Keys of a sparse-attention indexer are FP8 with a scale. */
function indexBytes(dim: number): number {
  return dim === 0 ? 0 : dim + INDEX_SCALE;
}

/** Bytes of a vector of 512 elements in DeepSeek's own format: FP8 with scales, and the rotated part in BF16. */
const DEEPSEEK_FP8 = 584 / 512;

/** Each layer keeps a window of single tokens besides the vectors, by the program's rule for windows. */
function compressedBytes(layers: CompressedLayers, cells: Cells, types: Types): EstimateRange {
  const perSequence = cells.full / cells.sequences;
  const vectors = cells.sequences * Math.ceil(perSequence / layers.ratio);
  const windows = cells.window({ ...attention(1, layers.dim, 0, layers.window), layers: layers.layers });
  const of = (singles: number, bytes: number): number =>
    layers.layers * ((vectors + singles) * layers.dim * bytes + vectors * indexBytes(layers.indexDim));
  return range(
    of(windows.bytes, types.key),
    of(windows.low, Math.min(types.key, DEEPSEEK_FP8)),
    of(windows.high, types.key),
  );
}

/** Only speculative decoding needs them; some builds make room all the same. */
function mtpBytes(layers: CacheLayers, cells: Cells, types: Types, use: Use): EstimateRange {
  const { bytes, high } = bytesOf(layers, cells, types, use);
  return use.mtp ? range(bytes, bytes, high) : range(0, 0, isLlama(use.program) ? high : 0);
}

function stateBytes(states: readonly StateLayers[], types: Types, use: Use): EstimateRange {
  const each = states.reduce((sum, layers) => sum + layers.layers * stateOf(layers, types, use), 0);
  // Programs keep the state in 4 bytes, or in 2 where the model allows it.
  const least = states.reduce(
    (sum, layers) => sum + layers.layers * stateOf(layers, { ...types, state: 2, conv: 2 }, use),
    0,
  );
  const { sequences } = use;
  return range(sequences * each, sequences * least, sequences * each);
}

function stateOf(
  { stateElements, convElements }: StateLayers,
  { state, conv }: Types,
  { tensorParallel }: Use,
): number {
  return (stateElements * state + convElements * conv) / tensorParallel;
}

/**
 * vLLM gives all layers of a hybrid pages of one size: the block of the attention grows until its page holds a state,
 * and each state takes a whole page.
 */
function unifiedPages(
  layers: readonly CacheLayers[],
  mtp: CacheLayers | null,
  types: Types,
  use: UseAt,
): { cache: EstimateRange; state: EstimateRange; block: number } | null {
  const attention = layers.filter((entry) => entry.kind === 'attention');
  const states = layers.filter((entry) => entry.kind === 'state');
  const [first] = attention;
  if (first === undefined || attention.length > 1) return null;
  const perToken = keyValueBytes(first, types, use);
  const largest = Math.max(...states.map((entry) => stateOf(entry, types, use)));
  const block = padded(Math.ceil(largest / perToken), VLLM_BLOCK);
  const page = block * perToken;
  const stateLayers = states.reduce((sum, entry) => sum + entry.layers, 0);
  // Speculative decoding keeps the state after each drafted token, too.
  const kept = stateLayers * (1 + (mtp?.layers ?? 0)) * use.sequences * page;
  return {
    cache: exactly(use.sequences * Math.ceil(use.context / block) * (first.layers + (mtp?.layers ?? 0)) * page),
    // Prefix caching keeps two states of a sequence.
    state: range(kept, kept, 2 * kept),
    block,
  };
}

function cacheTerm(
  bytes: EstimateRange,
  { cache }: Architecture,
  types: Types,
  use: UseAt,
  block: number | null,
): EstimateTerm {
  const windows = cache.filter((layers) => layers.kind === 'attention' && layers.window !== null) as AttentionLayers[];
  const latent = cache.find((layers): layers is LatentLayers => layers.kind === 'latent');
  const compressed = latent !== undefined && isCompressed(latent, use);
  const full = cache.find((layers): layers is AttentionLayers => layers.kind === 'attention' && layers.window === null);
  const heads = latent !== undefined && !compressed ? latent.expanded : (full ?? windows[0]);
  const inputs: EstimateTerm['inputs'] = { context: use.context, sequences: use.sequences, dtype: types.name };
  if (compressed) Object.assign(inputs, { layers: latentLayers(cache), rank: latent.rank, ropeDim: latent.ropeDim });
  else if (heads !== undefined)
    Object.assign(inputs, {
      layers: latent?.layers ?? full?.layers ?? 0,
      kvHeads: heads.kvHeads,
      keyDim: heads.keyDim,
      valueDim: heads.valueDim,
    });
  if (windows.length > 0) {
    inputs.windowLayers = windows.reduce((sum, layers) => sum + layers.layers, 0);
    inputs.window = windows[0]?.window ?? null;
  }
  const cross = cache.find((layers): layers is CrossLayers => layers.kind === 'cross');
  if (cross !== undefined) {
    inputs.crossLayers = cross.layers;
    inputs.crossTokens = cross.tokens;
  }
  if (block !== null) inputs.block = block;
  const formula = compressed
    ? 'layers × (rank + ropeDim) × bytes(dtype) × context × sequences'
    : 'layers × kvHeads × (keyDim + valueDim) × bytes(dtype) × context × sequences';
  if (cross !== undefined) {
    const tokens = cross.tokens === null ? 'context' : 'crossTokens';
    const formula = `kvHeads × (keyDim + valueDim) × bytes(dtype) × sequences × (layers × context + crossLayers × ${tokens})`;
    return { name: 'kv-cache', ...bytes, formula, inputs };
  }
  const note = windows.length > 0 ? `${formula}${windowNote(use.program, use.swaFull)}` : formula;
  return { name: 'kv-cache', ...bytes, formula: note, inputs };
}

function latentLayers(cache: readonly CacheLayers[]): number {
  return cache.reduce((sum, layers) => (layers.kind === 'latent' ? sum + layers.layers : sum), 0);
}

function windowNote(program: EstimateProgram | null, swaFull: boolean): string {
  if (swaFull) return '; windowLayers as the others';
  if (isLlama(program)) return '; windowLayers: min(context, window × sequences + batch) rounded up to 256';
  if (program === 'vllm') return '; windowLayers: window − 1 + tokens of a step, in blocks of 16';
  return '; windowLayers: min(context, window)';
}

function stateTerm(
  bytes: EstimateRange,
  states: readonly StateLayers[],
  types: Types,
  { sequences }: Use,
): EstimateTerm {
  const [first] = states;
  return {
    name: 'recurrent-state',
    ...bytes,
    formula: 'layers × (stateElements × stateBytes + convElements × convBytes) × sequences',
    inputs: {
      layers: states.reduce((sum, { layers }) => sum + layers, 0),
      what: first?.what ?? null,
      stateElements: first?.stateElements ?? 0,
      stateBytes: types.state,
      convElements: first?.convElements ?? 0,
      convBytes: types.conv,
      sequences,
    },
  };
}
