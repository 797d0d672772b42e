/**
 * The parts of a transformer as transformers 5 and peft 0.19 run them in eager mode: what each allocates, what autograd keeps
 * of it, what its backward pass needs. A function takes its input over and lets it go; what it returns is its caller's.
 */

import { F32 } from '../widths.ts';
import type { Kind, Operation, Parameter, Tape, Tensor } from './tape.ts';

/** Way of training a model. Bytes of one element. */
export interface Mode {
  tape: Tape;
  /** Sequences in a step, and tokens of each. */
  batch: number;
  context: number;
  /** Type of what flows between layers, of products, and of the weights. */
  stream: number;
  product: number;
  weight: number;
  /** FP32 weights of which autocast makes copies in 16 bits. */
  autocast: boolean;
  /** Weights that have such a copy now. */
  copied: Weight[];
  /** null: every weight is trained. */
  rank: number | null;
  /** The pass of the model that is compared with: without adapters. */
  isReference: boolean;
  /** Weights of linear layers are packed, and unpacked for each product (QLoRA). */
  packed: boolean;
  /** Adapters drop a part of their input, and keep which. */
  dropout: boolean;
  /** Scores of attention are kept: eager attention. */
  eager: boolean;
}

/** Adapters are FP32 whatever the model is (peft: autocast_adapter_dtype). */
const ADAPTER = 4;

export interface Weight {
  elements: number;
  /** True: a weight of a linear layer, which programs quantise. */
  isLinear: boolean;
  /** An adapter's, which is FP32 and trained. */
  isAdapter: boolean;
  parameter: Parameter;
  /** The copy that autocast has made of it in this pass. */
  copy: Tensor | null;
}

export function weightOf(elements: number, { isAdapter = false, isLinear = false } = {}): Weight {
  return { elements, isAdapter, isLinear, parameter: { bytes: 0, kept: 0, gradient: null }, copy: null };
}

function tokensOf({ batch, context }: Mode): number {
  return batch * context;
}

/** A linear layer, with its adapter where adapters are trained and it gets one. */
export class Linear {
  readonly #inputs: number;
  readonly #outputs: number;
  readonly #base: Weight;
  readonly #down: Weight | null;
  readonly #up: Weight | null;
  readonly weights: Weight[];

