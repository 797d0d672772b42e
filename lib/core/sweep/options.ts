/** The options of a sweep, checked and with their defaults. */

import {
  checkBoolean,
  checkChoice,
  checkInteger,
  checkKeys,
  invalidType,
  type Keys,
  outOfRange,
} from '../../base/arguments.ts';
import { LIMITS } from '../../base/limits.ts';
import type { AllocatorKind, SweepOptions } from '../../types/index.ts';
import { KINDS } from '../memory/kinds.ts';
import { type CheckedProbeOptions, checkProbeOptions, PROBE_KEYS } from '../probe/options.ts';
import { type SweepPreset, type SweepSize, sweepSizes } from './sizes.ts';

const KEYS: Keys<SweepOptions> = {
  kinds: true,
  sizes: true,
  range: true,
  tensors: true,
  preset: true,
  repeat: true,
  oversubscribe: true,
  ...PROBE_KEYS,
};

export interface CheckedSweepOptions {
  probe: CheckedProbeOptions;
  kinds: readonly AllocatorKind[] | 'all';
  sizes: readonly SweepSize[];
  preset: SweepPreset | null;
  repeat: number;
  oversubscribe: boolean;
  onEvent: SweepOptions['onEvent'];
}

/** @throws TypeError/RangeError that names the option. */
export function checkSweepOptions(options: SweepOptions): CheckedSweepOptions {
  checkKeys('sweep()', options, KEYS);
  const { onEvent, oversubscribe = false, repeat = 1 } = options;
  const kinds = checkKinds(options.kinds ?? ['device']);
  checkInteger('repeat', repeat, LIMITS.repeat);
  checkBoolean('oversubscribe', oversubscribe);
  return { probe: checkProbeOptions(options, null), kinds, ...sweepSizes(options), repeat, oversubscribe, onEvent };
}

/** Removes duplicates; keeps the caller's order. */
function checkKinds(kinds: unknown): readonly AllocatorKind[] | 'all' {
  if (kinds === 'all') return kinds;
  if (!Array.isArray(kinds)) throw invalidType('kinds', "an array of kinds or 'all'", kinds);
  if (kinds.length === 0) throw outOfRange('number of kinds', 'at least one', 0);
  return [...new Set(kinds.map((kind) => checkChoice('kinds', KINDS, kind)))];
}
