/** A model as its files describe it. */

import type { Architecture } from './architecture.ts';
import type { ParameterCounts } from './parameters.ts';
import type { Quantization } from './quantization.ts';
import type { WeightSum } from './weights.ts';

export interface Model {
  /** Name of the folder or file, or as it was asked for: "org/name", "llama3:8b". */
  name: string;
  source: 'safetensors' | 'gguf' | 'config' | 'parameters';
  /** Folder or first file; null: there is none. */
  path: string | null;
  /** Number and size of its weight files. */
  files: number;
  fileBytes: number;
  /** Bytes of the largest file and of the largest tensor: what a loader may hold twice. */
  largestFile: number;
  largestTensor: number;
  /** Sums over its tensors, largest first; empty: their headers are not at hand. */
  weights: WeightSum[];
  /** null: nothing says. */
  parameters: number | null;
  /** Parameters counted from a config; null: the tensors were read, or the config does not say. */
  counts: ParameterCounts | null;
  architecture: Architecture | null;
  quantization: Quantization | null;
  /** Data type of the weights that are not quantised, and of the cache: "bfloat16"; null: unknown. */
  dtype: string | null;
  notes: string[];
}

/** A model of which nothing is known but its name. */
export function emptyModel(name: string, source: Model['source']): Model {
  return {
    name,
    source,
    path: null,
    files: 0,
    fileBytes: 0,
    largestFile: 0,
    largestTensor: 0,
    weights: [],
    parameters: null,
    counts: null,
    architecture: null,
    quantization: null,
    dtype: null,
    notes: [],
  };
}
