/** Programs on a machine with little installed. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findTool } from '../../scripts/run.mjs';
import { inheritance } from './ending.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A folder for PATH that holds these programs and no others. */
export function pathWith(...names: string[]): string {
  const folder = join(temporaryFolder('path'), 'bin');
  mkdirSync(folder);
  for (const name of names) {
    const found = name === 'node' ? process.execPath : findTool(name);
    // ccache under the name of a compiler looks for the compiler on the same PATH, which here is this folder.
    const program = found !== null && basename(realpathSync(found)) === 'ccache' ? join('/usr/bin', name) : found;
    if (program === null) throw new Error(`${name} is not on PATH`);
    symlinkSync(program, join(folder, name));
  }
  return folder;
}

/** The programs that Node and npm need; no compiler. */
export const nodeOnly = ['node', 'npm', 'npx', 'sh', 'env'];

export interface SandboxResult {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program in a folder, with these variables and those that npm cannot do without. */
export function runInSandbox(
  cwd: string,
  env: Record<string, string>,
  command: string,
  ...args: string[]
): SandboxResult {
  // npm's warnings about the user's own settings are not output of the program.
  const home = { HOME: process.env.HOME ?? '/root', npm_config_loglevel: 'error' };
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env: { ...home, ...inheritance, ...env },
    encoding: 'utf8',
  });
  if (error) throw error;
  return { status, stdout, stderr };
}
