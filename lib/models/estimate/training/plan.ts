/** Meaning of a training's options for its weights and its steps. */

import type { ModelFacts } from '../../files/model.ts';
import type { Use, UseAt } from '../use.ts';
import { F32, HALF } from '../widths.ts';

/** Bytes of one element. */
export interface Types {
  /** Bytes in a weight. */
  weight: number;
  /** Bytes in a factor of a product. */
  product: number;
  /** Bytes in a packed weight of a linear layer; null: none is packed. */
  packed: number | null;
}

/** NF4 with one FP32 scale for each 64 weights. */
const NF4 = 0.5 + 4 / 64;

export function isAdapter({ use }: Pick<Use, 'use'>): boolean {
  return use === 'lora' || use === 'qlora' || use === 'lora-dpo';
}

export function isPreference({ use }: Pick<Use, 'use'>): boolean {
  return use === 'dpo' || use === 'lora-dpo' || use === 'grpo';
}

/** FP32 weights are multiplied in 16 bits, as trainers do (autocast), unless FP32 was asked for. */
export function typesOf({ dtype, quantization }: ModelFacts, use: UseAt): Types {
  const isFull = use.dtype === 'fp32' || use.mixedPrecision || (use.dtype === null && dtype === 'float32');
  const isPure = use.dtype === 'fp32' && !use.mixedPrecision;
  const weight = isFull && use.use !== 'qlora' ? F32 : HALF;
  const own = isAdapter(use) ? (quantization?.bytesPerWeight ?? null) : null;
  return {
    weight,
    product: isPure ? F32 : HALF,
    packed: use.use === 'qlora' ? (own ?? NF4) : own,
  };
}

/** Sequences of a step: a preference has two answers. */
export function sequencesOf(use: UseAt): number {
  return use.batch * (use.use === 'dpo' || use.use === 'lora-dpo' ? 2 : 1);
}
