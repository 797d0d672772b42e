/** Reading the files of a model: regular files only, a bounded part of each, and errors of one line. */

import { closeSync, constants, fstatSync, open, read } from 'node:fs';
import { basename } from 'node:path';
import { UmaError } from '../../base/errors.ts';
import { formatCount } from '../../base/format.ts';
import { isObject } from '../../base/objects.ts';

/** A model file that is damaged, incomplete or not what its name says: `ERR_UMA_MODEL`. */
export function modelError(path: string, message: string): UmaError {
  const call = `read ${basename(path)}`;
  return new UmaError('ERR_UMA_MODEL', { source: 'umaprobe', call, status: null, name: 'MODEL_INVALID', message });
}

/** A name from a file, as far as the line of an error has room. */
export function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 80));
}

/** A file of a model as bytes, wherever it is: the readers of headers know nothing else of it. */
export interface ByteSource {
  /** Path in messages. */
  readonly path: string;
  readonly size: number;
  /** Ends the work on it. */
  readonly signal?: AbortSignal | undefined;
  /** Fills `buffer` with the bytes at `position`. Returns how many; fewer only at the end of the file. */
  read(buffer: Buffer, position: number): Promise<number>;
}

/** A call of Node with a number for the file: FileHandle takes twice the time, which counts with 160 shards. */
function promised<T>(call: (done: (error: Error | null, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => call((error, value) => (error === null ? resolve(value) : reject(error))));
}

/**
 * Opens a regular file, hands it to `work`, and closes it. The open does not wait: a FIFO in a folder of models would
 * otherwise hang it.
 *
 * @param signal ends the work at its next read.
 */
export async function withFile<T>(
  path: string,
  work: (file: ByteSource) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  const file = await promised<number>((done) => open(path, constants.O_RDONLY | constants.O_NONBLOCK, done));
  // Node's threads do work that can wait for a disk or a network. The kernel knows the rest of an open file.
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw modelError(path, 'it is not a regular file');
    const source: ByteSource = {
      path,
      size: stat.size,
      signal,
      read(buffer, position) {
        signal?.throwIfAborted();
        return readAt(file, buffer, position);
      },
    };
    return await work(source);
  } finally {
    closeSync(file);
  }
}

async function readAt(file: number, buffer: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const offset = filled;
    const bytes = await promised<number>((done) =>
      read(file, buffer, offset, buffer.length - offset, position + offset, done),
    );
    if (bytes === 0) break;
    filled += bytes;
  }
  return filled;
}

/** Text of a small file; an error if it is larger than `limit` bytes. */
export async function readText(file: ByteSource, limit: number): Promise<string> {
  if (file.size > limit)
    throw modelError(file.path, `it has ${formatCount(file.size)} bytes; expected at most ${formatCount(limit)}`);
  const buffer = Buffer.allocUnsafe(file.size);
  return buffer.toString('utf8', 0, await file.read(buffer, 0));
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON document whose root is an object. */
export function parseObject(text: string, path: string): JsonObject {
  // Editors of Windows write a mark before the text.
  const json = text.startsWith('\ufeff') ? text.slice(1) : text;
  checkNesting(json, path);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = parsePython(json, path);
  }
  if (!isObject(value)) throw modelError(path, 'it holds no JSON object');
  return value;
}

/** Configs are nested five times. Recursion over a document is less deep than this. */
const DEEPEST = 64;
/** Values of a document: an index of 1,000,000 tensors has as many, the longest config some 10,000. */
const MOST_VALUES = 2_000_000;

/** Checks a document before it is built, which takes 100 times its bytes if it consists of empty lists. */
function checkNesting(text: string, path: string): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      values++;
      if (++depth > DEEPEST) throw modelError(path, `it is nested more than ${DEEPEST} times`);
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth--;
    else if (code === COMMA) values++;
    if (values > MOST_VALUES) throw modelError(path, `it has more than ${formatCount(MOST_VALUES)} values`);
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** End of the string that begins at `start`; the end of the text if it has none. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return text.length;
}

/** Python writes Infinity and NaN, which JSON does not have: Nemotron's configs do. */
function parsePython(text: string, path: string): unknown {
  try {
    return JSON.parse(text.replace(/([[:,]\s*)-?(?:Infinity|NaN)(?=\s*[,\]}])/g, '$1null'));
  } catch (error) {
    const reason = (error as Error).message.replaceAll(/\s+/g, ' ').slice(0, 100);
    throw modelError(path, `it is not valid JSON (${reason})`);
  }
}
