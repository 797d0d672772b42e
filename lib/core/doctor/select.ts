/** Rows of the table by id or pattern. */

import type { FindingId } from '../../types/index.ts';
import { FINDING_IDS } from '../memory/findings/index.ts';

/** Ids that match patterns such as "library.*"; `unknown`: the first pattern that matches none. */
export function matching(patterns: readonly string[]): { ids: Set<FindingId>; unknown: string | null } {
  const ids = new Set<FindingId>();
  for (const pattern of patterns) {
    const expression = new RegExp(`^${pattern.replaceAll(/[\\^$+?.()|[\]{}]/g, '\\$&').replaceAll('*', '.*')}$`);
    const found = FINDING_IDS.filter((id) => expression.test(id));
    if (found.length === 0) return { ids, unknown: pattern };
    for (const id of found) ids.add(id);
  }
  return { ids, unknown: null };
}
