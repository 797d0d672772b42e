/**
 * JSON documents in the output of a machine, each from a line that begins with "{" to its closing bracket. Other lines
 * are passed over: the greeting of a shell, a banner of any length. Text longer than any snapshot is cut.
 */

import { stripVTControlCharacters } from 'node:util';
import { MiB } from '../../base/format.ts';

/** Characters of a document. A snapshot has 15,000, and some 500,000 where a thousand processes hold GPU memory. */
export const MOST_DOCUMENT = MiB;

/** A text that looked like a document: the object; or the reason why it is none, as a clause. */
export type Found = { document: object; problem: null } | { document: null; problem: string };

export class DocumentReader {
  readonly found: Found[] = [];
  /** Text of the document that has begun; null: none has. */
  #text: string[] | null = null;
  #length = 0;
  #depth = 0;
  readonly #most: number;

  /** @param most characters of a document. */
  constructor(most = MOST_DOCUMENT) {
    this.#most = most;
  }

  /** Takes a line, without its end. */
  line(line: string): void {
    const rest = this.#text === null ? begun(line) : line;
    if (rest === null) return;
    this.#text ??= [];
    const end = this.#scan(rest);
    this.#length += rest.length;
    if (this.#length > this.#most) {
      this.#finish(`it is longer than ${this.#most} characters`);
      return;
    }
    this.#text.push(end < 0 ? rest : rest.slice(0, end));
    if (end < 0) return;
    this.#finish(null);
    this.line(rest.slice(end));
  }

  /** No more comes. */
  end(): void {
    if (this.#text !== null) this.#finish('it ends in the middle of a document');
  }

  #finish(problem: string | null): void {
    const text = (this.#text ?? []).join('\n');
    this.#text = null;
    this.#length = 0;
    this.#depth = 0;
    this.found.push(problem === null ? parsed(text) : { document: null, problem });
  }

  /** Counts brackets outside of strings, which do not go over the end of a line. Returns where the document ends, or -1. */
  #scan(line: string): number {
    // Most lines of a recording are numbers.
    if (!line.includes('{') && !line.includes('}')) return -1;
    for (const { 0: sign, index } of line.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"?|[{}]/g)) {
      if (sign === '{') this.#depth += 1;
      if (sign === '}') this.#depth -= 1;
      if (this.#depth === 0) return index + 1;
    }
    return -1;
  }
}

/** The rest of a line that begins with a bracket, apart from sequences that set colours or a terminal's title. */
function begun(line: string): string | null {
  const start = line.indexOf('{');
  if (start < 0) return null;
  const before = line.slice(0, start);
  return /^\p{Cc}*$/u.test(stripVTControlCharacters(before).trim()) ? line.slice(start) : null;
}

function parsed(text: string): Found {
  try {
    return { document: JSON.parse(text) as object, problem: null };
  } catch {
    return { document: null, problem: 'it is not JSON' };
  }
}

/** Characters of a line. A longer one is cut: it is a banner, or a document that is too long. */
const MOST_LINE = 2 * MOST_DOCUMENT;

/** Calls back for each line of a stream of text, cut where it is too long. */
export class Lines {
  #rest = '';
  /** True: the rest of this line is passed over. */
  #cut = false;
  readonly #line: (line: string) => void;

  constructor(line: (line: string) => void) {
    this.#line = line;
  }

  push(text: string): void {
    const [first = '', ...more] = text.split('\n');
    if (!this.#cut) this.#rest += first;
    for (const next of more) {
      this.#emit();
      this.#rest = next;
    }
    if (this.#rest.length <= MOST_LINE) return;
    this.#emit();
    this.#cut = true;
  }

  end(): void {
    if (this.#rest !== '') this.#emit();
  }

  #emit(): void {
    if (!this.#cut) this.#line(this.#rest.endsWith('\r') ? this.#rest.slice(0, -1) : this.#rest);
    this.#rest = '';
    this.#cut = false;
  }
}
