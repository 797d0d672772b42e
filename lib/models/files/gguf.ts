/**
 * Headers of GGUF files (github.com/ggml-org/ggml, docs/gguf.md), read in windows of 1 MiB. Arrays of strings, such as
 * the 250,000 tokens of a vocabulary, are walked and not built. Counts and lengths are checked against the size of the
 * file before anything is reserved for them.
 */

import { formatCount } from '../../base/format.ts';
import { ggmlType } from './ggml-types.ts';
import { type ByteSource, modelError, quoted } from './model-file.ts';
import { type FileFacts, WeightSums } from './weights.ts';

export type GgufValue = string | number | boolean | readonly (number | boolean)[];

export interface GgufHeader extends FileFacts {
  /** Numbers, short strings, and arrays of at most 4,096 numbers. */
  metadata: ReadonlyMap<string, GgufValue>;
  /** Length of each array, also of those that are not in `metadata`. */
  arrayLengths: ReadonlyMap<string, number>;
}

const WINDOW = 1024 * 1024;
/** A key has at most 65,535 bytes by the specification. */
const LONGEST_KEY = 65_535;
/** Longer strings, such as chat templates, are skipped. */
const LONGEST_VALUE = 4096;
/** Per-layer arrays are far shorter, arrays of a tokenizer far longer. */
const LONGEST_ARRAY = 4096;
/** A vocabulary has 250,000 strings, and as many pairs. */
const MOST_ENTRIES = 8_000_000;
/** A list in a list is walked over by a call of its own; no program writes any. */
const COST_OF_LIST = 100;
/** Headers have up to some 30 MB, of which the vocabulary is most. */
const LONGEST_HEADER = 2 ** 30;
/** A server that drips has its own limit; a disk that hangs has this one. */
const MOST_MS = 60_000;
const MOST_TENSORS = 1_000_000;
const MOST_KEYS = 100_000;
const DEEPEST_ARRAY = 4;

const TYPE = { string: 8, array: 9 } as const;

interface Scalar {
  bytes: number;
  at(buffer: Buffer, at: number): number | boolean;
}

/** The other types, by their number. */
const SCALARS: Readonly<Record<number, Scalar>> = {
  0: { bytes: 1, at: (buffer, at) => buffer.readUInt8(at) },
  1: { bytes: 1, at: (buffer, at) => buffer.readInt8(at) },
  2: { bytes: 2, at: (buffer, at) => buffer.readUInt16LE(at) },
  3: { bytes: 2, at: (buffer, at) => buffer.readInt16LE(at) },
  4: { bytes: 4, at: (buffer, at) => buffer.readUInt32LE(at) },
  5: { bytes: 4, at: (buffer, at) => buffer.readInt32LE(at) },
  6: { bytes: 4, at: (buffer, at) => buffer.readFloatLE(at) },
  7: { bytes: 1, at: (buffer, at) => buffer.readUInt8(at) !== 0 },
  10: { bytes: 8, at: (buffer, at) => Number(buffer.readBigUInt64LE(at)) },
  11: { bytes: 8, at: (buffer, at) => Number(buffer.readBigInt64LE(at)) },
  12: { bytes: 8, at: (buffer, at) => buffer.readDoubleLE(at) },
};

/**
 * @param layers layers of the main model, for a part of a model, whose header does not say; null: the header says.
 * @throws UmaError ERR_UMA_MODEL for a header that is not one; Node's own error where the file cannot be read.
 */
export async function readGguf(file: ByteSource, layers: number | null = null): Promise<GgufHeader> {
  return new Reader(file).header(layers);
}

class Reader {
  readonly #file: ByteSource;
  readonly #size: number;
  readonly #started = Date.now();
  /** Strings of arrays and lists in lists that may still be walked over. */
  #entriesLeft = MOST_ENTRIES;
  readonly #buffer = Buffer.allocUnsafe(WINDOW);
  /** Position of the window in the file, bytes in it, and where the next value lies in it. */
  #start = 0;
  #length = 0;
  #at = 0;
  readonly #metadata = new Map<string, GgufValue>();
  readonly #arrayLengths = new Map<string, number>();

  constructor(file: ByteSource) {
    this.#file = file;
    this.#size = file.size;
  }

