/** The weights that a program keeps in memory. */

import { invalidValue } from '../../base/arguments.ts';
import { exactly, range } from '../../core/memory/range.ts';
import type { EstimateRange, EstimateTerm } from '../../types/index.ts';
import type { ModelFacts } from '../files/model.ts';
import { WEIGHT_FORMATS, weightFormat } from '../files/weight-formats.ts';
import { bytesOf, type ParameterCounts } from '../files/weights.ts';
import { isLlama, loadsInHalf, type Use } from './use.ts';

/** Parts of a share of the weights that programs pad: vocabularies to a multiple of 64, matrices to that of a kernel. */
const PADDING = 0.01;
/** The true parameters of what sees and hears, as shares of the rough count. */
const TOWER_RANGE = { low: 0.8, high: 1.5 };
/** Kernels of 4-bit experts work on tiles: 2880 becomes 3072 (gpt-oss), 704 becomes 768 (Gemma 4). */
const EXPERT_TILE = 256;

/** The term, and a copy that llama.cpp makes of an embedding without an output layer. */
export function weightTerms(whole: ModelFacts, use: Use): EstimateTerm[] {
  const model = loadsInHalf(whole, use) ? inHalf(whole) : whole;
  const { architecture, counts, dtype, weightBytes, weights } = model;
  if (weightBytes !== null)
    return [{ name: 'weights', ...exactly(weightBytes), formula: 'as given', inputs: { weightBytes } }];
  if (weights.length === 0 && counts === null) return [];
  if (counts !== null && weights.length === 0) {
    const bytes = (weightFormat(dtype ?? 'bfloat16')?.bits ?? 16) / 8;
    const embedding = (architecture?.vocab ?? 0) * (architecture?.hidden ?? 0) * bytes;
    return [countedTerm(model, counts, use), ...copyTerms(counts.output === 0, embedding, use)];
  }
  const embedding = bytesOf(weights, 'embedding');
  const parts = {
    embedding,
    output: bytesOf(weights, 'output'),
    layers: bytesOf(weights, 'blocks'),
    experts: bytesOf(weights, 'experts'),
    vision: use.languageModelOnly ? 0 : bytesOf(weights, 'vision'),
    mtp: use.mtp ? bytesOf(weights, 'mtp') : 0,
  };
  const sum = 'embedding + output + layers + experts + vision + mtp';
  const bytes = Object.values(parts).reduce((total, part) => total + part, 0);
  const devices = use.tensorParallel;
  const term = {
    name: 'weights',
    ...perDevice(loaded(model, bytes, use), parts.vision, devices),
    formula: devices === 1 ? sum : `(${sum}) / devices`,
    inputs: devices === 1 ? parts : { ...parts, devices },
  };
  return [term, ...copyTerms(architecture?.tied === true, embedding, use)];
}

function inHalf(model: ModelFacts): ModelFacts {
  const weights = model.weights.map((sum) =>
    sum.dtype === 'F32' ? { ...sum, dtype: 'BF16', bytes: sum.bytes / 2 } : sum,
  );
  return { ...model, dtype: 'bfloat16', weights };
}

/** The embedding once more, as llama.cpp keeps it of a model that uses it as its output layer. */
function copyTerms(isTied: boolean, whole: number, use: Use): EstimateTerm[] {
  if (!isTied || !isLlama(use.program)) return [];
  const embedding = whole / use.tensorParallel;
  return [
    {
      name: 'output-copy',
      ...range(embedding, 0, embedding),
      formula: 'embedding, once more on the GPU: the model has no output layer of its own',
      inputs: { embedding },
    },
  ];
}

/** A share of each matrix. Norms and routers are on every device, and in some programs the tower that sees. */
function perDevice({ bytes, low, high }: EstimateRange, vision: number, devices: number): EstimateRange {
  if (devices === 1) return { bytes, low, high };
  return range(bytes / devices, low / devices, ((high - vision) / devices) * 1.1 + vision);
}

