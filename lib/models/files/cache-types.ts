/** Data types of a KV cache: bytes of an element with its share of scales. */

const TYPES: ReadonlyMap<string, number> = new Map([
  ['f32', 4],
  ['fp32', 4],
  ['float32', 4],
  ['f16', 2],
  ['fp16', 2],
  ['float16', 2],
  ['bf16', 2],
  ['bfloat16', 2],
  ['fp8', 1],
  ['fp8_e4m3', 1],
  ['fp8_e5m2', 1],
  ['int8', 1],
  // ggml's blocks of 32 elements, with one or two scales of 2 bytes.
  ['q8_0', 34 / 32],
  ['q5_1', 24 / 32],
  ['q5_0', 22 / 32],
  ['q4_1', 20 / 32],
  ['q4_0', 18 / 32],
  ['iq4_nl', 18 / 32],
  // Half a byte and an FP8 scale for each 16 elements. SGLang's log leaves out the scales of fp4_e2m1.
  ['fp4_e2m1', 0.5 + 1 / 16],
  ['nvfp4', 0.5 + 1 / 16],
]);

export const CACHE_TYPES: readonly string[] = [...TYPES.keys()];

/** Bytes of one element; null: there is no such type. */
export function cacheTypeBytes(name: string): number | null {
  return TYPES.get(name.toLowerCase()) ?? null;
}
