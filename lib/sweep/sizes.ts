/** Which sizes a sweep goes through: given ones, a range, tensors, or a preset. */

import { checkBytes, invalidArgument, invalidType, invalidValue, outOfRange } from '../base/arguments.ts';
import { GB } from '../base/format.ts';
import { tensorOf } from '../models/tensors.ts';
import type { SweepOptions, Tensor } from '../types/index.ts';

/** A size, and what it stands for. */
export interface SweepSize {
  bytes: number;
  tensor: Tensor | null;
}

/** More sizes are a mistake in a step, not a sweep. */
const MOST_SIZES = 10_000;

/** `lab`: the twelve sizes of a DGX Spark curriculum's memory lab. `quick`: some seconds on any machine. */
export const PRESETS = {
  lab: [1, 2, 4, 8, 10, 20, 30, 40, 50, 60, 70, 80].map((size) => size * GB),
  quick: [0.25, 0.5, 1, 2].map((size) => size * GB),
} as const;

export type SweepPreset = keyof typeof PRESETS;

const CHOICES = ['sizes', 'range', 'tensors', 'preset'] as const;

/** The sizes in the order in which they are asked for, and the preset they are of. No choice at all is `quick`. */
export function sweepSizes(options: Pick<SweepOptions, (typeof CHOICES)[number]>): {
  sizes: SweepSize[];
  preset: SweepPreset | null;
} {
  const chosen = CHOICES.filter((name) => options[name] !== undefined);
  if (chosen.length > 1)
    throw invalidArgument(`${chosen.join(' and ')} are given together; expected one of ${CHOICES.join(', ')}`);
  if (options.sizes !== undefined) return { sizes: bounded(listed(options.sizes)).map(plain), preset: null };
  if (options.range !== undefined) return { sizes: bounded(ranged(options.range)).map(plain), preset: null };
  if (options.tensors !== undefined) return { sizes: bounded(tensors(options.tensors)), preset: null };
  const preset = presetName(options.preset ?? 'quick');
  return { sizes: PRESETS[preset].map(plain), preset };
}

function plain(bytes: number): SweepSize {
  return { bytes, tensor: null };
}

function presetName(name: unknown): SweepPreset {
  if (name === 'lab' || name === 'quick') return name;
  throw invalidValue('preset', 'lab or quick', name);
}

function bounded<T>(sizes: T[]): T[] {
  if (sizes.length === 0) throw invalidArgument('sizes is empty; expected at least one size');
  if (sizes.length > MOST_SIZES) throw outOfRange('number of sizes', `at most ${MOST_SIZES}`, sizes.length);
  return sizes;
}

function listed(sizes: unknown): number[] {
  if (!Array.isArray(sizes)) throw invalidType('sizes', 'an array of bytes', sizes);
  return sizes.map((size, index) => checkBytes(`sizes[${index}]`, size, 1));
}

/** Linear with `step`, doubling without. `to` itself is among them only where a step lands on it. */
function ranged(range: unknown): number[] {
  if (typeof range !== 'object' || range === null) throw invalidType('range', 'an object with from and to', range);
  const { from, to, step } = range as Record<string, unknown>;
  const first = checkBytes('range.from', from, 1);
  const last = checkBytes('range.to', to, 1);
  if (last < first) throw outOfRange('range.to', `at least range.from, ${first}`, last);
  const sizes: number[] = [];
  if (step === undefined) {
    for (let size = first; size <= last; size *= 2) sizes.push(size);
    return sizes;
  }
  const by = checkBytes('range.step', step, 1);
  if ((last - first) / by >= MOST_SIZES)
    throw outOfRange('range.step', `at least ${Math.ceil((last - first) / MOST_SIZES)}, for ${MOST_SIZES} sizes`, by);
  for (let size = first; size <= last; size += by) sizes.push(size);
  return sizes;
}

function tensors(asked: unknown): SweepSize[] {
  if (typeof asked !== 'object' || asked === null) throw invalidType('tensors', 'an object with dtypes', asked);
  const { dtypes, shapes, elements } = asked as Record<string, unknown>;
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

function checkFilled(name: string, what: string, list: unknown): void {
  if (!Array.isArray(list)) throw invalidType(name, `an array of ${what}`, list);
  if (list.length === 0) throw invalidArgument(`${name} is empty; expected an array of ${what}`);
}
