/** The options of doctor(): rows of the table by id or pattern. */

import { checkText, invalidType, invalidValue } from '../../base/arguments.ts';
import { didYouMean } from '../../base/nearest.ts';
import { list, type OptionsOf, signal, TypedMistake } from '../../base/options.ts';
import type { FindingId } from '../../types/index.ts';
import { FINDING_IDS } from '../memory/findings/index.ts';

/** Options of `doctor()`. */
export interface DoctorOptions extends OptionsOf<typeof DOCTOR> {}

const patterns = (help: string, fallback?: ReadonlySet<FindingId>) =>
  list<ReadonlySet<FindingId>, ReadonlySet<FindingId>, readonly string[]>(checkPatterns, {
    ...{ placeholder: '<ids>', words: FINDING_IDS, help, read: typedPatterns },
    default: fallback ?? new Set(),
  });

export const DOCTOR = {
  /** Ids or patterns such as "library.*". Default: all rows. */
  only: patterns('Run only these checks: ids or patterns such as library.*, separated by commas', new Set(FINDING_IDS)),
  /** Ids or patterns of rows to leave out. */
  skip: patterns('Skip these checks'),
  /** Ends the reading: rejects with the signal's reason. */
  signal,
};

function checkPatterns(name: string, value: unknown): Set<FindingId> {
  if (!Array.isArray(value)) throw invalidType(name, 'an array of ids or patterns', value);
  const texts = value.map((pattern, index) => checkText(`${name}[${index}]`, pattern, { min: 1, max: 100 }));
  const { ids, unknown } = matching(texts);
  if (unknown === null) return ids;
  throw invalidValue(name, `a pattern such as library.* or one of ${FINDING_IDS.join(', ')}`, unknown);
}

function typedPatterns(words: readonly string[], name: string): readonly string[] {
  const { unknown } = matching(words);
  if (unknown === null) return words;
  const hint = didYouMean(unknown, FINDING_IDS) || ' umaprobe doctor --list shows the checks.';
  throw new TypedMistake(`${name} "${unknown}" matches no check.${hint}`);
}

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
