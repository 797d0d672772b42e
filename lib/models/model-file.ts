/** Reading the files of a model: regular files only, a bounded part of each, and errors of one line. */

import { closeSync, constants, fstatSync, open, read } from 'node:fs';
import { basename } from 'node:path';
import { UmaError } from '../base/errors.ts';

/** A model file that is damaged, incomplete or not what its name says: `ERR_UMA_MODEL`. */
export function modelError(path: string, message: string): UmaError {
  const call = `read ${basename(path)}`;
  return new UmaError('ERR_UMA_MODEL', { source: 'umaprobe', call, status: null, name: 'MODEL_INVALID', message });
}

/** A call of Node with a number for the file: FileHandle takes twice the time, which counts with 160 shards. */
function promised<T>(call: (done: (error: Error | null, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => call((error, value) => (error === null ? resolve(value) : reject(error))));
}

/**
 * Opens a regular file, hands its number to `work` with its size, and closes it. The open does not wait: a FIFO in a
 * folder of models would otherwise hang it.
 */
export async function withFile<T>(path: string, work: (file: number, size: number) => Promise<T>): Promise<T> {
  const file = await promised<number>((done) => open(path, constants.O_RDONLY | constants.O_NONBLOCK, done));
  // What can wait for a disk or a network is done by Node's threads. Of an open file the kernel knows the rest.
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw modelError(path, 'it is not a regular file');
    return await work(file, stat.size);
  } finally {
    closeSync(file);
  }
}

/** Reads `length` bytes at `position`; fewer only at the end of the file. */
export async function readAt(file: number, buffer: Buffer, length: number, position: number): Promise<number> {
  let filled = 0;
  while (filled < length) {
    const offset = filled;
    const bytes = await promised<number>((done) =>
      read(file, buffer, offset, length - offset, position + offset, done),
    );
    if (bytes === 0) break;
    filled += bytes;
  }
  return filled;
}

/** Text of a small file; an error if it is larger than `limit` bytes. */
export async function readSmall(path: string, limit: number): Promise<string> {
  return withFile(path, async (file, size) => {
    if (size > limit)
      throw modelError(
        path,
        `it has ${size.toLocaleString('en-US')} bytes; expected at most ${limit.toLocaleString('en-US')}`,
      );
    const buffer = Buffer.allocUnsafe(size);
    return buffer.toString('utf8', 0, await readAt(file, buffer, size, 0));
  });
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON document whose root is an object. */
export function parseObject(text: string, path: string): JsonObject {
  // Editors of Windows write a mark before the text.
  const json = text.startsWith('\ufeff') ? text.slice(1) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = parsePython(json, path);
  }
  if (!isObject(value)) throw modelError(path, 'it holds no JSON object');
  return value;
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
