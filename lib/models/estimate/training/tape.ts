/**
 * The allocations of a training step in the order in which PyTorch makes them: operations, what autograd saves of each for
 * the backward pass, and the backward pass itself. Sizes alone; nothing is computed.
 */

import { type Block, CachingAllocator } from './allocator.ts';

/** Purpose of a tensor; the parts of the peak are told apart by it. */
export type Kind = keyof typeof NOTHING;

/** A tensor's storage; it is freed when nobody holds it. */
export interface Tensor {
  bytes: number;
  kind: Kind;
  block: Block | null;
  holders: number;
  /** The operation that made it; null: a leaf, or one that needs no gradient. */
  node: Node | null;
}

interface Node {
  saved: Tensor[];
  /** Operations that get a gradient, and its size; null: the incoming tensor itself. */
  inputs: { node: Node; bytes: number | null; kind: Kind }[];
  /** Bytes that the backward operation needs for itself. */
  scratch: readonly number[];
  /** Trained weights whose gradient it makes. */
  trained: readonly Parameter[];
  kind: Kind;
  /** The gradient that waits for it. */
  gradient: Tensor | null;
  /** A checkpointed part, which runs again before its backward pass. */
  again: (() => void) | null;
}

/** A trained weight. `bytes` are those of its gradient as the operation makes it, `kept` those of the gradient that stays. */
export interface Parameter {
  bytes: number;
  kept: number;
  gradient: Tensor | null;
}

export interface Operation {
  /** Tensors through which a gradient flows back. */
  inputs?: readonly Tensor[];
  /** Kept until the backward pass. */
  saves?: readonly Tensor[];
  /** Sizes of tensors that only the backward pass has. */
  scratch?: readonly number[];
  trained?: readonly Parameter[];
  /** Inputs of a sum, whose gradient is the incoming one. */
  passes?: readonly Tensor[];
  /** The result itself is kept, too. */
  savesResult?: boolean;
  kind?: Kind;
}

export type Shares = Record<Kind, number>;

const NOTHING = {
  weights: 0,
  adapters: 0,
  reference: 0,
  copies: 0,
  gradients: 0,
  optimizer: 0,
  temporaries: 0,
  activations: 0,
  logits: 0,
  workspace: 0,
};

export class Tape {
  readonly allocator = new CachingAllocator();
  /** Bytes by kind now, and at the moment of the most. */
  readonly #now: Shares = { ...NOTHING };
  peak: Shares = { ...NOTHING };
  #most = 0;
  /** Operations of the forward pass; null: none are recorded. */
  #nodes: Node[] | null = null;

  allocate(bytes: number, kind: Kind): Tensor {
    const block = this.allocator.allocate(bytes);
    this.#now[kind] += block.size;
    if (this.allocator.allocated > this.#most) {
      this.#most = this.allocator.allocated;
      this.peak = { ...this.#now };
    }
    return { bytes, kind, block, holders: 1, node: null };
  }

  hold(tensor: Tensor): Tensor {
    tensor.holders++;
    return tensor;
  }

  drop(...tensors: readonly Tensor[]): void {
    for (const tensor of tensors) {
      tensor.holders--;
      if (tensor.holders > 0 || tensor.block === null) continue;
      this.#now[tensor.kind] -= tensor.block.size;
      this.allocator.free(tensor.block);
      tensor.block = null;
    }
  }

  /** A tensor that lives for a moment. */
  passing(bytes: number, kind: Kind = 'activations'): void {
    this.drop(this.allocate(bytes, kind));
  }

  /** The result of an operation, in memory of its own. */
  make(bytes: number, operation: Operation): Tensor {
    const { kind = 'activations' } = operation;
    return this.noted(this.allocate(bytes, kind), operation);
  }

  /** A tensor that an operation has made, or changed where it is. */
  noted(tensor: Tensor, operation: Operation): Tensor {
    const { inputs = [], kind, passes = [], saves = [], savesResult = false, scratch = [], trained = [] } = operation;
    const flowing = inputs.flatMap((input) => flowTo(input, passes.includes(input)));
    if (this.#nodes === null || (flowing.length === 0 && trained.length === 0)) return tensor;
    const saved = (savesResult ? [...saves, tensor] : saves).map((each) => this.hold(each));
    tensor.node = { ...leafNode(), saved, inputs: flowing, scratch, trained, kind: kind ?? 'activations' };
    this.#nodes.push(tensor.node);
    return tensor;
  }

  /** Work whose result is not to be differentiated. */
  withoutRecord<T>(work: () => T): T {
    const outer = this.#nodes;
    this.#nodes = null;
    const value = work();
    this.#nodes = outer;
    return value;
  }

  /** Marks a tensor as one that gradients flow back to, and end at. */
  leaf(tensor: Tensor): void {
    tensor.node = leafNode();
  }

  /** Runs a part of the forward pass without recording, and again before its backward pass. */
  checkpointed(input: Tensor, part: (input: Tensor, isAgain: boolean) => Tensor): Tensor {
    const outer = this.#nodes;
    const output = this.withoutRecord(() => part(this.hold(input), false));
    if (outer === null) return output;
    const node: Node = { ...leafNode(), saved: [this.hold(input)], inputs: flowTo(input) };
    node.again = () => {
      const inner = this.#recorded(() => {
        // It shares its memory with the saved input, which outlives it.
        const again: Tensor = { ...input, holders: Number.POSITIVE_INFINITY, node: leafNode() };
        const result = part(again, true);
        const end = result.node;
        this.drop(result);
        return { end, start: again.node };
      });
      const { end, start } = inner.value;
      if (end !== null) end.gradient = node.gradient;
      node.gradient = null;
      this.#backward(inner.nodes);
      const [target] = node.inputs;
      if (start?.gradient == null) return;
      if (target === undefined) this.drop(start.gradient);
      else this.#accumulate(target.node, start.gradient);
    };
    output.node = node;
    outer.push(node);
    return output;
  }

