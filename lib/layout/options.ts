/** The options of a layout, checked and with their defaults. */

import { checkChoice, checkFunction, checkKeys, type Keys } from '../base/arguments.ts';
import { KINDS } from '../memory/kinds.ts';
import { type CheckedProbeOptions, checkProbeOptions, PROBE_KEYS } from '../probe/options.ts';
import type { AllocatorKind, LayoutOptions } from '../types/index.ts';
import { checkParts, type LayoutPreset, type Part } from './parts.ts';

const KEYS: Keys<LayoutOptions> = { kind: true, onPart: true, ...PROBE_KEYS };

export interface CheckedLayoutOptions {
  probe: CheckedProbeOptions;
  kind: AllocatorKind;
  parts: readonly Part[];
  preset: LayoutPreset | null;
  onPart: LayoutOptions['onPart'];
}

/** @throws TypeError/RangeError that names the option. */
export function checkLayoutOptions(parts: unknown, options: LayoutOptions): CheckedLayoutOptions {
  checkKeys('layout()', options, KEYS);
  const { onPart } = options;
  const kind = checkChoice('kind', KINDS, options.kind ?? 'device');
  checkFunction('onPart', onPart);
  return { probe: checkProbeOptions(options, null), kind, ...checkParts(parts), onPart };
}
