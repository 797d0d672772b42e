/** A model's layers as transformers builds them, from what its config says. */

import type { LoraTargets } from '../../../types/index.ts';
import type { Architecture, CacheLayers, LatentLayers } from '../../files/architecture.ts';
import {
  attention,
  expertsOf,
  type FeedForwardKind,
  feedForwardOf,
  type Heads,
  linear,
  type Mode,
  type NormKind,
  normOf,
  type Part,
  rotary,
  sum,
  type Weight,
} from './layers.ts';
import type { Tensor } from './tape.ts';

/** Differences of a family's model code from Llama's. */
interface Family {
  norm: NormKind;
  /** Norms before a part, behind it, or both; `parallel`: one norm for both parts of a layer. */
  norms: 'before' | 'behind' | 'both' | 'parallel';
  /** Norms of queries and keys: of each head, or of all heads at once. */
  headNorms: 'each' | 'all' | null;
  /** One linear layer for queries, keys and values, whose result the values keep. */
  fused: boolean;
  feedForward: FeedForwardKind;
}

const LLAMA: Family = { norm: 'rms', norms: 'before', headNorms: null, fused: false, feedForward: 'gated' };

const FAMILIES: readonly [RegExp, Partial<Family>][] = [
  [/^(qwen3|qwen3_moe|qwen3_vl_text|qwen3_vl_moe_text|hunyuan_v1_\w+|dots1)$/, { headNorms: 'each' }],
  [
    /^(llama|mistral|ministral|mixtral|qwen2|qwen2_moe|qwen2_vl_text|smollm3|deepseek_v[23]|granite|granitemoe|ernie4_5|seed_oss|internlm2|yi|helium|arcee|minimax_m2|glm4_moe)$/,
    {},
  ],
  [/^gemma$/, { norm: 'rms-wide' }],
  [/^gemma2$/, { norm: 'rms-wide', norms: 'both' }],
  [/^gemma3(_text)?$/, { norm: 'rms-wide', norms: 'both', headNorms: 'each' }],
  [/^olmo[23]$/, { norm: 'rms-wide', norms: 'behind', headNorms: 'all' }],
  [/^olmoe$/, { headNorms: 'all' }],
  [/^exaone4$/, { norms: 'behind', headNorms: 'each' }],
  [/^glm$/, { feedForward: 'fused' }],
  [/^glm4$/, { norms: 'both', feedForward: 'fused' }],
  [/^phi3$/, { fused: true, feedForward: 'fused' }],
  [/^(cohere|cohere2)$/, { norm: 'rms-wide', norms: 'parallel' }],
  [/^(falcon|gpt_neox)$/, { norm: 'layer', norms: 'parallel', fused: true, feedForward: 'plain' }],
  [/^(phi|gptj)$/, { norm: 'layer', norms: 'parallel', feedForward: 'plain' }],
  [/^(gpt2|gpt_bigcode)$/, { norm: 'layer', fused: true, feedForward: 'plain' }],
  [/^(starcoder2|opt|nemotron)$/, { norm: 'layer', feedForward: 'plain' }],
  [/^(olmo|stablelm)$/, { norm: 'layer' }],
];

/** null: nobody has compared its code with Llama's. */
function familyOf(name: string): Family | null {
  const found = FAMILIES.find(([pattern]) => pattern.test(name));
  return found === undefined ? null : { ...LLAMA, ...found[1] };
}

export function isKnownFamily(name: string): boolean {
  return familyOf(name) !== null;
}

/** One layer; it takes its input over. */
export interface BuiltLayer {
  run: (mode: Mode, input: Tensor) => Tensor;
  weights: readonly Weight[];
}

export interface BuiltModel {
  layers: BuiltLayer[];
  norm: Part;
}

/** Adapters and the layers that get them; null: every weight is trained. */
export type Adapters = { rank: number; targets: LoraTargets } | null;

export function built(architecture: Architecture, adapters: Adapters): BuiltModel {
  const family = familyOf(architecture.name) ?? LLAMA;
  const groups = architecture.cache.flatMap((group) => Array.from({ length: group.layers }, () => group));
  const dense = architecture.experts === 0 ? architecture.layers : (architecture.denseLayers ?? 0);
  const layers = Array.from({ length: architecture.layers }, (_, index) =>
    layerOf(architecture, family, { group: groups[index] ?? groups.at(-1) ?? null, isDense: index < dense, adapters }),
  );
  return { layers, norm: normOf(family.norm, architecture.hidden) };
}

interface Choice {
  group: CacheLayers | null;
  isDense: boolean;
  adapters: Adapters;
}

