/** Tests that run the ```console blocks of pages (console-blocks.ts), or write their output anew. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, expectOutputOf } from './console-blocks.ts';
import { refreshedPage } from './console-refresh.ts';
import { ROOT } from './root.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folders = temporaryFolder('pages');

/** Declares the tests of these pages. */
export function testBlocksOf(pages: readonly string[]): void {
  describe.each(pages)('%s', (page) => {
    const blocks = blocksOf(readFileSync(join(ROOT, page), 'utf8')).filter(({ clients }) => !clients);
    // The blocks of a page share a folder: a block may read a file that an earlier one wrote.
    const folder = () => {
      const path = join(folders, page.replaceAll('/', '-'));
      mkdirSync(path, { recursive: true });
      return path;
    };

    if (process.env.UMAPROBE_REFRESH_DOCS !== undefined) {
      const chosen = page.includes(process.env.UMAPROBE_REFRESH_DOCS);
      const runnable = blocks.filter(({ root, skip }) => skip === null && (!root || process.geteuid?.() === 0));
      it.runIf(chosen)('is rewritten with fresh output', { timeout: 600_000 }, () => {
        const path = join(ROOT, page);
        const { notes, text } = refreshedPage(readFileSync(path, 'utf8'), runnable, folder());
        writeFileSync(path, text);
        for (const note of notes) console.log(`${page} ${note}`);
      });
      return;
    }

    it.for(blocks.map((block) => [block.line, block.steps.map(({ command }) => command).join('; '), block] as const))(
      'line %d: %s',
      ([, , block], context) => {
        if (block.skip !== null) return context.skip(`the page says: ${block.skip}`);
        if (block.root && process.geteuid?.() !== 0) return context.skip('the page says: takes root');
        expectOutputOf(block, { cwd: folder() });
      },
    );

    if (blocks.length === 0) it('has no umaprobe command to run', () => expect(blocks).toEqual([]));
  });
}
