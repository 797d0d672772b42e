/** Sums over the tensors of a model, by the part of the model that they belong to and by data type. */

import { modelError } from './model-file.ts';

/** Purpose of a tensor. `experts` are the routed experts of a mixture; `blocks` is everything else in a layer. */
export type WeightPart = 'embedding' | 'output' | 'blocks' | 'experts' | 'vision' | 'mtp';

/** Parameters counted from a config, by part. The parts for images and sound are a rough count. */
export type ParameterCounts = Record<WeightPart, number>;

/** All parameters of the language model, without layers for further tokens. */
export function totalParameters({ blocks, embedding, experts, output }: ParameterCounts): number {
  return blocks + embedding + experts + output;
}

export interface WeightSum {
  part: WeightPart;
  /** Data type as the file names it: "BF16", "F8_E4M3", "Q4_K". */
  dtype: string;
  tensors: number;
  bytes: number;
  /** Parameters of the model, unpacked; 0 for scales and other helpers of a quantised format. */
  parameters: number;
}

/** A tensor of a file: bytes, and parameters of the model that it holds. */
export interface TensorFacts {
  name: string;
  dtype: string;
  bytes: number;
  parameters: number;
}

export class WeightSums {
  /** Sums by part, then by data type: 90,000 tensors build no key of both. */
  readonly #sums = new Map<WeightPart, Map<string, WeightSum>>();
  /** Layers of the main model that have a tensor, where names number them. */
  readonly #layers = new Set<number>();

  /** @param layers number of layers of the main model: those from there on predict further tokens (MTP). null: unknown. */
  add({ bytes, dtype, name, parameters }: TensorFacts, layers: number | null): void {
    const layer = layerOf(name);
    const part = partOf(name, layer, layers);
    const isNumbered = name.includes(FIRST_LAYERS) || name.startsWith('blk.');
    if (isNumbered && (part === 'blocks' || part === 'experts')) this.#layers.add(layer);
    const sum = this.#sumOf(part, dtype);
    sum.tensors++;
    sum.bytes += bytes;
    sum.parameters += parameters;
  }

  merge(others: WeightSums): void {
    for (const layer of others.#layers) this.#layers.add(layer);
    for (const other of others.all()) {
      const sum = this.#sumOf(other.part, other.dtype);
      sum.tensors += other.tensors;
      sum.bytes += other.bytes;
      sum.parameters += other.parameters;
    }
  }

  #sumOf(part: WeightPart, dtype: string): WeightSum {
    let byType = this.#sums.get(part);
    if (byType === undefined) {
      byType = new Map();
      this.#sums.set(part, byType);
    }
    let sum = byType.get(dtype);
    if (sum === undefined) {
      sum = { part, dtype, tensors: 0, bytes: 0, parameters: 0 };
      byType.set(dtype, sum);
    }
    return sum;
  }

  /** @throws where some layers of the main model have tensors and others none: a file is missing. */
  checkLayers(model: { name: string; layers: number } | null, path: string): void {
    if (model === null || this.#layers.size === 0 || this.#layers.size >= model.layers) return;
    if (/^(?:deci$|nemotron.nas)/.test(model.name)) return; // some of its layers were searched away
    const { layers } = model;
    let missing = 0;
    while (this.#layers.has(missing)) missing++;
    throw modelError(
      path,
      `it has tensors of ${this.#layers.size} of ${layers} layers, and none of layer ${missing}: a file is missing; download it`,
    );
  }

  /** Largest first. */
  all(): WeightSum[] {
    return [...this.#sums.values()].flatMap((sums) => [...sums.values()]).sort((a, b) => b.bytes - a.bytes);
  }
}

/** The part of a model that its files tell: their bytes and their tensors. */
export interface FileFacts {
  fileBytes: number;
  sums: WeightSums;
  largestTensor: number;
}

/** @throws where a file is missing. */
export function factsOf(read: readonly FileFacts[], model: Parameters<WeightSums['checkLayers']>[0], path: string) {
  const sums = new WeightSums();
  for (const file of read) sums.merge(file.sums);
  sums.checkLayers(model, path);
  const weights = sums.all();
  return {
    files: read.length,
    fileBytes: read.reduce((sum, { fileBytes }) => sum + fileBytes, 0),
    largestFile: Math.max(...read.map(({ fileBytes }) => fileBytes)),
    largestTensor: Math.max(...read.map(({ largestTensor }) => largestTensor)),
    weights,
    parameters: parametersOf(weights),
  };
}

export function bytesOf(sums: readonly WeightSum[], part?: WeightPart): number {
  return sums.reduce((sum, { bytes, part: of }) => (part === undefined || of === part ? sum + bytes : sum), 0);
}

export function parametersOf(sums: readonly WeightSum[], part?: WeightPart): number {
  return sums.reduce((sum, entry) => (part === undefined || entry.part === part ? sum + entry.parameters : sum), 0);
}

/** The number of a tensor's layer, which stands in its name after "layers." or "blk."; -1: it belongs to none. */
function layerOf(name: string): number {
  const hugging = name.startsWith(FIRST_LAYERS) ? FIRST_LAYERS.length - 7 : name.indexOf('layers.');
  let at = hugging >= 0 ? hugging + 7 : name.startsWith('blk.') ? 4 : name.length;
  let layer = -1;
  for (let digit = digitAt(name, at); digit >= 0; digit = digitAt(name, ++at)) layer = Math.max(0, layer) * 10 + digit;
  return layer;
}

/** Start of nearly every tensor's name. */
const FIRST_LAYERS = 'model.layers.';

function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

const VISION = /(?:^|\.)(?:vision\w*|visual|v|mm|mmproj|multi_modal_projector|image_newline|audio\w*|a)\./;

/** Part of a tensor by its name, in the conventions of Hugging Face and of GGUF. */
function partOf(name: string, layer: number, layers: number | null): WeightPart {
  if (name.includes('mtp.') || name.includes('.nextn.')) return 'mtp';
  // Some name a projection of attention "v" or "a".
  if (!name.startsWith(FIRST_LAYERS) && VISION.test(name)) return 'vision';
  if (layer >= 0) {
    if (layers !== null && layer >= layers) return 'mtp';
    return name.includes('.experts') || name.includes('_exps.') ? 'experts' : 'blocks';
  }
  // Gemma's embeddings of each layer are looked up by the layers.
  if (name.includes('per_layer_token_embd')) return 'blocks';
  if (/(?:embed_tokens|embed_in|wte|word_embeddings|tok_embeddings|token_embd|embeddings?)\.weight$/.test(name))
    return 'embedding';
  if (/(?:^|\.)(?:lm_head|output|embed_out|head)\.weight/.test(name)) return 'output';
  return 'blocks';
}
