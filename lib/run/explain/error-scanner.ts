/**
 * Reads a text of any length in constant memory and collects the messages about memory in it. Only passages around an
 * anchor (anchors.ts) are decoded; the rest of a log is skipped.
 */

import { MOST_COUNTED } from '../../types/explain.ts';
import type { ErrorNumber } from '../../types/index.ts';
import { AnchorSearch } from './anchors.ts';
import { MESSAGES } from './messages/index.ts';
import type { Message } from './messages/message.ts';
import { LINE_FEED, lineOf, passage } from './passage.ts';
import { type Match, recognise } from './recognise.ts';

/** Bytes read before they are searched. */
const BATCH = 128 * 1024;
/** Bytes before a message in which its cause is looked for. */
const HISTORY = 32 * 1024;
/** Bytes of a passage before its first anchor and behind its last one, cut to whole lines where there are any. */
const BEFORE = 1024;
const AFTER = 2048;
/** A longer passage is cut in two. */
const LONGEST = 8 * 1024;
/** Characters of a message that are kept. */
const SHOWN = 400;

export interface FoundMessage {
  message: Message;
  count: number;
  firstLine: number;
  lastLine: number;
  text: string;
  numbers: ErrorNumber[];
}

const ANCHORS = MESSAGES.flatMap((message, row) => message.anchors.map((text) => ({ text, row })));

/** Anchors that stand near each other. */
interface Hits {
  first: number;
  last: number;
  anchors: Set<number>;
}

export class ErrorScanner {
  static readonly #search = new AnchorSearch(ANCHORS.map(({ text }) => text));

  readonly #buffer = Buffer.allocUnsafe(HISTORY + BATCH);
  /** Bytes in the buffer; those before `#searched` were searched. */
  #filled = 0;
  #searched = 0;
  /** Offset of the buffer's first byte in the input. */
  #offset = 0;
  /** Offset up to which the input belongs to messages that were found. */
  #claimed = 0;
  /** Line breaks before the byte at `#countedTo`, an offset in the input. */
  #lineBreaks = 0;
  #countedTo = 0;
  #endsLine = true;
  readonly #found = new Map<string, FoundMessage>();
  /** Messages found in passages with the same anchors, by these. */
  readonly #foundBy = new Map<string, number>();

  write(chunk: Uint8Array): void {
    let from = 0;
    while (from < chunk.length) {
      const part = chunk.subarray(from, from + this.#buffer.length - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled === this.#buffer.length) {
        this.#searchTo(this.#filled - AFTER - 1);
        this.#forget();
      }
    }
  }

  /** Searches the rest. Returns the messages, in the order of first occurrence, and the number of lines. */
  end(): { found: FoundMessage[]; lines: number } {
    this.#searchTo(this.#filled);
    this.#countTo(this.#offset + this.#filled);
    if (this.#filled > 0) this.#endsLine = this.#buffer[this.#filled - 1] === LINE_FEED;
    return { found: [...this.#found.values()], lines: this.#lineBreaks + (this.#endsLine ? 0 : 1) };
  }

  /** Makes room: keeps the text that is not searched, and the history before it. */
  #forget(): void {
    const keepFrom = Math.max(0, this.#searched - HISTORY + AFTER + 1);
    this.#countTo(this.#offset + keepFrom);
    this.#buffer.copyWithin(0, keepFrom, this.#filled);
    this.#offset += keepFrom;
    this.#filled -= keepFrom;
    this.#searched -= keepFrom;
  }

  /** Searches for anchors that begin before `limit`, and reads the passages around them. */
  #searchTo(limit: number): void {
    let hits: Hits | null = null;
    let end = 0;
    ErrorScanner.#search.forEach(this.#buffer, this.#searched, this.#filled, (at, anchor) => {
      if (at >= limit) return;
      if (hits !== null && at >= end) end = this.#passageEnd(hits.last);
      if (hits !== null && (at >= end || at - hits.first > LONGEST)) {
        this.#read(hits);
        hits = null;
      }
      hits ??= { first: at, last: at, anchors: new Set() };
      hits.last = at;
      hits.anchors.add(anchor);
    });
    if (hits !== null) this.#read(hits);
    this.#searched = Math.max(this.#searched, limit);
  }

