/** Free pages in lists of the processors (zoneinfo), and free blocks in movable pageblocks (pagetypeinfo). */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePagetypeinfo, readMovableBlocks } from '../../../../lib/core/host/movable-blocks.ts';
import { parseBuddyinfo, parseCpuLists } from '../../../../lib/core/host/procfs.ts';
import type { FreeBlocks } from '../../../../lib/types/index.ts';
import { kernelFilesOf, textsOf } from '../../../support/kernel-files.ts';
import { mutatedTexts } from '../../../support/mutated-texts.ts';
import { ROOT } from '../../../support/root.ts';

/** A file of a computer with 2 processors and 4.6 GiB, x86-64, Linux 6.18: all three were read at the same instant. */
const captured = (path: string) => readFileSync(join(ROOT, 'test/fuzz/corpus', path), 'utf8');
const ZONEINFO = captured('zoneinfo/x86_64-6.18');
const PAGETYPEINFO = captured('pagetypeinfo/x86_64-6.18');
const BUDDYINFO = captured('buddyinfo/x86_64-6.18-with-pagetypeinfo');

/** The same machine with a second node: the kernel writes the zones of each node, and in pagetypeinfo its two tables. */
const second = (text: string) => text + text.replaceAll('Node 0', 'Node 1').replaceAll('Node    0', 'Node    1');

const blocks = (text = BUDDYINFO, pageBytes = 4096) => parseBuddyinfo(text, pageBytes)?.blocks ?? [];
const movable = (found: readonly FreeBlocks[] | null) => found?.map(({ movableBlocks }) => movableBlocks);