  async header(layers: number | null): Promise<GgufHeader> {
    await this.#need(4);
    const magic = this.#buffer.toString('latin1', 0, 4);
    if (magic !== 'GGUF') throw this.#fail(`it begins with ${JSON.stringify(magic)}; expected "GGUF"`);
    this.#at = 4;
    const version = await this.#u32();
    if (version === 0x2000000 || version === 0x3000000)
      throw this.#fail('it is a big-endian file; expected a little-endian one');
    if (version !== 2 && version !== 3) throw this.#fail(`it has version ${version}; expected 2 or 3`);
    // A tensor takes at least 32 bytes of the header, a key 13.
    const tensors = this.#limited(await this.#u64(), 'tensors', 32, MOST_TENSORS);
    const keys = this.#limited(await this.#u64(), 'keys', 13, MOST_KEYS);
    for (let key = 0; key < keys; key++) await this.#readKey();
    const facts = await this.#readTensors(tensors, layers ?? this.#mainLayers());
    return { fileBytes: this.#size, metadata: this.#metadata, arrayLengths: this.#arrayLengths, ...facts };
  }

  #fail(message: string): Error {
    return modelError(this.#file.path, message);
  }

  #limited(count: number, what: string, bytesOfOne: number, most: number): number {
    const fits = Math.floor(this.#size / bytesOfOne);
    if (count <= Math.min(most, fits)) return count;
    const limit =
      count > most ? `at most ${formatCount(most)} are expected` : `the file has ${formatCount(this.#size)} bytes`;
    throw this.#fail(`its header claims ${formatCount(count)} ${what}; ${limit}`);
  }

  /** Makes `bytes` (at most a window) available at #at. */
  async #need(bytes: number): Promise<void> {
    if (this.#at + bytes <= this.#length) return;
    const position = this.#start + this.#at;
    if (position + bytes > this.#size)
      throw this.#fail(
        `its header goes on at byte ${position}, but the file has ${this.#size}: it is cut off; download it again`,
      );
    this.#start = position;
    this.#at = 0;
    if (position > LONGEST_HEADER) throw this.#fail(`its header is longer than ${formatCount(LONGEST_HEADER)} bytes`);
    if (Date.now() - this.#started > MOST_MS)
      throw this.#fail(
        `its header took more than ${MOST_MS / 1000} s to read, and ends later than at byte ${position}`,
      );
    const window = this.#buffer.subarray(0, Math.min(WINDOW, this.#size - position));
    this.#length = await this.#file.read(window, position);
    if (this.#length < bytes) throw this.#fail('it became shorter while it was read');
  }

  #skip(bytes: number): void {
    this.#at += bytes;
    if (this.#start + this.#at > this.#size)
      throw this.#fail(
        `a value of ${formatCount(bytes)} bytes ends after the file, which has ${formatCount(this.#size)}`,
      );
  }

  async #u32(): Promise<number> {
    await this.#need(4);
    const value = this.#buffer.readUInt32LE(this.#at);
    this.#at += 4;
    return value;
  }

