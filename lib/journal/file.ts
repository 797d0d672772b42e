/** The journal's file: where it is, that it is ours alone, what it holds. */

import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { UmaError } from '../base/errors.ts';

/** More than any run of umaprobe writes; a larger file is something else. */
const LARGEST = 64 * 2 ** 20;

/**
 * The default place: $XDG_STATE_HOME/umaprobe, ~/.local/state/umaprobe where that is not set or relative (the
 * specification says to ignore it then). A simulated machine has a file of its own: what happens there is no warning for
 * a real one.
 */
export function defaultJournal(simulated: string | null, env: NodeJS.ProcessEnv = process.env): string {
  const state = env.XDG_STATE_HOME;
  const base = state !== undefined && isAbsolute(state) ? state : join(env.HOME || homedir(), '.local/state');
  const name = simulated === null ? 'journal' : `simulated-${encodeURIComponent(simulated).slice(0, 100)}`;
  return join(base, 'umaprobe', `${name}.jsonl`);
}

export interface OpenedFile {
  fd: number;
  /** Absolute. */
  path: string;
  bytes: Uint8Array;
}

/**
 * Opens a journal for appending; makes it (0600) and the folders above it (0700) where they are missing.
 *
 * @throws UmaError `ERR_UMA_JOURNAL` for a symbolic link, a directory, a FIFO or device, somebody else's file, one that
 *   is far too large, and whatever the file system refuses.
 */
export function openJournalFile(given: string): OpenedFile {
  const path = resolve(given);
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
  let fd: number;
  try {
    makeFolder(dirname(path));
    // O_NONBLOCK: a FIFO must be refused, not waited for. O_NOFOLLOW: what we append to is the file that was named.
    fd = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (cause) {
    throw refusedOpen(path, cause);
  }
  try {
    const file = fstatSync(fd);
    const { size, uid } = file;
    if (!file.isFile()) throw journalError(path, 'it is not a regular file', 'NOT_A_FILE');
    if (process.geteuid !== undefined && uid !== process.geteuid())
      throw journalError(path, `it belongs to another user (uid ${uid})`, 'FOREIGN_OWNER');
    if (size > LARGEST) throw journalError(path, `it has ${size} bytes, which no journal of umaprobe has`, 'TOO_LARGE');
    return { fd, path, bytes: readAll(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** One by one: the recursive form of mkdirSync never comes back where the system says ENOENT of a new name, as /proc does. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process was faster
  }
}

function refusedOpen(path: string, cause: unknown): Error {
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'ELOOP':
      return journalError(path, 'it is a symbolic link, and those are not followed', 'ELOOP');
    case 'EISDIR':
      return journalError(path, 'it is a directory; a file is expected', 'EISDIR');
    case 'ENXIO':
      return journalError(path, 'it is not a regular file', 'NOT_A_FILE');
    default:
      return fileError(path, cause, 'the journal cannot be opened, and nothing was allocated');
  }
}

/** By position, so that the whole file is read whatever was appended meanwhile. */
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

/** ERR_UMA_JOURNAL in umaprobe's own words. */
export function journalError(path: string, message: string, name = 'UNUSABLE'): UmaError {
  return new UmaError('ERR_UMA_JOURNAL', {
    source: 'umaprobe',
    call: `journal ${path}`,
    status: null,
    name,
    message: `${message}. Name another file with journal (--journal FILE), or keep none (false; --journal none)`,
  });
}

/** What the file system said, and what it means for the caller. */
export function fileError(path: string, cause: unknown, meaning: string): UmaError {
  const { code, errno } = cause as NodeJS.ErrnoException;
  const words = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return new UmaError(
    'ERR_UMA_JOURNAL',
    {
      source: 'kernel',
      call: `journal ${path}`,
      status: errno === undefined ? null : -errno,
      name: code ?? 'UNKNOWN',
      message: `${words ?? String(cause)}: ${meaning}`,
    },
    { cause },
  );
}
