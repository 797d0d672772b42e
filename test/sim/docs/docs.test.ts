/** Runs the documentation: every ```console block with an umaprobe command (test/support/console-blocks.ts). */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, expectOutputOf } from '../../support/console-blocks.ts';
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
