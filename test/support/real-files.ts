/** Real files on a real disk, and programs that walk them as this user or as nobody. */

import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomFillSync } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { native } from '../../lib/core/native/binding.ts';
import type {
  NativeBinding,
  NativeCachedFile,
  NativeWalkBatch,
  NativeWalkOptions,
} from '../../lib/core/native/contract.ts';
import { BINARY_PRELUDE } from './binary-on-machine.ts';
import { compileC } from './clients.ts';
import { parseLines, requireSuccess, resultOf, startModule } from './processes.ts';
import { ROOT } from './root.ts';

export const isRoot = process.getuid?.() === 0;
export const nobody = 65534;
/** Options of a child process that runs as nobody; as this user where only root may change the user. */
export const asNobody = isRoot ? { uid: nobody, gid: nobody } : {};
export const pageBytes = native().pageSize();

const IN_MEMORY = [0x01021994, 0x858458f6]; // tmpfs, ramfs: their pages are the files themselves

/** A folder on a disk with this many bytes free, open to all users, removed with the process; or why there is none. */
export function diskFolder(bytes: number): { path: string } | { reason: string } {
  for (const parent of [tmpdir(), '/var/tmp', homedir()]) {
    try {
      const fileSystem = statfsSync(parent);
      if (IN_MEMORY.includes(fileSystem.type) || fileSystem.bavail * fileSystem.bsize < bytes) continue;
      const path = mkdtempSync(join(parent, 'umaprobe-kernel-'));
      chmodSync(path, 0o755);
      process.on('exit', () => rmSync(path, { recursive: true, force: true }));
      return { path };
    } catch {}
  }
  return { reason: `no folder on a disk with ${bytes} bytes free (temporary folder, /var/tmp, home)` };
}

/**
 * Gives each test of a file a new folder on a disk with this many bytes free; skips the test where there is none. The
 * folder is removed by rm: Node removes by full paths, which are too long in a deep tree. It is removed before the disk
 * has got its files: some disks discard each block at once, which takes milliseconds for each file.
 */
export function eachInNewFolder(bytes: number, use: (path: string) => void): void {
  const disk = diskFolder(bytes);
  beforeEach((context) => {
    if ('reason' in disk) return context.skip(disk.reason);
    const path = join(disk.path, 'tree');
    mkdirSync(path);
    use(path);
  });
  afterEach(() => {
    if ('path' in disk) execFileSync('rm', ['-rf', join(disk.path, 'tree')]);
  }, 900_000);
}

/**
 * Writes a new file of random bytes and returns its SHA-256. `sync` writes it to the disk, so that its pages are clean.
 * An existing file is removed first: ext4 begins to write a truncated file when it is closed (auto_da_alloc).
 */
export function writeRandom(path: string, bytes: number, sync: boolean): string {
  const hash = createHash('sha256');
  rmSync(path, { force: true });
  const fd = openSync(path, 'wx');
  const chunk = Buffer.alloc(Math.min(bytes, 8 << 20));
  randomFillSync(chunk);
  for (let left = bytes; left > 0; left -= chunk.length) {
    chunk.writeUInt32LE(left >>> 0, 0); // makes each chunk different
    const part = chunk.subarray(0, Math.min(left, chunk.length));
    writeSync(fd, part);
    hash.update(part);
  }
  if (sync) fsyncSync(fd);
  closeSync(fd);
  return hash.digest('hex');
}

export function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/**
 * The values printed by a program (see binary-on-machine.ts) that also has `walk`, run as this user (null) or as another
 * one. An aborted program is killed; what it printed before counts.
 */
export async function printedByUser(uid: number | null, program: string, signal?: AbortSignal): Promise<unknown[]> {
  const user = uid === null ? {} : { uid, gid: uid };
  const child = startModule(`${BINARY_PRELUDE}\nconst walk = ${walkAll.toString()};\n${program}`, {
    ...user,
    cwd: '/',
  });
  signal?.addEventListener('abort', () => child.kill('SIGKILL'));
  const result = await resultOf(child);
  if (result.signal !== 'SIGKILL') requireSuccess(result);
  return parseLines(result.stdout);
}

/** A complete walk: the sums of the last batch, and all entries and inodes. */
export interface Walked extends Omit<NativeWalkBatch, 'inodes'> {
  batches: number;
  inodes: number[];
}

/** Its source also runs in the programs of printedByUser, so it may use nothing of this file. */
async function walkAll(
  b: NativeBinding,
  paths: string[],
  options: Partial<NativeWalkOptions> = {},
  sliceMs = 50,
): Promise<Walked> {
  const id = b.cacheWalk(paths, { mode: 'status', listEmpty: true, ...options });
  if (typeof id !== 'number') throw new Error(id.message);
  const entries: NativeCachedFile[] = [];
  const inodes: number[] = [];
  for (let batches = 1; ; batches++) {
    const batch = await b.cacheNext(id, sliceMs, 60_000);
    if ('failed' in batch) throw new Error(`${batch.name}: ${batch.message}`);
    for (const entry of batch.entries) entries.push(entry);
    for (const number of batch.inodes) inodes.push(number);
    if (batch.done) return { ...batch, entries, inodes, batches };
  }
}

export function walk(paths: string | string[], options: Partial<NativeWalkOptions> = {}, sliceMs = 50) {
  return walkAll(native(), typeof paths === 'string' ? [paths] : paths, options, sliceMs);
}

/** The batches of a walk, in slices of `sliceMs`; a test can act between two batches. */
export async function* batchesOf(path: string, sliceMs = 1): AsyncGenerator<NativeWalkBatch> {
  const id = native().cacheWalk([path], { mode: 'status', listEmpty: true });
  if (typeof id !== 'number') throw new Error(id.message);
  for (let done = false; !done; ) {
    const batch = await native().cacheNext(id, sliceMs, 60_000);
    if ('failed' in batch) throw new Error(batch.message);
    done = batch.done;
    yield batch;
  }
}

export function identity(path: string): { dev: number; ino: number } {
  const { dev, ino } = statSync(path);
  return { dev, ino };
}

/** Maps a file, or locks it, in a process of its own until `end`. */
export function startMapper(mode: 'map' | 'lock', file: string, folder: string): Promise<Holder> {
  return startHolder('mapper', [mode, file], folder);
}

export interface Holder {
  pid: number;
  end: () => Promise<void>;
}

/**
 * Compiles test/kernel/<name>.c into the folder and runs it until it says that it holds its memory. A shell starts it, as a
 * person would: it is not part of the tree of the tests.
 */
export function startHolder(name: 'mapper' | 'holder', words: readonly string[], folder: string): Promise<Holder> {
  const program = join(folder, name);
  if (!existsSync(program)) compileC(join(ROOT, `test/kernel/${name}.c`), program);
  const child = spawn('/bin/sh', ['-c', '"$0" "$@"; exit $?', program, ...words]);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const end = async () => {
    child.stdin.end();
    await ended;
  };
  return new Promise((resolve, reject) => {
    child.stdout.once('data', (ready: Buffer) => resolve({ pid: Number(ready.toString().split(' ')[1]), end }));
    void ended.then((code) => reject(new Error(`${name} ended with ${code}`)));
  });
}
