/** One tensor in the header of a safetensors file: its data type, shape and place. */

import { formatCount } from '../../base/format.ts';
import { isObject } from '../../base/objects.ts';
import { type JsonObject, modelError, quoted } from './model-file.ts';
import type { HeaderEntry } from './safetensors-header.ts';

/** Names of the format by the bits of an element. */
const NAMES_BY_BITS: Readonly<Record<number, string>> = {
  4: 'F4',
  6: 'F6_E2M3 F6_E3M2',
  8: 'BOOL U8 I8 F8_E4M3 F8_E5M2 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ',
  16: 'I16 U16 F16 BF16',
  32: 'I32 U32 F32',
  64: 'I64 U64 F64 C64',
};

const ELEMENT_BITS: ReadonlyMap<string, number> = new Map(
  Object.entries(NAMES_BY_BITS).flatMap(([bits, names]) =>
    names.split(' ').map((name) => [name, Number(bits)] as const),
  ),
);

/** null: a type that this version does not know. */
function bitsOf(dtype: string): number | null {
  return ELEMENT_BITS.get(dtype) ?? null;
}

/** A tensor whose entry has not the usual form. @throws UmaError ERR_UMA_MODEL: it is none. */
export function entryOf(name: string, value: unknown, path: string): HeaderEntry {
  const entry: JsonObject = isObject(value) ? value : {};
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== 'string' || !Array.isArray(shape) || !Array.isArray(offsets) || offsets.length !== 2)
    throw tensorError(path, name, 'expected dtype, shape and two data_offsets');
  const wrong: unknown = shape.find((size) => !isCount(size));
  if (wrong !== undefined)
    throw tensorError(path, name, `its shape has ${JSON.stringify(wrong)}; expected whole numbers from 0`);
  const [begin, end]: unknown[] = offsets;
  if (!isCount(begin) || !isCount(end) || end < begin) {
    const expected = 'expected two whole numbers, the second not smaller';
    throw tensorError(path, name, `its offsets are ${JSON.stringify(offsets)}; ${expected}`);
  }
  return { name, dtype, shape, begin, end };
}

/** Elements of a tensor. @throws UmaError ERR_UMA_MODEL: they do not take the bytes of its offsets. */
export function elementsOf({ begin, dtype, end, name, shape }: HeaderEntry, path: string): number {
  let elements = 1;
  for (const size of shape) elements *= size;
  const bits = bitsOf(dtype);
  // An element of an unknown type takes at least one bit.
  const agrees = bits === null ? elements <= 8 * (end - begin) : Math.ceil((elements * bits) / 8) === end - begin;
  if (agrees) return elements;
  const bytes = `the ${formatCount(end - begin)} bytes of its offsets`;
  throw tensorError(path, name, `shape [${shape.join(', ')}] of ${dtype.slice(0, 40)} does not take ${bytes}`);
}

function tensorError(path: string, name: string, what: string): Error {
  return modelError(path, `tensor ${quoted(name)}: ${what}`);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Endings of tensors that only help to unpack others: scales, zero points, tables. */
const HELPER =
  /(?:scales?|scale_inv|scale_2|qzeros|zeros|zero_point|weight_shape|g_idx|absmax|quant_map|nested_absmax|nested_quant_map|biases|bitsandbytes__\w+)$/;

/**
 * Parameters of the model in one element; 0: it is a helper of the format.
 *
 * @param packedBits bits of a parameter in packed tensors: 8 are in an I32, 2 in a U8; null: none are packed.
 */
export function parametersPerElement(name: string, dtype: string, packedBits: number | null): number {
  if (packedBits === null) return 1;
  if (!name.endsWith('.weight') && (HELPER.test(name) || name.includes('.quant_state.'))) return 0;
  const bits = bitsOf(dtype) ?? 8;
  const packed = (dtype === 'I32' || dtype === 'U8' || dtype === 'I8' || dtype === 'U32') && bits > packedBits;
  return packed ? bits / packedBits : 1;
}
