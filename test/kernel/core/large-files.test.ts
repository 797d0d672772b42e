/** Large files on the real kernel: cached pages, evicted pages, pages that stay; no content is lost. */

import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { native } from '../../../lib/core/native/binding.ts';
import { freeBytes, meminfoBytes } from '../../support/meminfo.ts';
import { watchOthers } from '../../support/other-programs.ts';
import {
  diskFolder,
  identity,
  isRoot,
  nobody,
  pageBytes,
  printedByUser,
  sha256,
  startMapper,
  walk,
  writeRandom,
} from '../../support/real-files.ts';
import { MiB } from '../../support/units.ts';

const big = 2048 * MiB;
const disk = diskFolder(3 * big);
const folder = 'path' in disk ? disk.path : '';
const file = join(folder, 'file');

beforeEach((context) => {
  if ('reason' in disk) context.skip(disk.reason);
});
afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
});

/** Both methods, where the kernel has both. */
const methods = ['cachestat', 'mincore'] as const;
const forced = (method: (typeof methods)[number]) => (method === 'mincore' ? { method } : {});

/** The result expects that this much of the cache is free memory now, where other programs have not taken it meanwhile. */
function cacheShrinks(bytes: number): () => void {
  const moved = watchOthers(process.pid, { cache: true });
  const before = { free: freeBytes(pageBytes), cached: meminfoBytes('Cached') };
  return () => {
    const now = { free: freeBytes(pageBytes), cached: meminfoBytes('Cached') };
    const least = bytes - moved();
    expect(now.free - before.free).toBeGreaterThan(least);
    expect(before.cached - now.cached).toBeGreaterThan(least);
  };
}

describe.each(methods)('a file of 2 GiB, by %s', (method) => {
  it('is fully cached after a read, and is evicted', { timeout: 240_000 }, async (context) => {
    if (meminfoBytes('MemAvailable') < 2 * big) context.skip('less than 4 GiB of memory available');
    writeRandom(file, big, true);
    // Again if another program of this machine has dropped caches meanwhile.
    let status = await walk(file, forced(method));
    for (let reads = 0; reads < 3 && status.cached < big; reads++) {
      execFileSync('cat', [file], { stdio: ['ignore', 'ignore', 'inherit'] });
      status = await walk(file, forced(method));
    }
    if (status.method !== method) context.skip(`this kernel has no ${method}`);
    expect(status).toMatchObject({ files: 1, bytes: big, problems: 0, unseen: 0, done: true });
    expect(status.cached).toBeGreaterThanOrEqual(big - pageBytes);
    expect(status.cached).toBeLessThanOrEqual(big + pageBytes);
    expect(status.inodes).toEqual([identity(file).dev, identity(file).ino, status.cached, status.cached]);

    const shrinks = cacheShrinks(0.875 * big);
    const evicted = await walk(file, { mode: 'evict', ...forced(method) }, 1);
    shrinks();
    // Other programs of this machine may displace some pages between two readings.
    expect(evicted.cached).toBeGreaterThan(0.9 * big);
    expect(evicted.cached).toBeLessThanOrEqual(big + pageBytes);
    expect(evicted.cachedAfter).toBeLessThan(0.01 * big);
    expect(evicted.batches).toBeGreaterThan(1); // in chunks of 1 GiB, so that it can be stopped
    expect((await walk(file, forced(method))).cached).toBe(evicted.cachedAfter);
    rmSync(file);
  });
});

