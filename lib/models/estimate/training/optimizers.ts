/** State that optimizers keep for each trained weight, and memory that a step of theirs needs for a moment. */

import type { Optimizer } from '../../../types/index.ts';
import { F32 } from '../widths.ts';

export interface OptimizerPlan {
  /** Sizes of the tensors of a weight's state, for a weight of `elements` of `bytes` each. */
  state: (elements: number, bytes: number) => readonly number[];
  /** Sizes of the tensors that a step needs for a moment. */
  scratch: (elements: number, bytes: number) => readonly number[];
  /** True: the tensors of all weights are there at once (foreach); false: of one weight after another. */
  allAtOnce: boolean;
  /** Formula in the terms. */
  stateFormula: string;
  scratchFormula: string;
}

const NONE: readonly number[] = [];
/** bitsandbytes keeps the state of small weights in FP32. */
const SMALL = 4096;
/** A scale in FP32 for each block: of 256 (bitsandbytes), of 128 (torchao). */
const BLOCK_8 = 256;
const BLOCK_4 = 128;

/** Two moments of some bytes each, with their scales. */
function packedMoments(bytes: number, block: number): OptimizerPlan['state'] {
  return (elements) => {
    if (elements < SMALL) return [elements * F32, elements * F32];
    const scales = (elements / block) * F32;
    return [elements * bytes, elements * bytes, scales, scales];
  };
}

/** Two moments of one byte each, updated in place by one kernel (bitsandbytes). */
const EIGHT_BITS: OptimizerPlan = {
  state: packedMoments(1, BLOCK_8),
  scratch: () => NONE,
  allAtOnce: false,
  stateFormula: 'trained × 2 × (1 + 4 / 256)',
  scratchFormula: '0',
};

const ADAMW: OptimizerPlan = {
  state: (elements, bytes) => [elements * bytes, elements * bytes],
  scratch: (elements, bytes) => [elements * bytes],
  allAtOnce: true,
  stateFormula: 'trained × 2 × bytes',
  scratchFormula: 'trained × bytes: the roots of all second moments at once (foreach)',
};

export const PLANS: Readonly<Record<Optimizer, OptimizerPlan>> = {
  adamw: ADAMW,
  'adamw-fused': { ...ADAMW, scratch: () => NONE, allAtOnce: false, scratchFormula: '0: one kernel (fused)' },
  'adamw-single': { ...ADAMW, allAtOnce: false, scratchFormula: 'largest weight × bytes: one after another' },
  'adamw-8bit': EIGHT_BITS,
  // Paged state is managed memory, which a unified machine has but once; it is FP32 (bitsandbytes' optim_bits of 32).
  'paged-adamw': {
    state: (elements) => [elements * F32, elements * F32],
    scratch: () => NONE,
    allAtOnce: false,
    stateFormula: 'trained × 2 × 4',
    scratchFormula: '0',
  },
  'paged-adamw-8bit': EIGHT_BITS,
  'adamw-4bit': {
    state: packedMoments(0.5, BLOCK_4),
    // Both moments and the update are unpacked to FP32 for one weight.
    scratch: (elements) => [elements * F32, elements * F32, elements * F32],
    allAtOnce: false,
    stateFormula: 'trained × 2 × (0.5 + 4 / 128)',
    scratchFormula: 'largest weight × 12',
  },
  adafactor: {
    // A row and a column of each matrix.
    state: (elements) => [Math.sqrt(elements) * 2 * F32],
    scratch: (elements) => [elements * F32, elements * F32],
    allAtOnce: false,
    stateFormula: 'a row and a column of each weight × 4',
    scratchFormula: 'largest weight × 8',
  },
  lion: {
    state: (elements, bytes) => [elements * bytes],
    scratch: (elements, bytes) => [elements * bytes],
    allAtOnce: false,
    stateFormula: 'trained × bytes',
    scratchFormula: 'largest weight × bytes',
  },
  sgd: {
    state: () => NONE,
    scratch: () => NONE,
    allAtOnce: true,
    stateFormula: '0',
    scratchFormula: '0',
  },
};
