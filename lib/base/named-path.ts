/** Files and folders that a caller named: opened without waiting for a writer, and refused in one sentence. */

import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { constants as system } from 'node:os';
import { UmaError } from './errors.ts';
import { formatCount, KiB } from './format.ts';

const STATUS: Readonly<Record<string, number>> = system.errno;

/** The system's names for faults of a path, in words. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of it is no folder',
  EISDIR: 'it is a folder; name a file',
  ENXIO: 'it is no regular file; name one',
  ELOOP: 'its symbolic links lead nowhere',
  ENAMETOOLONG: 'the name is too long',
};

/**
 * A path that cannot be used: `ERR_UMA_PERMISSION` where this user may not, else `ERR_UMA_PATH`.
 *
 * @param what whose path it is: "--policy", "templates".
 * @param problem default: what the system's name for it means.
 */
export function pathError(what: string, path: string, name: string, problem?: string): UmaError {
  const denied = name === 'EACCES' || name === 'EPERM';
  const message = problem ?? (denied ? 'this user may not read it' : (PROBLEMS[name] ?? 'it cannot be read'));
  const call = `${what} ${JSON.stringify(path)}`;
  const code = denied ? 'ERR_UMA_PERMISSION' : 'ERR_UMA_PATH';
  return new UmaError(code, { source: 'kernel', call, status: STATUS[name] ?? null, name, message });
}

/** The same for an error of Node; any other error stays what it is. */
export function asPathError(what: string, path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ERR_INVALID_ARG_VALUE') return pathError(what, path, 'EINVAL', 'a path has no null character');
  return code === undefined || syscall === undefined ? error : pathError(what, path, code);
}

/** A regular file, open for reading: a named pipe or a device could keep the caller for ever. */
export function openNamedFile(what: string, path: string): number {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw pathError(what, path, 'EISDIR');
    if (!stat.isFile()) throw pathError(what, path, 'ENXIO');
    return file;
  } catch (error) {
    if (file !== undefined) closeSync(file);
    throw asPathError(what, path, error);
  }
}

/** A regular file of a folder that was named; a link is not followed. A read does not wait in this thread. */
export async function openRegularFile(what: string, path: string): Promise<FileHandle> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if (!(await file.stat()).isFile()) throw pathError(what, path, 'ENXIO');
    return file;
  } catch (error) {
    await file?.close();
    throw asPathError(what, path, error);
  }
}

/** The text of a regular file of at most `most` bytes: what is larger was named by mistake. */
export function readNamedFile(what: string, path: string, most: number): string {
  return readAtMost(what, path, openNamedFile(what, path), most);
}

/** Bytes of one read. */
const PIECE = 64 * KiB;

/** Reads and closes it. Its size is not believed: files of the kernel have none, and others grow. */
export function readAtMost(what: string, path: string, file: number, most: number): string {
  try {
    const { size } = fstatSync(file);
    const pieces: Buffer[] = [];
    for (let left = most; size <= most; ) {
      const piece = Buffer.allocUnsafe(Math.min(left + 1, PIECE));
      const bytes = readSync(file, piece);
      if (bytes === 0) return Buffer.concat(pieces).toString('utf8');
      left -= bytes;
      if (left < 0) break;
      pieces.push(piece.subarray(0, bytes));
    }
    const has = size > most ? formatCount(size) : `more than ${formatCount(most)}`;
    throw pathError(what, path, 'EFBIG', `it has ${has} bytes; at most ${formatCount(most)} are read`);
  } catch (error) {
    throw asPathError(what, path, error);
  } finally {
    closeSync(file);
  }
}

export function checkNamedFolder(what: string, path: string): void {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (error) {
    throw asPathError(what, path, error);
  }
  if (!isFolder) throw pathError(what, path, 'ENOTDIR', 'it is a file; name a folder');
}
