/**
 * A header of safetensors in the form that its writers give it. The entries of one model differ mostly in numbers
 * ("model.layers.12.mlp.experts.7.up_proj.weight", its shape, its offsets), so an entry is compared byte by byte with
 * those that were seen, and 90,000 of them become about a hundred objects: a third of the time of JSON.parse. Whatever is
 * unusual or wrong is left to JSON.parse and the checks after it.
 */

import { isObject } from './model-file.ts';
import { bitsOf, bytesOf, type Entry, entryOf, parametersPerElement } from './safetensors-entry.ts';
import { layerIndex, partOf, type WeightPart, type WeightSum, WeightSums } from './weights.ts';

/** What a reader of a header must know of the model. */
export interface TensorContext {
  /** Layers of the main model; null: unknown. */
  layers: number | null;
  /** Parameters in one element of a packed 4-bit tensor, by the element's bits: 8 in an I32, 2 in a U8. */
  packedBits: number | null;
  /** Kinds of entries that were seen in this model: empty at first. */
  kinds: EntryKind[];
}

/** Entries that differ only in their numbers. */
interface EntryKind {
  /** The bytes before, between and after its numbers, from the name's quote to the closing brace. */
  texts: readonly Uint8Array[];
  /** Which of its numbers is the layer; -1: none. */
  layer: number;
  /** Which of its numbers is the first of the shape. The last two are the offsets. */
  shape: number;
  dtype: string;
  bits: number;
  parametersPerElement: number;
  /** Part of the model, unless the layer is one that predicts further tokens. */
  part: WeightPart;
  /** The kind that followed it last. */
  next: EntryKind | null;
}

/** What the tensors of one header add up to. */
export interface FoundTensors {
  sums: WeightSums;
  /** Begin and end of each, one after the other. */
  ranges: number[];
  largestTensor: number;
}

/** null: the header has another form, or something in it is wrong. */
export function scanHeader(header: Buffer, context: TensorContext): FoundTensors | null {
  return new Scanner(header, context).read();
}

const OPEN = 123;
const CLOSE = 125;
const COMMA = 44;
const BACKSLASH = 92;
const METADATA = Buffer.from('"__metadata__"');

