/** Running programs as on a machine that has little installed. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTool } from '../../scripts/run.mjs';

/** A folder for PATH that holds these programs and no others. */
export function pathWith(...names: string[]): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'umaprobe-path-')), 'bin');
  mkdirSync(folder);
  for (const name of names) {
    const program = name === 'node' ? process.execPath : findTool(name);
    if (program === null) throw new Error(`${name} is not on PATH`);
    symlinkSync(program, join(folder, name));
  }
  return folder;
}

/** What it takes to run Node and npm, and no compiler. */
export const nodeOnly = ['node', 'npm', 'npx', 'sh', 'env'];

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export function runIn(cwd: string, env: Record<string, string>, command: string, ...args: string[]): Ended {
  // What npm thinks of the user's own settings is not what these programs say.
  const home = { HOME: process.env.HOME ?? '/root', npm_config_loglevel: 'error' };
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env: { ...home, ...env },
    encoding: 'utf8',
  });
  if (error) throw error;
  return { status, stdout, stderr };
}
