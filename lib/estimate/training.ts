/** The estimate of training: full fine-tuning (SFT), adapters (LoRA, QLoRA), preferences (DPO), policy gradients (GRPO). */

import { GiB } from '../base/format.ts';
import { range, sumOf } from '../memory/range.ts';
import type { Architecture } from '../models/architecture.ts';
import type { ModelFacts } from '../models/model.ts';
import { bytesOf, parametersOf, totalParameters } from '../models/weights.ts';
import type { EstimateRange, EstimateReport, EstimateTerm, Optimizer } from '../types/index.ts';
import { MEASURED } from './buffers.ts';
import { cacheOf } from './cache.ts';
import { contextOf, estimatedModel, estimatedUse, unreadNote, unreadOf } from './inference.ts';
import { loadingOf } from './loading.ts';
import type { Use } from './use.ts';

type Training = Use & { context: number };

/** Bytes of a parameter in 16 bits, and in 32. */
const HALF = 2;
const FULL = 4;
/** NF4 with one FP32 scale for each 64 weights; with nested scales 0.516. */
const NF4 = 0.5 + 4 / 64;
const NF4_NESTED = 0.516;

export function trainingOf(model: ModelFacts, given: Use): EstimateReport {
  const use = { ...given, context: contextOf(model, given) };
  const parameters = parametersIn(model);
  const trained = isAdapter(use) ? adapterParameters(model.architecture, use.loraRank) : parameters;
  const terms = [
    weightsTerm(model, parameters, use),
    ...(isAdapter(use) && trained !== null ? [adapterTerm(trained, use)] : []),
    ...(!isAdapter(use) && parameters !== null ? stateTerms(parameters, use) : []),
    ...(model.architecture === null ? [] : activationTerms(model.architecture, use)),
    ...referenceTerms(model, parameters, use),
    processTerm(use),
    workersTerm(use),
  ]
    .filter((term) => term !== null)
    .map((term) => divided(term, use));
  const total = sumOf(terms);
  return {
    schema: 'umaprobe/estimate/1',
    model: estimatedModel(model),
    use: estimatedUse(use, 'bf16'),
    method: 'breakdown',
    terms,
    total,
    loading: loadingOf(model, use, total),
    kvBytesPerToken: null,
    unread: unreadOf(model),
    notes: [...unreadNote(model), ...model.notes, ...notesOf(model, parameters, use)],
  };
}

/** Terms that are divided among devices (FSDP, ZeRO-3). */
const DIVIDED = new Set(['weights', 'gradients', 'optimizer', 'adapters', 'reference-model']);

function divided(term: EstimateTerm, { tensorParallel: devices }: Training): EstimateTerm {
  if (devices === 1 || !DIVIDED.has(term.name)) return term;
  const { bytes, low, high } = range(term.bytes / devices, term.low / devices, (term.high / devices) * 1.1);
  return { ...term, bytes, low, high, formula: `(${term.formula}) / devices`, inputs: { ...term.inputs, devices } };
}

function isAdapter({ use }: Use): boolean {
  return use === 'lora' || use === 'qlora';
}

/** Parameters of the language model and what sees; layers for further tokens are not trained. */
function parametersIn({ counts, parameters, weights }: ModelFacts): number | null {
  if (counts !== null) return totalParameters(counts);
  return parameters === null ? null : parameters - parametersOf(weights, 'mtp');
}

function weightsTerm(model: ModelFacts, parameters: number | null, use: Training): EstimateTerm | null {
  if (parameters === null) return null;
  const inputs = { parameters, use: use.use };
  if (use.use === 'qlora') return quantisedTerm(model, parameters);
  if (isAdapter(use) && model.quantization !== null && model.weights.length > 0) {
    const bytes = bytesOf(model.weights) - bytesOf(model.weights, 'mtp');
    return { name: 'weights', ...range(bytes, bytes, bytes), formula: 'sum of the tensors, frozen', inputs };
  }
  const bytes = parameters * HALF;
  // A model that is loaded in FP32 takes twice as much; many trainers do so without saying.
  const most = isAdapter(use) || use.mixedPrecision ? bytes : parameters * FULL;
  return { name: 'weights', ...range(bytes, bytes, most), formula: 'parameters × 2', inputs };
}

