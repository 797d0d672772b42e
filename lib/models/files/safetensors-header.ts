/**
 * Walks over the JSON of a safetensors header without building it: a header of 90,000 tensors takes a fraction of the time
 * that JSON.parse and its objects take, and one that is made to be hostile takes no more. The grammar is that of the
 * format: an object of tensors, and __metadata__, an object of strings.
 */

import { setImmediate } from 'node:timers/promises';
import { formatCount } from '../../base/format.ts';
import { modelError, quoted } from './model-file.ts';

/** A tensor as the header has it: nothing is checked but that these are whole numbers. */
export interface HeaderEntry {
  name: string;
  dtype: string;
  shape: readonly number[];
  begin: number;
  end: number;
}

/** Reader of an entry that is not of the usual form. */
type OtherEntry = (name: string, value: unknown) => HeaderEntry;

/** Bytes and depth of an entry that is not of the usual form. */
const LONGEST_ENTRY = 64 * 1024;
const DEEPEST_ENTRY = 8;
/** Bytes after which other work of the process has its turn: 50 ms. */
const TURN = 4 * 2 ** 20;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Numbers below 2^53. */
const NUMBER = '(?:0|[1-9]\\d{0,14})';
/** `~` is white space of JSON. PyTorch allows 64 dimensions. */
const DTYPE = '~"dtype"~:~"([A-Z\\d_]+)"~';
const SHAPE = `~"shape"~:~\\[(~|~${NUMBER}~(?:,~${NUMBER}~){0,63})\\]~`;
const OFFSETS = `~"data_offsets"~:~\\[(~${NUMBER}~,~${NUMBER}~)\\]~`;

/** A member with a plain name, and its fields in an order. */
function memberWith(...fields: string[]): RegExp {
  const text = `~"([^"\\\\\\x00-\\x1f\\x7f-\\xff]*)"~:~\\{${fields.join(',')}\\}`;
  return new RegExp(text.replaceAll('~', '[ \\t\\r\\n]*'), 'y');
}

/** Orders in which writers put the fields, and the groups of type, shape and offsets. */
const USUAL = [
  { pattern: memberWith(DTYPE, SHAPE, OFFSETS), groups: [2, 3, 4] },
  { pattern: memberWith(OFFSETS, DTYPE, SHAPE), groups: [3, 4, 2] },
] as const;

/**
 * Calls `found` for each tensor.
 *
 * @param signal ends a walk over many megabytes.
 * @throws UmaError ERR_UMA_MODEL for what is not a header.
 */
export async function forEachTensor(
  header: Buffer,
  path: string,
  {
    found,
    other,
    signal,
  }: { found: (entry: HeaderEntry) => void; other: OtherEntry; signal?: AbortSignal | undefined },
): Promise<void> {
  const walk = new HeaderWalk(header, path, other);
  while (!walk.goOn(found)) {
    await setImmediate();
    signal?.throwIfAborted();
  }
}

class HeaderWalk {
  readonly #bytes: Buffer;
  /** A character for each byte. */
  readonly #text: string;
  readonly #path: string;
  readonly #other: OtherEntry;
  #at = 0;
  #usual: (typeof USUAL)[number] = USUAL[0];

  constructor(bytes: Buffer, path: string, other: OtherEntry) {
    this.#bytes = bytes;
    this.#text = bytes.toString('latin1');
    this.#path = path;
    this.#other = other;
  }

  /** Walks for a turn. Returns whether that was the end. */
  goOn(found: (entry: HeaderEntry) => void): boolean {
    const turn = this.#at + TURN;
    if (this.#at === 0) {
      if (this.#next() !== OPEN_OBJECT) throw modelError(this.#path, 'it holds no JSON object');
      this.#at++;
      if (this.#next() === CLOSE_OBJECT) return this.#end();
    }
    while (this.#at < turn) {
      const entry = this.#member();
      if (entry !== null) found(entry);
      if (this.#next() === CLOSE_OBJECT) return this.#end();
      this.#take(COMMA);
    }
    return false;
  }

  #end(): true {
    this.#at++;
    if (this.#next() !== undefined) throw this.#invalid();
    return true;
  }

  /** A tensor; null: the metadata. */
  #member(): HeaderEntry | null {
    const usual = this.#match() ?? this.#inOtherOrder();
    if (usual !== null) return usual;
    const name = this.#string();
    this.#take(COLON);
    if (name !== '__metadata__') return this.#other(name, this.#value(name));
    this.#metadata();
    return null;
  }

  /** All tensors of a file are written alike. */
  #inOtherOrder(): HeaderEntry | null {
    const before = this.#usual;
    this.#usual = USUAL[before === USUAL[0] ? 1 : 0];
    const entry = this.#match();
    if (entry === null) this.#usual = before;
    return entry;
  }

  /** A tensor of the usual form; null: it has another one. */
  #match(): HeaderEntry | null {
    const { groups, pattern } = this.#usual;
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return null;
    const [type, shape, offsets] = groups;
    const name = match[1] ?? '';
    const [begin = 0, end = 0] = numbersIn(match[offsets] ?? '');
    if (end < begin || name === '__metadata__') return null;
    this.#at = pattern.lastIndex;
    return { name, dtype: match[type] ?? '', shape: numbersIn(match[shape] ?? ''), begin, end };
  }

  #invalid(): Error {
    return modelError(this.#path, `it is not valid JSON (byte ${formatCount(this.#at)} of the header)`);
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

  /** Names to strings, which is all that the format allows: nested values could take any time and memory. */
  #metadata(): void {
    const fail = (what: string): Error => modelError(this.#path, `${what}; the format allows strings`);
    if (this.#next() !== OPEN_OBJECT) throw fail('its __metadata__ is no object of strings');
    this.#members((name) => {
      if (this.#next() !== QUOTE) throw fail(`its __metadata__ has ${quoted(name)}, which is no string`);
      this.#string();
    });
  }

  /** A value that has another form, built within limits. */
  #value(name: string): unknown {
    const bytes = this.#bytes;
    this.#next();
    const start = this.#at;
    const fail = (what: string): Error =>
      modelError(this.#path, `tensor ${quoted(name)} ${what}; expected dtype, shape and two data_offsets`);
    let depth = 0;
    for (;;) {
      if (this.#at - start > LONGEST_ENTRY)
        throw fail(`takes more than ${formatCount(LONGEST_ENTRY)} bytes of the header`);
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

/** Numbers and what separates them. */
function numbersIn(text: string): number[] {
  const numbers: number[] = [];
  let number = -1;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit >= 0 && digit <= 9) number = Math.max(0, number) * 10 + digit;
    else if (number >= 0) {
      numbers.push(number);
      number = -1;
    }
  }
  if (number >= 0) numbers.push(number);
  return numbers;
}
