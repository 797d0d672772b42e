/** Hostile trees on the real kernel: no hang, no lost error, correct sums. */

import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { native } from '../../../lib/core/native/binding.ts';
import type { NativeWalkBatch } from '../../../lib/core/native/contract.ts';
import { binaryPath } from '../../support/binary.ts';
import {
  batchesOf,
  eachInNewFolder,
  identity,
  isRoot,
  nobody,
  pageBytes,
  printedByUser,
  walk,
} from '../../support/real-files.ts';

let tree = '';

eachInNewFolder(2 ** 30, (path) => {
  tree = path;
});

/** Descriptors of this process in a folder. */
function openIn(path: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path);
    } catch {
      return false; // the descriptor that listed the folder is closed
    }
  }).length;
}

const paths = (walked: { entries: { path: string; what: string }[] }, what = 'file') =>
  walked.entries
    .filter((entry) => entry.what === what)
    .map((entry) => entry.path.slice(tree.length + 1))
    .sort();

describe('a walk', () => {
  it('counts links and does not follow them: loops, danglers, and blobs as in a Hugging Face store', async () => {
    mkdirSync(join(tree, 'blobs'));
    mkdirSync(join(tree, 'snapshots/main'), { recursive: true });
    writeFileSync(join(tree, 'blobs/abc'), 'x'.repeat(10_000));
    symlinkSync('../../blobs/abc', join(tree, 'snapshots/main/model.safetensors'));
    symlinkSync('..', join(tree, 'snapshots/loop'));
    symlinkSync('self', join(tree, 'self'));
    symlinkSync('/nowhere', join(tree, 'dangling'));
    symlinkSync('/dev/zero', join(tree, 'zero'));
    const walked = await walk(tree);
    expect(walked).toMatchObject({ files: 1, bytes: 10_000, directories: 4, links: 5, problems: 0, special: 0 });
    expect(paths(walked)).toEqual(['blobs/abc']);
    expect(paths(walked, 'link')).toContain('snapshots/loop');
    expect(walked.cached).toBe(Math.ceil(10_000 / pageBytes) * pageBytes);
  });

  it('follows the path that it is given, and counts each inode once', async () => {
    writeFileSync(join(tree, 'one'), 'x'.repeat(5000));
    linkSync(join(tree, 'one'), join(tree, 'two'));
    symlinkSync('one', join(tree, 'link'));
    symlinkSync(tree, `${tree}-link`);
    const link = join(tree, 'link');
    const walked = await walk([link, `${tree}-link`, tree]);
    expect(walked).toMatchObject({ files: 1, bytes: 5000, directories: 1, links: 4, problems: 0 });
    expect(walked.entries[0]).toMatchObject({ path: link, what: 'file', ...identity(link) });
  });

  it('opens no FIFO, socket or device', async (context) => {
    execFileSync('mkfifo', [join(tree, 'fifo')]);
    const server = createServer().listen(join(tree, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    if (isRoot) execFileSync('mknod', [join(tree, 'zero'), 'c', '1', '5']);
    try {
      const walked = await walk(tree);
      expect(walked).toMatchObject({ files: 0, special: isRoot ? 3 : 2, problems: 0, done: true });
      expect(await walk(join(tree, 'fifo'))).toMatchObject({ special: 1, problems: 0, entries: [{ what: 'special' }] });
      expect(await walk(['/dev/null', join(tree, 'socket')])).toMatchObject({ special: 2, problems: 0 });
    } finally {
      server.close();
    }
    if (!isRoot) context.skip('making a device takes root; FIFO and socket were tried');
  });

  it('reports unreadable entries with the reason, and continues', async (context) => {
    if (!isRoot) context.skip('becoming nobody takes root');
    mkdirSync(join(tree, 'closed/inner'), { recursive: true });
    writeFileSync(join(tree, 'closed/inner/file'), 'x');
    writeFileSync(join(tree, 'secret'), 'x');
    writeFileSync(join(tree, 'readable'), 'x');
    chmodSync(join(tree, 'closed'), 0o700);
    chmodSync(join(tree, 'secret'), 0o600);
    const body = `const { entries, files, problems, unseen, unseenBytes, cached } = await walk(b, [${JSON.stringify(tree)}, '/no/such'], {});
      print({ entries, files, problems, unseen, unseenBytes, cached });`;
    const [seen] = (await printedByUser(nobody, body)) as [{ entries: { path: string; what: string }[] }];
    expect(seen).toMatchObject({ files: 1, problems: 3 });
    const problem = (path: string, name: string, call: string) =>
      expect.objectContaining({
        path,
        what: 'problem',
        failure: expect.objectContaining({ name, call, source: 'kernel' }),
      });
    expect(seen.entries).toEqual(
      expect.arrayContaining([
        problem(join(tree, 'closed'), 'EACCES', 'openat'),
        problem(join(tree, 'secret'), 'EACCES', 'openat'),
        problem('/no/such', 'ENOENT', 'stat'),
      ]),
    );
  });

  it.for(['cachestat', 'mincore'] as const)(
    'does not show the pages of files that the user nobody may not write, and reports that (%s)',
    async (method, context) => {
      if (!isRoot) return context.skip('becoming nobody takes root');
      const mine = join(tree, 'of-nobody');
      for (const path of [mine, join(tree, 'of-root'), join(tree, 'for-all')]) writeFileSync(path, 'x'.repeat(9000));
      execFileSync('chown', [`${nobody}:${nobody}`, mine]);
      chmodSync(join(tree, 'for-all'), 0o666);
      execFileSync('sync');
      const options = method === 'mincore' ? `{ method }` : '{}';
      const body = `const method = 'mincore'; const whole = await walk(b, [${JSON.stringify(tree)}], ${options}); delete whole.inodes; print(whole);
        const evicted = await walk(b, [${JSON.stringify(tree)}], { ...${options}, mode: 'evict-sync' }); delete evicted.inodes; print(evicted);`;
      type Seen = { entries: { path: string; cached?: number }[]; unseen: number; method: string };
      const [seen, evicted] = (await printedByUser(nobody, body)) as [Seen, Seen];
      const cached = Math.ceil(9000 / pageBytes) * pageBytes;
      const root = seen.entries.find((entry) => entry.path.endsWith('of-root'));
      if (seen.method === 'cachestat' && seen.unseen === 0) {
        // Before Linux 6.13 cachestat answered for every file that could be opened.
        expect(seen).toMatchObject({ files: 3, cached: 3 * cached });
        return;
      }
      expect(seen).toMatchObject({
        files: 3,
        bytes: 27_000,
        unseen: 1,
        unseenBytes: 9000,
        cached: 2 * cached,
        problems: 0,
      });
      expect(root).toMatchObject({ what: 'file', bytes: 9000, failure: { name: 'EPERM', call: method } });
      expect(root).not.toHaveProperty('cached');
      expect(evicted).toMatchObject({ unseen: 1, cachedAfter: 0 });
      expect(evicted.entries.find((entry) => entry.path.endsWith('of-root'))).not.toHaveProperty('cachedAfter');
      // It was evicted without knowing its pages; it was clean.
      expect((await walk(join(tree, 'of-root'))).cached).toBe(0);
    },
  );

  it('counts sparse files with their size and no cached pages', async () => {
    writeFileSync(join(tree, 'sparse'), '');
    truncateSync(join(tree, 'sparse'), 2 ** 42);
    for (const method of [undefined, 'mincore'] as const) {
      truncateSync(join(tree, 'sparse'), method === undefined ? 2 ** 42 : 2 ** 32);
      const walked = await walk(tree, method === undefined ? {} : { method });
      expect(walked).toMatchObject({ files: 1, bytes: method === undefined ? 2 ** 42 : 2 ** 32, cached: 0 });
    }
  });

  it('returns every name unchanged: newlines, quotes, bytes that are not UTF-8', async () => {
    const odd = ['new\nline', '"quoted" \\012', ' ', '…', '\u{1f4be}', 'tab\there', '-rf'];
    for (const name of odd) writeFileSync(join(tree, name), name);
    const raw = Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0x61, 0xc3, 0x28, 0xed, 0xa0, 0x80])]);
    writeFileSync(raw, 'raw bytes');
    const walked = await walk(tree);
    expect(walked).toMatchObject({ files: odd.length + 1, problems: 0 });
    expect(paths(walked)).toEqual([...odd, '\udcffa\udcc3(\udced\udca0\udc80'].sort());
    const again = await walk(walked.entries.map(({ path }) => path));
    expect(again).toMatchObject({ files: odd.length + 1, problems: 0, links: 0, bytes: walked.bytes });
  });

  it('goes deeper than any path can be long, with few descriptors, and back up', async () => {
    // 60 * 150 bytes: more than twice PATH_MAX. A file on each level.
    const name = 'd'.repeat(150);
    execFileSync('bash', [
      '-c',
      `cd "$1"; for i in {1..60}; do echo $i > z; mkdir ${name}; cd -P ${name}; done`,
      'bash',
      tree,
    ]);
    let most = 0;
    let last: NativeWalkBatch | undefined;
    for await (const batch of batchesOf(tree)) {
      most = Math.max(most, openIn(tree));
      last = batch;
    }
    expect(last).toMatchObject({ files: 60, directories: 61, problems: 0 });
    expect(most).toBeLessThanOrEqual(40);
  });

  it('stays inside a tree that is rearranged meanwhile', async () => {
    for (let i = 0; i < 40; i++) {
      mkdirSync(join(tree, `d${i}/inner`), { recursive: true });
      for (let k = 0; k < 50; k++) writeFileSync(join(tree, `d${i}/inner/f${k}`), 'x');
    }
    const body = `const { mkdirSync, renameSync, rmSync, writeFileSync, symlinkSync } = await import('node:fs');
      for (let i = 0; ; i = (i + 1) % 40) {
        const at = process.argv[1] + '/d' + i;
        rmSync(at + '/inner', { recursive: true, force: true });
        try { symlinkSync('/proc', at + '/inner'); } catch {}
        rmSync(at + '/inner', { force: true });
        mkdirSync(at + '/inner', { recursive: true });
        for (let k = 0; k < 50; k++) writeFileSync(at + '/inner/f' + k, 'x');
        renameSync(at, at + '-moved');
        renameSync(at + '-moved', at);
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', body, tree], { stdio: 'ignore' });
    try {
      for (let round = 0; round < 40; round++) {
        const walked = await walk(tree, {}, 5);
        expect(walked.done).toBe(true);
        expect(walked.files).toBeLessThanOrEqual(2000);
        // ENOTDIR: a link stood where a directory was listed. Nothing else can happen to root.
        for (const { failure } of walked.entries) if (failure) expect(failure.name).toMatch(/^(ENOTDIR|ENOENT|ELOOP)$/);
        for (const { path } of walked.entries) expect(path.startsWith(tree)).toBe(true);
      }
    } finally {
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
    }
  });

  it('leaves a sub-tree that is moved away while it is inside, and reports that', async () => {
    // More levels than descriptors, so that the walk has to return by "..".
    const deep = Array.from({ length: 40 }, (_, i) => `l${i}`).join('/');
    mkdirSync(join(tree, 'a', deep), { recursive: true });
    mkdirSync(join(tree, 'b'));
    for (let i = 0; i < 2000; i++) writeFileSync(join(tree, 'a', deep, `f${i}`), 'x');
    const problems: string[] = [];
    let moved = false;
    let files = 0;
    for await (const batch of batchesOf(tree)) {
      if (!moved && batch.path.endsWith('l39')) {
        renameSync(join(tree, 'a/l0/l1'), join(tree, 'b/l1'));
        moved = true;
      }
      const failed = batch.entries.filter((entry) => entry.what === 'problem');
      problems.push(...failed.map(({ failure, path }) => `${failure?.call} ${path}`));
      files = batch.files;
    }
    expect({ moved, files }).toEqual({ moved: true, files: 2000 });
    expect(problems.at(0)).toBe(`openat .. ${join(tree, 'a/l0')}`);
  });

  it('refuses kernel file systems as paths, and skips their mount points', async (context) => {
    const walked = await walk(['/proc', '/sys', '/proc/self/maps']);
    expect(walked).toMatchObject({ files: 0, directories: 0, problems: 3 });
    expect(walked.entries[0]?.failure).toMatchObject({ source: 'umaprobe', name: 'EINVAL' });
    expect(walked.entries[0]?.failure?.message).toMatch(/\/proc .* without a page cache/);
    if (!isRoot) context.skip('mounting takes root; the paths themselves were tried');
    mkdirSync(join(tree, 'proc'));
    const inNamespace = `mount -t proc proc "$1"/proc && exec "$2" --input-type=module -e "$3"`;
    const body = `const { createRequire } = await import('node:module'); const b = createRequire('/')(process.env.BINARY);
      const id = b.cacheWalk([process.env.TREE], { mode: 'status', listEmpty: true });
      const { pseudo, directories, files } = await b.cacheNext(id, 5000, 10000); console.log(JSON.stringify({ pseudo, directories, files }));`;
    const env = { ...process.env, BINARY: binaryPath, TREE: tree };
    const args = ['-m', 'bash', '-c', inNamespace, 'bash', tree, process.execPath, body];
    const printed = execFileSync('unshare', args, { env, encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ pseudo: 1, directories: 1, files: 0 });
  });

  it('can be ended early, leaves nothing open, and knows its own ids only', async () => {
    for (let i = 0; i < 3000; i++) writeFileSync(join(tree, `f${i}`), 'x');
    const id = native().cacheWalk([tree], { mode: 'status', listEmpty: true }) as number;
    expect(await native().cacheNext(id, 1, 10_000)).toMatchObject({ done: false });
    native().cacheEnd(id);
    native().cacheEnd(id);
    native().cacheEnd(4_000_000);
    expect(await native().cacheNext(id, 1, 10_000)).toMatchObject({ failed: true, source: 'umaprobe', name: 'EINVAL' });
    await vi.waitFor(() => expect(openIn(tree)).toBe(0), 10_000); // the thread closes them after it has answered
    expect(await walk([])).toMatchObject({ files: 0, problems: 0, done: true, entries: [] });
    expect(await walk(['', 'nul\0byte'])).toMatchObject({ problems: 2 });
    rmSync(tree, { recursive: true });
    expect((await walk(tree)).entries).toMatchObject([{ path: tree, what: 'problem', failure: { name: 'ENOENT' } }]);
  });
});
