/** Real files on a real disk, and programs that look at their pages: as this user, or as nobody. */

import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomFillSync } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
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
import { fileURLToPath } from 'node:url';
import { load } from '../../lib/native/binding.ts';
import type { NativeCachedFile, NativeWalkBatch, NativeWalkOptions } from '../../lib/native/contract.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const binary = load(root).path;
export const isRoot = process.getuid?.() === 0;
export const nobody = 65534;
export const pageBytes = load(root).binding.pageSize();

const IN_MEMORY = [0x01021994, 0x858458f6]; // tmpfs, ramfs: their pages are the files themselves

/** A folder on a disk with so much room, open to all, that goes away with the process; or why there is none. */
export function diskFolder(bytes: number): { path: string } | { reason: string } {
  for (const parent of [tmpdir(), '/var/tmp', homedir()]) {
    try {
      const about = statfsSync(parent);
      if (IN_MEMORY.includes(about.type) || about.bavail * about.bsize < bytes) continue;
      const path = mkdtempSync(join(parent, 'umaprobe-kernel-'));
      chmodSync(path, 0o755);
      process.on('exit', () => rmSync(path, { recursive: true, force: true }));
      return { path };
    } catch {}
  }
  return { reason: `no folder on a disk with ${bytes} bytes free (temporary folder, /var/tmp, home)` };
}

/**
 * Writes a new file of random bytes; `sync`: onto the disk, so that its pages are clean. Answers its SHA-256. New, because
 * ext4 begins to write a file that replaces its own content as soon as it is closed (auto_da_alloc).
 */
export function writeRandom(path: string, bytes: number, sync: boolean): string {
  const hash = createHash('sha256');
  rmSync(path, { force: true });
  const fd = openSync(path, 'wx');
  const piece = Buffer.alloc(Math.min(bytes, 8 << 20));
  randomFillSync(piece);
  for (let left = bytes; left > 0; left -= piece.length) {
    piece.writeUInt32LE(left >>> 0, 0); // no two pieces are alike
    const part = piece.subarray(0, Math.min(left, piece.length));
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

/** Bytes of a line of /proc/meminfo. */
export function meminfo(name: string): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/meminfo', 'utf8'));
  if (line === null) throw new Error(`no ${name} in /proc/meminfo`);
  return Number(line[1]) * 1024;
}

/** Runs an ES module with the binary as `b` in a process of its own; answers what it said with say(value). */
export function asUser(uid: number | null, body: string, signal?: AbortSignal): Promise<unknown[]> {
  const script = `
    import { createRequire } from 'node:module';
    const b = createRequire(${JSON.stringify(import.meta.url)})(${JSON.stringify(binary)});
    const say = (value) => console.log(JSON.stringify(value));
    const walk = ${walkAll.toString()};
    ${body}`;
  const user = uid === null ? {} : { uid, gid: uid };
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { ...user, cwd: '/' });
  const aborted = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', aborted);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, killed) => {
      const lines = stdout.split('\n').filter((line) => line !== '');
      if (code === 0 || killed === 'SIGKILL') resolve(lines.map((line) => JSON.parse(line) as unknown));
      else reject(new Error(`ended with ${code ?? killed}: ${stderr}${stdout}`));
    });
  });
}

/** What a whole walk found: the last sums, and all entries and inodes. */
export interface Walked extends Omit<NativeWalkBatch, 'inodes'> {
  batches: number;
  inodes: number[];
}

type Binding = ReturnType<typeof load>['binding'];

/** Also runs in the programs of `asUser`, which have nothing of this file's but its text. */
export async function walkAll(
  b: Binding,
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
  return walkAll(load(root).binding, typeof paths === 'string' ? [paths] : paths, options, sliceMs);
}

export const native = load(root).binding;

/** The batches of a walk in slices of 1 ms, so that a test can do things in between. */
export async function* batchesOf(path: string): AsyncGenerator<NativeWalkBatch> {
  const id = native.cacheWalk([path], { mode: 'status', listEmpty: true });
  if (typeof id !== 'number') throw new Error(id.message);
  for (let done = false; !done; ) {
    const batch = await native.cacheNext(id, 1, 10_000);
    if ('failed' in batch) throw new Error(batch.message);
    done = batch.done;
    yield batch;
  }
}

export function identity(path: string): { dev: number; ino: number } {
  const { dev, ino } = statSync(path);
  return { dev, ino };
}

/** A process that maps a file (`lock`: and locks it in memory) until it is ended. Rejects where it may not. */
export function mapper(
  how: 'map' | 'lock',
  file: string,
  folder: string,
): Promise<{ pid: number; end: () => Promise<void> }> {
  const program = join(folder, 'mapper');
  execFileSync(process.env.CC ?? 'cc', ['-O1', '-o', program, join(root, 'test/kernel/mapper.c')]);
  const child = spawn(program, [how, file]);
  const over = new Promise<number | null>((resolve) => child.once('close', resolve));
  const end = async () => {
    child.stdin.end();
    await over;
  };
  return new Promise((resolve, reject) => {
    child.stdout.once('data', () => resolve({ pid: child.pid as number, end }));
    void over.then((code) => reject(new Error(`the mapper ended with ${code}`)));
  });
}
