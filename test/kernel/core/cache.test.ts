/** The command `cache` on the real kernel: files that are cached, mapped, locked and dirty, and a hostile tree. */

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PROGRAM_BYTES } from '../../../lib/core/memory/floor.ts';
import type { CacheStatus, EvictReport, PrepareReport } from '../../../lib/types/index.ts';
import { type CliOptions, exitOf, runUmaprobe, startUmaprobe } from '../../support/cli.ts';
import { freeBytes, meminfoBytes } from '../../support/meminfo.ts';
import { besideOthers } from '../../support/other-programs.ts';
import { hasSignal } from '../../support/processes.ts';
import {
  asNobody,
  diskFolder,
  isRoot,
  nobody,
  pageBytes,
  sha256,
  startMapper,
  writeRandom,
} from '../../support/real-files.ts';
import { parseDocument } from '../../support/schemas.ts';
import { MiB } from '../../support/units.ts';
import { waitFor } from '../../support/wait.ts';

const SIZE = 256 * MiB;
/** Bytes by which other programs may change the counters meanwhile. */
const NOISE = SIZE / 2;
const disk = diskFolder(8 * SIZE);
const folder = 'path' in disk ? disk.path : '';
const file = join(folder, 'model.safetensors');

beforeEach((context) => {
  if ('reason' in disk) context.skip(disk.reason);
});
afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
});

/** The document of a command that must succeed, checked against its schema. */
function json<T>(args: string[], options: CliOptions = {}): T {
  const { code, stderr, stdout } = runUmaprobe([...args, '--json'], options);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return parseDocument(stdout) as unknown as T;
}

const status = (...paths: string[]) => json<CacheStatus>(['cache', 'status', ...paths]);
const evict = (...args: string[]) => json<EvictReport>(['cache', 'evict', ...args]);

describe('a file that was read', () => {
  it('is fully cached, is evicted, and the receipt agrees with /proc/meminfo', async (context) => {
    await besideOthers(context, NOISE / 2, async () => {
      writeRandom(file, SIZE, true);
      readFileSync(file);
      const [target] = status(file).targets;
      expect(target).toMatchObject({ files: 1, bytes: SIZE, mappedBytes: 0, problemCount: 0, complete: true });
      expect(Math.abs((target?.cachedBytes ?? 0) - SIZE)).toBeLessThanOrEqual(pageBytes);

      const before = { cached: meminfoBytes('Cached'), free: freeBytes(pageBytes) };
      const report = evict(file);
      const moved = { cached: meminfoBytes('Cached') - before.cached, free: freeBytes(pageBytes) - before.free };
      expect(report.evictedBytes).toBeGreaterThan(0.99 * SIZE);
      expect(report.stayedBytes).toBeLessThan(0.01 * SIZE);
      expect(report.files[0]).toMatchObject({ path: file, stayed: null, mappedBy: [] });
      expect(status(file).targets[0]?.cachedBytes).toBeLessThan(0.01 * SIZE);
      const { cached, freeInCpuLists, memFree } = report.receipt.change;
      const check = (): void => {
        expect(Math.abs((cached ?? 0) - moved.cached)).toBeLessThan(NOISE);
        // The command itself takes and frees memory, so free memory has twice the tolerance. A part is in lists of the processors.
        expect(Math.abs((memFree ?? 0) + (freeInCpuLists ?? 0) - moved.free)).toBeLessThan(0.9 * SIZE);
        expect(-(cached ?? 0)).toBeGreaterThan(SIZE - NOISE);
      };
      // The file is gone from the cache, which the kernel says of the file itself; the rest is of others.
      return { others: Math.max(Math.abs(moved.cached + SIZE), Math.abs(moved.free - SIZE)), check };
    });
  });

  it('the parts of the machine’s cache add up', () => {
    const { modelFiles, otherFiles, shmem, slabReclaimable, total } = status(file).machine ?? {};
    expect((modelFiles ?? 0) + (otherFiles ?? 0) + (shmem ?? 0) + (slabReclaimable ?? 0)).toBe(total);
  });

  it.each(['map', 'lock'] as const)('stays cached while a process %ss it, and the process is named', async (how) => {
    writeRandom(file, SIZE, true);
    const { end, pid } = await startMapper(how, file, folder);
    try {
      const seen = status(file);
      expect(seen.targets[0]?.mappedBytes).toBeGreaterThanOrEqual(SIZE);
      expect(seen.files[0]?.mappedBy).toEqual([{ pid, name: 'mapper', locked: how === 'lock' }]);
      const report = evict(file);
      expect(report.stayedBytes).toBeGreaterThan(0.9 * SIZE);
      expect(report.stayedBy[how === 'lock' ? 'locked' : 'mapped']).toBe(report.stayedBytes);
      expect(report.files[0]?.stayed).toBe(
        how === 'lock' ? `locked in memory by mapper (${pid})` : `mapped by mapper (${pid})`,
      );
    } finally {
      await end();
    }
    expect(evict(file).stayedBytes).toBeLessThan(0.01 * SIZE);
  });
});

