/** Finds the model files that can be evicted without harm: cached, clean, mapped by no process. */

import { type Inode, inodePairs } from '../inodes.ts';
import { LargestN } from '../largest.ts';
import { mappingsOf } from '../mappings.ts';
import type { System } from '../system.ts';
import { selectTargets } from '../targets.ts';
import { type WalkHooks, walk } from '../walk.ts';

/** Number of files to check, largest first: further files are too small to matter. */
const MAX_FILES = 10_000;

interface EvictableFile extends Inode {
  path: string;
  bytes: number;
}

export interface Evictable {
  /** Largest first, so that few files must be read again. */
  paths: string[];
  bytes: number;
  /** Cached files that are mapped by a process. */
  mappedFiles: number;
  mappedBytes: number;
  /** Files whose pages the kernel does not show to this user: whether they are cached is not known. */
  unseenFiles: number;
}

export async function findEvictable(
  system: System,
  paths: readonly string[] | undefined,
  hooks: WalkHooks,
): Promise<Evictable> {
  const { targets } = await selectTargets(system, paths);
  const largest = new LargestN<EvictableFile>(MAX_FILES, ({ bytes }) => bytes);
  let unseenFiles = 0;
  if (targets.length > 0) {
    const roots = targets.map(({ path }) => path);
    const options = { mode: 'status', listEmpty: false, top: MAX_FILES } as const;
    const { last } = await walk(system.binding, roots, options, hooks, ({ entries }) => {
      for (const { what, path, dev, ino, cached = 0, dirty, writeback, memory } of entries) {
        const bytes = cached - (dirty ?? 0) - (writeback ?? 0);
        if (what === 'file' && memory !== true && dev !== undefined && ino !== undefined && bytes > 0)
          largest.add({ path, dev, ino, bytes });
      }
    });
    unseenFiles = last?.unseen ?? 0;
  }
  const candidates = largest.take();
  const mappings = await mappingsOf(system.binding, await inodePairs(candidates));
  const evictable: Evictable = { paths: [], bytes: 0, mappedFiles: 0, mappedBytes: 0, unseenFiles };
  for (const { path, dev, ino, bytes } of candidates) {
    if (mappings.has(dev, ino)) {
      evictable.mappedFiles++;
      evictable.mappedBytes += bytes;
    } else {
      evictable.paths.push(path);
      evictable.bytes += bytes;
    }
  }
  return evictable;
}
