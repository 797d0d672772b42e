/** Files that are replaced whole or not at all, and whether a path can be written before hours of work depend on it. */
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

/** What stands in the way of writing there, in words; null: nothing that can be seen now. */
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
 * Writes a new file beside the old one and puts it in its place, so that a reader never sees half of it and a full disk
 * leaves the old one as it was. Where the folder can be synced, the new name is on disk when this returns.
 *
 * @param mode of the new file: 0o600 for what is private, 0o666 less the umask for what the user asked for.
 * @throws the system's error (ENOSPC, EACCES…), with nothing left behind.
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

/** A folder that may be written but not read cannot be synced, and not every file system syncs folders: the file is whole all the same. */
function syncFolderIfPossible(path: string): void {
  try {
    syncFolder(path);
  } catch (error) {
    if (!['EACCES', 'EINVAL', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** The name of a new file is on disk only when its folder is. */
export function syncFolder(path: string): void {
  const folder = openSync(dirname(path), constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
