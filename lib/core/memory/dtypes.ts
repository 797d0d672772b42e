/** Element types of tensors and the size of an element. */

import { DTYPES, type DType } from '../../types/dtypes.ts';

export interface DataType {
  /** Bits of one element, without scales. */
  bits: number;
  /** Set for block formats: a note on the scales, which are not counted. */
  scales: string | null;
}

const plain = (bits: number): DataType => ({ bits, scales: null });

const NVFP4: DataType = {
  bits: 4,
  scales: 'elements only: with one FP8 scale per 16 elements it would be 0.5625 bytes per element',
};
/** One 8-bit scale (E8M0) per block of 32 elements: OCP Microscaling Formats specification. */
const microscaled = (bits: number): DataType => ({
  bits,
  scales: `elements only: with one 8-bit scale per 32 elements it would be ${(bits + 8 / 32) / 8} bytes per element`,
});

/** TF32 is FP32 in memory; only the tensor cores drop the last bits of the mantissa. */
const FP32 = plain(32);
const FP16 = plain(16);
const BF16 = plain(16);
const FP8 = plain(8);
const FP6 = plain(6);

const TYPES: Readonly<Record<DType, DataType>> = {
  complex128: plain(128),
  complex64: plain(64),
  float64: plain(64),
  fp64: plain(64),
  double: plain(64),
  float32: FP32,
  fp32: FP32,
  float: FP32,
  tf32: FP32,
  float16: FP16,
  fp16: FP16,
  half: FP16,
  bfloat16: BF16,
  bf16: BF16,
  int64: plain(64),
  uint64: plain(64),
  int32: plain(32),
  uint32: plain(32),
  int16: plain(16),
  uint16: plain(16),
  int8: plain(8),
  uint8: plain(8),
  bool: plain(8),
  fp8: FP8,
  float8: FP8,
  fp8_e4m3: FP8,
  fp8_e5m2: FP8,
  float8_e4m3fn: FP8,
  float8_e5m2: FP8,
  mxfp8: microscaled(8),
  fp6: FP6,
  fp6_e2m3: FP6,
  fp6_e3m2: FP6,
  mxfp6: microscaled(6),
  int4: plain(4),
  uint4: plain(4),
  fp4: plain(4),
  nvfp4: NVFP4,
  mxfp4: microscaled(4),
};

/** The type with a name, in any case; null: there is no such type. */
export function dataType(name: string): ({ name: DType } & DataType) | null {
  const found = DTYPES.find((candidate) => candidate === name.toLowerCase());
  return found === undefined ? null : { name: found, ...TYPES[found] };
}
