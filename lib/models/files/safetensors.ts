/**
 * Headers of safetensors files: 8 bytes with the length of a JSON object, then the object: name → dtype, shape, offsets.
 * The rules are those of the format (github.com/huggingface/safetensors, README, "Format"): offsets leave no holes, do
 * not overlap and end with the file; a header has at most 100 MB.
 */

import { formatCount } from '../../base/format.ts';
import { type ByteSource, modelError } from './model-file.ts';
import { elementsOf, entryOf, parametersPerElement } from './safetensors-entry.ts';
import { forEachTensor, type HeaderEntry } from './safetensors-header.ts';
import { type FileFacts, type TensorFacts, WeightSums } from './weights.ts';

/** Limit of the format's own readers. */
const LONGEST_HEADER = 100_000_000;
/** Read at first; most headers are shorter, so that one read is enough. */
const FIRST_READ = 128 * 1024;

/** Facts of the model that a reader of a header needs. */
export interface TensorContext {
  /** Layers of the main model; null: unknown. */
  layers: number | null;
  /** Parameters in one element of a packed 4-bit tensor, by the element's bits: 8 in an I32, 2 in a U8. */
  packedBits: number | null;
}

/**
 * @param each called for every tensor.
 * @throws UmaError ERR_UMA_MODEL for a header that is not one; Node's own error where the file cannot be read.
 */
export async function readSafetensors(
  file: ByteSource,
  context: TensorContext,
  each?: (tensor: TensorFacts) => void,
): Promise<FileFacts> {
  const { path, size } = file;
  const first = Buffer.allocUnsafe(Math.min(FIRST_READ, size));
  const filled = await file.read(first, 0);
  if (filled < 8) throw modelError(path, `it has ${size} bytes, less than the 8 with which a safetensors file begins`);
  const length = headerLength(first, size, path);
  const header = length + 8 <= filled ? first.subarray(8, 8 + length) : await rest(file, first, filled, length);
  return { fileBytes: size, ...(await summary(header, file, context, each)) };
}

function headerLength(first: Buffer, size: number, path: string): number {
  const length = first.readBigUInt64LE(0);
  const claims = (): string => `its header claims ${length.toLocaleString('en-US')} bytes`;
  if (length > BigInt(LONGEST_HEADER))
    throw modelError(path, `${claims()}; the format allows ${formatCount(LONGEST_HEADER)}. Is it a safetensors file?`);
  if (Number(length) > size - 8)
    throw modelError(path, `${claims()}, but the file has ${formatCount(size)}: it is cut off; download it again`);
  if (length < 2n) throw modelError(path, `${claims()}; expected a JSON object`);
  return Number(length);
}

async function rest(file: ByteSource, first: Buffer, filled: number, length: number): Promise<Buffer> {
  const header = Buffer.allocUnsafe(length);
  const known = first.copy(header, 0, 8, filled);
  const read = await file.read(header.subarray(known), filled);
  if (known + read < length) throw modelError(file.path, 'it became shorter while it was read');
  return header;
}

async function summary(
  header: Buffer,
  { path, signal, size }: ByteSource,
  { layers, packedBits }: TensorContext,
  each?: (tensor: TensorFacts) => void,
): Promise<Omit<FileFacts, 'fileBytes'>> {
  const sums = new WeightSums();
  const data = new Ranges();
  let largestTensor = 0;
  const found = (entry: HeaderEntry): void => {
    const { begin, dtype, end, name } = entry;
    const bytes = end - begin;
    const parameters = elementsOf(entry, path) * parametersPerElement(name, dtype, packedBits);
    const tensor = { name, dtype, bytes, parameters };
    data.add(begin, end);
    if (bytes > largestTensor) largestTensor = bytes;
    sums.add(tensor, layers);
    each?.(tensor);
  };
  await forEachTensor(header, path, { found, other: (name, value) => entryOf(name, value, path), signal });
  data.check(size - 8 - header.length, path);
  return { sums, largestTensor };
}

/** Places of tensors. They must cover the data without holes; those that follow each other are one range. */
class Ranges {
  readonly #ranges: { begin: number; end: number }[] = [];
  #last = { begin: 0, end: 0 };

  add(begin: number, end: number): void {
    if (begin === this.#last.end) {
      this.#last.end = end;
      return;
    }
    this.#ranges.push(this.#last);
    this.#last = { begin, end };
  }

  check(dataBytes: number, path: string): void {
    let at = 0;
    for (const { begin, end } of [...this.#ranges, this.#last].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
      if (begin !== at)
        throw modelError(
          path,
          `its tensors ${begin < at ? 'overlap' : 'leave a hole'} at byte ${Math.min(at, begin)} of the data`,
        );
      at = end;
    }
    if (at !== dataBytes)
      throw modelError(
        path,
        at > dataBytes
          ? `its tensors take ${formatCount(at)} bytes, but the file has ${formatCount(dataBytes)} for them: it is cut off; download it again`
          : `${formatCount(dataBytes - at)} bytes after the last tensor belong to none`,
      );
  }
}
