/** Which model files may be evicted without hurting anybody: cached, clean, mapped by nobody. */

import { LargestN } from '../largest.ts';
import { type Inode, inodesOf, mappingsOf } from '../mappings.ts';
import type { System } from '../system.ts';
import { chooseTargets } from '../targets.ts';
import { type WalkHooks, walk } from '../walk.ts';

/** So many files, the largest: what lies in further ones is not worth a look at each. */
const LARGEST = 10_000;

interface Candidate extends Inode {
  path: string;
  bytes: number;
}

export interface Evictable {
  /** Largest first: the fewest files are read again later. */
  paths: string[];
  bytes: number;
  /** Cached, but in use by a process. */
  mappedFiles: number;
  mappedBytes: number;
}

export async function findEvictable(
  machine: System,
  paths: readonly string[] | undefined,
  hooks: WalkHooks,
): Promise<Evictable> {
  const { targets } = await chooseTargets(machine, paths);
  const largest = new LargestN<Candidate>(LARGEST, ({ bytes }) => bytes);
  if (targets.length > 0) {
    const roots = targets.map(({ path }) => path);
    await walk(machine.binding, roots, { mode: 'status', listEmpty: false, top: LARGEST }, hooks, ({ entries }) => {
      for (const { what, path, dev, ino, cached = 0, dirty, writeback, memory } of entries) {
        const bytes = cached - (dirty ?? 0) - (writeback ?? 0);
        if (what === 'file' && memory !== true && dev !== undefined && ino !== undefined && bytes > 0)
          largest.add({ path, dev, ino, bytes });
      }
    });
  }
  const found = largest.take();
  const mappings = await mappingsOf(machine.binding, await inodesOf(found));
  const evictable: Evictable = { paths: [], bytes: 0, mappedFiles: 0, mappedBytes: 0 };
  for (const { path, dev, ino, bytes } of found) {
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
