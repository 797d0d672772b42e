/** Runs the documentation: every ```console block with an umaprobe command (test/support/console-blocks.ts). */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, expectOutputOf } from '../../support/console-blocks.ts';
import { refreshed, refreshedPage } from '../../support/console-refresh.ts';
import { PAGES } from '../../support/pages.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folders = temporaryFolder('pages');

describe.each(PAGES)('%s', (page) => {
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

describe('the rewriter of pages', () => {
  const output = ['a 1', 'b 3 MiB', 'c 3', 'd 4', 'e 5', ''];

  it('replaces what has changed, and keeps what a page leaves out', () => {
    expect(refreshed(['a 0', 'b 2 MiB', '…', 'd 3', '…'], output)).toEqual({
      lines: ['a 1', 'b 3 MiB', '…', 'd 4', '…'],
      lost: [],
    });
    expect(refreshed(['…', 'c 0', 'x', 'e 0'], output)).toEqual({ lines: ['…', 'c 3', 'd 4', 'e 5'], lost: ['x'] });
    expect(refreshed(['old'], output).lines).toEqual(['a 1', 'b 3 MiB', 'c 3', 'd 4', 'e 5']);
  });

  it('leaves a page alone that differs in times only', () => {
    const page = ['took 3.2 ms at 2026-11-20T16:29:23.998Z, 231 GB/s, 8 GB'];
    expect(refreshed(page, ['took 9.9 ms at 2026-11-22T08:00:00.000Z, 225 GB/s, 8 GB', '']).lines).toEqual(page);
  });
});

describe('the reader of pages', () => {
  it('finds commands, output, exit codes and reasons', () => {
    const text =
      '```console exit=2\n$ umaprobe x\nout\n```\n```console\n$ ls\n```\n```console skip="slow"\n$ umaprobe y\n```';
    const rest = { root: false, clients: false };
    expect(blocksOf(text)).toEqual([
      { line: 1, exit: 2, skip: null, ...rest, steps: [{ command: 'umaprobe x', output: ['out'] }] },
      { line: 8, exit: 0, skip: 'slow', ...rest, steps: [{ command: 'umaprobe y', output: [] }] },
    ]);
  });
});
