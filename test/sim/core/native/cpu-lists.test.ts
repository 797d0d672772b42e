/** Free pages in lists of the processors (zoneinfo), which the binary counts. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { native } from '../../../../lib/core/native/binding.ts';
import { mutatedTexts } from '../../../support/mutated-texts.ts';
import { ROOT } from '../../../support/root.ts';

/** Of a computer with 2 processors and 4.6 GiB, x86-64, Linux 6.18. */
const ZONEINFO = readFileSync(join(ROOT, 'test/fuzz/corpus/zoneinfo/x86_64-6.18'), 'utf8');

/** The same machine with a second node: the kernel writes the zones of each node. */
const second = (text: string) => text + text.replaceAll('Node 0', 'Node 1');

const pagesIn = (text: string) => native().parseCpuLists(text) / native().pageSize();

describe('free pages in lists of the processors', () => {
  it('are summed over all zones and nodes', () => {
    expect(pagesIn(ZONEINFO)).toBe(28_804 + 19_996);
    expect(pagesIn(second(ZONEINFO))).toBe(2 * (28_804 + 19_996));
    const zone = (pages: number[]) =>
      `Node 0, zone   Normal\n  pages free     5\n  pagesets\n${pages
        .map((count, cpu) => `    cpu: ${cpu}\n              count: ${count}\n              high:  9\n`)
        .join('')}  start_pfn:           1\n`;
    const lists = fc.array(fc.array(fc.nat(1e6), { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(lists, (zones) => {
        expect(pagesIn(zones.map(zone).join(''))).toBe(zones.flat().reduce((sum, pages) => sum + pages, 0));
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
    expect(pagesIn(text)).toBeNaN();
  });

  it('agree with a second parser, whatever the text', () => {
    fc.assert(
      fc.property(mutatedTexts([ZONEINFO, second(ZONEINFO)]), (text) => {
        const lines = text.split('\n');
        const lists = lines.flatMap((line, at) => (/cpu: /.test(line) ? [lines[at + 1] ?? ''] : []));
        const counts = lists.map((line) => /^ *count: *(\d+) *$/.exec(line)?.[1]);
        const found = pagesIn(text);
        if (Number.isNaN(found)) return;
        expect(counts).not.toContain(undefined);
        expect(found).toBe(counts.reduce((sum, count) => sum + Number(count), 0));
      }),
      { numRuns: 500 },
    );
  });
});
