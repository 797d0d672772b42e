/** Apart from the reading itself, which other commands need not load. */

/** Words that leave the reading as it is. With any other one the command decides what is read, and when. */
const PLAIN_WORDS: ReadonlySet<string> = new Set(['snapshot', '--full', '--exact', '--json', '--no-color']);

/** Whether these words ask for the reading of PLAIN_READING. */
export function isPlain(argv: readonly string[]): boolean {
  return argv.every((word) => PLAIN_WORDS.has(word));
}