describe('dirty pages', () => {
  const fresh = join(folder, 'checkpoint');

  it('stay and are named; with --sync they are written and go; nothing is lost', () => {
    const sum = writeRandom(fresh, 64 * MiB, false);
    const dirty = status(fresh).targets[0]?.dirtyBytes ?? 0;
    const first = evict(fresh);
    // The kernel may have begun to write; pages that it has not written must have stayed.
    if (dirty > 0 && (first.stayedBytes ?? 0) > 0) {
      expect(first.stayedBy.dirty).toBe(first.stayedBytes);
      expect(first.files[0]?.stayed).toMatch(/dirty|being written/);
    }
    const second = evict(fresh, '--sync');
    expect(second.stayedBytes).toBeLessThan(MiB);
    expect(sha256(fresh)).toBe(sum);
  });

  it('survive a tool that is killed in the middle', async () => {
    for (const afterMs of [120, 160, 200, 240]) {
      const sum = writeRandom(fresh, 64 * MiB, false);
      const child = startUmaprobe(['cache', 'evict', '--sync', fresh]);
      const exit = exitOf(child);
      setTimeout(() => child.kill('SIGKILL'), afterMs);
      await exit;
      expect(sha256(fresh)).toBe(sum);
    }
  });
});

describe('a hostile tree', () => {
  const tree = join(folder, 'tree');
  beforeAll(() => {
    if (folder === '') return;
    mkdirSync(join(tree, 'a/b/c'), { recursive: true });
    mkdirSync(join(tree, 'closed'));
    for (const name of ['new\nline', '\x1b[31mred', 'ünïcode', ' space '])
      writeFileSync(join(tree, name), Buffer.alloc(8192, 1));
    writeFileSync(Buffer.from(`${tree}/\xff\xfe`, 'latin1'), Buffer.alloc(8192, 1));
    writeFileSync(join(tree, 'closed/secret'), Buffer.alloc(8192, 1));
    symlinkSync('..', join(tree, 'a/b/c/loop'));
    symlinkSync('/nowhere', join(tree, 'dangling'));
    spawnSync('mkfifo', [join(tree, 'fifo')]);
    chmodSync(join(tree, 'closed'), 0o700);
    utimesSync(tree, 0, 0);
  });

  it('is counted correctly, and its names cannot control a terminal', () => {
    const [target] = status(tree).targets;
    expect(target).toMatchObject({
      files: 6,
      bytes: 6 * 8192,
      cachedBytes: 6 * 8192,
      special: 1,
      links: 2,
      problemCount: 0,
    });
    const { stdout } = runUmaprobe(['cache', 'status', tree]);
    expect(stdout).not.toMatch(/[\p{Cc}](?<!\n)/u);
    expect(stdout).toContain('new line');
  });

  it('a name that is not UTF-8 is kept as it is', () => {
    const odd = status(tree).files.find(({ path }) => /[\udc80-\udcff]/.test(path));
    expect(odd?.path.endsWith('\udcff\udcfe')).toBe(true);
  });

  it('as nobody: unreadable files are reported, and the rest is counted', (context) => {
    if (!isRoot) context.skip('only root can become somebody else');
    const ran = runUmaprobe(['cache', 'status', tree, '--json'], { cwd: '/', ...asNobody });
    expect(ran.code).toBe(0);
    const document = parseDocument(ran.stdout) as unknown as CacheStatus;
    expect(document.targets[0]).toMatchObject({
      files: 5,
      unseenFiles: 5,
      cachedBytes: null,
      memoryBytes: null,
      dirtyBytes: null,
      writebackBytes: null,
      mappedBytes: null,
      problemCount: 1,
      problems: [{ path: join(tree, 'closed'), reason: expect.stringMatching(/^ERR_UMA_PERMISSION/) }],
    });
    expect(document.machine?.modelFiles).toBeNull();
    expect(document.limits.join()).toMatch(/5 files of other users/);
  });

  it('as nobody: what is cached of other users’ files is unknown in every command, never 0', (context) => {
    if (!isRoot) context.skip('only root can become somebody else');
    const as = { cwd: '/', ...asNobody };
    const page = runUmaprobe(['cache', 'status', tree], as).stdout;
    expect(page).toMatch(/unknown how much of 40\.0 KiB is cached, 5 files, 5 not visible to you/);
    expect(page).not.toMatch(/\b0(\.00)? (B|GiB) .*cached/);
    const ran = runUmaprobe(['cache', 'evict', tree, '--json'], as);
    const evicted = parseDocument(ran.stdout) as unknown as EvictReport;
    expect(evicted).toMatchObject({ evictedBytes: null, stayedBytes: null, unseenFiles: 5, files: [] });
    expect(evicted.targets[0]?.cachedBytes).toBeNull();
    // More than is free, less than is available: the step is needed, and may help. Earlier tests may have emptied the cache.
    writeRandom(join(folder, 'cached'), SIZE, true);
    const wanted = `${freeBytes(pageBytes) + 128 * MiB - PROGRAM_BYTES}B`;
    const prepared = runUmaprobe(['prepare', wanted, '--floor', '0', '--path', tree, '--dry-run', '--json'], as);
    const { steps } = parseDocument(prepared.stdout) as unknown as PrepareReport;
    expect(steps[1]).toMatchObject({
      action: 'evict',
      state: 'skipped',
      reason:
        'no unused model file is seen in the cache; whether 5 files of other users are cached is not visible to this user (root sees it)',
    });
    rmSync(join(folder, 'cached'));
    expect(runUmaprobe(['cache', 'evict', tree], as).stdout).toMatch(
      /^UNKNOWN {2}How much was or is cached is not visible to you; eviction/,
    );
  });

  it('as nobody: a tree of which some files are visible has the sum of these, and says that it is not all', (context) => {
    if (!isRoot) context.skip('only root can become somebody else');
    const mine = join(tree, 'mine');
    writeFileSync(mine, Buffer.alloc(8192, 1));
    chownSync(mine, nobody, nobody);
    try {
      const as = { cwd: '/', ...asNobody };
      const { targets } = parseDocument(
        runUmaprobe(['cache', 'status', tree, '--json'], as).stdout,
      ) as unknown as CacheStatus;
      expect(targets[0]).toMatchObject({ files: 6, unseenFiles: 5, cachedBytes: 8192 });
      const page = runUmaprobe(['cache', 'status', tree], as).stdout;
      expect(page).toMatch(/the files below that you can see/);
      expect(page).toMatch(/8\.0 KiB of 8\.0 KiB that you can see cached.*6 files, .*5\s+not\s+visible\s+to\s+you/s);
    } finally {
      rmSync(mine);
    }
  });

  it('a missing path is exit 1, and the other paths are still reported', () => {
    const { code, stdout } = runUmaprobe(['cache', 'status', join(tree, 'nope'), tree, '--json']);
    expect(code).toBe(1);
    const { targets } = parseDocument(stdout) as unknown as CacheStatus;
    expect(targets[0]).toMatchObject({ files: 0, problems: [{ reason: expect.stringMatching(/ENOENT/) }] });
    expect(targets[1]?.files).toBe(6);
  });

  it('Ctrl-C ends a long walk', async () => {
    const child = startUmaprobe(['cache', 'status', '/']);
    const exit = exitOf(child);
    // The command listens to both; Node alone catches SIGINT, too.
    await waitFor('a handler of SIGHUP', () => hasSignal(child.pid as number, 'SigCgt', 'SIGHUP'));
    child.kill('SIGINT');
    expect([130, 0]).toContain(await exit); // a small machine may be walked by then
  });
});