describe('free pages in lists of the processors', () => {
  it('are summed over all zones and nodes', () => {
    expect(parseCpuLists(ZONEINFO)).toBe(28_804 + 19_996);
    expect(parseCpuLists(second(ZONEINFO))).toBe(2 * (28_804 + 19_996));
    const zone = (pages: number[]) =>
      `Node 0, zone   Normal\n  pages free     5\n  pagesets\n${pages
        .map((count, cpu) => `    cpu: ${cpu}\n              count: ${count}\n              high:  9\n`)
        .join('')}  start_pfn:           1\n`;
    const lists = fc.array(fc.array(fc.nat(1e6), { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(lists, (zones) => {
        expect(parseCpuLists(zones.map(zone).join(''))).toBe(zones.flat().reduce((sum, pages) => sum + pages, 0));
      }),
    );
  });

  it.each([
    ['no zone', ''],
    ['no list, as in a short file', 'Node 0, zone   Normal\n  pages free     5\n'],
    ['a list without a count', ZONEINFO.replace(/ +count: +28804\n/, '')],
    ['a count that is no number', ZONEINFO.replace('28804', '28804x')],
    ['a negative count', ZONEINFO.replace('28804', '-1')],
    ['a count without digits', ZONEINFO.replace('28804', '')],
    ['a text that is cut off in a line', ZONEINFO.slice(0, ZONEINFO.indexOf('19996') + 2)],
    ['a text that is cut off in front of a count', ZONEINFO.slice(0, ZONEINFO.lastIndexOf('cpu: 1') + 7)],
  ])('are unknown with %s, never a part of the sum', (_, text) => {
    expect(parseCpuLists(text)).toBeNull();
  });

  it('agree with a second parser, whatever the text', () => {
    fc.assert(
      fc.property(mutatedTexts([ZONEINFO, second(ZONEINFO)]), (text) => {
        const lines = text.split('\n');
        const lists = lines.flatMap((line, at) => (line.includes('cpu: ') ? [lines[at + 1] ?? ''] : []));
        const counts = lists.map((line) => /^ *count: *(\d+) *$/.exec(line)?.[1]);
        const found = parseCpuLists(text);
        if (found === null) return;
        expect(counts).not.toContain(undefined);
        expect(found).toBe(counts.reduce((sum, count) => sum + Number(count), 0));
      }),
      { numRuns: 500 },
    );
  });
});

describe('free blocks in movable pageblocks', () => {
  it('are those of zone Normal, as in buddyinfo', () => {
    const found = parsePagetypeinfo(PAGETYPEINFO, blocks());
    expect(movable(found)).toEqual([11092, 4057, 2339, 1695, 1598, 1153, 598, 122, 125, 125, 145]);
    expect(found?.map(({ freeBlocks }) => freeBlocks)).toEqual(blocks().map(({ freeBlocks }) => freeBlocks));
  });

  it('are summed over nodes, with pages of any size', () => {
    const twice = blocks(second(BUDDYINFO), 65_536);
    const found = parsePagetypeinfo(second(PAGETYPEINFO), twice);
    expect(found?.[10]).toEqual({ order: 10, blockBytes: 64 * 2 ** 20, freeBlocks: 290, movableBlocks: 290 });
    expect(found?.[0]).toMatchObject({ freeBlocks: 2 * 11_615, movableBlocks: 2 * 11_092 });
  });

  it('are those of all zones on a machine without zone Normal', () => {
    const small = (text: string) => text.replaceAll(/^.*zone +Normal.*\n/gm, '');
    expect(movable(parsePagetypeinfo(small(PAGETYPEINFO), blocks(small(BUDDYINFO))))?.slice(8)).toEqual([4, 3, 755]);
  });

  it('are what the other types leave where the kernel stopped to count, or at least what their pageblocks leave', () => {
    const row = (type: string, counts: string) => `Node    0, zone   Normal, type ${type} ${counts} \n`;
    const found = (unmovable: string, moving: string) =>
      movable(
        parsePagetypeinfo(
          'Page block order: 9\nPages per block:  512\n\nFree pages count per migrate type at order 0 1 \n' +
            `${row('Unmovable', unmovable)}${row('Movable', moving)}\n` +
            'Number of blocks type Unmovable Movable \nNode 0, zone   Normal 300 5000 \n',
          blocks('Node 0, zone   Normal 250000 3 \n'),
        ),
      );
    expect(found('50000 1', '>100000 2')).toEqual([200_000, 2]);
    expect(found('>100000 1', '7 2')).toEqual([7, 2]);
    expect(found('>100000 1', '>100000 2')).toEqual([250_000 - (300 * 512 - 2), 2]);
    expect(found('0 1', '250007 2')).toEqual([250_000, 2]);
    expect(found('260000 1', '>100000 2')).toEqual([0, 2]);
  });

  it.each([
    ['nothing', ''],
    ['a row less', PAGETYPEINFO.replace(/^.*Normal, type +Movable.*\n/m, '')],
    ['a row of one node less', second(PAGETYPEINFO).replace(/^Node +1, zone +Normal, type +Movable.*\n/m, '')],
    ['a count that is no number', PAGETYPEINFO.replace(' 11092', ' 1109x')],
    ['a text that is cut off in a row', PAGETYPEINFO.slice(0, PAGETYPEINFO.indexOf('11092') + 3)],
    ['a text that is cut off after a row', PAGETYPEINFO.slice(0, PAGETYPEINFO.indexOf('Number of'))],
    ['other orders than buddyinfo', PAGETYPEINFO.replaceAll(/ +\d+ $/gm, '')],
  ])('are unknown with %s', (_, text) => {
    expect(parsePagetypeinfo(text, blocks())).toBeNull();
  });

  it('are never more than the free blocks, whatever the text', () => {
    fc.assert(
      fc.property(mutatedTexts([PAGETYPEINFO, second(PAGETYPEINFO)]), (text) => {
        for (const { freeBlocks, movableBlocks } of parsePagetypeinfo(text, blocks()) ?? []) {
          if (movableBlocks === null) continue;
          expect(movableBlocks).toBeGreaterThanOrEqual(0);
          expect(movableBlocks).toBeLessThanOrEqual(freeBlocks);
          expect(Number.isInteger(movableBlocks)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('have a source, or a reason and the blocks as they were', async () => {
    const read = (texts: Record<string, string>) => readMovableBlocks(kernelFilesOf(textsOf(texts)), blocks());
    const known = await read({ '/proc/pagetypeinfo': PAGETYPEINFO });
    expect([known.from, known.contiguity[0]?.movableBlocks]).toEqual(['/proc/pagetypeinfo', 11_092]);
    expect(await read({})).toEqual({ contiguity: blocks(), from: expect.stringMatching(/ENOENT/) });
    expect(await read({ '/proc/pagetypeinfo': 'x' })).toEqual({
      contiguity: blocks(),
      from: '/proc/pagetypeinfo: the text is not in the kernel’s format',
    });
  });
});