  async #u64(): Promise<number> {
    await this.#need(8);
    return this.#u64Here();
  }

  /** The 8 bytes must be in the window. A value above 2^53 is rounded; no limit lets it pass. */
  #u64Here(): number {
    const value = this.#buffer.readUInt32LE(this.#at) + this.#buffer.readUInt32LE(this.#at + 4) * 2 ** 32;
    this.#at += 8;
    return value;
  }

  /** A string of at most `longest` bytes; null: it is longer, and skipped. */
  async #string(longest: number): Promise<string | null> {
    const length = await this.#u64();
    if (length > longest) {
      this.#skip(length);
      return null;
    }
    await this.#need(length);
    const text = this.#buffer.toString('utf8', this.#at, this.#at + length);
    this.#at += length;
    return text;
  }

  async #readKey(): Promise<void> {
    const key = await this.#string(LONGEST_KEY);
    if (key === null) throw this.#fail(`a key is longer than ${formatCount(LONGEST_KEY)} bytes`);
    const type = await this.#u32();
    if (type === TYPE.array) return this.#readArray(key, 0);
    const value = type === TYPE.string ? await this.#string(LONGEST_VALUE) : await this.#scalar(type, key);
    if (value !== null) this.#metadata.set(key, value);
  }

  #scalarOf(type: number, key: string): Scalar {
    const scalar = SCALARS[type];
    if (scalar !== undefined) return scalar;
    throw this.#fail(`key ${quoted(key)} has a value of type ${type}; expected 0 to 12`);
  }

  async #scalar(type: number, key: string): Promise<number | boolean> {
    const scalar = this.#scalarOf(type, key);
    await this.#need(scalar.bytes);
    this.#at += scalar.bytes;
    return scalar.at(this.#buffer, this.#at - scalar.bytes);
  }

  async #readArray(key: string, depth: number): Promise<void> {
    const type = await this.#u32();
    const length = await this.#u64();
    if (depth === 0) this.#arrayLengths.set(key, length);
    const scalar = type === TYPE.string || type === TYPE.array ? null : this.#scalarOf(type, key);
    const smallest = scalar?.bytes ?? (type === TYPE.string ? 8 : 12);
    const left = this.#size - this.#start - this.#at;
    if (length * smallest > left)
      throw this.#fail(
        `array ${quoted(key)} claims ${formatCount(length)} entries; the file has ${formatCount(left)} bytes left`,
      );
    if (type === TYPE.string) this.#spend(length, key);
    if (type === TYPE.array) this.#spend(length * COST_OF_LIST, key);
    if (type === TYPE.string) return this.#skipStrings(length);
    if (scalar === null) {
      if (depth >= DEEPEST_ARRAY) throw this.#fail(`array ${quoted(key)} is nested more than ${DEEPEST_ARRAY} times`);
      for (let entry = 0; entry < length; entry++) await this.#readArray(key, depth + 1);
      return;
    }
    if (length > LONGEST_ARRAY || depth > 0) return this.#skip(length * smallest);
    await this.#need(length * smallest);
    this.#metadata.set(
      key,
      Array.from({ length }, (_, index) => scalar.at(this.#buffer, this.#at + index * smallest)),
    );
    this.#at += length * smallest;
  }

  #spend(entries: number, key: string): void {
    this.#entriesLeft -= entries;
    if (this.#entriesLeft >= 0) return;
    throw this.#fail(`its lists have more than ${formatCount(MOST_ENTRIES)} entries, with those of ${quoted(key)}`);
  }

  async #skipStrings(count: number): Promise<void> {
    for (let left = count; left > 0; ) {
      // An await for each of 500,000 strings would take longer than all the rest.
      if (this.#at + 8 > this.#length) await this.#need(8);
      left -= this.#skipStringsHere(left);
    }
  }

  /** Walks over strings whose lengths are in the window. Returns how many. */
  #skipStringsHere(count: number): number {
    const buffer = this.#buffer;
    const last = this.#length - 8;
    let at = this.#at;
    let walked = 0;
    let length = 0;
    while (walked < count && at <= last) {
      length = buffer.readUInt32LE(at) + buffer.readUInt32LE(at + 4) * 2 ** 32;
      at += 8 + length;
      walked++;
    }
    this.#at = at - length;
    this.#skip(length);
    return walked;
  }

  async #readTensors(count: number, layers: number | null): Promise<Omit<FileFacts, 'fileBytes'>> {
    const tensors: GgufTensor[] = [];
    for (let index = 0; index < count; index++) tensors.push(await this.#readTensor());
    const alignment = this.#metadata.get('general.alignment') ?? 32;
    if (typeof alignment !== 'number' || !Number.isInteger(alignment) || alignment < 1 || alignment > 2 ** 20)
      throw this.#fail(`general.alignment is ${String(alignment)}; expected a whole number from 1`);
    const dataStart = Math.ceil((this.#start + this.#at) / alignment) * alignment;
    const dataBytes = this.#size - dataStart;
    tensors.sort((a, b) => a.offset - b.offset);
    const sums = new WeightSums();
    let largestTensor = 0;
    for (const [index, tensor] of tensors.entries()) {
      const next = tensors[index + 1]?.offset ?? Math.max(dataBytes, 0);
      const bytes = tensor.bytes ?? next - tensor.offset;
      this.#checkPlace(tensor, bytes, tensors[index + 1] ?? null, dataBytes);
      largestTensor = Math.max(largestTensor, bytes);
      sums.add({ name: tensor.name, dtype: tensor.dtype, bytes, parameters: tensor.elements }, layers);
    }
    return { sums, largestTensor };
  }

  #checkPlace({ name, offset }: GgufTensor, bytes: number, next: GgufTensor | null, dataBytes: number): void {
    const tensor = `tensor ${quoted(name)}`;
    if (next !== null && offset + bytes > next.offset)
      throw this.#fail(`${tensor} overlaps ${quoted(next.name)} at byte ${next.offset} of the data`);
    if (offset + bytes > dataBytes)
      throw this.#fail(
        `${tensor} ends at byte ${formatCount(offset + bytes)} of the data, which has ${formatCount(Math.max(0, dataBytes))}: the file is cut off; download it again`,
      );
  }

  /** Layers without those that predict further tokens. */
  #mainLayers(): number | null {
    const name = this.#metadata.get('general.architecture');
    const blocks = this.#metadata.get(`${String(name)}.block_count`);
    const predicting = this.#metadata.get(`${String(name)}.nextn_predict_layers`) ?? 0;
    return typeof blocks === 'number' && typeof predicting === 'number' ? blocks - predicting : null;
  }

  async #readTensor(): Promise<GgufTensor> {
    const name = await this.#string(LONGEST_KEY);
    if (name === null) throw this.#fail(`the name of a tensor is longer than ${formatCount(LONGEST_KEY)} bytes`);
    const dimensions = await this.#u32();
    const fail = (what: string): Error => this.#fail(`tensor ${quoted(name)} ${what}`);
    if (dimensions > 4) throw fail(`has ${dimensions} dimensions; expected at most 4`);
    let elements = 1;
    for (let index = 0; index < dimensions; index++) elements *= await this.#u64();
    if (elements > Number.MAX_SAFE_INTEGER)
      throw fail(`has ${elements.toPrecision(3)} elements; expected less than 2^53`);
    const typeNumber = await this.#u32();
    const type = ggmlType(typeNumber);
    const offset = await this.#u64();
    if (type === null) return { name, dtype: `type ${typeNumber}`, elements, bytes: null, offset };
    const bytes = Math.ceil(elements / type.blockElements) * type.blockBytes;
    return { name, dtype: type.name, elements, bytes, offset };
  }
}

interface GgufTensor {
  name: string;
  dtype: string;
  elements: number;
  /** null: the type is not known; the next tensor's offset tells. */
  bytes: number | null;
  offset: number;
}
