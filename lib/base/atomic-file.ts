/** Files that a user asked for: a check of the path before hours of work depend on it, and their atomic replacement. */

import { accessSync, constants, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Folder } from './folder.ts';
import { Refusal } from './trusted-folder.ts';

/**
 * Returns why the path cannot be written, as the rest of a sentence that starts with the path; null: no obstacle found.
 * Rehearses the write in the same folder, so that a write that would fail after hours of work fails now.
 */
export function obstacle(path: string): string | null {
  let folder: Folder | undefined;
  try {
    folder = Folder.open(dirname(path), 'asked');
    const name = nameOf(path);
    const target = folder.stat(name);
    const stranger = folder.stranger(name);
    const problem =
      target === undefined
        ? null
        : (targetProblem(folder.at(name), target) ??
          (stranger === null ? null : `belongs to another user (uid ${stranger}), and is not replaced`));
    if (problem === null) folder.rehearse();
    return problem;
  } catch (error) {
    if (error instanceof Refusal) return `cannot be written: ${error.message}`;
    return writeProblem(path, (error as NodeJS.ErrnoException).code ?? 'unknown', folder !== undefined);
  } finally {
    folder?.close();
  }
}

/** A path that ends in "..", or in nothing, names a folder: "." is what lies at that name. */
function nameOf(path: string): string {
  const name = basename(path);
  return name === '' || name === '..' ? '.' : name;
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

function writeProblem(path: string, code: string, isOpen: boolean): string {
  const folder = dirname(path);
  if (!isOpen && code === 'ENOENT') return `cannot be written: there is no directory ${folder}`;
  if (!isOpen && code === 'ENOTDIR') return `cannot be written: ${folder} is not a directory`;
  if (code === 'ENAMETOOLONG') return 'cannot be written: the name is too long (ENAMETOOLONG)';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return `cannot be written: no permission to write in ${folder} (${code})`;
  return `cannot be written: ${code} in ${folder}`;
}

/** See `Folder.replace`. */
export function writeFileAtomic(path: string, text: string, mode: number): void {
  const folder = Folder.open(dirname(path), 'asked');
  try {
    folder.replace(basename(path), text, mode);
  } finally {
    folder.close();
  }
}
