/** The parts of a layout: names and bytes, given or of a preset. */

import { checkBytes, invalidType, invalidValue, outOfRange } from '../base/arguments.ts';
import { GB } from '../base/format.ts';

export interface Part {
  name: string;
  bytes: number;
}

/** `13b`: what a model of 13 billion parameters holds at once, as a DGX Spark curriculum divides it: 25.5 GB. */
export const LAYOUT_PRESETS = {
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

const MOST_PARTS = 1000;

/** In the order in which they are given. */
export function checkParts(given: unknown): { parts: Part[]; preset: LayoutPreset | null } {
  if (typeof given === 'string') {
    if (given !== '13b') throw invalidValue('parts', `an object of names and bytes, or the preset 13b`, given);
    return { parts: listed(LAYOUT_PRESETS[given]), preset: given };
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalidType('parts', 'an object of names and bytes', given);
  return { parts: listed(given), preset: null };
}

function listed(given: object): Part[] {
  const parts = Object.entries(given).map(([name, bytes]) => ({ name: checkName(name), bytes: partSize(name, bytes) }));
  if (parts.length === 0 || parts.length > MOST_PARTS)
    throw outOfRange('number of parts', `1 to ${MOST_PARTS}`, parts.length);
  const sum = parts.reduce((all, { bytes }) => all + bytes, 0);
  if (!Number.isSafeInteger(sum)) throw outOfRange('sum of the parts', 'less than 2^53 bytes', sum);
  return parts;
}

function partSize(name: string, bytes: unknown): number {
  return checkBytes(`part ${JSON.stringify(name)}`, bytes, 1);
}

/** Names are printed on terminals. */
function checkName(name: string): string {
  if (name.length < 1 || name.length > 64 || /\p{Cc}/u.test(name))
    throw invalidValue('name of a part', '1 to 64 characters, none of them a control character', name);
  return name;
}
