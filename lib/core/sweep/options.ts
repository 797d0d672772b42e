/** The options of a sweep. */

import { checkChoice, invalidType, outOfRange } from '../../base/arguments.ts';
import { callback, flag, integer, list, type OptionsOf, TypedMistake } from '../../base/options.ts';
import type { AllocatorKind, SweepEvent } from '../../types/index.ts';
import { KINDS } from '../memory/kinds.ts';
import { PROBE, type ProbeOptions } from '../probe/options.ts';
import { SIZES } from './sizes.ts';

/** Options of `sweep()`. */
export interface SweepOptions extends OptionsOf<typeof OWN>, OptionsOf<typeof SIZES>, ProbeOptions {}

const OWN = {
  /** Default: `['device']`. `'all'`: every kind that the device supports. */
  kinds: list<readonly AllocatorKind[] | 'all', readonly AllocatorKind[]>(checkKinds, {
    default: ['device'],
    flag: 'kind',
    placeholder: '<kind>',
    words: [...KINDS, 'all'],
    help: `${KINDS.join(', ')}, separated by commas, or all (default device)`,
    read(words, name) {
      if (!words.includes('all')) return undefined;
      if (words.length === 1) return 'all';
      throw new TypedMistake(`${name} "all" cannot be combined with other kinds.`);
    },
  }),
  /** Number of repeats of each step: 1 to 1000. Default 1. */
  repeat: integer({ min: 1, max: 1000, default: 1, help: 'Repeats of each step' }),
  /** Let `managed` exceed the device's memory on a discrete GPU. Refused on unified machines. */
  oversubscribe: flag({ help: "Let managed memory exceed the device's memory (not on unified machines)" }),
  /** Called with each event. The first allocation waits for a promise of `started`; an error ends the run and is thrown. */
  onEvent: callback<(event: SweepEvent) => void | Promise<void>>(),
};
export const SWEEP = { ...OWN, ...SIZES, ...PROBE };

/** Removes duplicates; keeps the caller's order. */
function checkKinds(name: string, kinds: unknown): readonly AllocatorKind[] | 'all' {
  if (kinds === 'all') return kinds;
  if (!Array.isArray(kinds)) throw invalidType(name, "an array of kinds or 'all'", kinds);
  if (kinds.length === 0) throw outOfRange('number of kinds', 'at least one', 0);
  return [...new Set(kinds.map((kind) => checkChoice(name, KINDS, kind)))];
}
