/** A file of its own: other commands need not load the reading. */

/** Words that leave the reading as it is. If there is another word, the command decides what is read, and when. */
const PLAIN_WORDS: ReadonlySet<string> = new Set(['snapshot', '--full', '--exact', '--json', '--no-color']);

/** True if these words ask for the reading of PLAIN_READING. */
export function isPlain(argv: readonly string[]): boolean {
  return argv.every((word) => PLAIN_WORDS.has(word));
}
