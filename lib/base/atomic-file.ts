/** Atomic replacement of files, their folders, and a check of the path before hours of work depend on it. */

import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Why the path cannot be written, as the rest of a sentence that starts with the path; null: no obstacle found. Rehearses
 * the write in the same folder, so that what would fail after hours of work fails now.
 */
export function obstacle(path: string): string | null {
  try {
    const target = lstatSync(path, { throwIfNoEntry: false });
    const problem = target === undefined ? null : targetProblem(path, target);
    if (problem !== null) return problem;
    const folder = dirname(path);
    const parent = statSync(folder, { throwIfNoEntry: false });
    if (parent === undefined) return `cannot be written: there is no directory ${folder}`;
    if (!parent.isDirectory()) return `cannot be written: ${folder} is not a directory`;
    const { fd, draft } = createDraft(path, 0o600);
    closeSync(fd);
    unlinkSync(draft);
    return null;
  } catch (error) {
    return writeProblem(path, (error as NodeJS.ErrnoException).code ?? 'unknown');
  }
}

function targetProblem(path: string, target: Stats): string | null {
  if (target.isSymbolicLink()) return 'is a symbolic link, which is not followed: name the file itself';
  if (target.isDirectory()) return 'is a directory: name a file in it';
  if (!target.isFile()) return 'is not a regular file';
  try {
    accessSync(path, constants.W_OK);
    return null;
  } catch {
    return 'exists, and this user may not write it';
  }
}

function writeProblem(path: string, code: string): string {
  if (code === 'ENAMETOOLONG') return 'cannot be written: the name is too long (ENAMETOOLONG)';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return `cannot be written: no permission to write in ${dirname(path)} (${code})`;
  return `cannot be written: ${code} in ${dirname(path)}`;
}

/** A new, empty file in the folder of `path`. Its name is short, so that every name that is valid for `path` can be written. */
function createDraft(path: string, mode: number): { fd: number; draft: string } {
  const draft = join(dirname(path), `.umaprobe-${randomBytes(6).toString('hex')}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  return { fd: openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode), draft };
}

/**
 * Writes a temporary file and renames it over the old one. A reader sees the old or the new text, and a full disk
 * leaves the old file as it was. The new name is on disk on return if the folder can be synced.
 *
 * @param mode of the new file: 0o600 for private files, 0o666 (less the umask) for files that the user asked for.
 * @throws the system's error (ENOSPC, EACCES…); the temporary file is removed.
 */
export function writeFileAtomic(path: string, text: string, mode: number): void {
  const { draft, fd } = createDraft(path, mode);
  try {
    try {
      const bytes = Buffer.from(text);
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
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

/**
 * Makes a folder, and those above it, for this user only (0700). Folder by folder: recursive mkdirSync loops for ever if the system answers ENOENT for a new name, as /proc does.
 */
export function makePrivateFolder(path: string): void {
  if (existsSync(path)) return;
  makePrivateFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process was faster
  }
}