function layerOf(architecture: Architecture, family: Family, { group, isDense, adapters }: Choice): BuiltLayer {
  const { hidden } = architecture;
  const norm = (): Part => normOf(family.norm, hidden);
  const attend = mixerOf(architecture, family, group, adapters);
  const rank = adapters?.targets === 'all-linear' ? adapters.rank : null;
  const feed = isDense ? denseOf(architecture, family, rank) : mixtureOf(architecture, rank);
  if (family.norms === 'parallel') return parallelLayer(norm(), attend, feed);
  const hasBefore = family.norms !== 'behind';
  const hasBehind = family.norms !== 'before';
  const before = hasBefore ? [norm(), norm()] : [];
  const behind = hasBehind ? [norm(), norm()] : [];
  const part = (mode: Mode, input: Tensor, run: Runner, index: number): Tensor => {
    const { tape } = mode;
    const entry = before[index]?.of(mode, input) ?? tape.hold(input);
    const { result, scores } = run.of(mode, entry);
    const exit = behind[index];
    if (exit === undefined) return added(mode, input, result, scores);
    const normal = exit.of(mode, result);
    tape.drop(result);
    return added(mode, input, normal, scores);
  };
  return {
    run: (mode, input) => part(mode, part(mode, input, attend, 0), feed, 1),
    weights: [...attend.weights, ...feed.weights, ...[...before, ...behind].flatMap(({ weights }) => weights)],
  };
}

/** A layer returns after its scores' last holder, which is the layer. */
function added(mode: Mode, input: Tensor, result: Tensor, scores: Tensor | null): Tensor {
  const output = sum(mode, input, result);
  if (scores !== null) mode.tape.drop(scores);
  return output;
}

function parallelLayer(norm: Part, attend: Runner, feed: Runner): BuiltLayer {
  return {
    run: (mode, input) => {
      const { tape } = mode;
      const entry = norm.of(mode, input);
      const mixed = attend.of(mode, tape.hold(entry));
      const { result } = feed.of(mode, entry);
      return added(mode, input, sum(mode, mixed.result, result), mixed.scores);
    },
    weights: [...norm.weights, ...attend.weights, ...feed.weights],
  };
}

/** A part of a layer between its norms; it takes its input over. */
interface Runner {
  of: (mode: Mode, input: Tensor) => { result: Tensor; scores: Tensor | null };
  weights: readonly Weight[];
}

function plain(part: Part): Runner {
  return { of: (mode, input) => ({ result: part.of(mode, input), scores: null }), weights: part.weights };
}

function denseOf({ hidden, intermediate }: Architecture, { feedForward }: Family, rank: number | null): Runner {
  return plain(feedForwardOf(hidden, intermediate ?? 4 * hidden, feedForward, rank));
}

/**
 * Experts that were linear layers before transformers 5, and that peft's "all-linear" therefore adapts, with their
 * router (peft: utils/transformers_weight_conversion.py). Experts of other models are tensors, which it leaves alone.
 */
const ADAPTED_EXPERTS =
  /^(mixtral|minimax|minimax_m2|qwen2_moe|qwen3_moe|qwen3_next|olmoe|deepseek_v[23]|glm4_moe|dots1|ernie4_5_moe|hunyuan_v1_moe|flex_olmo)$/;

function mixtureOf(architecture: Architecture, rank: number | null): Runner {
  const { expertIntermediate, experts, expertsPerToken, hidden, intermediate, sharedIntermediate = 0 } = architecture;
  const sizes = {
    hidden,
    width: expertIntermediate ?? intermediate ?? 4 * hidden,
    perToken: Math.max(1, expertsPerToken),
    experts,
  };
  const routed = expertsOf(sizes, ADAPTED_EXPERTS.test(architecture.name) ? rank : null);
  if (sharedIntermediate === 0) return plain(routed);
  const shared = feedForwardOf(hidden, sharedIntermediate, 'gated', rank);
  return plain({
    of: (mode, input) => {
      const mixed = routed.of(mode, mode.tape.hold(input));
      return sum(mode, mixed, shared.of(mode, input));
    },
    weights: [...routed.weights, ...shared.weights],
  });
}

function mixerOf(architecture: Architecture, family: Family, group: CacheLayers | null, adapters: Adapters): Runner {
  if (group?.kind === 'latent') return latentAttention(architecture.hidden, group, adapters?.rank ?? null);
  const heads = headsOf(architecture, group);
  return attentionOf(architecture.hidden, heads, family, adapters);
}