  constructor(inputs: number, outputs: number, rank: number | null) {
    this.#inputs = inputs;
    this.#outputs = outputs;
    this.#base = weightOf(inputs * outputs, { isLinear: true });
    this.#down = rank === null ? null : weightOf(inputs * rank, { isAdapter: true });
    this.#up = rank === null ? null : weightOf(outputs * rank, { isAdapter: true });
    this.weights = [this.#base, this.#down, this.#up].filter((weight) => weight !== null);
  }

  /** The input stays its caller's. */
  of(mode: Mode, input: Tensor): Tensor {
    return this.#down === null || this.#up === null || mode.rank === null || mode.isReference
      ? multiplied(mode, input, { inputs: this.#inputs, outputs: this.#outputs, weight: this.#base })
      : this.#adapted(mode, input, { down: this.#down, rank: mode.rank, up: this.#up });
  }

  /** result + up(down(x)) × scaling, in FP32. */
  #adapted(mode: Mode, input: Tensor, { down, rank, up }: { down: Weight; rank: number; up: Weight }): Tensor {
    const { autocast, dropout, product, tape } = mode;
    const tokens = tokensOf(mode);
    const unpacked = mode.packed ? this.#base.elements * product : 0;
    if (unpacked > 0) tape.passing(unpacked);
    const base = tape.make(tokens * this.#outputs * product, {
      inputs: [input],
      scratch: unpacked > 0 ? [unpacked] : [],
    });
    const wide = cast(mode, input, this.#inputs, ADAPTER);
    const inside = autocast ? product : ADAPTER;
    const read = dropout ? dropped(mode, wide, tokens * this.#inputs) : tape.hold(wide);
    const x = castAway(mode, read, this.#inputs, inside);
    const narrow = tape.make(tokens * rank * inside, { inputs: [x], saves: [x], trained: [down.parameter] });
    tape.drop(x);
    const full = tokens * this.#outputs * inside;
    const back = tape.make(full, { inputs: [narrow], saves: [narrow], trained: [up.parameter] });
    tape.drop(narrow);
    const scaled = tape.make(full, { inputs: [back] });
    tape.drop(back);
    const sum = tape.make(full, { inputs: [base, scaled], passes: [scaled] });
    tape.drop(base, scaled);
    const result = castAway(mode, sum, this.#outputs, product);
    tape.drop(wide);
    return result;
  }
}

/** The product with a weight that has no adapter. The input stays its caller's. */
export function multiplied(
  mode: Mode,
  input: Tensor,
  { inputs, outputs, weight }: { inputs: number; outputs: number; weight: Weight },
  kind: Kind = 'activations',
): Tensor {
  const { autocast, product, rank, tape } = mode;
  const isTrained = rank === null;
  const x = cast(mode, input, inputs, product);
  const copy = autocast ? autocastCopy(mode, weight) : null;
  const result = tape.make(tokensOf(mode) * outputs * product, {
    inputs: [x],
    saves: [...(isTrained ? [x] : []), ...(copy === null ? [] : [copy])],
    trained: isTrained ? [weight.parameter] : [],
    kind,
  });
  tape.drop(x);
  return result;
}

/** Autocast makes one copy of a weight in a pass. */
function autocastCopy({ copied, product, tape }: Mode, weight: Weight): Tensor {
  if (weight.copy === null) {
    weight.copy = tape.allocate(weight.elements * product, 'copies');
    copied.push(weight);
  }
  return weight.copy;
}

/** Autocast forgets its copies at its end; tensors kept for the backward pass stay. */
export function endAutocast({ copied, tape }: Mode): void {
  for (const weight of copied.splice(0)) {
    if (weight.copy !== null) tape.drop(weight.copy);
    weight.copy = null;
  }
}

/** Keeps one byte for each element: whether it was dropped. */
function dropped({ tape }: Mode, input: Tensor, elements: number): Tensor {
  const mask = tape.make(elements, {});
  const result = tape.make(input.bytes, { inputs: [input], saves: [mask] });
  tape.drop(mask);
  return result;
}

/** A copy in another type; the same tensor where it has that type. The input stays its caller's. */
function cast({ batch, context, tape }: Mode, input: Tensor, width: number, bytes: number): Tensor {
  const size = batch * context * width * bytes;
  return size === input.bytes ? tape.hold(input) : tape.make(size, { inputs: [input] });
}

function castAway(mode: Mode, input: Tensor, width: number, bytes: number): Tensor {
  const result = cast(mode, input, width, bytes);
  mode.tape.drop(input);
  return result;
}

/**
 * `rms`: in FP32, and back before the product with the weight (Llama, Qwen). `rms-wide`: the product in FP32, too (Gemma, OLMo).
 * `layer`: one operation.
 */
export type NormKind = 'rms' | 'rms-wide' | 'layer';

export class Norm {
  readonly #width: number;
  readonly #rows: number;
  readonly #kind: NormKind;
  readonly weights: Weight[];

  /** @param rows vectors of a token: heads, where each head has its own. */
  constructor(kind: NormKind, width: number, rows = 1) {
    this.#kind = kind;
    this.#width = width;
    this.#rows = rows;
    this.weights = [weightOf(width)];
  }

  /** The input stays its caller's. */
  of(mode: Mode, input: Tensor): Tensor {
    const { rank, tape } = mode;
    const width = this.#width * this.#rows;
    const elements = tokensOf(mode) * width;
    const wide = elements * F32;
    const stats = tokensOf(mode) * this.#rows * F32;
    const trained = rank === null ? this.weights.map(({ parameter }) => parameter) : [];
    if (this.#kind === 'layer') {
      const statistics = tape.make(stats * 2, {});
      const result = tape.make(input.bytes, { inputs: [input], saves: [input, statistics], trained });
      tape.drop(statistics);
      return result;
    }
    const x = cast(mode, input, width, F32);
    const squares = tape.allocate(wide, 'activations');
    const root = tape.make(stats, { inputs: [x], saves: [x], scratch: [wide, wide] });
    tape.drop(squares);
    const normal = tape.make(wide, { inputs: [x, root], saves: [x, root], scratch: [wide] });
    tape.drop(x, root);
    const isWide = this.#kind === 'rms-wide';
    const own = input.bytes / elements;
    const factor = isWide ? tape.hold(normal) : cast(mode, normal, width, own);
    const result = tape.make(factor.bytes, {
      inputs: [factor],
      saves: trained.length === 0 ? [] : [factor],
      scratch: trained.length === 0 ? [] : [factor.bytes],
      trained,
    });
    tape.drop(factor);
    const output = isWide ? castAway(mode, result, width, own) : result;
    tape.drop(normal);
    return output;
  }
}

/** x × cos + rotated(x) × sin. The input stays its caller's. */
export function rotary(mode: Mode, input: Tensor, width: number): Tensor {
  const { stream, tape } = mode;
  const bytes = tokensOf(mode) * width * stream;
  const first = tape.allocate(bytes, 'activations');
  const negative = tape.allocate(bytes / 2, 'activations');
  const turned = tape.allocate(bytes, 'activations');
  tape.drop(negative);
  const second = tape.allocate(bytes, 'activations');
  tape.drop(turned);
  const result = tape.make(bytes, { inputs: [input], scratch: [bytes, bytes] });
  tape.drop(first, second);
  return result;
}

/** x + y, as large as the larger. Takes both over. */
export function sum({ tape }: Mode, x: Tensor, y: Tensor): Tensor {
  const bytes = Math.max(x.bytes, y.bytes);
  const result = tape.make(bytes, { inputs: [x, y], passes: [x, y].filter((each) => each.bytes === bytes) });
  tape.drop(x, y);
  return result;
}

export interface Heads {
  queries: number;
  keys: number;
  keyDim: number;
  valueDim: number;
  /** Tokens that it looks back; null: all. */
  window: number | null;
}

/** Attention of queries, keys and values, which stay its caller's; so do the scores, where there are any. */
export function attention(
  mode: Mode,
  { queries, keys, values }: { queries: Tensor; keys: Tensor; values: Tensor },
  heads: Heads,
): { result: Tensor; scores: Tensor | null } {
  const { context, eager, product, tape } = mode;
  const tokens = tokensOf(mode);
  const q = cast(mode, queries, heads.queries * heads.keyDim, product);
  const k = cast(mode, keys, heads.keys * heads.keyDim, product);
  const isMasked = heads.window !== null && heads.window < context;
  const isGrouped = heads.keys < heads.queries;
  // Kernels of 16 bits without a mask share keys among heads; no FP32 kernel does.
  const isPlain = eager || (isGrouped && !isMasked && product === F32);
  const repeats = isGrouped && (isPlain || isMasked);
  const kx = repeats ? repeated(mode, k, heads.queries * heads.keyDim) : k;
  const v = tape.hold(values);
  const vx = repeats ? repeated(mode, v, heads.queries * heads.valueDim) : v;
  const width = tokens * heads.queries * heads.valueDim * product;
  if (isPlain) return scored(mode, { q, k: kx, v: vx }, heads, width);
  const sums = tape.make(tokens * heads.queries * F32, {});
  const bias = isMasked ? tape.make(context * context * product, {}) : null;
  const whole = tokens * heads.queries * heads.keyDim;
  const result = tape.make(width, {
    inputs: [q, kx, vx],
    saves: [q, kx, vx, sums, ...(bias === null ? [] : [bias])],
    savesResult: true,
    scratch: [whole * F32, ...(isGrouped && !repeats ? [whole * product, whole * product] : [])],
  });
  tape.drop(q, kx, vx, sums, ...(bias === null ? [] : [bias]));
  return { result, scores: null };
}

function repeated(mode: Mode, input: Tensor, width: number): Tensor {
  const result = mode.tape.make(tokensOf(mode) * width * mode.product, { inputs: [input] });
  mode.tape.drop(input);
  return result;
}

/** Scores, scaled, masked, softmax in FP32, back in the type of the products, times the values. */
function scored(
  mode: Mode,
  { k, q, v }: { k: Tensor; q: Tensor; v: Tensor },
  { queries }: Heads,
  width: number,
): { result: Tensor; scores: Tensor | null } {
  const { batch, context, product, tape } = mode;
  const elements = batch * queries * context * context;
  const raw = tape.make(elements * product, { inputs: [q, k], saves: [q, k] });
  tape.drop(q, k);
  const scaled = tape.make(elements * product, { inputs: [raw] });
  tape.drop(raw);
  const masked = tape.make(elements * product, { inputs: [scaled], passes: [scaled] });
  tape.drop(scaled);
  const soft = tape.make(elements * F32, { inputs: [masked], savesResult: true });
  tape.drop(masked);
  const scores = product === F32 ? tape.hold(soft) : tape.make(elements * product, { inputs: [soft] });
  tape.drop(soft);
  const mixed = tape.make(width, { inputs: [scores, v], saves: [scores, v] });
  tape.drop(v);
  const result = tape.make(width, { inputs: [mixed] });
  tape.drop(mixed);
  return { result, scores };
}

/** An activation function. Takes its input over. */
function activated({ tape }: Mode, input: Tensor): Tensor {
  const result = tape.make(input.bytes, { inputs: [input], saves: [input] });
  tape.drop(input);
  return result;
}

/** x × y, of which both are kept. Takes both over. */
function times({ tape }: Mode, x: Tensor, y: Tensor, bytes = x.bytes): Tensor {
  const result = tape.make(bytes, { inputs: [x, y], saves: [x, y] });
  tape.drop(x, y);
  return result;
}

/** `fused`: gate and up are one linear layer. `plain`: there is no gate. */
export type FeedForwardKind = 'gated' | 'fused' | 'plain';

/** down(act(gate(x)) × up(x)); or down(act(up(x))). Takes its input over. */
export class FeedForward {
  readonly #kind: FeedForwardKind;
  readonly #width: number;
  readonly #gate: Linear | null;
  readonly #up: Linear;
  readonly #down: Linear;
  readonly weights: Weight[];

  constructor(hidden: number, width: number, kind: FeedForwardKind, rank: number | null) {
    this.#kind = kind;
    this.#width = width;
    this.#gate = kind === 'gated' ? new Linear(hidden, width, rank) : null;
    this.#up = new Linear(hidden, kind === 'fused' ? 2 * width : width, rank);
    this.#down = new Linear(width, hidden, rank);
    this.weights = [...(this.#gate?.weights ?? []), ...this.#up.weights, ...this.#down.weights];
  }

  of(mode: Mode, input: Tensor): Tensor {
    const { tape } = mode;
    const inner = this.#inner(mode, input);
    const result = this.#down.of(mode, inner);
    tape.drop(inner, input);
    return result;
  }

  #inner(mode: Mode, input: Tensor): Tensor {
    const { product, tape } = mode;
    if (this.#gate !== null) return times(mode, activated(mode, this.#gate.of(mode, input)), this.#up.of(mode, input));
    const up = this.#up.of(mode, input);
    if (this.#kind === 'plain') return activated(mode, up);
    const gate = tape.make(tokensOf(mode) * this.#width * product, { inputs: [up], saves: [up] });
    return times(mode, up, gate, gate.bytes);
  }
}

/** Routed experts whose weights are one tensor, each token's in groups (grouped_mm). Takes its input over. */
export class Experts {
  readonly #each: ExpertSizes;
  readonly #router: AdaptedTensor;
  readonly #up: AdaptedTensor;
  readonly #down: AdaptedTensor;
  readonly weights: Weight[];

  /** @param rank of adapters on experts and router; null: they have none. */
  constructor(each: ExpertSizes, rank: number | null) {
    const { experts, hidden, width } = each;
    this.#each = each;
    this.#router = new AdaptedTensor(1, hidden, experts, rank);
    // peft doubles the rank of two layers that are one tensor now.
    this.#up = new AdaptedTensor(experts, hidden, 2 * width, rank === null ? null : 2 * rank);
    this.#down = new AdaptedTensor(experts, width, hidden, rank);
    this.weights = [this.#router, this.#up, this.#down].flatMap(({ weights }) => weights);
  }

  of(mode: Mode, input: Tensor): Tensor {
    const { product, stream, tape } = mode;
    const { experts, hidden, perToken, width } = this.#each;
    const tokens = tokensOf(mode);
    const rows = tokens * perToken;
    const used = [this.#router, this.#up, this.#down].map((tensor) => tensor.of(mode)) as [Used, Used, Used];
    const [router, up, down] = used;
    const logits = tape.make(tokens * experts * F32, through(input, router));
    const chances = tape.make(tokens * experts * F32, { inputs: [logits], savesResult: true });
    tape.drop(logits);
    const final = tape.allocate(tokens * hidden * stream, 'activations');
    const gathered = tape.make(rows * hidden * stream, { inputs: [input] });
    const sorted = tape.make(rows * hidden * product, { inputs: [gathered] });
    const both = tape.make(rows * 2 * width * product, through(sorted, up));
    const gate = tape.make(rows * width * product, { inputs: [both], saves: [both] });
    const inner = tape.make(rows * width * product, { inputs: [gate, both], saves: [gate, both] });
    tape.drop(gate);
    const out = tape.make(rows * hidden * product, through(inner, down));
    const saves = [out, chances];
    const weighted = tape.make(rows * hidden * F32, { inputs: saves, saves, scratch: [rows * hidden * F32] });
    tape.drop(out);
    const ordered = tape.make(rows * hidden * F32, { inputs: [weighted] });
    const narrow = cast(mode, ordered, perToken * hidden, stream);
    tape.noted(final, { inputs: [narrow] });
    tape.drop(gathered, sorted, both, inner, weighted, ordered, narrow, chances, input);
    tape.drop(...used.flatMap(({ tensor }) => (tensor === null ? [] : [tensor])));
    return final;
  }
}

export interface ExpertSizes {
  hidden: number;
  width: number;
  perToken: number;
  experts: number;
}

interface Used {
  /** The weight with its adapter added; null: the weight itself. */
  tensor: Tensor | null;
  trained: readonly Parameter[];
}

/** A product with a weight: its input is kept if the weight or its adapter is trained. */
function through(input: Tensor, { tensor, trained }: Used): Operation {
  if (tensor !== null) return { inputs: [input, tensor], saves: [input, tensor] };
  return { inputs: [input], saves: trained.length === 0 ? [] : [input], trained };
}

/** A weight that is no linear layer: peft adds its adapter to the whole of it, in a new tensor. */
class AdaptedTensor {
  readonly #base: Weight;
  readonly #adapter: readonly Weight[];
  readonly weights: Weight[];

  constructor(experts: number, inputs: number, outputs: number, rank: number | null) {
    this.#base = weightOf(experts * inputs * outputs, { isLinear: true });
    this.#adapter =
      rank === null ? [] : [inputs, outputs].map((width) => weightOf(experts * rank * width, { isAdapter: true }));
    this.weights = [this.#base, ...this.#adapter];
  }

  of({ isReference, rank, tape, weight }: Mode): Used {
    if (rank === null) return { tensor: null, trained: [this.#base.parameter] };
    if (this.#adapter.length === 0 || isReference) return { tensor: null, trained: [] };
    const { elements } = this.#base;
    const trained = this.#adapter.map(({ parameter }) => parameter);
    const difference = tape.make(elements * ADAPTER, { trained });
    const scaled = tape.make(elements * ADAPTER, { inputs: [difference] });
    tape.drop(difference);
    const narrow = tape.make(elements * weight, { inputs: [scaled] });
    tape.drop(scaled);
    const tensor = tape.make(elements * weight, { inputs: [narrow], passes: [narrow] });
    tape.drop(narrow);
    return { tensor, trained: [] };
  }
}
