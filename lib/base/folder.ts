/**
 * A folder whose files this process writes. It is opened once, and names in it are reached through its descriptor: whoever
 * renames it, or puts a link in its place, does not change where its files are written.
 */

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { checkNames, openFolder, Refusal, systemError, type Trust } from './trusted-folder.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

export class Folder {
  readonly path: string;
  readonly fd: number;

  private constructor(path: string, fd: number) {
    this.path = path;
    this.fd = fd;
  }

  /**
   * `own` and `private`: made for this user only (0700) where it is missing, as are the folders above it.
   *
   * @throws Refusal for a folder that `trust` excludes, or the system's error.
   */
  static open(path: string, trust: Trust): Folder {
    return new Folder(path, openFolder(path, trust));
  }

  /** The path of a name in the folder that is open, wherever it is by now. Valid until `close()`. */
  at(name: string): string {
    return `/proc/self/fd/${this.fd}/${name}`;
  }

  /**
   * Opens a file of this user, made with mode 0600. Nothing waits: a FIFO is refused.
   *
   * @param flags O_RDWR, O_CREAT… without O_TRUNC.
   * @throws Refusal for a link, another user's file and one with other names; the system's error: ENXIO for a FIFO, a device.
   */
  openFile(name: string, flags: number): number {
    return this.#open(name, flags, ({ nlink, uid }) => {
      if (process.geteuid !== undefined && uid !== process.geteuid()) throw foreign(uid);
      if (nlink > 1)
        throw new Refusal('HARD_LINK', `it has ${nlink} names (hard links), and would change under all of them`);
    });
  }

  /**
   * Opens a file for reading that decides what this process does. Root's is written by root or the folder's owner alone.
   *
   * @throws as `openFile`.
   */
  openToRead(name: string): number {
    return this.#open(name, O_RDONLY, ({ mode, uid }) => {
      if (process.geteuid?.() !== 0) return;
      const folder = fstatSync(this.fd);
      checkNames({ path: this.path, stat: folder });
      if (uid !== 0 && uid !== folder.uid) throw foreign(uid);
      if ((mode & 0o002) !== 0) throw new Refusal('SHARED_FILE', 'every user may write it: chmod o-w');
    });
  }

  #open(name: string, flags: number, check: (stat: Stats) => void): number {
    let fd: number;
    try {
      fd = openSync(this.at(name), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ELOOP') throw error;
      throw new Refusal('ELOOP', 'it is a symbolic link, which is not followed');
    }
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) throw systemError(stat.isDirectory() ? 'EISDIR' : 'ENXIO', name);
      check(stat);
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /**
   * Writes a temporary file and renames it over the old one: a reader sees the old or the new text, and a full disk leaves
   * the old file as it was. The new name is on disk on return if the folder can be synced.
   *
   * @param mode of the new file: 0o600 for private files, 0o666 (less the umask) for files that the user asked for.
   * @throws Refusal: the old file is neither this user's nor the folder's owner's. The system's error (ENOSPC, EACCES…). The
   *   temporary file is removed.
   */
  replace(name: string, content: string | Buffer, mode: number): void {
    const draft = this.#draft(mode);
    try {
      try {
        const bytes = typeof content === 'string' ? Buffer.from(content) : content;
        for (let done = 0; done < bytes.length; ) done += writeSync(draft.fd, bytes, done);
        fsyncSync(draft.fd);
      } finally {
        closeSync(draft.fd);
      }
      const stranger = this.stranger(name);
      if (stranger !== null) throw foreign(stranger);
      renameSync(this.at(draft.name), this.at(name));
    } catch (error) {
      unlinkSync(this.at(draft.name));
      throw error;
    }
    this.#syncIfPossible();
  }

  /** Makes and removes a file as `replace` does. */
  rehearse(): void {
    const draft = this.#draft(0o600);
    closeSync(draft.fd);
    unlinkSync(this.at(draft.name));
  }

  /** A new, empty file, which O_EXCL makes ours. Its name is short, so that every name that is valid can be replaced. */
  #draft(mode: number): { fd: number; name: string } {
    const name = `.umaprobe-${Math.random().toString(36).slice(2, 14)}.tmp`;
    return { fd: openSync(this.at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode), name };
  }

  /** The file of this name, links not followed; undefined: none. */
  stat(name: string): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  /** Another user's file has this name, neither this user's nor that of the folder's owner; null: none. */
  stranger(name: string): number | null {
    const uid = this.stat(name)?.uid ?? process.geteuid?.();
    return uid === undefined || uid === process.geteuid?.() || uid === fstatSync(this.fd).uid ? null : uid;
  }

  /** Removes a file that this user wrote. */
  remove(name: string): void {
    unlinkSync(this.at(name));
  }

  /** Removes a socket that its server left; anything else stays. */
  removeSocket(name: string): void {
    if (this.stat(name)?.isSocket() === true) unlinkSync(this.at(name));
  }

  /** Puts the names of new files on disk: they are not there before. */
  sync(): void {
    const fd = openSync(this.at('.'), O_RDONLY | O_DIRECTORY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  /** Ignores folders that cannot be synced: without read permission, or on a file system that does not support it. */
  #syncIfPossible(): void {
    try {
      this.sync();
    } catch (error) {
      if (!['EACCES', 'EINVAL', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }

  close(): void {
    closeSync(this.fd);
  }
}

function foreign(uid: number): Refusal {
  return new Refusal('FOREIGN_OWNER', `it belongs to another user (uid ${uid})`);
}

/** @throws as `Folder.open`. */
export function checkFolder(path: string, trust: Trust): void {
  Folder.open(path, trust).close();
}

/**
 * Makes a folder for this user only, with a name that starts with `prefix`. No other user replaces it or what is in it.
 *
 * @returns its path, without links.
 * @throws as `Folder.open`.
 */
export function makeTemporaryFolder(parent: string, prefix: string): string {
  const folder = Folder.open(realpathSync(parent), 'own');
  try {
    return join(folder.path, basename(mkdtempSync(folder.at(prefix))));
  } finally {
    folder.close();
  }
}