describe('model stores', () => {
  it('are found by their variables, and blobs behind links count once', () => {
    const home = mkdtempSync(join(folder, 'home-'));
    const hub = join(home, 'hf/hub/models--x');
    mkdirSync(join(hub, 'blobs'), { recursive: true });
    mkdirSync(join(hub, 'snapshots/1'), { recursive: true });
    writeRandom(join(hub, 'blobs/abc'), 4 * MiB, true);
    symlinkSync('../../blobs/abc', join(hub, 'snapshots/1/model.safetensors'));
    const env = { HOME: home, HF_HOME: join(home, 'hf'), SUDO_USER: '', XDG_CACHE_HOME: '' };
    const { targets } = json<CacheStatus>(['cache', 'status'], { env });
    expect(targets).toMatchObject([
      { files: 1, links: 1, bytes: 4 * MiB, cachedBytes: 4 * MiB, store: { name: 'huggingface', from: 'HF_HOME' } },
    ]);
    expect(runUmaprobe(['cache', 'status'], { env }).stdout).toMatch(/model files/);
  });
});

describe('prepare', () => {
  it('evicts unused files, and stops when enough is free', async (context) => {
    await besideOthers(context, SIZE / 8, async () => {
      writeRandom(file, SIZE, true);
      const freeNow = () => {
        const lists = freeBytes(pageBytes) - meminfoBytes('MemFree');
        return Math.min(meminfoBytes('MemFree'), meminfoBytes('MemAvailable')) + lists;
      };
      const free = freeNow();
      // The program itself takes its part, too.
      const words = ['prepare', `${free + SIZE / 4 - PROGRAM_BYTES}B`, '--floor', '0', '--path', folder, '--json'];
      const dry = runUmaprobe([...words, '--dry-run']);
      const between = freeNow();
      const ran = runUmaprobe(words);
      const others = Math.max(Math.abs(between - free), Math.abs(freeNow() - between - SIZE));
      const check = (): void => {
        expect([dry.stderr, ran.stderr]).toEqual(['', '']);
        const [plan, report] = [dry, ran].map(({ stdout }) => parseDocument(stdout) as unknown as PrepareReport);
        expect([plan?.verdict, plan?.steps[1]?.state]).toEqual(['planned', 'planned']);
        expect(report).toMatchObject({ verdict: 'enough', pool: expect.any(String) });
        expect(report?.steps.map(({ action, level, state }) => `${action}${level ?? ''} ${state}`).slice(0, 3)).toEqual(
          ['measure complete', 'evict complete', 'drop1 skipped'],
        );
        expect(report?.steps[1]?.gainedBytes).toBeGreaterThan(0);
      };
      return { others, check };
    });
  });
});
