/** Many files on the real kernel: the sums and the requested lists. */

import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  batchesOf,
  eachInNewFolder,
  isRoot,
  nobody,
  pageBytes,
  printedByUser,
  startMapper,
  walk,
} from '../../support/real-files.ts';

let tree = '';

eachInNewFolder(2 ** 30, (path) => {
  tree = path;
});

describe('a walk', () => {
  it('sums 20,000 small files, and lists the requested ones', async () => {
    for (let d = 0; d < 20; d++) {
      mkdirSync(join(tree, `d${d}`));
      for (let f = 0; f < 1000; f++)
        writeFileSync(join(tree, `d${d}`, `f${f}`), 'x'.repeat(d === 7 && f < 5 ? 9000 : 100));
    }
    const whole = await walk(tree);
    const bytes = 19_995 * 100 + 5 * 9000;
    const large = Math.ceil(9000 / pageBytes) * pageBytes;
    expect(whole).toMatchObject({ files: 20_000, directories: 21, bytes, problems: 0 });
    expect(whole.entries).toHaveLength(20_000);
    expect(whole.inodes).toHaveLength(80_000);
    // Written pages are clean after half a minute, and the kernel takes some of them back when it likes.
    const all = 19_995 * pageBytes + 5 * large;
    expect(whole.cached).toBe(whole.entries.reduce((sum, { cached = 0 }) => sum + cached, 0));
    expect([whole.cached <= all, whole.cached > 0.99 * all]).toEqual([true, true]);
    const few = await walk(tree, { top: 5, listEmpty: false });
    expect(few).toMatchObject({ files: 20_000, bytes });
    expect([few.cached <= whole.cached, few.cached > 0.99 * all]).toEqual([true, true]);
    expect(few.entries.length).toBeLessThan(100);
    expect(few.entries.filter((entry) => entry.cached === large)).toHaveLength(
      pageBytes < 9000 ? 5 : few.entries.length,
    );
    expect((await walk(tree, { top: 0, listEmpty: false })).entries).toEqual([]);
  });

  it('evicts a whole tree, file by file', async () => {
    mkdirSync(join(tree, 'inner'));
    for (let f = 0; f < 1000; f++) writeFileSync(join(tree, f % 2 ? 'inner' : '.', `f${f}`), 'x'.repeat(100));
    execFileSync('sync');
    const evicted = await walk(tree, { mode: 'evict', top: 5, listEmpty: false }, 1);
    expect(evicted).toMatchObject({ files: 1000, directories: 2, cached: 1000 * pageBytes, cachedAfter: 0 });
    expect(evicted.inodes.filter((_, i) => i % 4 === 3)).toEqual(Array(1000).fill(0));
    expect(await walk(tree, { mode: 'evict' })).toMatchObject({ files: 1000, cached: 0, cachedAfter: 0 });
  });

  it('has entries in every batch but the last', async () => {
    for (let f = 0; f < 2000; f++) writeFileSync(join(tree, `f${f}`), '');
    const sizes: number[] = [];
    for await (const batch of batchesOf(tree, 60_000)) sizes.push(batch.entries.length);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(2000);
    expect(sizes.slice(0, -1).filter((size) => size === 0 || size > 500)).toEqual([]);
    expect(sizes.length).toBeGreaterThan(3);
  });

  it('evicts a file of many names once, and lists a file that stayed although it is not among the largest', async () => {
    for (let f = 0; f < 300; f++) writeFileSync(join(tree, `f${f}`), 'x'.repeat(100));
    for (let f = 0; f < 10; f++) linkSync(join(tree, `f${f}`), join(tree, `link${f}`));
    execFileSync('sync');
    const { end } = await startMapper('map', join(tree, 'f77'), dirname(tree));
    try {
      const { entries, ...sums } = await walk(tree, { mode: 'evict', top: 0, listEmpty: false });
      expect(sums).toMatchObject({ files: 300, links: 10, cached: 300 * pageBytes, cachedAfter: pageBytes });
      expect(entries).toMatchObject([{ path: join(tree, 'f77'), cached: pageBytes, cachedAfter: pageBytes }]);
    } finally {
      await end();
    }
  });

  it('counts all problems, and lists a hundred', async () => {
    for (let d = 0; d < 150; d++) mkdirSync(join(tree, `d${d}`), { mode: 0 });
    const program = `const { problems, entries } = await walk(b, [${JSON.stringify(tree)}], { listEmpty: false });
      print([problems, entries.length]);`;
    expect(await printedByUser(isRoot ? nobody : null, program)).toEqual([[150, 100]]);
  });
});