function headsOf({ heads, hidden }: Architecture, group: CacheLayers | null): Heads {
  const queries = heads ?? 1;
  if (group?.kind === 'attention') {
    const { keyDim, kvHeads, valueDim, window } = group;
    return { queries, keys: kvHeads, keyDim, valueDim: valueDim || keyDim, window };
  }
  const dim = Math.floor(hidden / queries);
  return { queries, keys: queries, keyDim: dim, valueDim: dim, window: null };
}

function attentionOf(hidden: number, heads: Heads, { fused, headNorms, norm }: Family, adapters: Adapters): Runner {
  const { keyDim, keys, queries, valueDim } = heads;
  const widths = [queries * keyDim, keys * keyDim, keys * valueDim];
  const all = fused ? [widths.reduce((whole, width) => whole + width, 0)] : widths;
  const rank = adapters?.rank ?? null;
  const isSome = adapters?.targets === 'queries-values';
  // The keys are the second of three.
  const projections = all.map((width, index) => linear(hidden, width, isSome && index === 1 ? null : rank));
  const output = linear(queries * valueDim, hidden, isSome ? null : rank);
  const norms =
    headNorms === null
      ? []
      : headNorms === 'each'
        ? [normOf(norm, keyDim, queries), normOf(norm, keyDim, keys)]
        : [normOf(norm, queries * keyDim), normOf(norm, keys * keyDim)];
  const of: Runner['of'] = (mode, input) => {
    const { tape } = mode;
    const made = projections.map((projection, index) => {
      const plain = projection.of(mode, input);
      const normal = norms[index]?.of(mode, plain);
      if (normal !== undefined) tape.drop(plain);
      return normal ?? plain;
    });
    const [first] = made;
    if (first === undefined) throw new Error('attention without projections');
    const [, k = tape.hold(first), v = tape.hold(first)] = made;
    const turned = [rotary(mode, first, queries * keyDim), rotary(mode, k, keys * keyDim)] as const;
    tape.drop(first, k);
    const { result, scores } = attention(mode, { queries: turned[0], keys: turned[1], values: v }, heads);
    const merged = output.of(mode, result);
    tape.drop(result, ...turned, v, input);
    return { result: merged, scores };
  };
  return { of, weights: [...projections, output, ...norms].flatMap(({ weights }) => weights) };
}

/** Multi-head latent attention, expanded for each token (DeepSeek). */
function latentAttention(hidden: number, group: LatentLayers, rank: number | null): Runner {
  const { expanded, queryRank = 0, rank: width, ropeDim } = group;
  const { keyDim, kvHeads, valueDim } = expanded;
  const projections =
    queryRank === 0
      ? [linear(hidden, kvHeads * keyDim, rank)]
      : [linear(hidden, queryRank, rank), normOf('rms', queryRank), linear(queryRank, kvHeads * keyDim, rank)];
  const compress = linear(hidden, width + ropeDim, rank);
  const norm = normOf('rms', width);
  const expand = linear(width, kvHeads * (keyDim - ropeDim + valueDim), rank);
  const output = linear(kvHeads * valueDim, hidden, rank);
  const of: Runner['of'] = (mode, input) => {
    const { batch, context, stream, tape } = mode;
    const tokens = batch * context;
    let queries = tape.hold(input);
    for (const part of projections) {
      const next = part.of(mode, queries);
      tape.drop(queries);
      queries = next;
    }
    const compressed = compress.of(mode, input);
    const narrow = tape.make(tokens * width * stream, { inputs: [compressed], passes: [] });
    const normal = norm.of(mode, narrow);
    tape.drop(narrow);
    const both = expand.of(mode, normal);
    tape.drop(normal);
    // Positions turn a part of each, in FP32; both are then put together again.
    const turned = rotary(mode, compressed, ropeDim);
    const turnedQ = rotary(mode, queries, kvHeads * ropeDim);
    const size = tokens * kvHeads * keyDim * stream;
    const q = tape.make(size, { inputs: [queries, turnedQ] });
    const k = tape.make(size, { inputs: [both, turned] });
    tape.drop(queries, turnedQ, compressed, turned);
    const heads: Heads = { queries: kvHeads, keys: kvHeads, keyDim, valueDim, window: null };
    const { result, scores } = attention(mode, { queries: q, keys: k, values: both }, heads);
    const merged = output.of(mode, result);
    tape.drop(result, q, k, both, input);
    return { result: merged, scores };
  };
  const parts = [...projections, compress, norm, expand, output];
  return { of, weights: parts.flatMap(({ weights }) => weights) };
}
