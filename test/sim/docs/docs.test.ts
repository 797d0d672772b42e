/** Runs the documentation: every ```console block with an umaprobe command (test/support/console-blocks.ts). */
import { describe, expect, it } from 'vitest';
import { blocksOf, differenceOf, expectOutputOf } from '../../support/console-blocks.ts';
import { refreshed } from '../../support/console-refresh.ts';
import { testBlocksOf } from '../../support/page-blocks.ts';
import { LONG_PAGES, PAGES } from '../../support/pages.ts';

const elsewhere = [...LONG_PAGES, 'README.md'];

testBlocksOf(PAGES.filter((page) => !elsewhere.includes(page)));

it('no page is left out', () => {
  expect(PAGES).toEqual(expect.arrayContaining(elsewhere));
});

describe('the comparison of a page with an output', () => {
  const printed = ['a 1', 'b 3 MiB', '', 'c 3', 'd 4', 'e 5', ''];

  it.each([
    ['every line', ['a 1', 'b 3 MiB', '', 'c 3', 'd 4', 'e 5']],
    ['other numbers', ['a 7', 'b 9 MiB', 'c 3', 'd 4', 'e 0']],
    ['an end that … stands for', ['a 1', 'b 3 MiB', '…']],
    ['a beginning', ['…', 'd 4', 'e 5']],
    ['parts from the middle', ['…', 'b 3 MiB', '…', 'd 4', '…']],
    ['… where nothing is missing', ['a 1', 'b 3 MiB', '…', 'c 3', 'd 4', 'e 5', '…']],
  ])('accepts %s', (_, shown) => expect(differenceOf(shown, printed)).toBeNull());

  it.each([
    ['a block that ends early', ['a 1', 'b 3 MiB', 'c 3', 'd 4'], '(nothing more)', 'e 5'],
    ['a block that begins late', ['b 3 MiB', 'c 3', 'd 4', 'e 5'], 'b 3 MiB', 'a 1'],
    ['a missing line', ['a 1', 'b 3 MiB', 'd 4', 'e 5'], 'd 4', 'c 3'],
    ['a missing line after …', ['…', 'b 3 MiB', 'd 4', '…'], 'd 4', 'c 3'],
    ['a missing line before the end', ['a 1', '…', 'c 3', 'e 5'], 'e 5', 'd 4'],
    ['an early end after …', ['a 1', '…', 'c 3'], '(nothing more)', 'd 4'],
    ['a line too many', ['a 1', 'b 3 MiB', 'c 3', 'd 4', 'e 5', 'f 6'], 'f 6', '(nothing more)'],
    ['another order', ['b 3 MiB', '…', 'a 1'], 'b 3 MiB', 'a 1'],
    ['no line', [], '(nothing more)', 'a 1'],
  ])('refuses %s', (_, shown, line, instead) => {
    expect(differenceOf(shown, printed)).toContain(`the page shows:\n${line}\nwhere the program prints:\n${instead}\n`);
  });

  it('fails the test of a page that lacks a line', () => {
    const page = (output: string) => blocksOf(`\`\`\`console\n$ printf 'one\\ntwo\\n' # umaprobe\n${output}\`\`\`\n`);
    const run = (output: string) => () => {
      for (const block of page(output)) expectOutputOf(block, { cwd: '.' });
    };
    expect(page('')).toHaveLength(1);
    expect(run('one\ntwo\n')).not.toThrow();
    expect(run('one\n')).toThrow(/where the program prints:\ntwo/);
    expect(run('one\n…\n')).not.toThrow();
  });
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
