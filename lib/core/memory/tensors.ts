/** Exact sizes of tensors: computed with BigInt, and an error if the result does not fit a JavaScript number. */

import { invalidArgument, invalidType, invalidValue, outOfRange } from '../../base/arguments.ts';
import { formatCount } from '../../base/format.ts';
import { didYouMean } from '../../base/nearest.ts';
import { DTYPES, type DType } from '../../types/dtypes.ts';
import type { Tensor } from '../../types/index.ts';
import { type DataType, dataType } from './dtypes.ts';

const MAX_BYTES = BigInt(Number.MAX_SAFE_INTEGER);

/** A requested tensor: a shape, or only a number of elements. */
export interface TensorRequest {
  dtype: string;
  shape: readonly number[] | null;
  elements: number | null;
}

/**
 * @throws TypeError for an unknown dtype or an invalid shape; RangeError for a dimension or a number of elements that
 *   is not a whole number from 1, and for a tensor of 2^53 bytes or more (the message has the shape and the product).
 */
export function tensorOf({ dtype, shape, elements }: TensorRequest): Tensor {
  const type = typeOf(dtype);
  const count = shape === null ? wholeElements(elements) : product(shape);
  const bits = count * BigInt(type.bits);
  const bytes = (bits + 7n) / 8n;
  if (bytes > MAX_BYTES) {
    const argument = shape === null ? 'elements' : 'shape';
    const value = shape === null ? String(count) : `${shape.join('x')} = ${formatBig(count)} elements`;
    throw tooLarge(argument, `${value} of ${dtype}`, bytes);
  }
  return {
    dtype: type.name,
    shape: shape === null ? null : [...shape],
    elements: Number(count),
    bytes: Number(bytes),
    note: noteOf(type, bits, Number(bytes)),
  };
}

function typeOf(name: unknown): { name: DType } & DataType {
  if (typeof name !== 'string') throw invalidType('dtype', 'the name of a data type', name);
  const type = dataType(name);
  if (type === null)
    throw invalidArgument(
      `dtype is ${JSON.stringify(name)}; expected one of ${DTYPES.join(', ')}.${didYouMean(name, DTYPES)}`,
    );
  return type;
}

function wholeElements(elements: unknown): bigint {
  if (typeof elements !== 'number') throw invalidType('elements', 'a number of elements', elements);
  if (!Number.isSafeInteger(elements) || elements < 1)
    throw outOfRange('elements', 'a whole number from 1 to 2^53 − 1', elements);
  return BigInt(elements);
}

/** Number of elements of a shape with 1 to 16 dimensions. May exceed 2^53: the limit is on bytes. */
function product(shape: unknown): bigint {
  if (!Array.isArray(shape) || shape.length === 0 || shape.length > 16)
    throw invalidValue('shape', '1 to 16 dimensions, such as 8192x8192', shape);
  let count = 1n;
  for (const dimension of shape) {
    if (typeof dimension !== 'number') throw invalidType('shape', 'dimensions that are numbers', dimension);
    if (!Number.isSafeInteger(dimension) || dimension < 1)
      throw outOfRange('shape', 'dimensions that are whole numbers from 1 to 2^53 − 1', dimension);
    count *= BigInt(dimension);
  }
  return count;
}

function tooLarge(name: string, value: string, bytes: bigint): RangeError {
  const error = new RangeError(`${name} is ${value}, ${formatBig(bytes)} bytes; expected less than 2^53 bytes`);
  return Object.assign(error, { code: 'ERR_OUT_OF_RANGE' });
}

function formatBig(count: bigint): string {
  return count.toLocaleString('en-US');
}

function noteOf(type: DataType, bits: bigint, bytes: number): string | null {
  const excessBits = bits % 8n;
  const notes: string[] = [];
  if (excessBits !== 0n) notes.push(`${excessBits} bits over: rounded up to ${formatCount(bytes)} bytes`);
  if (type.scales !== null) notes.push(type.scales);
  return notes.length === 0 ? null : notes.join('; ');
}

/** "8192x8192" → [8192, 8192]; null: not whole numbers with x between them. */
export function parseShape(text: string): number[] | null {
  const dimensions = text.split(/[x×]/i);
  return dimensions.every((dimension) => /^\s*\d+\s*$/.test(dimension)) ? dimensions.map(Number) : null;
}

/** Most parameters of a description of a model. */
export const MOST_PARAMETERS = 1e15;

/** "1e9", "1_000_000", "1.5e9" → number of elements; null: not a whole number from 1 to 2^53 − 1. */
export function parseElements(text: string): number | null {
  if (!/^\d[\d_]*(?:\.\d+)?(?:e\+?\d{1,2})?$/i.test(text.trim())) return null;
  const elements = Number(text.trim().replaceAll('_', ''));
  return Number.isSafeInteger(elements) && elements > 0 ? elements : null;
}
