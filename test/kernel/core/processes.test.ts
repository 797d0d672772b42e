/** The command `processes` on the real kernel: real programs that map, hold and share memory, and files on tmpfs. */

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statfsSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProcessesReport } from '../../../lib/types/index.ts';
import { runUmaprobe, umaprobe } from '../../support/cli.ts';
import { besideOthers, watchOthers } from '../../support/other-programs.ts';
import { asNobody, diskFolder, type Holder, isRoot, startHolder, startMapper } from '../../support/real-files.ts';
import { parseDocument } from '../../support/schemas.ts';
import { GiB, MiB } from '../../support/units.ts';

const FILE = 4 * GiB;
const HOG = 2 * GiB;
const TMPFS = GiB;
const POOL = GiB;
const WORKERS = 8;
/** Every program besides its memory: the C library and the page tables of the test programs. */
const SLACK = 2 * MiB;

const disk = diskFolder(MiB);
const folder = 'path' in disk ? disk.path : '';
const tmpfsFile = `/dev/shm/umaprobe-test-${process.pid}`;
const missing = lack();

function lack(): string | null {
  if ('reason' in disk) return disk.reason;
  if (freemem() < 12 * GiB) return 'less than 12 GiB of free memory';
  if (statfsSync('/dev/shm').bavail * statfsSync('/dev/shm').bsize < TMPFS) return '/dev/shm has less than 1 GiB free';
  return null;
}

const holders: Record<string, Holder> = {};
let report: ProcessesReport;

beforeAll(async () => {
  if (missing !== null) return;
  const model = join(folder, 'model.gguf');
  writeFileSync(model, '');
  truncateSync(model, FILE);
  fillTmpfs();
  holders.mapped = await startMapper('map', model, folder);
  holders.hog = await startHolder('holder', ['anon', String(HOG)], folder);
  holders.pool = await startHolder('holder', ['pool', String(POOL), String(WORKERS)], folder);
  report = read();
});
afterAll(async () => {
  await Promise.all(Object.values(holders).map(({ end }) => end()));
  rmSync(tmpfsFile, { force: true });
});
beforeEach((context) => {
  if (missing !== null) context.skip(missing);
});

function fillTmpfs(): void {
  const descriptor = openSync(tmpfsFile, 'w');
  const chunk = Buffer.alloc(64 * MiB, 1);
  for (let at = 0; at < TMPFS; at += chunk.length) writeSync(descriptor, chunk);
  closeSync(descriptor);
}

function read(options: object = {}): ProcessesReport {
  const { code, stderr, stdout } = runUmaprobe(['processes', '--json', '--pss-limit', '30s'], options);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return parseDocument(stdout) as unknown as ProcessesReport;
}

const processOf = (name: string) => {
  const found = report.processes.find(({ pid }) => pid === holders[name]?.pid);
  if (found === undefined) throw new Error(`${name} is not listed`);
  return found;
};
const groupOf = (name: string) => {
  const found = report.groups.find(({ pids }) => pids.includes(holders[name]?.pid ?? 0));
  if (found === undefined) throw new Error(`${name} is in no group`);
  return found;
};

/** Within 1 % and the memory that any program has. */
const near = (value: number | null | undefined, bytes: number) =>
  expect(Math.abs((value ?? Number.NaN) - bytes)).toBeLessThan(0.01 * bytes + SLACK);

describe('on the real kernel', () => {
  it('a mapped file is in files, and holds nothing', () => {
    near(processOf('mapped').file, FILE);
    near(processOf('mapped').pss?.file, FILE);
    expect(processOf('mapped').held).toBeLessThan(SLACK);
    expect(processOf('mapped').rss).toBeGreaterThan(FILE);
  });

  it('anonymous memory is held', () => {
    near(processOf('hog').anonymous, HOG);
    near(processOf('hog').held, HOG);
  });

  it('memory that forked workers share counts once in their group', () => {
    const group = groupOf('pool');
    expect(group.pids).toHaveLength(WORKERS + 1);
    near(group.held, POOL);
    near(group.anonymous, POOL);
    expect(group.exact).toBe(true);
    expect(group.pools).toMatchObject([{ name: 'pool_worker', parentPid: holders.pool?.pid }]);
    near(group.pools[0]?.held, (POOL * WORKERS) / (WORKERS + 1));
    // Each worker's resident size is all of it: the sum of RSS would be nine times as much.
    const worker = report.processes.find(({ pid }) => pid === group.pools[0]?.pids[0]);
    near(worker?.anonymous, POOL);
  });

  it('a file on tmpfs is shared memory of its mount, and of no process', () => {
    const mount = report.sharedMemory.find(({ name }) => name === '/dev/shm');
    expect(mount?.bytes).toBeGreaterThanOrEqual(TMPFS);
    expect((report.totals.shared.total ?? 0) - report.totals.shared.listed).toBeGreaterThan(0.99 * TMPFS);
  });

  it('the processes together explain the anonymous memory of the machine, and no more', async (context) => {
    await besideOthers(context, 32 * MiB, async () => {
      const moved = watchOthers(process.pid);
      const { stdout } = await umaprobe(['processes', '--json', '--pss-limit', '30s']);
      const { listed, total } = (parseDocument(stdout) as unknown as ProcessesReport).totals.anonymous;
      const check = (): void => {
        expect(listed).toBeGreaterThan(0.9 * (total ?? 0));
        expect(listed).toBeLessThan(1.02 * (total ?? 0) + 64 * MiB);
      };
      return { others: moved(), check };
    });
  });

  it('the largest is listed first, on the screen, too', () => {
    const held = report.groups.map((group) => group.held);
    expect(held).toEqual([...held].sort((a, b) => b - a));
    const { stdout } = runUmaprobe(['processes', '--top', '3']);
    expect(stdout).toMatch(/2\.0 GiB.*holder anon/);
    expect(stdout).toMatch(/8 × pool_worker/);
    expect(stdout).toMatch(/ +tmpfs, shared memory of no process: \/dev\/shm/);
  });

  it('another user is told that the figures are upper bounds', (context) => {
    if (!isRoot) return context.skip('only root can run umaprobe as another user');
    report = read(asNobody);
    expect(report.limits.join(' ')).toMatch(/The kernel does not let this user read \d+ processes exactly/);
    expect(processOf('hog')).toMatchObject({ heldFrom: 'rss', pss: null });
    near(processOf('hog').held, HOG);
    expect(groupOf('pool').exact).toBe(false);
    // The sum over the workers counts what they share in each of them.
    near(groupOf('pool').held, (WORKERS + 1) * POOL);
  });
});

describe('bad options', () => {
  it.each([
    [['--interval', '1s'], '--interval needs --watch.'],
    [['--top', 'many'], '--top "many" is not a whole number from 0 to 100000.'],
    [['--pss-limit', '2h'], '--pss-limit "2h" is outside 0ms to 1m.'],
  ])('%s', (words, message) => {
    const { code, stderr } = runUmaprobe(['processes', ...words]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('ps agrees on the number of processes', () => {
    const listed = spawnSync('ps', ['-e', '-o', 'rss='], { encoding: 'utf8' }).stdout.trim().split('\n');
    const userland = listed.filter((rss) => Number(rss) > 0).length;
    expect(Math.abs(read().processes.length - userland)).toBeLessThan(12);
  });
});
