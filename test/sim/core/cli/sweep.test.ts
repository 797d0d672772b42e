/** The command sweep on simulated machines: report, files, usage errors, signals. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../../lib/core/memory/kinds.ts';
import type { SweepReport } from '../../../../lib/types/index.ts';
import { exitOf, runInShell, runUmaprobe, startUmaprobe } from '../../../support/cli.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('sweep');
mkdirSync(join(folder, 'directory'));
writeFileSync(join(folder, 'target'), 'mine');
symlinkSync(join(folder, 'target'), join(folder, 'link'));
writeFileSync(join(folder, 'foreign'), Buffer.alloc(1 << 20));

/** The journal is in the folder, not in the user's state folder. */
const sweep = (...args: string[]) => runUmaprobe(['sweep', ...args], { env: { XDG_STATE_HOME: folder }, cwd: folder });

function sweepJson(...args: string[]): SweepReport {
  const { code, stdout, stderr } = sweep('--json', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return parseDocument(stdout) as unknown as SweepReport;
}

describe('its report', () => {
  it('is a valid document, and nothing else, under --json', () => {
    const report = sweepJson('--sim', 'gb10', '--sizes', '1GB,2GiB', '--kind', 'device,managed', '--repeat', '2');
    expect(report).toMatchObject({ simulated: 'gb10', preset: null, repeat: 2, state: 'complete' });
    expect(report.steps.map(({ kind, requestedBytes, state }) => [kind, requestedBytes, state])).toEqual([
      ['device', 1e9, 'ok'],
      ['device', 2 ** 31, 'ok'],
      ['managed', 1e9, 'ok'],
      ['managed', 2 ** 31, 'ok'],
    ]);
  });

  it.each(['gb10', 'h200', 'gb10-590-pools'])('shows every kind side by side on %s', (machine) => {
    const ran = sweep('--sim', machine, '--sizes', '256MB', '--kind', 'all', '--full');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(new RegExp(`^ SIMULATED {2}machine ${machine}: none of these numbers`));
    expect(ran.stdout).toContain('Which counters moved by 256 MB');
    expect(ran.stdout).toMatch(/^D device {2}cudaMalloc$/m);
    expect(
      ran.stderr
        .trimEnd()
        .split('\n')
        .every((line) => new RegExp(`^\\d+/\\d+ {2}(${KINDS.join('|')})`).test(line)),
    ).toBe(true);
  });

  it('has the sizes of ranges and tensors', () => {
    const range = sweepJson('--sim', 'gb10', '--from', '256MiB', '--to', '1GiB');
    expect(range.steps.map(({ requestedBytes }) => requestedBytes)).toEqual([2 ** 28, 2 ** 29, 2 ** 30]);
    const tensors = sweepJson('--sim', 'gb10', '--dtype', 'bf16,int4', '--shape', '1024x1024,4096');
    expect(tensors.steps.map(({ tensor }) => [tensor?.dtype, tensor?.shape, tensor?.bytes])).toHaveLength(4);
  });

  it('has refused steps for sizes that are too large, and is complete', () => {
    const { steps, state } = sweepJson('--sim', 'gb10', '--sizes', '256MB,500GB');
    expect(state).toBe('complete');
    expect(steps.map((step) => step.state)).toEqual(['ok', 'refused']);
  });

  it('without any step is no success', () => {
    const ran = sweep('--sim', 'gb10', '--sizes', '500GB');
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/NOTHING MEASURED/);
  });
});

describe('a journal that a power cut has torn', () => {
  it('is repaired, and stderr and the report say so', () => {
    const journal = join(folder, 'torn');
    sweepJson('--sim', 'gb10', '--sizes', '1MB', '--journal', journal);
    writeFileSync(journal, Buffer.alloc(40), { flag: 'a' });
    const note = `40 bytes of an incomplete record were removed from the end of ${journal}`;
    const ran = sweep('--json', '--sim', 'gb10', '--sizes', '1MB', '--journal', journal);
    expect(ran).toMatchObject({ code: 0, stderr: `note: ${note}\n` });
    expect(parseDocument(ran.stdout)).toMatchObject({ journalNotes: [note] });
    writeFileSync(journal, Buffer.alloc(7), { flag: 'a' });
    const page = sweep('--sim', 'gb10', '--sizes', '1MB', '--journal', journal).stdout;
    expect(page.replace(/\s+/g, ' ')).toContain('note 7 bytes of an incomplete record were removed');
  });
});

describe('its files', () => {
  it('are CSV and HTML, named on stderr', () => {
    const ran = sweep('--sim', 'gb10', '--sizes', '256MB', '--csv', 'steps.csv', '--html', 'report.html', '--json');
    expect(ran.code).toBe(0);
    expect(ran.stderr).toMatch(/^steps\.csv: .* written\nreport\.html: .* written\n$/);
    const report = parseDocument(ran.stdout) as unknown as SweepReport;
    expect(readFileSync(join(folder, 'steps.csv'), 'utf8').split('\r\n')).toHaveLength(report.steps.length + 2);
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain(JSON.stringify(report.at));
  });

  it('can be CSV on stdout, alone', () => {
    const ran = sweep('--sim', 'gb10', '--sizes', '256MB', '--csv', '-');
    expect(ran.stdout).toMatch(/^at,simulated,device,.*\r\n[^\r\n]*,gb10,[^\r\n]*\r\n$/);
  });
});

