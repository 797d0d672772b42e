/** Output and exit codes of the command, on simulated machines and the real kernel, never on a GPU. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shippedNames } from '../../../lib/sim/load.ts';
import { runUmaprobe } from '../../support/cli.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder('cli');

describe('documents fit the schemas that ship', () => {
  it.each([[], ...shippedNames().map((name) => ['--sim', name])])('doctor %s %s', (...sim) => {
    const ran = runUmaprobe(['doctor', '--json', ...sim]);
    const { summary, checks, simulated } = parseDocument(ran.stdout) as unknown as {
      summary: Record<string, number>;
      checks: { status: string }[];
      simulated: string | null;
    };
    expect(simulated).toBe(sim[1] ?? null);
    expect(ran.code).toBe((summary.fail ?? 0) > 0 ? 7 : (summary.warn ?? 0) > 0 ? 1 : 0);
    for (const status of ['pass', 'note', 'warn', 'fail', 'unknown']) {
      expect(checks.filter((check) => check.status === status)).toHaveLength(summary[status] ?? -1);
    }
  });

  it.each([
    ['umaprobe/version/1', ['--version', '--json']],
    ['umaprobe/doctor-list/1', ['doctor', '--list', '--json']],
    ['umaprobe/sim-list/1', ['sim', 'list', '--json']],
    ['umaprobe/machine/1', ['sim', 'show', 'gb10', '--json']],
    ['umaprobe/machine/1', ['sim', 'show', 'gb10']],
  ])('%s', (schema, args) => {
    const ran = runUmaprobe(args);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(parseDocument(ran.stdout).schema).toBe(schema);
  });

  it('watch: a document a line', () => {
    const ran = runUmaprobe(['watch', '--json', '--count', '3', '--interval', '100ms', '--sim', 'gb10']);
    expect(ran.code).toBe(0);
    const lines = ran.stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(parseDocument(line).simulated).toBe('gb10');
  });
});

describe('mistakes', () => {
  it.each<[string[], number, RegExp]>([
    [
      ['snapsot'],
      2,
      /^umaprobe: "snapsot" is not a command\. Did you mean umaprobe snapshot\? See umaprobe --help\.\n$/,
    ],
    [['doctor', '--only', 'swapfull'], 2, /--only "swapfull" matches no check\. Did you mean swap\.full\? See/],
    [['--sim', 'gb11'], 2, /There is no simulated machine "gb11"\. Did you mean gb10\?/],
    [['sim', 'list', '--sim', 'gb10'], 2, /sim list reads no machine, so --sim does not apply/],
    [['sim', 'run', 'gb10', '--', '/does/not/exist'], 127, /\/does\/not\/exist could not be started: ENOENT/],
    [['sim', 'run', 'gb10', '--', '/etc/passwd'], 126, /could not be started: EACCES/],
  ])('%j', (args, code, message) => {
    const ran = runUmaprobe(args);
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
    expect(ran.stderr.trimEnd()).not.toContain('\n');
  });

  it('are JSON on stdout under --json, and one line on stderr as always', () => {
    for (const args of [['snapsot'], ['--sim', 'gb11']]) {
      const ran = runUmaprobe([...args, '--json']);
      expect(parseDocument(ran.stdout)).toMatchObject({ schema: 'umaprobe/error/1', error: { exitCode: ran.code } });
      expect(ran.code).toBe(2);
      expect(ran.stderr).toMatch(/^umaprobe: .*\n$/);
    }
  });

  it.each([
    ['guard --floor 5TB -- true', 'floorBytes (--floor)'],
    ['guard --kill-below 5TB -- true', 'killBelowBytes (--kill-below)'],
    ['guard --keep-free 5TB -- true', 'keepFreeBytes (--keep-free)'],
    ['profile --floor 5TB --vary n=1 --journal none --no-record -- true {n}', 'floorBytes (--floor)'],
    ['sweep --floor 5TB --journal none', 'floorBytes (--floor)'],
    ['layout --floor 5TB --journal none a=1GB', 'floorBytes (--floor)'],
    ['stress --floor 5TB --journal none', 'floorBytes (--floor)'],
    ['prepare 1GB --floor 5TB', 'floorBytes (--floor)'],
    ['launch --dry-run --bytes 1GB --floor 5TB -- true', 'floorBytes (--floor)'],
  ])('umaprobe %s: more than the machine has', (typed, option) => {
    expect(runUmaprobe(['--sim', 'gb10', ...typed.split(' ')])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `umaprobe: ${option} is 4656.61 GiB (5000.00 GB); expected less than MemTotal, 119.69 GiB (128.52 GB): give a smaller size\n`,
    });
  });

  it('in a machine file are reported with the field', () => {
    const file = join(folder, 'wrong.json');
    writeFileSync(file, JSON.stringify({ extends: 'gb10', name: 'wrong', memory: { total: 'much' } }));
    expect(runUmaprobe(['--sim', file])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('wrong.json: memory.total is "much"; expected integer'),
    });
  });

  it('in the installation are not reported as a missing GPU', () => {
    const ran = runUmaprobe(['--json'], { env: { UMAPROBE_BINARY: '/does/not/exist.node' } });
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('/does/not/exist.node') });
    expect(parseDocument(ran.stdout)).toMatchObject({ error: { code: 'ERR_UMA_LIBRARY_MISSING', exitCode: 1 } });
  });
});

describe('the picture', () => {
  it('is labelled, complete and 80 columns wide', () => {
    const { code, stdout } = runUmaprobe(['--sim', 'gb10', '--full']);
    expect(code).toBe(0);
    for (const text of [
      'SIMULATED  machine gb10',
      'OK  103.88 GiB (111.54 GB) can be loaded on the GPU.',
      'unified memory',
      'total (MemTotal)',
      'Free this instant',
      'Can become free',
      'cudaMemGetInfo',
      'Pressure',
      'Blocks',
    ]) {
      expect(stdout).toContain(text);
    }
    for (const line of stdout.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80);
    expect(stdout).not.toContain('\x1b');
  });

  it('has colours where they are forced, and none with NO_COLOR or --no-color', () => {
    const colours = (args: string[], env: Record<string, string>) =>
      runUmaprobe(['--sim', 'gb10', ...args], { env }).stdout.includes('\x1b[');
    expect(colours([], { FORCE_COLOR: '1' })).toBe(true);
    expect(colours(['--no-color'], { FORCE_COLOR: '1' })).toBe(false);
    expect(colours([], { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(false);
  });

  it('is drawn for a machine file of the user, which may extend a shipped one', () => {
    const file = join(folder, 'mine.json');
    writeFileSync(file, JSON.stringify({ extends: 'gb10', name: 'mine', driver: { version: '999.1' } }));
    expect(runUmaprobe(['--full', '--sim', file]).stdout).toMatch(/SIMULATED {2}machine mine.*driver 999\.1/s);
    expect(runUmaprobe(['--sim=mine.json', 'doctor', '--only', 'swap.*'], { cwd: folder }).code).toBe(0);
  });

  it('shows every digit with --exact', () => {
    const { stdout } = runUmaprobe(['--sim', 'gb10', '--exact']);
    expect(stdout).toContain('128,518,619,136');
    expect(stdout).not.toMatch(/total \(MemTotal\).*GiB/);
  });
});

describe('the rule of llama.cpp', () => {
  it('depends on its environment variable', () => {
    const row = (env: Record<string, string>) =>
      runUmaprobe(['--full', '--sim', 'h200'], { env })
        .stdout.split('\n')
        .find((line) => line.startsWith('llama.cpp'));
    expect(row({})).toContain('asks cudaMemGetInfo');
    expect(row({ GGML_CUDA_ENABLE_UNIFIED_MEMORY: '1' })).toMatch(/GiB {2}MemAvailable$/);
  });
});
