/** The journal as a file: its default path, opening it safely, and the errors of both. */

import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { UmaError } from '../../base/errors.ts';
import { Folder } from '../../base/folder.ts';
import { MiB } from '../../base/format.ts';
import { Refusal } from '../../base/trusted-folder.ts';
import { ownHome } from '../../base/user.ts';

/** Size in bytes above which a file is not a journal: no run writes that much, and a start compacts at 512 KiB. */
const MAX_BYTES = 64 * MiB;

/**
 * The default path: in $XDG_STATE_HOME/umaprobe, or in ~/.local/state/umaprobe if that variable is not set or not
 * absolute (the specification says to ignore it then). A user without a home, as in a container with any user id, has one
 * in /var/tmp, which survives a restart. Each simulated machine has a separate file, because its runs say
 * nothing about a real machine.
 */
export function defaultJournal(simulated: string | null, env: NodeJS.ProcessEnv = process.env): string {
  const state = env.XDG_STATE_HOME;
  const base = state !== undefined && isAbsolute(state) ? state : stateOf(ownHome(env));
  const name = simulated === null ? 'journal' : `simulated-${encodeURIComponent(simulated).slice(0, 100)}`;
  return join(base, 'umaprobe', `${name}.jsonl`);
}

function stateOf(home: string | null): string {
  return home === null ? join('/var/tmp', `umaprobe-${process.geteuid?.() ?? 0}`) : join(home, '.local/state');
}

/** An open journal and its contents. */
export interface OpenedFile {
  fd: number;
  /** Absolute path. */
  path: string;
  bytes: Uint8Array;
}

/**
 * Opens the folder of a journal, and creates missing folders (0700).
 *
 * @throws UmaError `ERR_UMA_JOURNAL`: any error of the file system; as root another user's folder, and one that others write.
 */
export function openJournalFolder(path: string): Folder {
  try {
    return Folder.open(dirname(path), 'own');
  } catch (cause) {
    throw openError(path, cause);
  }
}

/**
 * Opens a journal for appending, and creates it (0600).
 *
 * @param path absolute.
 * @throws UmaError `ERR_UMA_JOURNAL` for a link, a directory, a FIFO or device, another user's file, a file above 64 MiB,
 *   and any error of the file system.
 */
export function openJournalFile(folder: Folder, path: string): OpenedFile {
  const { O_APPEND, O_CREAT, O_RDWR } = constants;
  let fd: number;
  try {
    fd = folder.openFile(basename(path), O_RDWR | O_APPEND | O_CREAT);
  } catch (cause) {
    throw openError(path, cause);
  }
  try {
    const { size } = fstatSync(fd);
    if (size > MAX_BYTES)
      throw journalError(path, `it has ${size} bytes; no journal of umaprobe is that large`, 'TOO_LARGE');
    return { fd, path, bytes: readAll(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function openError(path: string, cause: unknown): Error {
  if (cause instanceof Refusal) return journalError(path, cause.message, cause.code);
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'EISDIR':
      return journalError(path, 'it is a directory; a file is expected', 'EISDIR');
    case 'ENXIO':
      return journalError(path, 'it is not a regular file', 'NOT_A_FILE');
    default:
      return fileError(path, cause, 'the journal cannot be opened, and nothing was allocated', NAME_ANOTHER);
  }
}

/** Reads by position, because the descriptor's own offset moves with each append. */
export function readAll(fd: number): Uint8Array {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const got = readSync(fd, bytes, at, size - at, at);
    if (got === 0) break;
    at += got;
  }
  return bytes.subarray(0, at);
}

/** ERR_UMA_JOURNAL for a file that umaprobe itself refuses. */
export function journalError(path: string, message: string, name = 'UNUSABLE'): UmaError {
  return new UmaError('ERR_UMA_JOURNAL', {
    source: 'umaprobe',
    call: `journal ${path}`,
    status: null,
    name,
    message: `${message}. ${NAME_ANOTHER}`,
  });
}

const NAME_ANOTHER = 'Name another file with journal (--journal FILE), or keep none (false; --journal none)';
const MAKE_ROOM = 'Free space there, or keep the journal on another disk: journal (--journal FILE)';

/** No space, the user's quota, or the limit of this process for the size of a file. */
function isFull(code: string | undefined): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}

/** ERR_UMA_JOURNAL for an error of the file system, with its consequence for the caller. */
export function fileError(path: string, cause: unknown, consequence: string, remedy = ''): UmaError {
  const { code, errno } = cause as NodeJS.ErrnoException;
  const help = isFull(code) ? MAKE_ROOM : remedy;
  const description = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return new UmaError(
    'ERR_UMA_JOURNAL',
    {
      source: 'kernel',
      call: `journal ${path}`,
      status: errno === undefined ? null : -errno,
      name: code ?? 'UNKNOWN',
      message: `${description ?? String(cause)}: ${consequence}${help === '' ? '' : `. ${help}`}`,
    },
    { cause },
  );
}