/** The range: layers that some builds load and others do not, and what kernels pad. */
function loaded(model: ModelFacts, bytes: number, use: Use): EstimateRange {
  if (isLlama(use.program)) {
    const mtp = use.mtp ? 0 : bytesOf(model.weights, 'mtp');
    return range(bytes, bytes, bytes + mtp);
  }
  if (use.program === null) return range(bytes, bytes, bytes + (use.mtp ? 0 : bytesOf(model.weights, 'mtp')));
  return range(bytes, bytes, bytes * (1 + PADDING) + tileBytes(model, bytesOf(model.weights, 'experts')));
}

/** Bytes that tiles of 4-bit kernels add to experts of a size. */
function tileBytes({ architecture, quantization }: ModelFacts, experts: number): number {
  const width = architecture?.expertIntermediate ?? architecture?.intermediate ?? 0;
  if (architecture === null || width === 0 || !/^(mxfp4|nvfp4)$/.test(quantization?.method ?? '')) return 0;
  const tiled = (size: number): number => (Math.ceil(size / EXPERT_TILE) * EXPERT_TILE) / size;
  return experts * (tiled(width) * tiled(architecture.hidden) - 1);
}

/** Weights of a config alone: its parameters, in the data types that it names. */
function countedTerm(model: ModelFacts, counts: ParameterCounts, use: Use): EstimateTerm {
  const { dtype, quantization } = model;
  const plain = (weightFormat(dtype ?? 'bfloat16')?.bits ?? 16) / 8;
  const packed = quantization === null ? plain : (quantization.bytesPerWeight ?? (quantization.bits ?? 8 * plain) / 8);
  const outside = counts.embedding + counts.output;
  const layers = counts.blocks + (use.mtp ? counts.mtp : 0);
  // MXFP4 models quantise their experts alone; of the other formats some leave the attention of a mixture as it is.
  const expertsOnly = quantization?.method === 'mxfp4';
  // MLX quantises the embedding and the output layer, too.
  const outer = quantization?.method === 'mlx' ? packed : plain;
  const ofExperts = quantization?.expertBytesPerWeight ?? packed;
  const tower = use.languageModelOnly ? 0 : counts.vision * plain;
  const of = (layerBytes: number, towers = tower): number =>
    outside * outer + layers * layerBytes + counts.experts * ofExperts + towers;
  const bytes = of(expertsOnly ? plain : packed);
  const most = of(packed + (plain - packed) * unquantized(model, counts), tower * TOWER_RANGE.high) * (1 + PADDING);
  const tiles = tileBytes(model, counts.experts * ofExperts);
  const devices = use.tensorParallel;
  return {
    name: 'weights',
    ...range(
      bytes / devices,
      of(packed, tower * TOWER_RANGE.low) / devices,
      ((Math.max(bytes, most) + tiles) / devices) * (devices > 1 ? 1.1 : 1),
    ),
    formula:
      '(embedding + output) × outerBytes + layers × (expertsOnly ? plainBytes : packedBytes) + experts × expertBytes + vision × plainBytes',
    inputs: {
      ...counts,
      layers,
      plainBytes: plain,
      packedBytes: packed,
      expertBytes: ofExperts,
      expertsOnly,
      quantization: quantization?.method ?? null,
    },
  };
}

/**
 * The most that a quantised checkpoint leaves in 16 bits of its layers besides the experts: of a mixture all, of a dense
 * model the attention and the first and last layers (405B in FP8: a fifth). AWQ and GPTQ quantise every linear layer.
 */
function unquantized({ quantization }: ModelFacts, { experts }: ParameterCounts): number {
  if (quantization === null) return 0;
  if (experts > 0) return 1;
  return /^(awq|gptq)$/.test(quantization.method) ? 0 : 0.3;
}

/** Bytes of a number of parameters, with the scales of their format: "nvfp4" is 0.5625 bytes each. */
export function parameterTerm(parameters: number, dtype: string): EstimateTerm {
  const format = weightFormat(dtype);
  if (format === null) throw invalidValue('dtype', `one of ${WEIGHT_FORMATS.join(', ')}`, dtype);
  const of = (bits: number): number => Math.ceil((parameters * bits) / 8);
  return {
    name: 'weights',
    ...range(of(format.bits), of(format.low), of(format.high)),
    formula: 'parameters × bits(dtype) / 8',
    inputs: { parameters, dtype: format.name, bits: format.bits, source: format.source },
  };
}
