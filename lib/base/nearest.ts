/** The known word that was probably meant: for "Did you mean …?" in the messages of the library and the command line. */

/** ' Did you mean snapshot?', or '' if no known word is close. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const near = nearest(word, known);
  return near === null ? '' : ` Did you mean ${prefix}${near}?`;
}

/**
 * The known word with the fewest edits, at most a third of the letters; null: there is none. A word of two letters may
 * lack only one, and a single letter has no near word: every other one is as near.
 */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let fewest = (word.length < 2 ? 0 : Math.max(1, Math.floor(word.length / 3))) + 1;
  for (const candidate of known) {
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase());
    const isAnother = edits > 0 && word.length === 2 && candidate.length <= 2;
    if (edits >= fewest || isAnother) continue;
    best = candidate;
    fewest = edits;
  }
  if (best !== null) return best;
  // An abbreviation, or more than there is: "snap" is four edits from "snapshot", and "maxbytes" five from "max".
  const typed = word.toLowerCase();
  const related = known.filter((candidate) => {
    const name = candidate.toLowerCase();
    return Math.min(typed.length, name.length) >= 3 && (name.startsWith(typed) || typed.startsWith(name));
  });
  return related.length === 1 ? (related[0] ?? null) : null;
}

/** Edits (insert, delete, replace, swap of neighbours) from one word to the other. */
function editDistance(from: string, to: string): number {
  let older: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, (older[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    older = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}
