/** Programs of the system that umaprobe itself runs: in folders that only root writes, and not in PATH, which is the caller's. */

import { accessSync, constants } from 'node:fs';

/** Folders in the order of the search. */
const FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const;

/** The folders of `systemProgram`, as the end of a sentence: "in none of /usr/sbin, …". */
export const SYSTEM_FOLDERS = FOLDERS.join(', ');

/** The absolute path of a program; null: it is in none of the folders. */
export function systemProgram(name: string, isExecutable: (path: string) => boolean = executable): string | null {
  return FOLDERS.map((folder) => `${folder}/${name}`).find(isExecutable) ?? null;
}

export function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
