/** A path that cannot be used: one line with the option, the path and what was expected, for every option that takes one. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCommands } from '../../../lib/cli/commands/index.ts';
import { mainInProcess } from '../../support/in-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = temporaryFolder('paths');
mkdirSync(join(root, 'folder'));
writeFileSync(join(root, 'file'), 'x');
execFileSync('mkfifo', [join(root, 'fifo')]);
symlinkSync('nowhere', join(root, 'link'));

/** Options and arguments that name a file to read; `P` is the path. */
const READ = {
  'cluster --copy': ['cluster', '--hosts', 'a', '--copy', 'P'],
  'cluster --hostfile': ['cluster', '--hostfile', 'P'],
  'explain --error': ['explain', '--error', 'P'],
  'guard --policy': ['guard', '--system', '--policy', 'P'],
  'serve --token-file': ['serve', '--token-file', 'P'],
  'snapshot --sim': ['snapshot', '--sim', 'P'],
  'sim show': ['sim', 'show', 'P'],
  'sim run': ['sim', 'run', 'P', '--', 'true'],
  layout: ['layout', 'P'],
};

/** Those that name a file to write. */
const WRITTEN = ['csv', 'html', 'jsonl', 'markdown', 'report'];

/** Arguments without which a command would complain of something else. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  fit: ['--bytes', '1GiB'],
  estimate: ['--params', '7e9'],
  // Whether the journal's folder is that of a simulated machine, only the binary knows.
  sweep: ['--journal', 'none'],
  layout: ['--preset', '13b', '--journal', 'none'],
  stress: ['--journal', 'none'],
  profile: ['--journal', 'none', '--vary', 'n=1', '--', 'true', '{n}'],
  launch: ['--', 'true'],
  'sim run': ['gb10', '--', 'true'],
  compare: ['gb10', 'h200'],
};

/** Options whose paths are opened on a machine only: test/sim/cli/paths.test.ts and metrics.test.ts. */
const ON_A_MACHINE = ['journal', 'folder', 'path', 'cgroup', 'templates', 'textfile'];

const { all } = await loadCommands();
const options = all.flatMap(({ name, options }) =>
  Object.entries(options).map(([option, spec]) => ({ name, option, spec })),
);
const withPaths = options.filter(({ spec }) => /\b(file|path|folder)\b/.test(spec.placeholder ?? ''));
const outputs = withPaths.filter(({ option }) => WRITTEN.includes(option));

async function expectRefused(args: readonly string[], problem: string): Promise<void> {
  const { code, stderr } = await mainInProcess(args);
  expect(stderr).toContain(problem);
  // One line, in our words.
  expect(stderr).toMatch(/^umaprobe: [^\n]*\n$/);
  expect(stderr).not.toMatch(/illegal operation|no such file or directory|, open|TypeError/);
  expect(code).toBe(2);
}

it('every option with a path is tried', () => {
  const tried = [...WRITTEN, ...ON_A_MACHINE, 'error', 'policy', 'token-file', 'hostfile', 'copy'];
  expect(withPaths.filter(({ option }) => !tried.includes(option))).toEqual([]);
});

describe.each(Object.entries(READ))('%s', (input, words) => {
  it.each([
    ['none.json', 'there is no such file or folder (ENOENT 2)'],
    ['file/x', 'a part of it is no folder (ENOTDIR 20)'],
    ['folder', 'it is a folder; name a file (EISDIR 21)'],
    ['fifo', 'it is no regular file; name one (ENXIO 6)'],
    ['/dev/zero', 'it is no regular file; name one (ENXIO 6)'],
    [
      'link',
      ['guard --policy', 'serve --token-file'].includes(input)
        ? 'it is a symbolic link, which is not followed (ELOOP 40)'
        : 'there is no such file or folder (ENOENT 2)',
    ],
  ])('%s', async (name, problem) => {
    const path = name.startsWith('/') ? name : join(root, name);
    const args = words.map((word) => (word === 'P' ? path : word));
    await expectRefused(args, `${JSON.stringify(path)}: ${problem}`);
    // These have no document.
    if (['serve', 'sim'].includes(words[0] ?? '')) return;
    const { stdout } = await mainInProcess([...args, '--json']);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'ERR_UMA_PATH', exitCode: 2 });
  });
});

describe.each(outputs)('$name --$option', ({ name, option }) => {
  it.each([
    ['folder', 'is a directory: name a file in it'],
    ['none/x', 'cannot be written: there is no directory'],
    ['file/x', `cannot be written: ${root}/file is not a directory`],
    ['fifo', 'is not a regular file'],
    ['/dev/null', 'is not a regular file'],
    ['link', 'is a symbolic link, which is not followed: name the file itself'],
  ])('%s', async (path, problem) => {
    const named = path.startsWith('/') ? path : join(root, path);
    const needed = NEEDED[name] ?? [];
    const at = name === 'sim run' ? 1 : 0;
    const args = [...name.split(' '), ...needed.slice(0, at), `--${option}`, named, ...needed.slice(at)];
    await expectRefused(args, `--${option} "${named}" ${problem}`);
  });
});
