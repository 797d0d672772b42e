/** Every check, in the order of the report, and the selection of checks by pattern. */

import { accessChecks } from './access.ts';
import type { Check } from './check.ts';
import { deviceChecks } from './devices.ts';
import { kernelChecks } from './kernel.ts';
import { libraryChecks } from './libraries.ts';
import { memoryChecks } from './memory.ts';
import { toolChecks } from './tools.ts';
import { visibilityChecks } from './visibility.ts';

export const CHECKS: readonly Check[] = [
  ...libraryChecks,
  ...deviceChecks,
  ...visibilityChecks,
  ...accessChecks,
  ...memoryChecks,
  ...kernelChecks,
  ...toolChecks,
];

/** Ids of the checks that match patterns such as "library.*"; `unknown`: the first pattern that matches none. */
export function matching(patterns: readonly string[]): { ids: Set<string>; unknown: string | null } {
  const ids = new Set<string>();
  for (const pattern of patterns) {
    const expression = new RegExp(`^${pattern.replaceAll(/[\\^$+?.()|[\]{}]/g, '\\$&').replaceAll('*', '.*')}$`);
    const found = CHECKS.filter(({ id }) => expression.test(id));
    if (found.length === 0) return { ids, unknown: pattern };
    for (const { id } of found) ids.add(id);
  }
  return { ids, unknown: null };
}
