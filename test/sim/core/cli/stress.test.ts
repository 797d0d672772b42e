/** The command stress on simulated machines: exit codes, output, files. The search itself: test/sim/core/library/stress.test.ts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInShell, runUmaprobe } from '../../../support/cli.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('stress');

const stress = (...args: string[]) =>
  runUmaprobe(['stress', ...args], { env: { XDG_STATE_HOME: folder }, cwd: folder });

describe('stress', () => {
  it('exits with 0 when it reaches the requested maximum', () => {
    const ran = stress('--sim', 'gb10', '--max', '3GiB', '--verify', '--hold', '100ms', '--json');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(parseDocument(ran.stdout)).toMatchObject({
      simulated: 'gb10',
      state: 'limit',
      maxBytes: 3 * 2 ** 30,
      verified: { mismatches: 0 },
    });
  });

  it('exits with 0 at the floor, with the maximum in both units and its bound', () => {
    const ran = stress('--sim', 'gb10', '--floor', '100GiB', '--html', 'stress.html', '--csv', 'stress.csv');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/^ SIMULATED {2}machine gb10/);
    expect(ran.stdout).toMatch(/^MAXIMUM {2}\d+\.\d\d GiB \(\d+\.\d\d GB\) can be allocated: MemAvailable/m);
    expect(ran.stdout).toMatch(/^floor 100\.0 GiB/m);
    expect(ran.stderr).toMatch(/^ {2}1 +\S+ \S+ {2}held/);
    expect(readFileSync(join(folder, 'stress.csv'), 'utf8')).toMatch(/^at,simulated,.*floor_bytes/);
    expect(readFileSync(join(folder, 'stress.html'), 'utf8')).toContain('The most that can be allocated');
  });

  it('lets a shell go on once the maximum is found, and not after a limit of time', () => {
    const script = (option: string) =>
      runInShell(`"$0" "$1" stress --sim gb10 --journal none ${option} && echo next`, {
        env: { XDG_STATE_HOME: folder },
      });
    expect(script('--floor 100GiB').stdout).toMatch(/\nnext\n$/);
    expect(script('--timeout 100ms')).toMatchObject({ code: 6, stdout: expect.not.stringContaining('next') });
  });

  it('finds the largest single block', () => {
    const ran = stress('--sim', 'gb10', '--single', '--max', '2GiB', '--json');
    expect(ran.code).toBe(0);
    expect(parseDocument(ran.stdout)).toMatchObject({ mode: 'single', state: 'limit', maxBytes: 2 ** 31 });
  });

  it('exits with 5 below its floor, with the remedy', () => {
    const ran = stress('--sim', 'gb10', '--floor', '119GiB');
    expect(ran).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringMatching(/^umaprobe: [^\n]*floor[^\n]*\n$/),
    });
  });

  it.each<[string[], number, RegExp]>([
    [['--max', '0'], 2, /--max "0" is less than 1B/],
    [['--device', '7'], 3, /there is no CUDA device 7/],
  ])('%j is refused in one line', (args, code, message) => {
    const ran = stress('--sim', 'gb10', ...args);
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
    expect(ran.stderr.trimEnd()).not.toContain('\n');
  });
});
