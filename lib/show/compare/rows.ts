/** Rows: the same quantity in two documents. */

import type { ComparedRow, CompareReport } from '../../types/index.ts';

type Value = number | string | null | undefined;

/** A text or a number of a document that was read from a file; anything else is unknown. */
function known(value: Value): number | string | null {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)) ? value : null;
}

/** A name in such a document; null: there is none. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function row(
  section: string,
  name: string,
  unit: ComparedRow['unit'],
  [a, b]: readonly [Value, Value],
  path: string,
): ComparedRow {
  const both = typeof known(a) === 'number' && typeof known(b) === 'number';
  const change = both ? Number(b) - Number(a) : null;
  return { section, name: String(name), unit, a: known(a), b: known(b), change, path };
}

/** Rows that differ, the largest change of each section first but of the answers, and how many are the same. Unknown in both is neither. */
export function differing(all: readonly ComparedRow[]): { rows: ComparedRow[]; same: number } {
  const sections = [...new Set(all.map(({ section }) => section))];
  const read = all.filter(({ a, b }) => a !== null || b !== null);
  const rows = read.filter(({ a, b }) => a !== b);
  const size = ({ a, b, change, section, unit }: ComparedRow): number => {
    if (section === 'answer') return 0;
    // Another state or version comes before amounts, and what one of the two does not know after them.
    if (change === null) return a === null || b === null ? 0 : Number.MAX_VALUE;
    // Bytes compare with one another; times and rates by their ratio.
    return unit === 'bytes' ? Math.abs(change) : Math.abs(change) / Math.max(Math.abs(Number(a)), Math.abs(Number(b)));
  };
  rows.sort((x, y) => sections.indexOf(x.section) - sections.indexOf(y.section) || size(y) - size(x));
  return { rows, same: read.length - rows.length };
}

/** Memory of programs, by a key that means the same program in both documents. */
export type Holdings = ReadonlyMap<string, number | null>;

/** Sums of one name; a size that is unknown makes its sum unknown. */
export function holdings(list: readonly (readonly [key: string, bytes: number | null])[]): Holdings {
  const sums = new Map<string, number | null>();
  for (const [key, bytes] of list) {
    const before = sums.has(key) ? sums.get(key) : 0;
    sums.set(key, before == null || bytes === null ? null : before + bytes);
  }
  return sums;
}

/**
 * @param complete whether a program that is in neither list holds nothing, of each document; otherwise the memory of a
 *   missing one is unknown.
 */
export function holdingRows(
  section: string,
  [a, b]: readonly [Holdings, Holdings],
  [isAComplete, isBComplete]: readonly [boolean, boolean],
  path: string,
): ComparedRow[] {
  const of = (held: Holdings, complete: boolean, key: string) => (held.has(key) ? held.get(key) : complete ? 0 : null);
  return [...new Set([...a.keys(), ...b.keys()])].map((key) =>
    row(section, key, 'bytes', [of(a, isAComplete, key), of(b, isBComplete, key)], path),
  );
}

/** Direction of an amount of memory. */
export function directionOf({ change }: ComparedRow): CompareReport['direction'] {
  if (change === null) return 'unknown';
  return change === 0 ? 'alike' : change > 0 ? 'more' : 'less';
}