/** Numbers between two dots of a name, and those of the lists. */
const NUMBERS = /(?<=[.,[\s])\d+/g;
/** Digits of a number that is exact. */
const MOST_DIGITS = 15;
/** An entry has up to four numbers in its name, four in its shape and two offsets. */
const MOST_NUMBERS = 16;
/** Models have 10 to 200 kinds, with images up to 300. */
const MOST_KINDS = 400;
/** Comparisons for each entry, besides those of kinds that are new: with more of them JSON.parse is faster. */
const MOST_TRIES = 16;

class Scanner {
  readonly #bytes: Buffer;
  readonly #context: TensorContext;
  readonly #slots: WeightSum[] = [];
  readonly #ranges: number[] = [];
  readonly #numbers = new Float64Array(MOST_NUMBERS);
  #largestTensor = 0;
  #at = 0;
  #tries = 0;

  constructor(bytes: Buffer, context: TensorContext) {
    this.#bytes = bytes;
    this.#context = context;
  }

  read(): FoundTensors | null {
    // Without escapes and other braces an entry ends with the next closing brace.
    if (this.#bytes.includes(BACKSLASH) || !this.#accept(OPEN)) return null;
    let last: EntryKind | null = null;
    if (this.#peek() !== CLOSE)
      do {
        this.#peek();
        if (this.#skipMetadata()) continue;
        const kind = this.#entry(last);
        if (kind === null || !this.#add(kind)) return null;
        if (last !== null) last.next = kind;
        last = kind;
      } while (this.#accept(COMMA));
    if (!this.#accept(CLOSE) || this.#peek() !== null) return null;
    const sums = new WeightSums();
    sums.merge(this.#slots);
    return { sums, ranges: this.#ranges, largestTensor: this.#largestTensor };
  }

  /** Reads one entry. Layers are alike: what followed a kind before mostly follows it again. */
  #entry(last: EntryKind | null): EntryKind | null {
    const next = last?.next ?? null;
    if (next !== null && this.#matches(next)) return next;
    if (this.#tries > (MOST_TRIES * this.#ranges.length) / 2 + MOST_KINDS ** 2) return null;
    for (const kind of this.#context.kinds) if (this.#matches(kind)) return kind;
    return this.#learn();
  }

  #learn(): EntryKind | null {
    const { kinds, packedBits } = this.#context;
    const text = this.#text();
    const kind = text === null || kinds.length >= MOST_KINDS ? null : kindOf(text, packedBits);
    if (kind === null || !this.#matches(kind)) return null;
    kinds.push(kind);
    return kind;
  }

  /** The next entry, up to its closing brace; null: there is none. */
  #text(): string | null {
    const end = this.#bytes.indexOf(CLOSE, this.#at);
    return end < 0 ? null : this.#bytes.toString('latin1', this.#at, end + 1);
  }

  #skipMetadata(): boolean {
    for (let index = 0; index < METADATA.length; index++)
      if (this.#bytes[this.#at + index] !== METADATA[index]) return false;
    const text = this.#text();
    if (text === null || parseEntry(text) === null) return false;
    this.#at += text.length;
    return true;
  }

  /** Whether the next entry is of this kind; if so, its numbers are kept, and it is read. */
  #matches({ texts }: EntryKind): boolean {
    this.#tries++;
    const bytes = this.#bytes;
    let at = this.#at;
    for (let index = 0; index < texts.length; index++) {
      if (index > 0) {
        const start = at;
        let value = 0;
        let digit = bytes[at] as number;
        while (digit >= 48 && digit <= 57) {
          value = value * 10 + (digit - 48);
          digit = bytes[++at] as number;
        }
        if (at === start || at - start > MOST_DIGITS) return false;
        this.#numbers[index - 1] = value;
      }
      const text = texts[index] as Uint8Array;
      for (let offset = 0; offset < text.length; offset++) if (bytes[at + offset] !== text[offset]) return false;
      at += text.length;
    }
    this.#at = at;
    return true;
  }

  /** Adds the entry that was read last; false: its numbers are wrong. */
  #add({ bits, dtype, layer, parametersPerElement, part, shape, texts }: EntryKind): boolean {
    const numbers = this.#numbers;
    const offsets = texts.length - 3;
    let elements = 1;
    for (let index = shape; index < offsets; index++) elements *= numbers[index] as number;
    const begin = numbers[offsets] as number;
    const end = numbers[offsets + 1] as number;
    // Also where the end is before the begin.
    if (bytesOf(elements, bits) !== end - begin) return false;
    this.#ranges.push(begin, end);
    this.#largestTensor = Math.max(this.#largestTensor, end - begin);
    const { layers } = this.#context;
    const predicts = layers !== null && layer >= 0 && (numbers[layer] as number) >= layers;
    const slot = this.#slot(predicts ? 'mtp' : part, dtype);
    slot.tensors++;
    slot.bytes += end - begin;
    slot.parameters += elements * parametersPerElement;
    return true;
  }

  #slot(part: WeightPart, dtype: string): WeightSum {
    // There are a few: a search takes less time than the key of a map.
    for (const slot of this.#slots) if (slot.part === part && slot.dtype === dtype) return slot;
    const slot = { part, dtype, tensors: 0, bytes: 0, parameters: 0 };
    this.#slots.push(slot);
    return slot;
  }

  /** The next byte that is no space; null: there is none. */
  #peek(): number | null {
    for (; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at] as number;
      if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) return byte;
    }
    return null;
  }

  #accept(byte: number): boolean {
    if (this.#peek() !== byte) return false;
    this.#at++;
    return true;
  }
}

/** The kind of an entry ("name":{"dtype":…}); null: it is unusual, or wrong. */
function kindOf(text: string, packedBits: number | null): EntryKind | null {
  const [name, value] = parseEntry(text) ?? ['', null];
  if (!isObject(value) || Object.keys(value).join() !== 'dtype,shape,data_offsets') return null;
  let entry: Entry;
  try {
    entry = entryOf(name, value, '');
  } catch {
    return null;
  }
  const { begin, dtype, end, shape } = entry;
  const bits = bitsOf(dtype);
  const numbers = [...text.matchAll(NUMBERS)];
  const inName = numbers.filter(({ index }) => index <= name.length).length;
  const inLists = numbers.slice(inName).map(([digits]) => Number(digits));
  if (bits === null || numbers.length > MOST_NUMBERS || inLists.join() !== [...shape, begin, end].join()) return null;
  const part = partOf(name, null);
  const layer = part === 'blocks' || part === 'experts' ? layerIndex(name) : -1;
  return {
    texts: text.split(NUMBERS).map((piece) => Buffer.from(piece, 'latin1')),
    // The name begins after a quote.
    layer: layer < 0 ? -1 : numbers.findIndex(({ index }) => index === layer + 1),
    shape: inName,
    dtype,
    bits,
    parametersPerElement: parametersPerElement(name, dtype, packedBits),
    part,
    next: null,
  };
}

/** Name and value; null: it is no JSON, or more than one entry. */
function parseEntry(text: string): [string, unknown] | null {
  try {
    const [entry, ...others] = Object.entries(JSON.parse(`{${text}}`) as object);
    return others.length > 0 ? null : (entry ?? null);
  } catch {
    return null;
  }
}
