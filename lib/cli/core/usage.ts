/** A user's mistake on the command line: one line with the value, what was expected and where to read on. */

export class UsageError extends Error {
  readonly code = 'ERR_USAGE';
  /** Command whose help says more; null: the general help. */
  readonly command: string | null;

  constructor(message: string, command: string | null = null) {
    super(message);
    this.name = 'UsageError';
    this.command = command;
  }
}

/** ' Did you mean snapshot?', or '' if no known word is close. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const near = nearest(word, known);
  return near === null ? '' : ` Did you mean ${prefix}${near}?`;
}

/** The known word with the fewest edits, at most a third of the letters; null: there is none. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let fewest = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) {
      best = candidate;
      fewest = edits;
    }
  }
  if (best !== null) return best;
  // An abbreviation: "snap" is four edits from "snapshot".
  const longer = known.filter((candidate) => word.length >= 3 && candidate.startsWith(word.toLowerCase()));
  return longer.length === 1 ? (longer[0] ?? null) : null;
}

/** Edits (insert, delete, replace, swap of neighbours) from one word to the other. */
export function editDistance(from: string, to: string): number {
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
