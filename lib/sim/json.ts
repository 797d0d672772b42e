/**
 * Where a JSON text is wrong. JSON.parse tells a position in some messages, in others not, and differently in every
 * version of V8; a person who writes a machine file by hand needs the line and the column each time.
 */

export interface JsonMistake {
  /** Both from 1. */
  line: number;
  column: number;
  /** "expected a value, found }". */
  problem: string;
}

const SPACE = /[ \t\r\n]*/y;
/** JSON forbids control characters inside a string, but not those above 0x7e. */
const STRING = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

class Scanner {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) return null;
    this.at += match[0].length;
    return match[0];
  }

  /** The character after any white space, which is skipped. */
  peek(): string | undefined {
    this.take(SPACE);
    return this.text[this.at];
  }

  fail(expected: string): never {
    const before = this.text.slice(0, this.at).split('\n');
    const found = this.text[this.at];
    const problem = `expected ${expected}, found ${found === undefined ? 'the end of the file' : JSON.stringify(found)}`;
    throw new Mistake({ line: before.length, column: (before.at(-1)?.length ?? 0) + 1, problem });
  }

  value(depth: number): void {
    const next = this.peek();
    if (depth > 100) this.fail('less nesting');
    if (next === '{') this.members('}', () => this.member(depth));
    else if (next === '[') this.members(']', () => this.value(depth + 1));
    else if (next === '"') this.string('a string that ends on its line');
    else if (this.take(SCALAR) === null) this.fail('a value');
  }

  /** What stands between the braces or brackets; a comma must be followed by one more. */
  members(close: '}' | ']', one: () => void): void {
    this.at++;
    if (this.peek() === close) {
      this.at++;
      return;
    }
    for (;;) {
      one();
      const next = this.peek();
      if (next !== ',' && next !== close) this.fail(`"," or "${close}"`);
      this.at++;
      if (next === close) return;
    }
  }

  member(depth: number): void {
    if (this.peek() !== '"') this.fail('a field name in double quotes');
    this.string('a field name in double quotes');
    if (this.peek() !== ':') this.fail('":"');
    this.at++;
    this.value(depth + 1);
  }

  string(expected: string): void {
    if (this.take(STRING) === null) this.fail(expected);
  }
}

class Mistake extends Error {
  readonly mistake: JsonMistake;

  constructor(mistake: JsonMistake) {
    super(mistake.problem);
    this.mistake = mistake;
  }
}

/** The first mistake in a text that JSON.parse refused; null when this scanner finds none. */
export function findJsonMistake(text: string): JsonMistake | null {
  const scanner = new Scanner(text);
  try {
    scanner.value(0);
    if (scanner.peek() !== undefined) scanner.fail('nothing more');
    return null;
  } catch (error) {
    if (error instanceof Mistake) return error.mistake;
    throw error;
  }
}
