/** The folder of a recording: its place, its segments and its socket. */

import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makePrivateFolder } from '../base/atomic-file.ts';
import { UmaError } from '../base/errors.ts';
import { asPathError } from '../base/named-path.ts';
import { defaultJournal } from '../journal/index.ts';

/** Beside the journal. Each simulated machine has a separate folder. */
function defaultFolder(simulated: string | null): string {
  const name = simulated === null ? 'record' : `record-simulated-${encodeURIComponent(simulated).slice(0, 100)}`;
  return join(dirname(defaultJournal(simulated)), name);
}

export function folderOf(given: string | undefined, simulated: string | null): string {
  return given === undefined ? defaultFolder(simulated) : resolve(given);
}

/** Makes the folder, for this user only. A link is not followed: the recorder opens the folder itself. */
export function makeFolder(folder: string): void {
  try {
    makePrivateFolder(folder);
    if (lstatSync(folder).isDirectory()) return;
  } catch (cause) {
    throw folderError(folder, (cause as NodeJS.ErrnoException).code ?? 'UNKNOWN', { cause });
  }
  throw folderError(folder, 'ENOTDIR');
}

function folderError(folder: string, name: string, options?: ErrorOptions): UmaError {
  return new UmaError(
    'ERR_UMA_JOURNAL',
    {
      source: 'umaprobe',
      call: `record ${folder}`,
      status: null,
      name,
      message: 'the folder of the recording cannot be used; name another one with folder (--folder)',
    },
    options,
  );
}

/** Paths of the segments, oldest first. Other files are left alone. */
export function segmentsIn(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw asPathError('folder', folder, cause);
    throw new UmaError(
      'ERR_UMA_NOT_FOUND',
      {
        source: 'umaprobe',
        call: `record ${folder}`,
        status: null,
        name: code,
        message: 'there is no recording to read; umaprobe record makes one, and folder (--folder) names another place',
      },
      { cause },
    );
  }
  const number = (name: string) => Number(name.split('.')[0]);
  return names
    .filter((name) => /^\d{8,}\.umarec$/.test(name))
    .sort((a, b) => number(a) - number(b))
    .map((name) => join(folder, name));
}

export function socketIn(folder: string): string {
  return join(folder, 'mark.sock');
}

/** Bytes of a socket's path that the kernel takes (sun_path). */
export const SOCKET_PATH_BYTES = 107;
