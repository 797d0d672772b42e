/** A model's layers as transformers builds them, from what its config says. */

import type { LoraTargets } from '../../../types/index.ts';
import type { Architecture, CacheLayers } from '../../files/architecture.ts';
import {
  attention,
  Experts,
  FeedForward,
  type FeedForwardKind,
  type Heads,
  Linear,
  type Mode,
  Norm,
  type NormKind,
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
  norm: Norm;
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
  return { layers, norm: new Norm(family.norm, architecture.hidden) };
}

interface Choice {
  group: CacheLayers | null;
  isDense: boolean;
  adapters: Adapters;
}

function layerOf(architecture: Architecture, family: Family, { group, isDense, adapters }: Choice): BuiltLayer {
  const { hidden } = architecture;
  const norm = (): Norm => new Norm(family.norm, hidden);
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

function parallelLayer(norm: Norm, attend: Runner, feed: Runner): BuiltLayer {
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

function plain(part: { of: (mode: Mode, input: Tensor) => Tensor; weights: readonly Weight[] }): Runner {
  return { of: (mode, input) => ({ result: part.of(mode, input), scores: null }), weights: part.weights };
}

function denseOf({ hidden, intermediate }: Architecture, { feedForward }: Family, rank: number | null): Runner {
  return plain(new FeedForward(hidden, intermediate ?? 4 * hidden, feedForward, rank));
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
  const routed = new Experts(sizes, ADAPTED_EXPERTS.test(architecture.name) ? rank : null);
  if (sharedIntermediate === 0) return plain(routed);
  const shared = new FeedForward(hidden, sharedIntermediate, 'gated', rank);
  return plain({
    of: (mode, input) => {
      const mixed = routed.of(mode, mode.tape.hold(input));
      return sum(mode, mixed, shared.of(mode, input));
    },
    weights: [...routed.weights, ...shared.weights],
  });
}

function mixerOf(architecture: Architecture, family: Family, group: CacheLayers | null, adapters: Adapters): Runner {
  if (group?.kind === 'latent') return new LatentAttention(architecture.hidden, group, adapters?.rank ?? null);
  const heads = headsOf(architecture, group);
  return new Attention(architecture.hidden, heads, family, adapters);
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

class Attention implements Runner {
  readonly #heads: Heads;
  readonly #projections: Linear[];
  readonly #output: Linear;
  readonly #norms: Norm[];
  readonly weights: Weight[];

  constructor(hidden: number, heads: Heads, { fused, headNorms, norm }: Family, adapters: Adapters) {
    const { keyDim, keys, queries, valueDim } = heads;
    this.#heads = heads;
    const widths = [queries * keyDim, keys * keyDim, keys * valueDim];
    const all = fused ? [widths.reduce((whole, width) => whole + width, 0)] : widths;
    const rank = adapters?.rank ?? null;
    const isSome = adapters?.targets === 'queries-values';
    // The keys are the second of three.
    this.#projections = all.map((width, index) => new Linear(hidden, width, isSome && index === 1 ? null : rank));
    this.#output = new Linear(queries * valueDim, hidden, isSome ? null : rank);
    this.#norms =
      headNorms === null
        ? []
        : headNorms === 'each'
          ? [new Norm(norm, keyDim, queries), new Norm(norm, keyDim, keys)]
          : [new Norm(norm, queries * keyDim), new Norm(norm, keys * keyDim)];
    const parts = [...this.#projections, this.#output, ...this.#norms];
    this.weights = parts.flatMap(({ weights }) => weights);
  }

  of(mode: Mode, input: Tensor): { result: Tensor; scores: Tensor | null } {
    const { tape } = mode;
    const { keyDim, keys, queries } = this.#heads;
    const made = this.#projections.map((projection, index) => {
      const plain = projection.of(mode, input);
      const normal = this.#norms[index]?.of(mode, plain);
      if (normal !== undefined) tape.drop(plain);
      return normal ?? plain;
    });
    const [first] = made;
    if (first === undefined) throw new Error('attention without projections');
    const [, k = tape.hold(first), v = tape.hold(first)] = made;
    const turned = [rotary(mode, first, queries * keyDim), rotary(mode, k, keys * keyDim)] as const;
    tape.drop(first, k);
    const { result, scores } = attention(mode, { queries: turned[0], keys: turned[1], values: v }, this.#heads);
    const output = this.#output.of(mode, result);
    tape.drop(result, ...turned, v, input);
    return { result: output, scores };
  }
}

/** Multi-head latent attention, expanded for each token (DeepSeek). */
class LatentAttention implements Runner {
  readonly #group: Extract<CacheLayers, { kind: 'latent' }>;
  readonly #queries: (Linear | Norm)[];
  readonly #compress: Linear;
  readonly #norm: Norm;
  readonly #expand: Linear;
  readonly #output: Linear;
  readonly weights: Weight[];

  constructor(hidden: number, group: Extract<CacheLayers, { kind: 'latent' }>, rank: number | null) {
    const { expanded, queryRank = 0, rank: width, ropeDim } = group;
    const { keyDim, kvHeads, valueDim } = expanded;
    this.#group = group;
    this.#queries =
      queryRank === 0
        ? [new Linear(hidden, kvHeads * keyDim, rank)]
        : [
            new Linear(hidden, queryRank, rank),
            new Norm('rms', queryRank),
            new Linear(queryRank, kvHeads * keyDim, rank),
          ];
    this.#compress = new Linear(hidden, width + ropeDim, rank);
    this.#norm = new Norm('rms', width);
    this.#expand = new Linear(width, kvHeads * (keyDim - ropeDim + valueDim), rank);
    this.#output = new Linear(kvHeads * valueDim, hidden, rank);
    const parts = [...this.#queries, this.#compress, this.#norm, this.#expand, this.#output];
    this.weights = parts.flatMap(({ weights }) => weights);
  }

  of(mode: Mode, input: Tensor): { result: Tensor; scores: Tensor | null } {
    const { batch, context, stream, tape } = mode;
    const { expanded, rank, ropeDim } = this.#group;
    const { keyDim, kvHeads, valueDim } = expanded;
    const tokens = batch * context;
    let queries = tape.hold(input);
    for (const part of this.#queries) {
      const next = part.of(mode, queries);
      tape.drop(queries);
      queries = next;
    }
    const compressed = this.#compress.of(mode, input);
    const narrow = tape.make(tokens * rank * stream, { inputs: [compressed], passes: [] });
    const normal = this.#norm.of(mode, narrow);
    tape.drop(narrow);
    const both = this.#expand.of(mode, normal);
    tape.drop(normal);
    // Positions turn a part of each, in FP32; both are then put together again.
    const turned = rotary(mode, compressed, ropeDim);
    const turnedQ = rotary(mode, queries, kvHeads * ropeDim);
    const width = tokens * kvHeads * keyDim * stream;
    const q = tape.make(width, { inputs: [queries, turnedQ] });
    const k = tape.make(width, { inputs: [both, turned] });
    tape.drop(queries, turnedQ, compressed, turned);
    const heads: Heads = { queries: kvHeads, keys: kvHeads, keyDim, valueDim, window: null };
    const { result, scores } = attention(mode, { queries: q, keys: k, values: both }, heads);
    const output = this.#output.of(mode, result);
    tape.drop(result, q, k, both, input);
    return { result: output, scores };
  }
}
