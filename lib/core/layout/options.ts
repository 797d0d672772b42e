/** The options of a layout, checked and with their defaults. */

import { checkChoice, checkKeys, type Keys } from '../../base/arguments.ts';
import type { AllocatorKind, LayoutOptions } from '../../types/index.ts';
import { KINDS } from '../memory/kinds.ts';
import { type CheckedProbeOptions, checkProbeOptions, PROBE_KEYS } from '../probe/options.ts';
import { checkParts, type LayoutPreset, type Part } from './parts.ts';

const KEYS: Keys<LayoutOptions> = { kind: true, ...PROBE_KEYS };

export interface CheckedLayoutOptions {
  probe: CheckedProbeOptions;
  kind: AllocatorKind;
  parts: readonly Part[];
  preset: LayoutPreset | null;
  onEvent: LayoutOptions['onEvent'];
}

/** @throws TypeError/RangeError that names the option. */
export function checkLayoutOptions(parts: unknown, options: LayoutOptions): CheckedLayoutOptions {
  checkKeys('layout()', options, KEYS);
  const kind = checkChoice('kind', KINDS, options.kind ?? 'device');
  return { probe: checkProbeOptions(options, null), kind, ...checkParts(parts), onEvent: options.onEvent };
}
