/** The options of a sweep, checked and with their defaults. */

import { checkBoolean, checkChoice, checkFunction, checkInteger, invalidType, outOfRange } from '../base/arguments.ts';
import { KINDS } from '../memory/kinds.ts';
import { type CheckedProbeOptions, checkProbeOptions } from '../probe/options.ts';
import type { AllocatorKind, SweepOptions } from '../types/index.ts';
import { type SweepPreset, type SweepSize, sweepSizes } from './sizes.ts';

export interface CheckedSweepOptions {
  probe: CheckedProbeOptions;
  kinds: readonly AllocatorKind[] | 'all';
  sizes: readonly SweepSize[];
  preset: SweepPreset | null;
  repeat: number;
  oversubscribe: boolean;
  onStep: SweepOptions['onStep'];
}

/** @throws TypeError/RangeError that names the option. */
export function checkSweepOptions(options: SweepOptions): CheckedSweepOptions {
  const { onStep, oversubscribe = false, repeat = 1 } = options;
  const kinds = checkKinds(options.kinds ?? ['device']);
  checkInteger('repeat', repeat, 1, 1000);
  checkBoolean('oversubscribe', oversubscribe);
  checkFunction('onStep', onStep);
  return { probe: checkProbeOptions(options, null), kinds, ...sweepSizes(options), repeat, oversubscribe, onStep };
}

/** Removes duplicates; keeps the caller's order. */
function checkKinds(kinds: unknown): readonly AllocatorKind[] | 'all' {
  if (kinds === 'all') return kinds;
  if (!Array.isArray(kinds)) throw invalidType('kinds', "an array of kinds or 'all'", kinds);
  if (kinds.length === 0) throw outOfRange('number of kinds', 'at least one', 0);
  return [...new Set(kinds.map((kind) => checkChoice('kinds', KINDS, kind)))];
}
