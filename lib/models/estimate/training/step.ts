/** Two steps of training, allocation by allocation: forward pass, loss, backward pass, optimizer. */

import { MiB } from '../../../base/format.ts';
import type { Architecture } from '../../files/architecture.ts';
import { F32 } from '../widths.ts';
import { endAutocast, type Mode, multiplied, type Weight, weightOf } from './layers.ts';
import { type Adapters, type BuiltModel, built } from './model.ts';
import type { OptimizerPlan } from './optimizers.ts';
import { type Shares, Tape, type Tensor } from './tape.ts';

export interface StepPlan extends Pick<Mode, 'batch' | 'context' | 'dropout' | 'eager' | 'product' | 'weight'> {
  architecture: Architecture;
  vocab: number;
  /** Elements of all weights; those beyond the language model's are held, and trained where all are. null: not known. */
  parameters: number | null;
  checkpointing: boolean;
  /** null: every weight is trained. */
  adapters: Adapters;
  /** `likelihood`: cross entropy of transformers. `fused`: the logits of a part of the tokens at once. `preference`: DPO. */
  loss: 'likelihood' | 'fused' | 'preference';
  /** A second copy of the weights: the model that a preference is compared with. */
  reference: boolean;
  /** Bytes of a weight of a linear layer; null: none is packed. */
  packed: number | null;
  optimizer: OptimizerPlan;
}

export interface StepResult {
  /** Allocated parts at the peak. */
  shares: Shares;
  allocated: number;
  /** Bytes that the allocator has taken from the device. */
  reserved: number;
  /** Elements that are trained, and all. */
  trained: number;
  elements: number;
}

/** cuBLAS has a workspace for the thread of the forward pass and one for that of the backward pass (Hopper: 32 MiB). */
const WORKSPACE = 32 * MiB;
/** The optimizer’s state is there from the second step on; later ones find every place free again. */
const STEPS = 2;

export function simulated(plan: StepPlan): StepResult {
  const tape = new Tape();
  const parts = partsOf(plan);
  const { weights } = parts;
  const trained = weights.filter((each) => plan.adapters === null || each.isAdapter);
  for (const each of weights) load(tape, each, plan);
  if (plan.reference) for (const { elements } of weights) tape.allocate(elements * plan.weight, 'reference');
  tape.allocate(WORKSPACE, 'workspace');
  tape.allocate(WORKSPACE, 'workspace');
  const mode = modeOf(tape, plan);
  for (let step = 0; step < STEPS; step++) {
    if (plan.loss === 'preference')
      tape.withoutRecord(() => tape.drop(loss({ ...mode, isReference: true }, plan, parts)));
    tape.trainingPass(() => loss(mode, plan, parts));
    optimize(tape, trained, plan, step === 0);
    for (const { parameter } of trained) {
      if (parameter.gradient !== null) tape.drop(parameter.gradient);
      parameter.gradient = null;
    }
  }
  return {
    shares: tape.peak,
    allocated: tape.allocator.peakAllocated,
    reserved: tape.allocator.reserved,
    trained: elementsOf(trained),
    elements: elementsOf(weights),
  };
}

interface Parts {
  model: BuiltModel;
  embedding: Weight;
  head: Weight;
  /** Weights in the order of the model. */
  weights: readonly Weight[];
}

function partsOf({ adapters, architecture, parameters, vocab }: StepPlan): Parts {
  const model = built(architecture, adapters);
  const size = vocab * architecture.hidden;
  const embedding = weightOf(size);
  const own = [...model.layers.flatMap(({ weights }) => weights), ...model.norm.weights];
  const language = elementsOf(own.filter(({ isAdapter }) => !isAdapter));
  // If nothing says so, the number of parameters tells whether the output layer has weights of its own.
  const isTied = architecture.tied ?? (parameters !== null && parameters < language + 1.5 * size);
  const head = isTied ? embedding : weightOf(size);
  const counted = language + (isTied ? size : 2 * size);
  const other = parameters === null ? 0 : Math.max(0, parameters - counted);
  return {
    model,
    embedding,
    head,
    weights: [embedding, ...own, ...(isTied ? [] : [head]), ...(other === 0 ? [] : [weightOf(other)])],
  };
}

function elementsOf(weights: readonly Weight[]): number {
  return weights.reduce((sum, { elements }) => sum + elements, 0);
}

function load(tape: Tape, each: Weight, { adapters, packed, product, weight }: StepPlan): void {
  const bytes = sizeOf(each, weight);
  const held = each.isLinear && packed !== null ? packed : bytes;
  tape.allocate(each.elements * held, each.isAdapter ? 'adapters' : 'weights');
  if (adapters !== null && !each.isAdapter) return;
  each.parameter.kept = each.elements * bytes;
  each.parameter.bytes = each.elements * (each.isAdapter ? F32 : product);
}

/** Bytes of one element, where it is trained. */
function sizeOf({ isAdapter }: Weight, weight: number): number {
  return isAdapter ? F32 : weight;
}

