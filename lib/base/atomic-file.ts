/** Atomic replacement of files, and a check of the path before hours of work depend on it. */

import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Why the path cannot be written, as the rest of a sentence that starts with the path; null: no obstacle found. */
export function obstacle(path: string): string | null {
  const target = lstatSync(path, { throwIfNoEntry: false });
  if (target?.isSymbolicLink() === true) return 'is a symbolic link, which is not followed: name the file itself';
  if (target?.isDirectory() === true) return 'is a directory: name a file in it';
  if (target !== undefined && !target.isFile()) return 'is not a regular file';
  const folder = dirname(path);
  const parent = statSync(folder, { throwIfNoEntry: false });
  if (parent === undefined) return `cannot be written: there is no directory ${folder}`;
  if (!parent.isDirectory()) return `cannot be written: ${folder} is not a directory`;
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    return `cannot be written: no permission to write in ${folder} (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
  }
  return null;
}

/**
 * Writes a temporary file and renames it over the old one. A reader sees the old or the new text, and a full disk
 * leaves the old file as it was. The new name is on disk on return if the folder can be synced.
 *
 * @param mode of the new file: 0o600 for private files, 0o666 (less the umask) for files that the user asked for.
 * @throws the system's error (ENOSPC, EACCES…); the temporary file is removed.
 */
export function writeFileAtomic(path: string, text: string, mode: number): void {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    try {
      const bytes = Buffer.from(text);
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    unlinkSync(draft);
    throw error;
  }
  syncFolderIfPossible(path);
}

/** Ignores folders that cannot be synced: without read permission, or on a file system that does not support it. */
function syncFolderIfPossible(path: string): void {
  try {
    syncFolder(path);
  } catch (error) {
    if (!['EACCES', 'EINVAL', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Syncs the folder of a file: only then is the name of a new file on disk. */
export function syncFolder(path: string): void {
  const folder = openSync(dirname(path), constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
