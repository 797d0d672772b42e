/** Walks: targets without duplicates, sums that add up, reasons why pages stayed, the largest of many files. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { evict, evictUntil, keepFree, retainedReason } from '../../../../lib/core/cache/evict.ts';
import { InodeRows } from '../../../../lib/core/cache/inodes.ts';
import { LargestN } from '../../../../lib/core/cache/largest.ts';
import { mappingsOf } from '../../../../lib/core/cache/mappings.ts';
import { findEvictable } from '../../../../lib/core/cache/prepare/evictable.ts';
import { splitCache, statusOf } from '../../../../lib/core/cache/status.ts';
import { selectTargets } from '../../../../lib/core/cache/targets.ts';
import { walk } from '../../../../lib/core/cache/walk.ts';
import type { NativeCachedFile } from '../../../../lib/core/native/contract.ts';
import { kernelFailure } from '../../../support/failures.ts';
import { batch, fakeMachine, walkingBinding } from '../../../support/fake-system.ts';
import { hostOf } from '../../../support/snapshots.ts';

const FILE: NativeCachedFile = {
  path: '/m/a',
  what: 'file',
  bytes: 100,
  dev: 1,
  ino: 2,
  cached: 4096,
  dirty: 0,
  writeback: 0,
};
const machineWith = (binding: ReturnType<typeof walkingBinding>['binding']) => ({ ...fakeMachine().machine, binding });

/** Paths of this computer, resolved by Node. */
const system = {
  env: {},
  simulated: null,
  resolvePath: async (path: string) => (existsSync(path) ? { path: realpathSync(path), directory: true } : null),
};

describe('targets', () => {
  it('leave out what lies in another, by where it really is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'umaprobe-targets-'));
    mkdirSync(join(folder, 'a/b'), { recursive: true });
    mkdirSync(join(folder, 'ab'));
    symlinkSync(join(folder, 'a/b'), join(folder, 'link'));
    const paths = ['a/b', 'a', 'ab', 'a', 'link', 'a/nope'].map((name) => join(folder, name));
    const { targets, notes } = await selectTargets(system, paths);
    expect(targets.map(({ path }) => path)).toEqual(['a', 'ab', 'a/nope'].map((name) => join(folder, name)));
    expect(notes).toEqual([
      `${join(folder, 'a/b')} lies in ${join(folder, 'a')} and is counted there`,
      `${join(folder, 'link')} lies in ${join(folder, 'a')} and is counted there`,
    ]);
  });

  it('/ contains everything', async () => {
    const { targets } = await selectTargets(system, ['/proc', '/']);
    expect(targets.map(({ path }) => path)).toEqual(['/']);
  });
});

describe('an eviction until there is enough', () => {
  const paths = Array.from({ length: 2500 }, (_, index) => `/m/${index}`);
  const evicted = (...sums: [cached: number, cachedAfter: number][]) =>
    walkingBinding(sums.map(([cached, cachedAfter]) => batch({ cached, cachedAfter })));

  it('adds up what left the cache, in batches of 1,000 paths', async () => {
    const { asked, binding, ended } = evicted([100, 10], [50, 0], [7, 7]);
    expect(await evictUntil(machineWith(binding), paths, {})).toBe(140);
    expect(asked.map((walked) => walked.paths.length)).toEqual([1000, 1000, 500]);
    expect(asked.map((walked) => walked.options.mode)).toEqual(['evict', 'evict', 'evict']);
    expect(ended).toEqual([1, 2, 3]);
  });

  it('ends with the walk in which it is aborted', async () => {
    const { asked, binding, ended } = evicted([100, 10], [50, 0]);
    expect(await evictUntil(machineWith(binding), paths, { signal: AbortSignal.abort() })).toBe(0);
    expect([asked.length, ended]).toEqual([1, [1]]);
  });
});

