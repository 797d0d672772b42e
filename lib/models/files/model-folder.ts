/** A folder that holds the files of a model: on a disk here; that of a repository on a server has the same form. */

import { readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type ByteSource, modelError, withFile } from './model-file.ts';

export interface ModelFolder {
  /** Path in messages and reports. */
  readonly path: string;
  /** Names of its entries, sorted. */
  names(): Promise<readonly string[]>;
  folders(): Promise<readonly ModelFolder[]>;
  /** @throws an error with code ENOENT where there is no such file. */
  withFile<T>(name: string, work: (file: ByteSource) => Promise<T>): Promise<T>;
  /** Refuses names that lead out of it. */
  checkInside(names: readonly string[]): Promise<void>;
  /** Bytes of a file, where asking costs nothing and opening it costs a request; null: opening it is cheap. */
  sizeOf(name: string): number | null;
}

export class LocalFolder implements ModelFolder {
  readonly path: string;
  readonly signal: AbortSignal | undefined;

  constructor(path: string, signal?: AbortSignal) {
    this.path = path;
    this.signal = signal;
  }

  async names(): Promise<string[]> {
    return (await readdir(this.path)).sort();
  }

  async folders(): Promise<LocalFolder[]> {
    const entries = await readdir(this.path, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    return names.sort().map((name) => new LocalFolder(join(this.path, name), this.signal));
  }

  withFile<T>(name: string, work: (file: ByteSource) => Promise<T>): Promise<T> {
    return withFile(join(this.path, name), work, this.signal);
  }

  sizeOf(): null {
    return null;
  }

  /**
   * Files must lie in the folder. A link may lead to the blobs of the same Hugging Face repository, which is how the hub
   * keeps its files, but to no other place: an index could name any file of the machine.
   */
  async checkInside(names: readonly string[]): Promise<void> {
    const entries = await readdir(this.path, { withFileTypes: true });
    const files = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
    const others = names.filter((name) => !files.has(name));
    if (others.length === 0) return;
    const home = await realpath(this.path);
    const hub = /^(.*)\/snapshots\/[^/]+/.exec(home)?.[1];
    const inside = [home, ...(hub === undefined ? [] : [join(hub, 'blobs')])];
    await Promise.all(
      others.map(async (name) => {
        const path = join(this.path, name);
        const target = await targetOf(path);
        if (!inside.some((allowed) => target.startsWith(allowed + sep)))
          throw modelError(path, `it leads out of its folder, to ${target}; give the folder that holds the files`);
      }),
    );
  }
}

async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw modelError(path, 'it is missing; download it');
  }
}
