/**
 * What the standalone file runs first: finds or unpacks the package that is inside it, and runs the command from there, or
 * the program of the package that is named by the first argument (base/start-process.ts), as Node would.
 */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';
import { OWN_PROGRAMS, ownProgramPath } from '../base/start-process.ts';
import { Refusal } from '../base/trusted-folder.ts';
import { ownCache } from '../base/user.ts';
import { installedFolder, type Packed, unpackedFolder } from './unpack.ts';

/** Names of the parts of the standalone file: scripts/standalone.mjs puts them there. */
const LIST = 'list.json';
const START = 'start.cjs';

function packedFiles(): Packed {
  const list = JSON.parse(getAsset(LIST, 'utf8')) as Omit<Packed, 'content'>;
  return { ...list, content: (path) => new Uint8Array(getRawAsset(path) as ArrayBuffer) };
}

function packageFolder(packed: Packed): string {
  const installed = installedFolder(packed, process.execPath);
  if (installed !== null) return installed;
  const cache = ownCache();
  if (cache === null) throw new Error('this user has no home: set XDG_CACHE_HOME to a folder for its files');
  try {
    return unpackedFolder(packed, cache, (sentence) => process.stderr.write(`umaprobe: ${sentence}\n`));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = error instanceof Refusal ? message : (code ?? message);
    throw new Error(
      `umaprobe cannot unpack its files into ${cache}: ${reason}. Another folder: XDG_CACHE_HOME=<folder> umaprobe`,
    );
  }
}

/** As cli.ts says that Node is too old: no command runs yet. */
function refuse(message: string): void {
  const none = { source: null, call: null, status: null, nativeName: null, detail: null };
  const error = { code: 'ERR_UMA_PERMISSION', message, exitCode: 4, ...none };
  if (process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify({ schema: 'umaprobe/error/1', error })}\n`);
  process.stderr.write(`${message}\n`);
  process.exitCode = error.exitCode;
}

try {
  const folder = packageFolder(packedFiles());
  const named = OWN_PROGRAMS.map((name) => ownProgramPath(name, folder)).find((path) => path === process.argv[2]);
  process.argv.splice(1, named === undefined ? 1 : 2, named ?? ownProgramPath('cli', folder));
  // The main script itself cannot import files.
  createRequire(join(folder, START))(`./${START}`);
} catch (error) {
  refuse((error as Error).message);
}
