/** A model as its files describe it. */

import type { Model } from '../../types/index.ts';
import type { Architecture } from './architecture.ts';
import type { Quantization } from './quantization.ts';
import type { ParameterCounts, WeightSum } from './weights.ts';

/** All that an estimate needs: no file is read for it again. */
export interface ModelFacts extends Model {
  /** Bytes of the largest file and of the largest tensor: a loader may hold them twice. */
  readonly largestFile: number;
  readonly largestTensor: number;
  /** Sums over its tensors, largest first; empty: their headers are not at hand. */
  readonly weights: readonly WeightSum[];
  /** Bytes of its weights as the caller gave them; null: not given. */
  readonly weightBytes: number | null;
  /** null: nothing says. */
  readonly parameters: number | null;
  /** Parameters counted from a config; null: the tensors were read, or the config does not say. */
  readonly counts: ParameterCounts | null;
  readonly architecture: Architecture | null;
  /** Hidden size that was given with a number of parameters; null: not given. */
  readonly hidden: number | null;
  readonly quantization: Quantization | null;
  /** Data type of the weights that are not quantised, and of the cache: "bfloat16"; null: unknown. */
  readonly dtype: string | null;
  readonly notes: readonly string[];
  /** Fields of its config that no rule understands, and that may change memory. */
  readonly unread: readonly string[];
  /** The same of fields that change the weights alone, where no file says what those take. */
  readonly uncounted: readonly string[];
}

/** A model of which nothing is known but its name. */
export function emptyModel(name: string, source: Model['source']): ModelFacts {
  return {
    name,
    source,
    path: null,
    files: 0,
    fileBytes: 0,
    largestFile: 0,
    largestTensor: 0,
    weights: [],
    weightBytes: null,
    parameters: null,
    counts: null,
    architecture: null,
    hidden: null,
    quantization: null,
    dtype: null,
    notes: [],
    unread: [],
    uncounted: [],
  };
}