describe('the machine’s cache', () => {
  const host = { buffers: 10, cached: 100, shmem: 20, sReclaimable: 5, dirty: 1, writeback: null };

  it.each([
    [[{ cachedBytes: null, memoryBytes: null }], { modelFiles: null, otherFiles: 90 }],
    [
      [
        { cachedBytes: null, memoryBytes: null },
        { cachedBytes: 0, memoryBytes: 0 },
      ],
      { modelFiles: null, otherFiles: 90 },
    ],
    [
      [
        { cachedBytes: null, memoryBytes: null },
        { cachedBytes: 40, memoryBytes: 0 },
      ],
      { modelFiles: 40, otherFiles: 50 },
    ],
    [[{ cachedBytes: 0, memoryBytes: 0 }], { modelFiles: 0, otherFiles: 90 }],
    [[{ cachedBytes: 40, memoryBytes: 15 }], { modelFiles: 25, otherFiles: 65 }],
    [[{ cachedBytes: 500, memoryBytes: 0 }], { modelFiles: 90, otherFiles: 0 }],
    [null, { modelFiles: null, otherFiles: 90 }],
  ])('%j adds up to Buffers + Cached + SReclaimable', (targets, parts) => {
    const { machine } = splitCache(host, targets);
    expect(machine).toMatchObject({ ...parts, shmem: 20, slabReclaimable: 5, total: 115, writeback: null });
    const { modelFiles, otherFiles, shmem, slabReclaimable, total } = machine ?? {};
    expect((modelFiles ?? 0) + (otherFiles ?? 0) + (shmem ?? 0) + (slabReclaimable ?? 0)).toBe(total);
  });

  it('is unknown where a line is missing', () => expect(splitCache({ ...host, shmem: null }, []).machine).toBeNull());
});

describe('why pages stayed', () => {
  const vllm = { pid: 7, name: 'vllm', locked: false };
  it.each([
    [{}, [vllm], 'mapped', /^mapped by vllm \(7\)$/],
    [{}, [vllm, { pid: 8, name: null, locked: true }], 'locked', /^locked in memory by vllm \(7\), pid 8$/],
    [{ dirty: 4096 }, [], 'dirty', /--sync writes it first/],
    [{ writeback: 4096 }, [], 'dirty', /being written/],
    [{ memory: true as const }, [vllm], 'memory', /tmpfs/],
    [{ failure: kernelFailure('EIO', 'fdatasync') }, [], 'other', /fdatasync answered EIO/],
    [{}, [], 'other', /in use at this moment.*one of 3 processes of other users/],
  ])('%j with %j is %s', (more, mappers, cause, text) => {
    const retained = retainedReason({ ...FILE, cachedAfter: 4096, ...more }, mappers, 3);
    expect(retained.cause).toBe(cause);
    expect(retained.text).toMatch(text);
  });
});

describe('the largest of many', () => {
  it('are kept in order', () => {
    const top = new LargestN<number>(3, (value) => value);
    for (let value = 0; value < 10_000; value++) top.add((value * 7919) % 10_000);
    expect(top.take()).toEqual([9999, 9998, 9997]);
    const none = new LargestN<number>(0, (value) => value);
    none.add(1);
    expect(none.take()).toEqual([]);
  });

  it('never hold up the event loop for long: what one call compares is bounded, however many there are', () => {
    let compared = 0;
    let most = 0;
    const counted = <T>(call: () => T): T => {
      compared = 0;
      const result = call();
      most = Math.max(most, compared);
      return result;
    };
    const top = new LargestN<number>(100_000, (value) => {
      compared++;
      return value;
    });
    for (let at = 0; at < 300_000; at++) counted(() => top.add((at * 7919) % 300_000));
    const taken = counted(() => top.take());
    expect(taken).toHaveLength(100_000);
    expect(taken.every((value, at) => value === 299_999 - at)).toBe(true);
    // Sorting all of them at once would take some 3.4 million.
    expect(most).toBeLessThan(500_000);
  });

  it('inodes are visited once each, and the event loop runs in between', async () => {
    const rows = new InodeRows();
    for (let row = 0; row < 30_000; row += 100) {
      const chunk = Array.from({ length: 100 }, (_, more) => [1, row + more, 4096, 0]).flat();
      rows.add(Float64Array.from(chunk));
    }
    expect(rows.length).toBe(30_000);
    let turns = 0;
    const count = (): void => {
      turns++;
      if (turns < 1000) immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);
    const seen: number[] = [];
    await rows.forEach((_dev, ino) => void seen.push(ino));
    clearImmediate(immediate);
    expect(seen).toEqual(Array.from({ length: 30_000 }, (_, ino) => ino));
    expect(turns).toBeGreaterThanOrEqual(2);
  });
});

