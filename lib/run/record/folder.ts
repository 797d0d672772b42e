/** The folder of a recording: its place, its segments and its socket. */

import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UmaError } from '../../base/errors.ts';
import { Folder } from '../../base/folder.ts';
import { asPathError } from '../../base/named-path.ts';
import { Refusal } from '../../base/trusted-folder.ts';
import { defaultJournal } from '../../core/journal/index.ts';
import { NOTHING_RECORDED } from '../../core/memory/remedies.ts';

/** The folder beside the journal. Each simulated machine has a separate one. */
function defaultFolder(simulated: string | null): string {
  const name = simulated === null ? 'record' : `record-simulated-${encodeURIComponent(simulated).slice(0, 100)}`;
  return join(dirname(defaultJournal(simulated)), name);
}

export function folderOf(given: string | undefined, simulated: string | null): string {
  return given === undefined ? defaultFolder(simulated) : resolve(given);
}

/** Opens the folder of a recorder, made for this user only. A link to it is not followed. */
export function openRecordFolder(path: string): Folder {
  try {
    return Folder.open(path, 'private');
  } catch (cause) {
    throw folderError(path, cause);
  }
}

/** Makes it, and refuses one that no recorder could use. */
export function makeFolder(path: string): void {
  openRecordFolder(path).close();
}

export function folderError(path: string, cause: unknown): UmaError {
  const why = cause instanceof Refusal ? `: ${cause.message}` : '; name another one with folder (--folder)';
  const name = (cause as { code?: string }).code ?? 'UNKNOWN';
  const message = `the folder of the recording cannot be used${why}`;
  const call = `record ${path}`;
  return new UmaError('ERR_UMA_JOURNAL', { source: 'umaprobe', call, status: null, name, message }, { cause });
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
        message: NOTHING_RECORDED,
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

/** Name of the socket in the folder. */
export const SOCKET = 'mark.sock';

export function socketIn(folder: string): string {
  return join(folder, SOCKET);
}

/** Bytes of a socket's path that the kernel takes (sun_path). */
export const SOCKET_PATH_BYTES = 107;