describe('mistakes are one line each, before anything is allocated', () => {
  it.each<[string[], number, RegExp]>([
    [['--sizes', 'banana'], 2, /--sizes "banana" is not a size/],
    [['--journal', 'link'], 5, /link/],
    [['--journal', 'directory'], 5, /directory/],
    [['--csv', 'link'], 2, /--csv "link" is a symbolic link/],
    [['--csv', 'umaprobe/../umaprobe/simulated-gb10.jsonl'], 2, /--journal and --csv name the same file/],
    [['--journal', 'foreign'], 5, /only NUL bytes.*the file was not changed/],
    [['--journal', 'n'.repeat(256)], 5, /name too long/],
    [['--oversubscribe', '--kind', 'managed', '--sizes', '1GB'], 2, /oversubscribe/],
  ])('%j', (args, code, message) => {
    const ran = sweep('--sim', 'gb10', ...args);
    expect(ran).toMatchObject({ code, stderr: expect.stringMatching(message) });
    expect(ran.stderr.trimEnd()).not.toContain('\n');
    expect(ran.stderr).toMatch(/^umaprobe: /);
    expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('mine');
    if (!args.includes('--json')) expect(ran.stdout).toBe('');
  });

  it('are documents under --json', () => {
    const ran = sweep('--json', '--sim', 'gb10', '--journal', 'link');
    expect(parseDocument(ran.stdout)).toMatchObject({
      schema: 'umaprobe/error/1',
      error: { code: 'ERR_UMA_JOURNAL', exitCode: 5 },
    });
  });

  it('is 3 where there is no GPU', () => {
    const ran = sweep('--sim', 'no-driver');
    expect(ran).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/^umaprobe: [^\n]*\n$/) });
  });
});

describe('a signal', () => {
  /** 64 steps of some tens of milliseconds each: the second runs when the first is reported. */
  const long = ['sweep', '--sim', 'gb10', '--from', '64MiB', '--to', '4GiB', '--step', '64MiB'];

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends it with %d, and the steps until then are reported', async (signal, code) => {
    const child = startUmaprobe(long, { XDG_STATE_HOME: folder });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk: Buffer) => {
        if (name === 'stderr' && output.stderr === '') child.kill(signal);
        output[name] += chunk.toString();
      });
    }
    expect(await exitOf(child)).toBe(code);
    expect(output.stderr).toContain('Stopping: the results so far follow. Press Ctrl-C again to end at once.');
    expect(output.stdout).toMatch(/^ABORTED .* of 64 steps/m);
    expect(output.stdout).toMatch(/\d sizes from .* to 4 GiB: not reached/);
  });

  it('delivered twice at once is one signal, and the steps are reported', async () => {
    const child = startUmaprobe(long, { XDG_STATE_HOME: folder });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      output.stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      const text = chunk.toString();
      // The second signal when the first has been handled, as from timeout(1), which signals the child and its group.
      if (output.stderr === '' || text.includes('Stopping')) child.kill('SIGINT');
      output.stderr += text;
    });
    expect(await exitOf(child)).toBe(130);
    expect(output.stdout).toMatch(/^ABORTED .* of 64 steps/m);
  });

  it('the second one ends it at once', async () => {
    const child = startUmaprobe(long, { XDG_STATE_HOME: folder });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      // One signal after the first step, and one after the command has reported the first signal.
      const text = chunk.toString();
      if (text.includes('1/64')) child.kill('SIGINT');
      if (text.includes('Stopping')) setTimeout(() => child.kill('SIGINT'), 150);
    });
    expect(await exitOf(child)).toBe(130);
    expect(stdout === '' || stdout.includes('ABORTED')).toBe(true);
  });
});

describe('on a terminal', () => {
  it('has a line per step and a progress line, and leaves the cursor at the start of a line', (context) => {
    if (spawnSync('script', ['--version']).status !== 0)
      return context.skip('script(1) of util-linux is not installed, so there is no pty');
    const command = `stty rows 40 cols 100; '$0' '$1' sweep --sim gb10 --preset quick --json > /dev/null`;
    const { code, stdout } = runInShell(`script -qefc "${command}" /dev/null`, {
      env: { XDG_STATE_HOME: folder, TERM: 'xterm-256color' },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/4\/4 {2}device/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the line is cleared before it is drawn anew.
    expect(stdout).toMatch(/\r\x1b\[K\[.*step 2 of 4 · available 1\d\d\.\d GiB/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the same, for good.
    expect(stdout).toMatch(/\r\x1b\[K$/);
  });
});