describe('eviction', () => {
  const size = 64 * MiB;

  it('leaves pages that another process maps, and names the process', async () => {
    const content = writeRandom(file, size, true);
    const { dev, ino } = identity(file);
    const process = await startMapper('map', file, folder);
    try {
      const evicted = await walk(file, { mode: 'evict' });
      expect(evicted.cachedAfter).toBeGreaterThan(0.99 * size);
      const mappings = await native().mappings(new Float64Array([dev, ino]), 10_000);
      expect(mappings).toMatchObject({ files: Float64Array.of(dev, ino, process.pid, 0) });
    } finally {
      await process.end();
    }
    expect((await walk(file, { mode: 'evict' })).cachedAfter).toBeLessThan(0.01 * size);
    expect(await native().mappings(new Float64Array([dev, ino]), 10_000)).toMatchObject({ files: new Float64Array() });
    expect(sha256(file)).toBe(content);
  });

  it('leaves locked pages, and tells them from mapped ones', async (context) => {
    writeRandom(file, size, true);
    const { dev, ino } = identity(file);
    const other = identity(folder);
    const process = await startMapper('lock', file, folder).catch((error: Error) => error);
    if (process instanceof Error) return context.skip(`mlock of 64 MiB is not allowed here: ${process.message}`);
    try {
      expect((await walk(file, { mode: 'evict' })).cachedAfter).toBe(size);
      const mappings = await native().mappings(new Float64Array([other.dev, other.ino, dev, ino]), 10_000);
      expect(mappings).toMatchObject({ files: Float64Array.of(dev, ino, process.pid, 1) });
    } finally {
      await process.end();
    }
  });

  it('does not touch dirty pages, until it is asked to write them', async () => {
    const content = writeRandom(file, size, false);
    const kept = await walk(file, { mode: 'evict' });
    expect(kept).toMatchObject({ cached: size, dirty: size, cachedAfter: size, syncMs: 0 });
    // POSIX_FADV_DONTNEED would have started to write them.
    expect(await walk(file)).toMatchObject({ dirty: size, writeback: 0 });
    expect(sha256(file)).toBe(content);

    const synced = await walk(file, { mode: 'evict-sync' });
    expect(synced.dirty).toBe(size);
    expect(synced.entries[0]?.syncMs).toBeGreaterThan(0);
    expect(synced.syncMs).toBe(synced.entries[0]?.syncMs);
    expect(synced.cachedAfter).toBeLessThan(0.01 * size);
    expect(sha256(file)).toBe(content);
  });

  it('drops clean pages around dirty ones', async () => {
    writeRandom(file, size, true);
    const fd = openSync(file, 'r+');
    writeSync(fd, Buffer.alloc(10_000, 'x'), 0, 10_000, 33 * MiB);
    closeSync(fd);
    const content = sha256(file);
    const { cachedAfter, dirty } = await walk(file, { mode: 'evict' });
    expect(dirty).toBeGreaterThan(0);
    expect(cachedAfter).toBeGreaterThanOrEqual(dirty as number);
    expect(cachedAfter).toBeLessThanOrEqual(8 * MiB);
    expect(sha256(file)).toBe(content);
  });

  it('loses nothing when it is killed in the middle', async () => {
    const files = Array.from({ length: 12 }, (_, i) => join(folder, `part${i}`));
    for (const afterMs of [0, 5, 20, 60]) {
      const contents = files.map((path) => writeRandom(path, 8 * MiB, false));
      const killing = new AbortController();
      const ended = printedByUser(
        null,
        `print('started'); setTimeout(() => print('late'), 60_000); await walk(b, ${JSON.stringify(files)}, { mode: 'evict-sync' }, 1); print('whole');`,
        killing.signal,
      );
      setTimeout(() => killing.abort(), 60 + afterMs); // Node's own start takes some 40 ms
      await ended;
      expect(files.map(sha256)).toEqual(contents);
    }
    for (const path of files) rmSync(path);
  });

  it('leaves files of tmpfs, and marks them', async (context) => {
    const path = '/dev/shm/umaprobe-kernel-test';
    try {
      writeRandom(path, MiB, false);
    } catch (error) {
      return context.skip(`no tmpfs in /dev/shm: ${(error as Error).message}`);
    }
    try {
      const evicted = await walk(path, { mode: 'evict-sync' });
      expect(evicted).toMatchObject({ cached: MiB, memory: MiB, cachedAfter: MiB });
      expect(evicted.entries).toMatchObject([{ memory: true, cachedAfter: MiB }]);
    } finally {
      rmSync(path);
    }
  });

  it('of an empty file evicts nothing', async () => {
    writeRandom(file, 0, false);
    expect(await walk(file, { mode: 'evict-sync' })).toMatchObject({ files: 1, bytes: 0, cached: 0, cachedAfter: 0 });
  });
});

describe('the kernel files that free memory', () => {
  it('drop_caches: the cache shrinks and MemFree grows', async (context) => {
    if (!isRoot) context.skip('dropping caches takes root');
    writeRandom(file, 256 * MiB, true);
    const shrinks = cacheShrinks(128 * MiB);
    const answer = await native().writeFile('/proc/sys/vm/drop_caches', '1', 60_000);
    expect(answer).toEqual({ durationMs: expect.any(Number) });
    shrinks();
    expect((await walk(file)).cached).toBe(0);
  });

  it('refuse unknown values with the kernel’s error', async (context) => {
    if (!isRoot) context.skip('writing to them takes root');
    expect(await native().writeFile('/proc/sys/vm/drop_caches', 'all', 10_000)).toMatchObject({
      failed: true,
      source: 'kernel',
      name: 'EINVAL',
      call: 'write /proc/sys/vm/drop_caches',
    });
  });

  it('refuse the user nobody, and nothing changes', async (context) => {
    if (!isRoot) context.skip('becoming nobody takes root');
    writeRandom(file, 16 * MiB, true);
    const body = `print(await b.writeFile('/proc/sys/vm/drop_caches', '3', 10000));`;
    expect(await printedByUser(nobody, body)).toMatchObject([
      { failed: true, source: 'kernel', name: 'EACCES', status: 13 },
    ]);
    expect((await walk(file)).cached).toBe(16 * MiB);
  });

  it('sync writes dirty pages', async () => {
    writeRandom(file, 4 * MiB, false);
    expect((await walk(file)).dirty).toBe(4 * MiB);
    expect(await native().syncAll(60_000)).toEqual({ durationMs: expect.any(Number) });
    expect((await walk(file)).dirty).toBe(0);
    expect(readFileSync(file)).toHaveLength(4 * MiB);
  });
});
