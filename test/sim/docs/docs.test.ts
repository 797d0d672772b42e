/**
 * Runs the documentation. Each `$ …` of a ```console block that has an umaprobe command is typed into a shell, and the
 * shown lines must be in the output, numbers aside. The fence has the exit code unless it is 0: ```console exit=2. A block
 * that cannot be run has the reason: ```console skip="takes a minute". A block that writes to the kernel, which only root
 * may, also on a simulated machine: ```console root.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../../support/cli.ts';
import { PAGES } from '../../support/pages.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Block {
  line: number;
  exit: number;
  skip: string | null;
  root: boolean;
  steps: { command: string; output: string[] }[];
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^```console\b(.*)$/.exec(line);
    if (open === null && fence !== null) {
      const [, info = ''] = fence;
      open = {
        line: index + 1,
        exit: Number(/exit=(\d+)/.exec(info)?.[1] ?? 0),
        skip: /skip="([^"]*)"/.exec(info)?.[1] ?? null,
        root: /^ root\b/.test(info),
        steps: [],
      };
    } else if (open !== null && line.startsWith('```')) {
      blocks.push(open);
      open = null;
    } else if (open !== null && line.startsWith('$ ')) {
      open.steps.push({ command: line.slice(2), output: [] });
    } else {
      open?.steps.at(-1)?.output.push(line);
    }
  }
  return blocks.filter(({ steps }) => steps.some(({ command }) => /\bumaprobe\b/.test(command)));
}

/** Masks what differs between two runs: numbers, lengths of bars, the path of the simulator, spaces. */
function masked(line: string): string {
  return line
    .replace(/\[[^\]]*[█·][^\]]*\]/g, '[bar]')
    .replace(/\S*libumasim\.so/g, 'libumasim.so')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'uuid')
    .replace(/-?\d[\d.,:]*/g, '0')
    .replace(/\s+/g, ' ')
    .trim();
}

const bin = temporaryFolder('docs');
writeFileSync(join(bin, 'umaprobe'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
chmodSync(join(bin, 'umaprobe'), 0o755);

describe.each(PAGES)('%s', (page) => {
  const blocks = blocksOf(readFileSync(join(ROOT, page), 'utf8'));
  // The blocks of a page share a folder: a block may read a file that an earlier one wrote.
  const folder = () => {
    const path = join(bin, page.replaceAll('/', '-'));
    mkdirSync(path, { recursive: true });
    return path;
  };

  it.for(blocks.map((block) => [block.line, block.steps.map(({ command }) => command).join('; '), block] as const))(
    'line %d: %s',
    ([, , block], context) => {
      if (block.skip !== null) return context.skip(`the page says: ${block.skip}`);
      if (block.root && process.geteuid?.() !== 0) return context.skip('the page says: takes root');
      for (const { command, output } of block.steps) {
        const ran = spawnSync('sh', ['-c', command], {
          cwd: folder(),
          encoding: 'utf8',
          // Journals go to the temporary folder, not to the home of the user.
          env: cliEnvironment({
            PATH: `${bin}:${process.env.PATH ?? ''}`,
            NO_COLOR: '1',
            XDG_STATE_HOME: join(bin, 'state'),
          }),
          timeout: 25_000,
        });
        if (/\bumaprobe\b/.test(command)) expect(ran.status, ran.stderr).toBe(block.exit);
        const got = `${ran.stderr}${ran.stdout}`.split('\n').map(masked);
        let from = 0;
        for (const line of output.filter((text) => text.trim() !== '' && text.trim() !== '…')) {
          const found = got.indexOf(masked(line), from);
          expect(
            found,
            `the page shows:\n${line}\nwhich is not in the output:\n${ran.stderr}${ran.stdout}`,
          ).toBeGreaterThanOrEqual(0);
          from = found + 1;
        }
      }
    },
  );

  if (blocks.length === 0) it('has no umaprobe command to run', () => expect(blocks).toEqual([]));
});

describe('the reader of pages', () => {
  it('finds commands, output, exit codes and reasons', () => {
    const text =
      '```console exit=2\n$ umaprobe x\nout\n```\n```console\n$ ls\n```\n```console skip="slow"\n$ umaprobe y\n```';
    expect(blocksOf(text)).toEqual([
      { line: 1, exit: 2, skip: null, root: false, steps: [{ command: 'umaprobe x', output: ['out'] }] },
      { line: 8, exit: 0, skip: 'slow', root: false, steps: [{ command: 'umaprobe y', output: [] }] },
    ]);
  });
});
