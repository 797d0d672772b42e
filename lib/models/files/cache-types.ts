/** Data types of a KV cache: bytes of an element with its share of scales. */

import { words } from './words.ts';

const TYPES: ReadonlyMap<string, number> = new Map(
  (
    [
      ['f32 fp32 float32', 4],
      ['f16 fp16 float16 bf16 bfloat16', 2],
      ['fp8 fp8_e4m3 fp8_e5m2 int8', 1],
      // ggml's blocks of 32 elements, with one or two scales of 2 bytes.
      ['q8_0', 34 / 32],
      ['q5_1', 24 / 32],
      ['q5_0', 22 / 32],
      ['q4_1', 20 / 32],
      ['q4_0 iq4_nl', 18 / 32],
      // Half a byte and an FP8 scale for each 16 elements. SGLang's log leaves out the scales of fp4_e2m1.
      ['fp4_e2m1 nvfp4', 0.5 + 1 / 16],
    ] as const
  ).flatMap(([names, bytes]) => words(names).map((name) => [name, bytes])),
);

export const CACHE_TYPES: readonly string[] = [...TYPES.keys()];

/** Bytes of one element; null: there is no such type. */
export function cacheTypeBytes(name: string): number | null {
  return TYPES.get(name.toLowerCase()) ?? null;
}