describe('a walk', () => {
  const options = { mode: 'status', listEmpty: false } as const;

  it('ends with its last slice, reports progress and is closed', async () => {
    const { binding, ended } = walkingBinding([
      batch({ done: false, files: 1, path: '/a' }),
      batch({ files: 2, path: '/b' }),
    ]);
    const seen: string[] = [];
    const onEvent = ({ path }: { path: string }) => void seen.push(path);
    const { last, complete } = await walk(binding, ['/'], options, { onEvent }, () => undefined);
    expect([last?.files, complete, seen, ended]).toEqual([2, true, ['/a', '/b'], [1]]);
  });

  it('waits ten seconds for a slice, and a minute for one that writes', async () => {
    const limits: number[] = [];
    const { binding } = walkingBinding([]);
    const next = binding.cacheNext;
    binding.cacheNext = (id, sliceMs, limitMs) => {
      limits.push(limitMs);
      return next(id, sliceMs, limitMs);
    };
    for (const mode of ['status', 'evict', 'evict-sync'] as const)
      await walk(binding, ['/'], { mode, listEmpty: false, top: 1 }, {}, () => undefined);
    expect(limits).toEqual([10_000, 10_000, 60_000]);
  });

  it('rejects with what onEvent throws or rejects with, and ends in the binary', async () => {
    for (const onEvent of [
      async () => {
        throw new Error('mine');
      },
      () => {
        throw new Error('mine');
      },
    ]) {
      const { binding, ended } = walkingBinding([batch({ done: false })]);
      const options = { mode: 'status', listEmpty: false, top: 1 } as const;
      await expect(walk(binding, ['/'], options, { onEvent }, () => undefined)).rejects.toThrow('mine');
      expect(ended).toEqual([1]);
    }
  });

  it('hears a cancel between two slices, and is closed', async () => {
    const abort = new AbortController();
    const { binding, ended } = walkingBinding([batch({ done: false }), batch({ done: false })]);
    const { complete } = await walk(binding, ['/'], options, { signal: abort.signal }, () => abort.abort());
    expect([complete, ended]).toEqual([false, [1]]);
  });

  it('that fails is an error, and is closed', async () => {
    const { binding, ended } = walkingBinding([]);
    const failing = { ...binding, cacheNext: async () => kernelFailure('EIO', 'cacheNext') };
    await expect(walk(failing, ['/'], options, {}, () => undefined)).rejects.toThrow(/cacheNext/);
    expect(ended).toEqual([1]);
  });
});

describe('mappings', () => {
  it('are of one inode on one device', async () => {
    const { binding } = walkingBinding([], [{ dev: 1, ino: 2, pid: 7, locked: false }]);
    const { of } = await mappingsOf(binding, Float64Array.of(1, 2));
    expect(of({ dev: 1, ino: 2 })).toEqual([{ pid: 7, name: 'name-of-7', locked: false }]);
    expect(of({ dev: 9, ino: 2 })).toEqual([]);
  });
});

