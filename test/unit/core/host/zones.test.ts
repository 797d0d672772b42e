/** Free blocks in movable pageblocks (pagetypeinfo). */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePagetypeinfo, readMovableBlocks } from '../../../../lib/core/host/movable-blocks.ts';
import { parseBuddyinfo } from '../../../../lib/core/host/procfs.ts';
import type { FreeBlocks } from '../../../../lib/types/index.ts';
import { kernelFilesOf, textsOf } from '../../../support/kernel-files.ts';
import { mutatedTexts } from '../../../support/mutated-texts.ts';
import { ROOT } from '../../../support/root.ts';

/** A file of a computer with 2 processors and 4.6 GiB, x86-64, Linux 6.18: both were read at the same instant. */
const captured = (path: string) => readFileSync(join(ROOT, 'test/fuzz/corpus', path), 'utf8');
const PAGETYPEINFO = captured('pagetypeinfo/x86_64-6.18');
const BUDDYINFO = captured('buddyinfo/x86_64-6.18-with-pagetypeinfo');

/** The same machine with a second node: the kernel writes the zones of each node, and in pagetypeinfo its two tables. */
const second = (text: string) => text + text.replaceAll('Node 0', 'Node 1').replaceAll('Node    0', 'Node    1');

const blocks = (text = BUDDYINFO, pageBytes = 4096) => parseBuddyinfo(text, pageBytes)?.blocks ?? [];
const movable = (found: readonly FreeBlocks[] | null) => found?.map(({ movableBlocks }) => movableBlocks);

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