/** Linear layers in 4 bits, the embedding and the output layer in 16; or the checkpoint's own 4 bits. */
function quantisedTerm({ counts, quantization, weights }: ModelFacts, parameters: number): EstimateTerm {
  if (quantization !== null && weights.length > 0) {
    const bytes = bytesOf(weights) - bytesOf(weights, 'mtp');
    return {
      name: 'weights',
      ...range(bytes, bytes, bytes * 1.05),
      formula: 'sum of the tensors, quantised by the checkpoint',
      inputs: { bytes },
    };
  }
  const outside =
    counts === null
      ? parametersOf(weights, 'embedding') + parametersOf(weights, 'output')
      : counts.embedding + counts.output;
  const linear = parameters - outside;
  const packed = quantization?.bytesPerWeight ?? NF4;
  const of = (bytes: number): number => linear * bytes + outside * HALF;
  return {
    name: 'weights',
    ...range(of(packed), of(Math.min(packed, NF4_NESTED)), of(packed) * 1.1),
    formula: 'linear × packedBytes + outside × 2',
    inputs: { linear, outside, packedBytes: packed },
  };
}

/** Adapters of one rank on every linear layer: rank × (inputs + outputs) for each. */
function adapterParameters(architecture: Architecture | null, rank: number): number | null {
  if (architecture === null) return null;
  const { expertIntermediate, experts, expertsPerToken, hidden, intermediate, layers } = architecture;
  const [heads, keys, values] = attentionWidths(architecture);
  const attention = 2 * (hidden + heads) + 2 * hidden + keys + values;
  const width = experts > 0 ? (expertIntermediate ?? intermediate ?? 0) : (intermediate ?? 4 * hidden);
  // Adapters on every expert are rare; those of the experts in use are counted.
  const feedForward = 3 * (hidden + width) * (experts > 0 ? Math.max(1, expertsPerToken) : 1);
  return rank * layers * (attention + feedForward);
}

/** Width of all queries, keys and values of a layer. */
function attentionWidths({ cache, heads, hidden }: Architecture): [queries: number, keys: number, values: number] {
  const group = cache.find((layers) => layers.kind === 'attention');
  if (group !== undefined)
    return [(heads ?? 1) * group.keyDim, group.kvHeads * group.keyDim, group.kvHeads * group.valueDim];
  const latent = cache.find((layers) => layers.kind === 'latent');
  if (latent === undefined) return [hidden, hidden, hidden];
  const { kvHeads, keyDim, valueDim } = latent.expanded;
  return [kvHeads * keyDim, kvHeads * keyDim, kvHeads * valueDim];
}

function adapterTerm(trained: number, { loraRank, optimizer }: Training): EstimateTerm {
  const bytes = trained * (FULL + FULL + stateBytes(optimizer, FULL));
  return {
    name: 'adapters',
    // Fewer layers (queries and values alone), or adapters in 16 bits; more with the embedding trained beside them.
    ...range(bytes, bytes / 8, bytes * 2),
    formula: 'trained × (4 weight + 4 gradient + optimizer)',
    inputs: { trained, rank: loraRank, optimizer, optimizerBytes: stateBytes(optimizer, FULL) },
  };
}

/** Bytes of the optimizer's state for one parameter, whose states have `bytes` each. */
function stateBytes(optimizer: Optimizer, bytes: number): number {
  switch (optimizer) {
    case 'adamw':
      return 2 * bytes;
    case 'adamw-8bit':
      return 2 + 2 * (4 / 256); // a scale for each block of 256
    case 'lion':
      return bytes;
    case 'adafactor':
      return 0.02; // a row and a column of each matrix
    case 'sgd':
      return 0;
  }
}

/** 5e8 elements of 2 bytes, for gathering and reducing, 4.5 times (DeepSpeed's documentation of overlap_comm). */
const BUCKETS = 9e9;

/** Gradients and the optimizer's state of full training. */
function stateTerms(parameters: number, { mixedPrecision, optimizer }: Training): EstimateTerm[] {
  const state = stateBytes(optimizer, mixedPrecision ? FULL : HALF);
  const most = stateBytes(optimizer, FULL);
  const master = mixedPrecision ? FULL : 0;
  const gradient = mixedPrecision ? FULL : HALF;
  return [
    {
      name: 'gradients',
      // DeepSpeed's buckets take up to 9 GB with its default sizes and overlapped communication.
      ...range(parameters * gradient, parameters * HALF, parameters * FULL + (mixedPrecision ? BUCKETS : 0)),
      formula: 'parameters × gradientBytes',
      inputs: { parameters, gradientBytes: gradient, mixedPrecision },
    },
    {
      name: 'optimizer',
      ...range(parameters * (state + master), parameters * (state + master), parameters * (most + master)),
      formula: 'parameters × (stateBytes + masterBytes)',
      inputs: { parameters, optimizer, stateBytes: state, masterBytes: master },
    },
  ];
}

/** Copies of the logits: in 16 bits, in 32, softmax and two gradients. Fused losses keep few, shifted copies many. */
const LOGIT_BYTES = { least: 2, typical: 14, most: 28 };
/** Sequences of a batch are shorter than the longest; adapters keep less, since frozen layers need no inputs. */
const ACTIVATIONS = { least: 0.4, adapters: 0.8, most: 1.4 };

