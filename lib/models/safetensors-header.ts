/**
 * Walks over the JSON of a safetensors header without building it: a header of 90,000 tensors takes a tenth of the time
 * that JSON.parse and its objects take, and one that is made to be hostile takes no more. The grammar is that of the
 * format: an object of tensors, and __metadata__, an object of strings.
 */

import { modelError } from './model-file.ts';

/** A tensor as the header has it: nothing is checked but that these are whole numbers. */
export interface HeaderEntry {
  name: string;
  dtype: string;
  shape: readonly number[];
  begin: number;
  end: number;
}

/** What an entry has that is not of the usual form, to be checked by `other`. */
type OtherEntry = (name: string, value: unknown) => HeaderEntry;

/** Bytes and depth of an entry that is not of the usual form. */
const LONGEST_ENTRY = 64 * 1024;
const DEEPEST_ENTRY = 8;
/** A shape of more is no tensor's; PyTorch allows 64 dimensions. */
const MOST_DIMENSIONS = 64;
/** Digits of a whole number below 2^53. */
const MOST_DIGITS = 15;

const NO_NUMBERS: readonly number[] = [];
/** Data types that are recognised by their bytes. */
const MOST_TYPES = 8;
const [DTYPE, SHAPE, OFFSETS] = ['"dtype"', '"shape"', '"data_offsets"'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Calls `found` for each tensor. @throws UmaError ERR_UMA_MODEL for what is not a header. */
export function forEachTensor(
  header: Buffer,
  path: string,
  other: OtherEntry,
  found: (entry: HeaderEntry) => void,
): void {
  new HeaderWalk(header, path, other).run(found);
}

class HeaderWalk {
  readonly #bytes: Buffer;
  readonly #path: string;
  readonly #other: OtherEntry;
  readonly #types: { bytes: Uint8Array; text: string }[] = [];
  #at = 0;
  /** Fields of the tensor that is being read. */
  #dtype: string | null = null;
  #shape: number[] | null = null;
  #offsets: number[] | null = null;

  constructor(bytes: Buffer, path: string, other: OtherEntry) {
    this.#bytes = bytes;
    this.#path = path;
    this.#other = other;
  }

  run(found: (entry: HeaderEntry) => void): void {
    if (this.#next() !== OPEN_OBJECT) throw modelError(this.#path, 'it holds no JSON object');
    this.#members((name) => {
      if (name === '__metadata__') return this.#metadata();
      const start = this.#at;
      const entry = this.#usual(name);
      if (entry !== null) return found(entry);
      this.#at = start;
      found(this.#other(name, this.#value(name)));
    });
    if (this.#next() !== undefined) throw this.#invalid();
  }

  #invalid(): Error {
    return modelError(this.#path, `it is not valid JSON (byte ${this.#at.toLocaleString('en-US')} of the header)`);
  }

  /** Skips white space. Returns the byte there without taking it; undefined: the end. */
  #next(): number | undefined {
    const bytes = this.#bytes;
    let byte = bytes[this.#at];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++this.#at];
    return byte;
  }

  #take(expected: number): void {
    if (this.#next() !== expected) throw this.#invalid();
    this.#at++;
  }

  /** The members of an object; the name and its colon are taken, `member` takes the value. */
  #members(member: (name: string) => void): void {
    this.#take(OPEN_OBJECT);
    if (this.#next() === CLOSE_OBJECT) {
      this.#at++;
      return;
    }
    for (;;) {
      const name = this.#string();
      this.#take(COLON);
      member(name);
      const byte = this.#next();
      this.#at++;
      if (byte === CLOSE_OBJECT) return;
      if (byte !== COMMA) {
        this.#at--;
        throw this.#invalid();
      }
    }
  }

  #string(): string {
    this.#take(QUOTE);
    const bytes = this.#bytes;
    const start = this.#at;
    let at = start;
    let plain = true;
    for (;;) {
      const byte = bytes[at];
      if (byte === QUOTE) break;
      // A control character, or the end of the header.
      if (byte === undefined || byte < 0x20) {
        this.#at = at;
        throw this.#invalid();
      }
      if (byte === BACKSLASH) at++;
      if (byte === BACKSLASH || byte > 0x7e) plain = false;
      at++;
    }
    this.#at = at + 1;
    return plain ? bytes.toString('latin1', start, at) : this.#escaped(start, at);
  }

  #escaped(start: number, end: number): string {
    try {
      return JSON.parse(`"${this.#bytes.toString('utf8', start, end)}"`) as string;
    } catch {
      throw this.#invalid();
    }
  }

  /** Names to strings, which is all that the format allows: what is nested here could take any time and memory. */
  #metadata(): void {
    const fail = (what: string): Error => modelError(this.#path, `${what}; the format allows strings`);
    if (this.#next() !== OPEN_OBJECT) throw fail('its __metadata__ is no object of strings');
    this.#members((name) => {
      if (this.#next() !== QUOTE)
        throw fail(`its __metadata__ has ${JSON.stringify(name.slice(0, 80))}, which is no string`);
      this.#string();
    });
  }

  /** A tensor of dtype, shape and data_offsets in any order; null: it has another form. */
  #usual(name: string): HeaderEntry | null {
    if (!this.#has(OPEN_OBJECT)) return null;
    this.#dtype = this.#shape = this.#offsets = null;
    for (let field = 0; field < 3; field++) {
      if (field > 0 && !this.#has(COMMA)) return null;
      if (!this.#field()) return null;
    }
    const [begin, end, more] = this.#offsets ?? NO_NUMBERS;
    if (!this.#has(CLOSE_OBJECT) || more !== undefined || begin === undefined || end === undefined || end < begin)
      return null;
    return this.#dtype === null || this.#shape === null
      ? null
      : { name, dtype: this.#dtype, shape: this.#shape, begin, end };
  }

  /** One field of a tensor. */
  #field(): boolean {
    this.#next();
    if (this.#isNext(DTYPE)) {
      this.#dtype = this.#has(COLON) && this.#next() === QUOTE ? this.#known() : null;
      return this.#dtype !== null;
    }
    if (this.#isNext(SHAPE)) {
      this.#shape = this.#has(COLON) ? this.#numbers() : null;
      return this.#shape !== null;
    }
    if (!this.#isNext(OFFSETS)) return false;
    this.#offsets = this.#has(COLON) ? this.#numbers() : null;
    return this.#offsets !== null;
  }

  /** Whether these bytes come next; takes them. */
  #isNext(expected: Uint8Array): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    for (let index = 0; index < expected.length; index++) if (bytes[start + index] !== expected[index]) return false;
    this.#at += expected.length;
    return true;
  }

  /** A string that is one of the few data types of the file: no new one is made for each tensor. */
  #known(): string {
    for (const { bytes, text } of this.#types) if (this.#isNext(bytes)) return text;
    const start = this.#at;
    const text = this.#string();
    if (this.#types.length < MOST_TYPES) this.#types.push({ bytes: this.#bytes.subarray(start, this.#at), text });
    return text;
  }

  #has(byte: number): boolean {
    if (this.#next() !== byte) return false;
    this.#at++;
    return true;
  }

  /** Whole numbers in a list; null: something else. */
  #numbers(): number[] | null {
    if (!this.#has(OPEN_LIST)) return null;
    const numbers: number[] = [];
    if (this.#has(CLOSE_LIST)) return numbers;
    while (numbers.length < MOST_DIMENSIONS) {
      const number = this.#digits();
      if (number === null) return null;
      numbers.push(number);
      if (this.#has(CLOSE_LIST)) return numbers;
      if (!this.#has(COMMA)) return null;
    }
    return null;
  }

  #digits(): number | null {
    const bytes = this.#bytes;
    this.#next();
    const start = this.#at;
    let value = 0;
    let at = start;
    for (let byte = bytes[at]; byte !== undefined && byte >= 0x30 && byte <= 0x39; byte = bytes[++at])
      value = value * 10 + byte - 0x30;
    this.#at = at;
    const digits = at - start;
    // JSON writes no number with a zero before its digits.
    return digits === 0 || digits > MOST_DIGITS || (digits > 1 && bytes[start] === 0x30) ? null : value;
  }

  /** A value that has another form, built within limits. */
  #value(name: string): unknown {
    const bytes = this.#bytes;
    this.#next();
    const start = this.#at;
    const fail = (what: string): Error =>
      modelError(
        this.#path,
        `tensor ${JSON.stringify(name.slice(0, 80))} ${what}; expected dtype, shape and two data_offsets`,
      );
    let depth = 0;
    for (;;) {
      if (this.#at - start > LONGEST_ENTRY)
        throw fail(`takes more than ${LONGEST_ENTRY.toLocaleString('en-US')} bytes of the header`);
      const byte = this.#next();
      if (byte === undefined) throw this.#invalid();
      if (byte === QUOTE) {
        this.#string();
        continue;
      }
      const closes = byte === CLOSE_OBJECT || byte === CLOSE_LIST;
      if (depth === 0 && (closes || byte === COMMA)) break;
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
      if (closes) depth--;
      if (depth > DEEPEST_ENTRY) throw fail(`is nested more than ${DEEPEST_ENTRY} times`);
      this.#at++;
    }
    try {
      return JSON.parse(bytes.toString('utf8', start, this.#at));
    } catch {
      throw this.#invalid();
    }
  }
}
