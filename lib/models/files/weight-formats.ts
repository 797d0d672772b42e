/** Formats of a whole model's weights: bits of a weight with its share of scales, and of the parts that stay larger. */

import { dataType } from '../../core/memory/dtypes.ts';
import { DTYPES } from '../../types/dtypes.ts';

export interface WeightFormat {
  name: string;
  /** Bits of a weight on average, with scales: expected, least and most. */
  bits: number;
  low: number;
  high: number;
  source: string;
}

const format = (bits: number, low: number, high: number, source: string): Omit<WeightFormat, 'name'> => ({
  bits,
  low,
  high,
  source,
});

/** llama-quantize's README: Llama 3.1 8B, and at the low end a large model, in which the embedding counts less. */
const mixture = (bits: number, low: number): Omit<WeightFormat, 'name'> =>
  format(bits, low, bits * 1.05, 'mixture of types: tools/quantize of llama.cpp, Llama 3.1 8B');
/** Types of ik_llama.cpp: published files are up to a sixth larger, because attention and embedding have more bits. */
const ikType = (bits: number): Omit<WeightFormat, 'name'> =>
  format(bits, bits, bits * 1.17, 'type of ik_llama.cpp; files keep attention and embedding in more bits');

const SCALED: ReadonlyMap<string, Omit<WeightFormat, 'name'>> = new Map([
  ['nvfp4', format(4.5, 4.5, 5.4, 'an FP8 scale for each 16 weights; files keep some layers in 16 bits')],
  ['mxfp4', format(4.25, 4.25, 5.1, 'an 8-bit scale for each 32 weights; files keep some layers in 16 bits')],
  ['mxfp6', format(6.25, 6.25, 7.5, 'an 8-bit scale for each 32 weights')],
  ['mxfp8', format(8.25, 8.25, 9.9, 'an 8-bit scale for each 32 weights')],
  ['nf4', format(4.5, 4.127, 5.4, 'bitsandbytes: an FP32 scale for each 64 weights; nested scales take less')],
  ['fp8', format(8, 8, 9.6, 'one byte; files keep embeddings and some layers in 16 bits')],
  ['int8', format(8, 8, 9.6, 'one byte; scales, and some layers in 16 bits')],
  ['int4', format(4, 4, 4.8, 'half a byte; scales of groups, and some layers in 16 bits')],
  ['q8_0', format(8.5, 8.5, 8.5, 'a 16-bit scale for each 32 weights')],
  ['q6_k', mixture(6.5633, 6.5625)],
  ['q5_k_m', mixture(5.7036, 5.65)],
  ['q5_k_s', mixture(5.5704, 5.5)],
  ['q4_k_m', mixture(4.8944, 4.8)],
  ['q4_k_s', mixture(4.6672, 4.53)],
  ['q4_0', mixture(4.6613, 4.5)],
  ['q3_k_l', mixture(4.2979, 4.19)],
  ['q3_k_m', mixture(3.996, 3.85)],
  ['q3_k_s', mixture(3.6429, 3.47)],
  ['q2_k', mixture(3.1593, 2.96)],
  ['iq4_nl', mixture(4.6818, 4.5)],
  ['iq4_xs', mixture(4.4597, 4.25)],
  ['iq3_m', mixture(3.7628, 3.66)],
  ['iq3_xxs', mixture(3.2548, 3.06)],
  ['iq2_m', mixture(2.9294, 2.7)],
  ['iq6_k', ikType(6.625)],
  ['iq5_k', ikType(5.5)],
  ['iq4_k', ikType(4.5)],
  ['iq4_ks', ikType(4.25)],
  ['iq3_k', ikType(3.4375)],
  ['iq2_k', ikType(2.375)],
]);

export const WEIGHT_FORMATS: readonly string[] = [...new Set([...DTYPES, ...SCALED.keys()])];

/** The format with a name, in any case; null: there is none. */
export function weightFormat(name: string): WeightFormat | null {
  const lower = name.toLowerCase();
  const scaled = SCALED.get(lower);
  if (scaled !== undefined) return { name: lower, ...scaled };
  const type = dataType(lower);
  if (type === null) return null;
  return { name: type.name, ...format(type.bits, type.bits, type.bits, 'elements of this type') };
}
