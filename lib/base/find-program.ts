/** Tells whether a program can be started, as a shell and execvp(3) do: by its path, or in the folders of PATH. */

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** @param cwd where a relative path begins. */
export function isProgram(file: string, env: Readonly<Record<string, string | undefined>>, cwd = '.'): boolean {
  if (file.includes('/')) return isExecutableFile(resolve(cwd, file));
  return (env.PATH ?? '').split(delimiter).some((folder) => isExecutableFile(resolve(cwd, join(folder, file))));
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
