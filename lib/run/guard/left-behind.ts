/** Shared memory that a program leaves behind: files in a tmpfs and segments of System V outlive the processes that made them. */

import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MiB } from '../../base/format.ts';
import { native } from '../../core/native/binding.ts';
import { SYSTEM_V, sharedMemoryOf } from '../../core/processes/shared-memory.ts';
import type { LeftBehind, SharedMemory } from '../../types/index.ts';

/** Other programs write small files all the time. */
const LEAST_BYTES = 64 * MiB;
/** Names that are looked at in one tmpfs: /dev/shm and /run have hundreds. */
const MOST_NAMES = 5000;
/** Files that are named, the largest first. */
const MOST_FILES = 3;

/** Shared memory now, for `leftBehind` afterwards. A simulated machine has none. */
export async function sharedMemoryNow(simulated: boolean): Promise<readonly SharedMemory[]> {
  return simulated ? [] : sharedMemoryOf(native());
}

/** Places with more than before, with the largest files that were written since, largest first. */
export async function leftBehind(
  before: readonly SharedMemory[],
  after: readonly SharedMemory[],
  since: Date,
): Promise<LeftBehind[]> {
  const was = new Map(before.map(({ bytes, name }) => [name, bytes]));
  const grown = after
    .map(({ bytes, name }) => ({ where: name, bytes: bytes - (was.get(name) ?? 0) }))
    .filter(({ bytes }) => bytes >= LEAST_BYTES)
    .sort((a, b) => b.bytes - a.bytes);
  return Promise.all(
    grown.map(async (entry) => ({
      ...entry,
      files: entry.where === SYSTEM_V ? [] : await filesOf(entry.where, since),
    })),
  );
}

/** The largest files of a tmpfs that were written since then. Links are not followed. */
async function filesOf(mount: string, since: Date): Promise<string[]> {
  const found: { path: string; bytes: number }[] = [];
  const folders = [mount];
  let names = 0;
  for (let folder = folders.pop(); folder !== undefined && names < MOST_NAMES; folder = folders.pop()) {
    for (const entry of await entriesOf(folder)) {
      if (names++ === MOST_NAMES) break;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      const about = entry.isFile() ? await lstat(path).catch(() => null) : null;
      // Times are of the kernel's coarse clock, which may be a tick behind.
      if (about !== null && about.mtimeMs >= since.getTime() - 10) found.push({ path, bytes: about.blocks * 512 });
    }
  }
  return found
    .filter(({ bytes }) => bytes >= MiB)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, MOST_FILES)
    .map(({ path }) => path);
}

/** A folder that this user may not list has no names. */
function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
