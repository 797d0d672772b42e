/** The facts behind a finding, in one line. */

import { clean, formatPercent } from '../../../base/format.ts';
import type { Evidence } from '../../../types/index.ts';
import { amount, type RenderOptions } from '../options.ts';

/** "MemAvailable 112.8 GiB, MemFree 107.1 GiB, some avg10 0.0 %". */
export function evidenceText(evidence: readonly Evidence[], options: RenderOptions): string {
  return evidence.map(({ name, unit, value }) => `${clean(name)} ${shown(value, unit, options)}`).join(', ');
}

function shown(value: Evidence['value'], unit: Evidence['unit'], options: RenderOptions): string {
  if (typeof value === 'string') return clean(value);
  if (unit === 'bytes') return amount(value, options);
  return unit === 'percent' ? formatPercent(value) : String(value);
}
