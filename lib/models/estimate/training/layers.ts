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

/** A part of a model. The input of its run stays its caller's, unless it says that it takes it over. */
export interface Part {
  of(mode: Mode, input: Tensor): Tensor;
  weights: readonly Weight[];
}

/** A weight that is multiplied with, and the vectors that it takes and makes. */
interface Matrix {
  inputs: number;
  outputs: number;
  weight: Weight;
}

interface Adapter {
  down: Weight;
  rank: number;
  up: Weight;
}

/** A linear layer, with its adapter where adapters are trained and it gets one. */
export function linear(inputs: number, outputs: number, rank: number | null): Part {
  const weight = weightOf(inputs * outputs, { isLinear: true });
  const matrix = { inputs, outputs, weight };
  if (rank === null) return { of: (mode, input) => multiplied(mode, input, matrix), weights: [weight] };
  const down = weightOf(inputs * rank, { isAdapter: true });
  const up = weightOf(outputs * rank, { isAdapter: true });
  return {
    of: (mode, input) =>
      mode.isReference ? multiplied(mode, input, matrix) : adapted(mode, input, matrix, { down, rank, up }),
    weights: [weight, down, up],
  };
}

/** result + up(down(x)) × scaling, in FP32. */
function adapted(mode: Mode, input: Tensor, { inputs, outputs, weight }: Matrix, { down, rank, up }: Adapter): Tensor {
  const { autocast, dropout, product, tape } = mode;
  const tokens = tokensOf(mode);
  const unpacked = mode.packed ? weight.elements * product : 0;
  if (unpacked > 0) tape.passing(unpacked);
  const base = tape.make(tokens * outputs * product, {
    inputs: [input],
    scratch: unpacked > 0 ? [unpacked] : [],
  });
  const wide = cast(mode, input, inputs, ADAPTER);
  const inside = autocast ? product : ADAPTER;
  const read = dropout ? dropped(mode, wide, tokens * inputs) : tape.hold(wide);
  const x = castAway(mode, read, inputs, inside);
  const narrow = tape.make(tokens * rank * inside, { inputs: [x], saves: [x], trained: [down.parameter] });
  tape.drop(x);
  const full = tokens * outputs * inside;
  const back = tape.make(full, { inputs: [narrow], saves: [narrow], trained: [up.parameter] });
  tape.drop(narrow);
  const scaled = tape.make(full, { inputs: [back] });
  tape.drop(back);
  const sum = tape.make(full, { inputs: [base, scaled], passes: [scaled] });
  tape.drop(base, scaled);
  const result = castAway(mode, sum, outputs, product);
  tape.drop(wide);
  return result;
}

/** The product with a weight that has no adapter. The input stays its caller's. */
export function multiplied(
  mode: Mode,
  input: Tensor,
  { inputs, outputs, weight }: Matrix,
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

/** @param rows vectors of a token: heads, where each head has its own. */
export function normOf(kind: NormKind, vector: number, rows = 1): Part {
  const weights = [weightOf(vector)];
  const of = (mode: Mode, input: Tensor): Tensor => {
    const { rank, tape } = mode;
    const width = vector * rows;
    const elements = tokensOf(mode) * width;
    const wide = elements * F32;
    const stats = tokensOf(mode) * rows * F32;
    const trained = rank === null ? weights.map(({ parameter }) => parameter) : [];
    if (kind === 'layer') {
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
    const isWide = kind === 'rms-wide';
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
  };
  return { of, weights };
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
export function feedForwardOf(hidden: number, width: number, kind: FeedForwardKind, rank: number | null): Part {
  const gate = kind === 'gated' ? linear(hidden, width, rank) : null;
  const up = linear(hidden, kind === 'fused' ? 2 * width : width, rank);
  const down = linear(width, hidden, rank);
  const innerOf = (mode: Mode, input: Tensor): Tensor => {
    const { product, tape } = mode;
    if (gate !== null) return times(mode, activated(mode, gate.of(mode, input)), up.of(mode, input));
    const both = up.of(mode, input);
    if (kind === 'plain') return activated(mode, both);
    const half = tape.make(tokensOf(mode) * width * product, { inputs: [both], saves: [both] });
    return times(mode, both, half, half.bytes);
  };
  const of = (mode: Mode, input: Tensor): Tensor => {
    const inner = innerOf(mode, input);
    const result = down.of(mode, inner);
    mode.tape.drop(inner, input);
    return result;
  };
  return { of, weights: [...(gate?.weights ?? []), ...up.weights, ...down.weights] };
}

/**
 * Routed experts whose weights are one tensor, each token's in groups (grouped_mm). Takes its input over.
 *
 * @param rank of adapters on experts and router; null: they have none.
 */
export function expertsOf({ experts, hidden, perToken, width }: ExpertSizes, rank: number | null): Part {
  const tensors = [
    adaptedTensor(1, hidden, experts, rank),
    // peft doubles the rank of two layers that are one tensor now.
    adaptedTensor(experts, hidden, 2 * width, rank === null ? null : 2 * rank),
    adaptedTensor(experts, width, hidden, rank),
  ];
  const of = (mode: Mode, input: Tensor): Tensor => {
    const { product, stream, tape } = mode;
    const tokens = tokensOf(mode);
    const rows = tokens * perToken;
    const used = tensors.map((tensor) => tensor.of(mode)) as [Used, Used, Used];
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
  };
  return { of, weights: tensors.flatMap(({ weights }) => weights) };
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
function adaptedTensor(experts: number, inputs: number, outputs: number, rank: number | null) {
  const base = weightOf(experts * inputs * outputs, { isLinear: true });
  const adapter =
    rank === null ? [] : [inputs, outputs].map((width) => weightOf(experts * rank * width, { isAdapter: true }));
  const of = (mode: Mode): Used => {
    const { tape, weight } = mode;
    if (mode.rank === null) return { tensor: null, trained: [base.parameter] };
    if (adapter.length === 0 || mode.isReference) return { tensor: null, trained: [] };
    const { elements } = base;
    const trained = adapter.map(({ parameter }) => parameter);
    const difference = tape.make(elements * ADAPTER, { trained });
    const scaled = tape.make(elements * ADAPTER, { inputs: [difference] });
    tape.drop(difference);
    const narrow = tape.make(elements * weight, { inputs: [scaled] });
    tape.drop(scaled);
    const tensor = tape.make(elements * weight, { inputs: [narrow], passes: [narrow] });
    tape.drop(narrow);
    return { tensor, trained: [] };
  };
  return { of, weights: [base, ...adapter] };
}