function activationTerms(architecture: Architecture, use: Training): EstimateTerm[] {
  const { hidden, layers, vocab } = architecture;
  // A preference has two answers.
  const sequences = use.batch * (use.use === 'dpo' ? 2 : 1);
  const tokens = sequences * use.context;
  const inLayer = layerActivations(architecture) * (isAdapter(use) ? ACTIVATIONS.adapters : 1);
  const bytes = use.checkpointing ? tokens * (layers * hidden * HALF + inLayer) : tokens * layers * inLayer;
  const inputs = {
    sequences,
    context: use.context,
    layers,
    hidden,
    bytesInLayer: Math.round(inLayer),
    checkpointing: use.checkpointing,
  };
  const logits = tokens * (vocab ?? 0);
  return [
    {
      name: 'activations',
      ...range(bytes, bytes * ACTIVATIONS.least, bytes * ACTIVATIONS.most),
      formula: use.checkpointing
        ? 'sequences × context × (layers × hidden × 2 + bytesInLayer)'
        : 'sequences × context × layers × bytesInLayer',
      inputs,
    },
    {
      name: 'logits',
      ...range(logits * LOGIT_BYTES.typical, logits * LOGIT_BYTES.least * ACTIVATIONS.least, logits * LOGIT_BYTES.most),
      formula: 'sequences × context × vocab × 14',
      inputs: { sequences, context: use.context, vocab },
    },
  ];
}

/**
 * Bytes that one token leaves in a layer for the backward pass, without checkpointing: two norms computed in FP32 (20 per
 * hidden element), queries, keys and values before and after their rotation and the output of attention (8 per element),
 * and four vectors of the feed-forward part in 16 bits.
 */
function layerActivations(architecture: Architecture): number {
  const { expertIntermediate, experts, expertsPerToken, hidden, intermediate } = architecture;
  const [queries, keys] = attentionWidths(architecture);
  const width =
    experts > 0 ? expertsPerToken * (expertIntermediate ?? intermediate ?? 0) : (intermediate ?? 4 * hidden);
  return 20 * hidden + 8 * (queries + keys) + 8 * width;
}

/** The model that DPO and GRPO compare with, and the engine that writes GRPO's answers. */
function referenceTerms(model: ModelFacts, parameters: number | null, use: Training): (EstimateTerm | null)[] {
  if (parameters === null || (use.use !== 'dpo' && use.use !== 'grpo')) return [];
  const weights = parameters * HALF;
  const reference: EstimateTerm = {
    name: 'reference-model',
    // Reference answers that are computed beforehand, or beta = 0, need none.
    ...range(weights, 0, weights * 2),
    formula: 'parameters × 2',
    inputs: { parameters },
  };
  return use.use === 'dpo' ? [reference] : [reference, rolloutTerm(model, weights, use)];
}

function rolloutTerm(model: ModelFacts, weights: number, use: Training): EstimateTerm {
  const cache = sumOf(cacheOf(model, { ...use, program: 'vllm', sequences: use.sequences * use.batch }).terms);
  const of = (part: EstimateRange): number => weights + part.bytes;
  return {
    name: 'rollout-engine',
    ...range(of(cache) + 2 * GiB, weights, of(cache) + 12 * GiB),
    formula:
      'weights + kv-cache of batch × sequences + 2 GiB; an engine with a share of memory takes all of that share',
    inputs: { weights, cache: cache.bytes, batch: use.batch, sequences: use.sequences },
  };
}

/** Python, libraries and the CUDA context: host memory, which is the same memory on a unified machine. */
function processTerm(_use: Training): EstimateTerm {
  return {
    name: 'runtime',
    ...range(3 * GiB, 0.5 * GiB, 8 * GiB),
    formula: MEASURED,
    inputs: {},
  };
}

/** A worker is a Python process with the samples that it prepares. */
function workersTerm({ workers }: Training): EstimateTerm | null {
  if (workers === 0) return null;
  return {
    name: 'data-workers',
    ...range(workers * 0.25 * GiB, 0, workers * GiB),
    formula: 'workers × 0.25 GiB',
    inputs: { workers },
  };
}

function notesOf({ architecture }: ModelFacts, parameters: number | null, use: Training): string[] {
  const notes: string[] = [];
  if (parameters === null) notes.push('The parameters are not known: weights and optimizer are missing.');
  if (architecture === null) notes.push('The architecture is not known: activations, logits and adapters are missing.');
  if (use.use === 'lora' && architecture !== null && architecture.experts > 0)
    notes.push('Adapters are counted for the experts that a token uses; adapters on all experts take more.');
  return notes;
}