describe('status and evict', () => {
  const rows = Float64Array.of(1, 2, 4096, 4096);
  const problem: NativeCachedFile = { path: '/m/x', what: 'problem', failure: kernelFailure('EACCES', 'openat') };

  it('status sums mapped bytes over all files, also those that are not listed', async () => {
    const { binding, asked } = walkingBinding(
      [batch({ entries: [problem], inodes: rows, files: 1, cached: 4096, bytes: 100, problems: 1 })],
      [{ dev: 1, ino: 2, pid: 7, locked: false }],
    );
    const { targets, files } = await statusOf(machineWith(binding), ['/m'], { top: 0 });
    expect(asked[0]?.options).toMatchObject({ mode: 'status', top: 0 });
    expect(files).toEqual([]);
    expect(targets[0]).toMatchObject({
      mappedBytes: 4096,
      problemCount: 1,
      problems: [{ path: '/m/x' }],
      complete: true,
    });
  });

  it('a cancelled status rejects with the reason', async () => {
    const { binding } = walkingBinding([batch({ done: false })]);
    const signal = AbortSignal.abort(new Error('enough of that'));
    await expect(statusOf(machineWith(binding), ['/m'], { signal })).rejects.toThrow('enough of that');
  });

  it('evict adds up what stayed by reason', async () => {
    const stays = { ...FILE, cachedAfter: 4096 };
    const goes = { ...FILE, path: '/m/b', ino: 3, cached: 8192, cachedAfter: 0 };
    const { binding, asked } = walkingBinding(
      [batch({ entries: [stays, goes], cached: 12_288, cachedAfter: 4096, files: 2 })],
      [{ dev: 1, ino: 2, pid: 7, locked: false }],
    );
    const report = await evict(machineWith(binding), ['/m'], { sync: true });
    expect(asked[0]?.options.mode).toBe('evict-sync');
    expect(report).toMatchObject({ state: 'complete', evictedBytes: 8192, stayedBytes: 4096 });
    expect(report.stayedBy).toEqual({ mapped: 4096, dirty: 0, locked: 0, memory: 0, other: 0 });
    expect(report.files.map(({ path, stayed }) => [path, stayed])).toEqual([
      ['/m/b', null],
      ['/m/a', 'mapped by name-of-7 (7)'],
    ]);
  });

  it('a cancelled eviction resolves to a report', async () => {
    const { binding } = walkingBinding([batch({ done: false, files: 1 })]);
    const abort = new AbortController();
    const onEvent = () => abort.abort();
    const report = await evict(machineWith(binding), ['/m'], { signal: abort.signal, onEvent });
    expect(report).toMatchObject({ state: 'aborted', evictedBytes: 0 });
  });

  it('prepare evicts what is clean and mapped by nobody, the largest first', async () => {
    const entries = [
      FILE,
      { ...FILE, path: '/m/c', ino: 3, cached: 8192, dirty: 8192 },
      { ...FILE, path: '/m/d', ino: 4, cached: 9000 },
      { ...FILE, path: '/m/e', ino: 5, memory: true as const },
    ];
    const { binding } = walkingBinding([batch({ entries })], [{ dev: 1, ino: 99, pid: 7, locked: false }]);
    expect(await findEvictable(machineWith(binding), ['/m'], {})).toMatchObject({
      paths: ['/m/d', '/m/a'],
      bytes: 13_096,
      mappedFiles: 0,
    });
    const mapped = walkingBinding([batch({ entries })], [{ dev: 1, ino: 4, pid: 7, locked: false }]);
    expect(await findEvictable(machineWith(mapped.binding), ['/m'], {})).toMatchObject({
      paths: ['/m/a'],
      mappedFiles: 1,
      mappedBytes: 9000,
    });
  });

  it('keepFree ends when as much is free as asked, and not before', async () => {
    const entries = Array.from({ length: 3000 }, (_, ino) => ({ ...FILE, path: `/m/${ino}`, ino }));
    const evicted = batch({ cached: 4096, cachedAfter: 0 });
    const { asked, binding } = walkingBinding([batch({ entries }), evicted, evicted, evicted]);
    const readings = [1, 2];
    const host = async () => hostOf({ free: readings.shift() ?? 4 });
    const env = { HF_HUB_CACHE: mkdtempSync(join(tmpdir(), 'umaprobe-hub-')) };
    const { signal } = new AbortController();
    const kept = await keepFree({ ...machineWith(binding), env, host }, 4, signal);
    expect(kept).toEqual({ evictedBytes: 8192, free: 4 });
    expect(asked.map(({ options }) => options.mode)).toEqual(['status', 'evict', 'evict']);
  });

  it.each([4, 5, null])('keepFree evicts nothing to have 4 bytes free where %s are', async (free) => {
    const { asked, binding } = walkingBinding([]);
    const machine = { ...machineWith(binding), host: async () => hostOf({ free }) };
    expect(await keepFree(machine, 4, new AbortController().signal)).toEqual({ evictedBytes: 0, free });
    expect(asked).toEqual([]);
  });

  it('both refuse the files of this computer on a simulated machine', async () => {
    const { machine } = fakeMachine({ simulated: 'gb10' });
    await expect(statusOf(machine, ['/m'], {})).rejects.toThrow(/has a page cache but no files in it/);
    await expect(evict(machine, ['/m'], {})).rejects.toThrow(/has a page cache but no files in it/);
  });
});
