/** The sizes of a sweep: a list, a range, tensors, or a preset. */

import { checkBytes, checkKeys, invalidArgument, invalidType, invalidValue, outOfRange } from '../../base/arguments.ts';
import { GB } from '../../base/format.ts';
import { SOME_BYTES } from '../../base/limits.ts';
import { type CheckedOf, custom } from '../../base/options.ts';
import type { DType } from '../../types/dtypes.ts';
import type { Tensor } from '../../types/index.ts';
import { tensorOf } from '../memory/tensors.ts';

export interface SweepSize {
  bytes: number;
  /** The tensor that has this size; null: a plain size. */
  tensor: Tensor | null;
}

/** A longer list is most likely a mistake in `range.step`. */
const MAX_SIZES = 10_000;

/** `lab`: the twelve sizes of a DGX Spark curriculum's memory lab. `quick`: a few seconds on any machine. */
export const PRESETS = {
  lab: [1, 2, 4, 8, 10, 20, 30, 40, 50, 60, 70, 80].map((size) => size * GB),
  quick: [0.25, 0.5, 1, 2].map((size) => size * GB),
} as const;

export type SweepPreset = keyof typeof PRESETS;

/** The ways to give sizes, one of which is taken. */
export const SIZES = {
  /** Sizes in bytes, each 1 to 2^53 − 1. Give one of `sizes`, `range`, `tensors` and `preset`. */
  sizes: custom<SweepSize[], null, readonly number[]>((_, value) => checkCount(listSizes(value)).map(plainSize), {
    default: null,
  }),
  /** The sizes from `from` to `to` in steps of `step` bytes, or doubling without `step`. */
  range: custom<SweepSize[], null, { from: number; to: number; step?: number }>(
    (_, value) => checkCount(rangeSizes(value)).map(plainSize),
    { default: null },
  ),
  /** Every combination of a dtype with a shape or number of elements. */
  tensors: custom<
    SweepSize[],
    null,
    { dtypes: readonly DType[]; shapes?: readonly (readonly number[])[]; elements?: number }
  >((_, value) => checkCount(tensorSizes(value)), { default: null }),
  preset: custom<SweepPreset, null>(checkPreset, {
    default: null,
    form: 'word',
    placeholder: '<preset>',
    words: Object.keys(PRESETS),
    help: 'lab: 1 to 80 GB in twelve steps; quick (the default): 0.25 to 2 GB',
  }),
};

/** The sizes in the caller's order, and the preset that they come from. Default: `quick`. */
export function sweepSizes(options: CheckedOf<typeof SIZES>): {
  sizes: readonly SweepSize[];
  preset: SweepPreset | null;
} {
  const names = Object.keys(SIZES) as (keyof typeof SIZES)[];
  const chosen = names.filter((name) => options[name] !== null);
  if (chosen.length > 1)
    throw invalidArgument(`${chosen.join(' and ')} are given together; expected one of ${names.join(', ')}`);
  const sizes = options.sizes ?? options.range ?? options.tensors;
  if (sizes !== null) return { sizes, preset: null };
  const preset = options.preset ?? 'quick';
  return { sizes: PRESETS[preset].map(plainSize), preset };
}

function plainSize(bytes: number): SweepSize {
  return { bytes, tensor: null };
}

function checkPreset(name: string, value: unknown): SweepPreset {
  if (value === 'lab' || value === 'quick') return value;
  throw invalidValue(name, 'lab or quick', value);
}

function checkCount<T>(sizes: T[]): T[] {
  if (sizes.length === 0) throw invalidArgument('sizes is empty; expected at least one size');
  if (sizes.length > MAX_SIZES) throw outOfRange('number of sizes', `at most ${MAX_SIZES}`, sizes.length);
  return sizes;
}

function listSizes(sizes: unknown): number[] {
  if (!Array.isArray(sizes)) throw invalidType('sizes', 'an array of bytes', sizes);
  return sizes.map((size, index) => checkBytes(`sizes[${index}]`, size, SOME_BYTES));
}

/** Linear with `step`, doubling without. Contains `to` only if a step lands on it. */
function rangeSizes(range: unknown): number[] {
  checkKeys('range', range, { from: true, to: true, step: true });
  const { from, to, step } = range as Record<string, unknown>;
  const first = checkBytes('range.from', from, SOME_BYTES);
  const last = checkBytes('range.to', to, SOME_BYTES);
  if (last < first) throw outOfRange('range.to', `at least range.from, ${first}`, last);
  const sizes: number[] = [];
  if (step === undefined) {
    for (let size = first; size <= last; size *= 2) sizes.push(size);
    return sizes;
  }
  const increment = checkBytes('range.step', step, SOME_BYTES);
  if ((last - first) / increment >= MAX_SIZES)
    throw outOfRange(
      'range.step',
      `at least ${Math.ceil((last - first) / MAX_SIZES)}, for ${MAX_SIZES} sizes`,
      increment,
    );
  for (let size = first; size <= last; size += increment) sizes.push(size);
  return sizes;
}

function tensorSizes(tensors: unknown): SweepSize[] {
  checkKeys('tensors', tensors, { dtypes: true, shapes: true, elements: true });
  const { dtypes, shapes, elements } = tensors as Record<string, unknown>;
  checkFilled('tensors.dtypes', 'data types', dtypes);
  if ((shapes === undefined) === (elements === undefined))
    throw invalidArgument(
      `tensors has ${shapes === undefined ? 'neither shapes nor' : 'both shapes and'} elements; expected one of them`,
    );
  if (shapes !== undefined) checkFilled('tensors.shapes', 'shapes', shapes);
  const forms =
    shapes === undefined
      ? [{ shape: null, elements: elements as number }]
      : (shapes as number[][]).map((shape) => ({ shape, elements: null }));
  const all = (dtypes as string[]).flatMap((dtype) => forms.map((form) => tensorOf({ dtype, ...form })));
  return all.map((tensor) => ({ bytes: tensor.bytes, tensor }));
}

function checkFilled(name: string, contents: string, list: unknown): void {
  if (!Array.isArray(list)) throw invalidType(name, `an array of ${contents}`, list);
  if (list.length === 0) throw invalidArgument(`${name} is empty; expected an array of ${contents}`);
}