function modeOf(tape: Tape, { adapters, batch, context, dropout, eager, packed, product, weight }: StepPlan): Mode {
  return {
    tape,
    batch,
    context,
    stream: weight,
    product,
    weight,
    autocast: product !== weight,
    copied: [],
    rank: adapters?.rank ?? null,
    isReference: false,
    packed: packed !== null,
    dropout,
    eager,
  };
}

function loss(mode: Mode, plan: StepPlan, { embedding, head, model }: Parts): Tensor {
  const { rank, stream, tape } = mode;
  const tokens = plan.batch * plan.context;
  let hidden = tape.make(tokens * plan.architecture.hidden * stream, {
    // Partial sums of its gradient, in FP32.
    scratch: rank === null ? [tokens * plan.architecture.hidden * F32] : [],
    trained: rank === null ? [embedding.parameter] : [],
  });
  if (rank !== null && plan.checkpointing) tape.leaf(hidden);
  for (const layer of model.layers) {
    if (!plan.checkpointing) {
      hidden = layer.run(mode, hidden);
      continue;
    }
    const next = tape.checkpointed(hidden, (input, isAgain) => {
      const result = layer.run(mode, input);
      if (isAgain) endAutocast(mode);
      return result;
    });
    tape.drop(hidden);
    hidden = next;
  }
  const normal = model.norm.of(mode, hidden);
  tape.drop(hidden);
  const chances = chancesOf(mode, plan, normal, head);
  const result = tape.make(F32, { inputs: [chances] });
  tape.drop(chances, normal);
  return result;
}

/** Tensor that the loss keeps of the logits for the backward pass. */
function chancesOf(mode: Mode, plan: StepPlan, normal: Tensor, head: Weight): Tensor {
  const { tape } = mode;
  if (plan.loss === 'fused') return fused(mode, plan, normal, head);
  const logits = logitsOf(mode, plan, normal, head);
  endAutocast(mode);
  const elements = plan.batch * plan.context * plan.vocab;
  const chances = plan.loss === 'preference' ? preference(tape, logits) : likelihood(tape, logits, elements);
  tape.drop(logits);
  return chances;
}

/** Cross entropy of transformers: the logits in FP32, and their logarithms of softmax, which are kept. */
function likelihood(tape: Tape, logits: Tensor, elements: number): Tensor {
  const wide =
    logits.bytes === elements * F32
      ? tape.hold(logits)
      : tape.make(elements * F32, { inputs: [logits], kind: 'logits' });
  const chances = tape.make(elements * F32, { inputs: [wide], savesResult: true, kind: 'logits' });
  tape.drop(wide);
  return chances;
}

/** Logarithms of softmax in the type of the logits; the last token has none to predict, and the rest is copied. */
function preference(tape: Tape, logits: Tensor): Tensor {
  const most = tape.make(logits.bytes, { inputs: [logits], kind: 'logits' });
  const chances = tape.make(logits.bytes, { inputs: [most], savesResult: true, kind: 'logits' });
  tape.drop(most);
  return chances;
}

/** Takes as many tokens at once as have logits about as large as the input (Liger's fused linear cross entropy). */
function fused(
  { product, rank, tape }: Mode,
  { architecture, batch, context, vocab }: StepPlan,
  normal: Tensor,
  head: Weight,
): Tensor {
  const tokens = batch * context;
  const parts = nextPower(vocab / architecture.hidden);
  const chunk = nextPower(tokens / parts);
  const gradient = tape.make(tokens * architecture.hidden * product, {
    inputs: [normal],
    trained: rank === null ? [head.parameter] : [],
  });
  const logits = tape.allocate(chunk * vocab * product, 'logits');
  tape.passing(chunk * vocab * F32, 'logits');
  tape.drop(logits);
  return gradient;
}

function nextPower(least: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, least)));
}

function logitsOf(mode: Mode, plan: StepPlan, normal: Tensor, head: Weight): Tensor {
  const { tape } = mode;
  const { hidden, softcap } = plan.architecture;
  const logits = multiplied(mode, normal, { inputs: hidden, outputs: plan.vocab, weight: head }, 'logits');
  if (!softcap) return logits;
  const size = logits.bytes;
  const divided = tape.make(size, { inputs: [logits], kind: 'logits' });
  const bent = tape.make(size, { inputs: [divided], savesResult: true, kind: 'logits' });
  tape.drop(logits, divided);
  const capped = tape.make(size, { inputs: [bent], kind: 'logits' });
  tape.drop(bent);
  return capped;
}

function optimize(tape: Tape, weights: readonly Weight[], { optimizer, weight }: StepPlan, isFirst: boolean): void {
  if (isFirst)
    for (const each of weights)
      for (const bytes of optimizer.state(each.elements, sizeOf(each, weight))) tape.allocate(bytes, 'optimizer');
  const scratch: Tensor[] = [];
  for (const each of weights) {
    for (const bytes of optimizer.scratch(each.elements, sizeOf(each, weight)))
      scratch.push(tape.allocate(bytes, 'temporaries'));
    if (!optimizer.allAtOnce) tape.drop(...scratch.splice(0));
  }
  tape.drop(...scratch);
}