  /** The forward pass up to a loss, and the backward pass from it. */
  trainingPass(forward: () => Tensor): void {
    const { nodes, value: loss } = this.#recorded(forward);
    if (loss.node !== null) loss.node.gradient = this.allocate(loss.bytes, 'activations');
    this.drop(loss);
    this.#backward(nodes);
  }

  #recorded<T>(work: () => T): { nodes: Node[]; value: T } {
    const outer = this.#nodes;
    const nodes: Node[] = [];
    this.#nodes = nodes;
    const value = work();
    this.#nodes = outer;
    return { nodes, value };
  }

  #backward(nodes: Node[]): void {
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      if (node.again !== null) node.again();
      else if (node.gradient !== null) this.#step(node, node.gradient);
      this.drop(...node.saved);
    }
  }

  #step(node: Node, gradient: Tensor): void {
    node.gradient = null;
    for (const parameter of node.trained) this.#gradientOf(parameter);
    const results = node.inputs.map(({ bytes, kind }) =>
      bytes === null ? this.hold(gradient) : this.allocate(bytes, kind),
    );
    const scratch = node.scratch.map((bytes) => this.allocate(bytes, node.kind));
    this.drop(...scratch, gradient);
    for (const [index, { node: target }] of node.inputs.entries()) this.#accumulate(target, results[index] as Tensor);
  }

  /** A second gradient is added to the first one in place, unless others hold that. */
  #accumulate(target: Node, gradient: Tensor): void {
    const first = target.gradient;
    if (first === null) target.gradient = gradient;
    else if (first.holders === 1) this.drop(gradient);
    else if (gradient.holders === 1) {
      this.drop(first);
      target.gradient = gradient;
    } else {
      target.gradient = this.allocate(first.bytes, first.kind);
      this.drop(first, gradient);
    }
  }

  /**
   * The first gradient of a weight is kept as it was made, if its type is the weight's. A second one, of a layer that shares
   * the weight, is added into a tensor of its own.
   */
  #gradientOf(parameter: Parameter): void {
    const made = this.allocate(parameter.bytes, 'gradients');
    const kept = parameter.bytes === parameter.kept ? this.hold(made) : this.allocate(parameter.kept, 'gradients');
    this.drop(made);
    if (parameter.gradient === null) {
      parameter.gradient = kept;
      return;
    }
    const both = this.allocate(parameter.kept, 'gradients');
    this.drop(kept, parameter.gradient);
    parameter.gradient = both;
  }
}

/** The operation to which a gradient of a tensor flows back; none for a leaf. */
function flowTo({ bytes, kind, node }: Tensor, isPassed = false): Node['inputs'] {
  return node === null ? [] : [{ node, bytes: isPassed ? null : bytes, kind }];
}

function leafNode(): Node {
  return { saved: [], inputs: [], scratch: [], trained: [], kind: 'activations', gradient: null, again: null };
}
