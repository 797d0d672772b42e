/**
 * First code of the standalone file: finds or unpacks the package that is inside it, and runs the command from there,
 * or the program of the package that is named by the first argument (base/start-process.ts), as Node would.
 */

import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { join } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';
import { getSystemErrorMap } from 'node:util';
import type { UmaError } from '../base/errors.ts';
import { pathError } from '../base/named-path.ts';
import { OWN_PROGRAMS, ownProgramPath } from '../base/start-process.ts';
import { Refusal } from '../base/trusted-folder.ts';
import { ownCache } from '../base/user.ts';
import { installedFolder, type Packed, unpackedFolder } from './unpack.ts';

/** Names of the parts of the standalone file: scripts/standalone.mjs puts them there. */
const LIST = 'list.json';
const START = 'start.cjs';

/** Subject of an error. */
const WHAT = 'the folder to unpack into,';
const REMEDY = 'XDG_CACHE_HOME=<folder> takes another';

function packedFiles(): Packed {
  const list = JSON.parse(getAsset(LIST, 'utf8')) as Omit<Packed, 'content'>;
  return { ...list, content: (path) => new Uint8Array(getRawAsset(path) as ArrayBuffer) };
}

function packageFolder(packed: Packed): string {
  const installed = installedFolder(packed, process.execPath);
  if (installed !== null) return installed;
  const cache = ownCache();
  if (cache === null) throw pathError(WHAT, '~/.cache/umaprobe', 'NO_HOME', `this user has no home; ${REMEDY}`);
  try {
    return unpackedFolder(packed, cache, (sentence) => process.stderr.write(`umaprobe: ${sentence}\n`));
  } catch (error) {
    const { code = 'UNKNOWN', message } = error as NodeJS.ErrnoException;
    const number = error instanceof Refusal ? undefined : (constants.errno as Record<string, number>)[code];
    const problem = getSystemErrorMap().get(-(number ?? 0))?.[1] ?? message;
    throw pathError(WHAT, cache, code, `${problem}; ${REMEDY}`);
  }
}

/** Prints an error as the command would, which is not loaded yet. */
function refuse({ message, ...fields }: Partial<UmaError> & Error): void {
  const { code = 'ERR_UMA_CALL_FAILED', source = null, call = null, status = null, nativeName = null } = fields;
  const exitCode = { ERR_UMA_PERMISSION: 4, ERR_UMA_PATH: 2 }[code as string] ?? 1;
  const error = { code, message, exitCode, source, call, status, nativeName, detail: null };
  if (process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify({ schema: 'umaprobe/error/1', error })}\n`);
  process.stderr.write(`umaprobe: ${message}\n`);
  process.exitCode = exitCode;
}

try {
  const folder = packageFolder(packedFiles());
  const named = OWN_PROGRAMS.map((name) => ownProgramPath(name, folder)).find((path) => path === process.argv[2]);
  process.argv.splice(1, named === undefined ? 1 : 2, named ?? ownProgramPath('cli', folder));
  // The main script itself cannot import files.
  createRequire(join(folder, START))(`./${START}`);
} catch (error) {
  refuse(error as Error);
}