  #passageStart(hit: number): number {
    const start = Math.max(0, hit - BEFORE);
    if (start === 0) return 0;
    // The first whole line; if there is none, the line is longer than a passage.
    const lineBreak = this.#buffer.subarray(start, hit).indexOf(LINE_FEED);
    return lineBreak === -1 ? start : start + lineBreak + 1;
  }

  #passageEnd(hit: number): number {
    const end = Math.min(this.#filled, hit + AFTER);
    if (end === this.#filled) return end;
    const lineBreak = this.#buffer.subarray(hit, end + 1).lastIndexOf(LINE_FEED);
    return lineBreak <= 0 ? end : hit + lineBreak;
  }

  #read(hits: Hits): void {
    const anchors = [...hits.anchors];
    const key = anchors.sort((a, b) => a - b).join();
    const before = this.#foundBy.get(key) ?? 0;
    // A log of nothing but one message: more of them say nothing new, and reading each takes 10 µs.
    if (before >= MOST_COUNTED) return;
    this.#foundBy.set(key, before + this.#readPassage(hits, anchors));
  }

  /** Returns how many messages it has found. */
  #readPassage({ first, last }: Hits, anchors: readonly number[]): number {
    const start = this.#passageStart(first);
    const end = this.#passageEnd(last);
    const rows = [...new Set(anchors.map((anchor) => (ANCHORS[anchor] as (typeof ANCHORS)[number]).row))];
    rows.sort((a, b) => a - b);
    const piece = passage(this.#buffer, start, end, this.#offset);
    let history: string | undefined;
    const before = () => {
      history ??= this.#buffer.toString('latin1', Math.max(0, start - HISTORY), start);
      return history;
    };
    const messages = rows.map((row) => MESSAGES[row] as Message);
    const offsetOf = (at: number) => {
      const line = lineOf(piece, at);
      return (piece.offsets[line] ?? 0) + at - (piece.starts[line] ?? 0);
    };
    let found = 0;
    for (const match of recognise(piece.text, messages, before)) {
      const at = offsetOf(match.start);
      // Found in the passage before, which overlaps this one.
      if (at < this.#claimed) continue;
      this.#claimed = offsetOf(match.end - 1) + 1;
      this.#countTo(piece.offsets[lineOf(piece, match.start)] ?? at);
      this.#add(match, piece.text.slice(match.start, match.end), this.#lineBreaks + 1);
      found++;
    }
    return found;
  }

  #add({ message, numbers }: Match, text: string, line: number): void {
    const known = this.#found.get(message.code);
    if (known === undefined) {
      const shown = text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text;
      this.#found.set(message.code, { message, count: 1, firstLine: line, lastLine: line, text: shown, numbers });
      return;
    }
    // A first occurrence with its numbers cut out learns them from a later one.
    if (known.numbers.length === 0) known.numbers = numbers;
    if (known.count === MOST_COUNTED) return;
    known.count++;
    known.lastLine = line;
  }

  /** Moves the count of line breaks to another byte of the input that is still in the buffer. */
  #countTo(offset: number): void {
    const [from, to] = [this.#countedTo, offset].sort((a, b) => a - b) as [number, number];
    const breaks = countLineBreaks(this.#buffer, from - this.#offset, to - this.#offset);
    this.#lineBreaks += offset < this.#countedTo ? -breaks : breaks;
    this.#countedTo = offset;
  }
}

const LINE_FEEDS = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;
const HIGH_BITS = 0x80808080 | 0;

/** Line feeds in `bytes` from `start` to `end`, counted four bytes at a time. */
export function countLineBreaks(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  let at = start;
  for (; at < end && (bytes.byteOffset + at) % 4 !== 0; at++) if (bytes[at] === 10) count++;
  if (at >= end) return count;
  const whole = Math.floor((end - at) / 4);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + at, whole);
  for (let index = 0; index < whole; index++) {
    // A byte of `rest` is 0 for a line feed; its high bit in `feeds` is then 1, and no other bit is.
    const rest = (words[index] as number) ^ LINE_FEEDS;
    const feeds = ~(((rest & LOW_BITS) + LOW_BITS) | rest) & HIGH_BITS;
    if (feeds !== 0) count += Math.imul(feeds >>> 7, 0x01010101) >>> 24;
  }
  for (at += 4 * whole; at < end; at++) if (bytes[at] === 10) count++;
  return count;
}
