/** Answers of the Hub on disk, for this user only: nothing is read twice, and a network is not needed later. */

import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readdirSync, readSync } from 'node:fs';
import { Folder } from '../../base/folder.ts';
import { MiB } from '../../base/format.ts';

/** Bytes of all files; the oldest go first. A model takes 10 KB to 20 MB. */
const MOST_BYTES = 512 * MiB;
/** A file of a cache that is longer was not written by this program. */
const LONGEST = 160 * MiB;

export class HubCache {
  readonly #path: string | null;

  /** @param path null: nothing is kept. */
  constructor(path: string | null) {
    this.#path = path;
  }

  /** @param key names the source of the bytes, with its ETag if they may change. null: they are not there. */
  read(key: string): Buffer | null {
    return this.#in((folder) => {
      if (folder.stat(fileOf(key)) === undefined) return null;
      const file = folder.openToRead(fileOf(key));
      try {
        const { size } = fstatSync(file);
        if (size > LONGEST) return null;
        const bytes = Buffer.allocUnsafe(size);
        return readSync(file, bytes, 0, size, 0) === size ? bytes : null;
      } finally {
        closeSync(file);
      }
    });
  }

  write(key: string, bytes: Buffer): void {
    if (bytes.length > LONGEST) return;
    this.#in((folder) => {
      folder.replace(fileOf(key), bytes, 0o600);
      prune(folder);
      return null;
    });
  }

  /** A cache that cannot be used costs time and no answer. */
  #in<T>(work: (folder: Folder) => T | null): T | null {
    if (this.#path === null) return null;
    let folder: Folder | undefined;
    try {
      folder = Folder.open(this.#path, 'private');
      return work(folder);
    } catch {
      return null;
    } finally {
      folder?.close();
    }
  }
}

function fileOf(key: string): string {
  return `${createHash('sha256').update(key).digest('hex').slice(0, 40)}.bin`;
}

function prune(folder: Folder): void {
  const files = readdirSync(folder.at('.')).flatMap((name) => {
    const stat = /^[0-9a-f]{40}\.bin$/.test(name) ? folder.stat(name) : undefined;
    return stat === undefined ? [] : [{ name, bytes: stat.size, at: stat.mtimeMs }];
  });
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { bytes, name } of files.sort((a, b) => a.at - b.at)) {
    if (total <= MOST_BYTES) return;
    folder.remove(name);
    total -= bytes;
  }
}
