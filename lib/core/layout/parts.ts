/** The parts of a layout: names and bytes, from the caller or from a preset. */

import { checkBytes, invalidType, invalidValue, outOfRange } from '../../base/arguments.ts';
import { GB } from '../../base/format.ts';
import { SOME_BYTES } from '../../base/limits.ts';

export interface Part {
  name: string;
  bytes: number;
}

/** `13b`: a model of 13 billion parameters, 25.5 GB, divided as in a DGX Spark curriculum. */
const LAYOUT_PRESETS = {
  '13b': {
    embeddings: 2 * GB,
    attention: 8 * GB,
    feedforward: 10 * GB,
    'layer norms': 0.5 * GB,
    'output head': GB,
    activations: 4 * GB,
  },
} as const;

export type LayoutPreset = keyof typeof LAYOUT_PRESETS;

const MAX_PARTS = 1000;

/** Keeps the caller's order. */
export function checkParts(parts: unknown): { parts: Part[]; preset: LayoutPreset | null } {
  if (typeof parts === 'string') {
    if (parts !== '13b') throw invalidValue('parts', 'an object of names and bytes, or the preset 13b', parts);
    return { parts: listParts(LAYOUT_PRESETS[parts]), preset: parts };
  }
  if (typeof parts !== 'object' || parts === null || Array.isArray(parts))
    throw invalidType('parts', 'an object of names and bytes', parts);
  return { parts: listParts(parts), preset: null };
}

function listParts(sizes: object): Part[] {
  const parts = Object.entries(sizes).map(([name, bytes]) => ({
    name: checkName(name),
    bytes: checkBytes(`part ${JSON.stringify(name)}`, bytes, SOME_BYTES),
  }));
  if (parts.length === 0 || parts.length > MAX_PARTS)
    throw outOfRange('number of parts', `1 to ${MAX_PARTS}`, parts.length);
  const sum = parts.reduce((total, { bytes }) => total + bytes, 0);
  if (!Number.isSafeInteger(sum)) throw outOfRange('sum of the parts', 'less than 2^53 bytes', sum);
  return parts;
}

/** Control characters are refused because names are printed on terminals. */
function checkName(name: string): string {
  if (name.length < 1 || name.length > 64 || /\p{Cc}/u.test(name))
    throw invalidValue('name of a part', '1 to 64 characters, none of them a control character', name);
  return name;
}
