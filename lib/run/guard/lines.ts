/** Lines of a stream of text. */

/** Characters of a line that are kept: a program may write without end and never break a line. */
const LONGEST = 64 * 1024;

/** Calls `onLine` with each line, without its end; `end()` takes the text after the last one. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  #rest = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  write(text: string): void {
    const parts = (this.#rest + text).split('\n');
    this.#rest = (parts.pop() ?? '').slice(0, LONGEST);
    for (const part of parts) this.#onLine(part.endsWith('\r') ? part.slice(0, -1) : part);
  }

  end(): void {
    if (this.#rest !== '') this.#onLine(this.#rest);
    this.#rest = '';
  }
}
