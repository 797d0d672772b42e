/** Closed pipes, signals and terminals: how the command ends from outside. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  CLI,
  cliEnvironment,
  exitOf,
  runInShell,
  runUmaprobe,
  startUmaprobe,
  stdoutMatching,
} from '../../support/cli.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The folder in which the machines of a test are made. */
let runtime = '';
beforeEach(() => {
  runtime = temporaryFolder('signals');
});

const machineFolders = () => readdirSync(runtime).filter((name) => name.startsWith('umaprobe-sim-'));
const runtimeEnvironment = () => ({ XDG_RUNTIME_DIR: runtime });

describe('watch', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends it with %d and removes the machine', async (signal, code) => {
    const child = startUmaprobe(['watch', '--interval', '100ms', '--sim', 'gb10'], runtimeEnvironment());
    const end = exitOf(child);
    await stdoutMatching(child, /\n.*\n/);
    expect(machineFolders()).toHaveLength(1);
    child.kill(signal);
    expect(await end).toBe(code);
    expect(machineFolders()).toEqual([]);
  });

  it('writes one labelled line per reading where there is no terminal', () => {
    const { code, stdout } = runUmaprobe(['watch', '--interval', '100ms', '--count', '2', '--sim', 'gb10']);
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^\d{4}-.*SIMULATED gb10 {2}safe +\d/),
      expect.stringMatching(/ok$/),
    ]);
  });

  it.each(['', ' --json'])('ends quietly when its reader closes the pipe%s', (json) => {
    const ran = runInShell(
      `set -o pipefail; "$0" "$1" watch --interval 100ms --sim gb10${json} | head -1 > /dev/null`,
      { env: runtimeEnvironment() },
    );
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(machineFolders()).toEqual([]);
  });

  it('does not run ahead of a slow reader: readings wait instead of piling up', () => {
    // A pipe holds 64 KiB, some 8 readings; without waiting 30 would be made while the reader sleeps.
    const pipeline = `"$0" "$1" watch --interval 100ms --json --sim gb10 | (head -c 1; sleep 3; timeout 1 cat)`;
    const { stdout } = runInShell(pipeline, { env: runtimeEnvironment() });
    const times = stdout.split('\n').flatMap((line) => /^\{"schema":[^,]*,"at":"([^"]*)"/.exec(line)?.[1] ?? []);
    const gaps = times.slice(1).map((at, index) => Date.parse(at) - Date.parse(times[index] ?? at));
    expect(Math.max(...gaps)).toBeGreaterThan(1000);
  });
});

describe('an output that cannot be written', () => {
  it.each(['', ' watch --interval 100ms'])('is reported, and the exit code is 1:%s', (command) => {
    const ran = runInShell(`"$0" "$1"${command} --sim gb10 > /dev/full`, { env: runtimeEnvironment() });
    expect(ran).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^umaprobe: the output cannot be written: .*ENOSPC.*\n$/),
    });
    expect(machineFolders()).toEqual([]);
  });
});

/** The picture has been drawn again in place: the command reads its keys. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: cursor movement is what is looked for.
const REDRAWN = /\x1b\[\d+A\r/;

/** Types `keys` into the command on a pty made by util-linux's script, once it draws; null where that is not installed. */
async function runWithKeys(args: string, keys: string): Promise<{ code: number | string; stdout: string } | null> {
  if (spawnSync('script', ['--version']).status !== 0) return null;
  const command = `stty rows 40 cols 90; '${process.execPath}' '${CLI}' ${args}`;
  const env = cliEnvironment({ ...runtimeEnvironment(), TERM: 'xterm-256color' });
  const child = spawn('script', ['-qefc', command, '/dev/null'], { env });
  const end = exitOf(child);
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  await stdoutMatching(child, REDRAWN);
  child.stdin.write(keys);
  return { code: await end, stdout };
}

describe('on a terminal', () => {
  it.for([
    ['q', 0],
    ['\x03', 130],
  ] as const)(
    '%j quits, the cursor is visible again, the picture was redrawn in place',
    async ([keys, code], context) => {
      const ran = await runWithKeys('watch --interval 200ms --sim gb10', keys);
      if (ran === null) return context.skip('script(1) of util-linux is not installed, so there is no pty');
      expect(ran.code).toBe(code);
      expect(ran.stdout).toContain('SIMULATED');
      expect(ran.stdout.lastIndexOf('\x1b[?25h')).toBeGreaterThan(ran.stdout.lastIndexOf('\x1b[?25l'));
      expect(machineFolders()).toEqual([]);
    },
  );
});

describe('the keys of watch', () => {
  it('pause the picture, and show themselves', async (context) => {
    const ran = await runWithKeys('watch --interval 200ms --sim gb10', ' ?q');
    if (ran === null) return context.skip('script(1) of util-linux is not installed, so there is no pty');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('PAUSED, space goes on');
    expect(ran.stdout).toContain('pause; readings go on');
  });
});

describe('sim run', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('passes %s on to the program', async (signal, code) => {
    const child = startUmaprobe(
      ['sim', 'run', 'gb10', '--', 'sh', '-c', 'echo ready; exec sleep 20'],
      runtimeEnvironment(),
    );
    const end = exitOf(child);
    await stdoutMatching(child, /ready/);
    child.kill(signal);
    expect(await end).toBe(code);
    expect(machineFolders()).toEqual([]);
  });

  it('lets the program handle a signal itself', async () => {
    const child = startUmaprobe(
      ['sim', 'run', 'gb10', '--', 'sh', '-c', 'trap "exit 9" TERM; echo ready; while :; do sleep 0.05; done'],
      runtimeEnvironment(),
    );
    const end = exitOf(child);
    await stdoutMatching(child, /ready/);
    child.kill('SIGTERM');
    expect(await end).toBe(9);
  });

  it('reports that the machine was wedged, and still passes the exit code on', (context) => {
    const hog = `
import ctypes
cuda = ctypes.CDLL('libcudart.so.13'); p = ctypes.c_void_p()
for _ in range(20): cuda.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(8 << 30))`;
    if (spawnSync('python3', ['--version']).status !== 0)
      return context.skip('python3 is not installed, and something must allocate');
    const ran = runUmaprobe([
      'sim',
      'run',
      'gb10',
      '--scale',
      '100',
      '--',
      'timeout',
      '-s',
      'KILL',
      '4',
      'python3',
      '-c',
      hog,
    ]);
    expect(ran.code).toBe(137);
    expect(ran.stderr).toMatch(
      /umaprobe: the simulated machine gb10 was WEDGED after .* \(simulated\) by process \d+ in cuda/,
    );
  });
});

describe('the folder of a killed process', () => {
  const namespace = () => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';

  it('is removed at the next start, and only that', async () => {
    const child = startUmaprobe(['watch', '--interval', '100ms', '--sim', 'gb10'], runtimeEnvironment());
    const end = exitOf(child);
    await stdoutMatching(child, /\n/);
    child.kill('SIGKILL');
    expect(await end).toBe('SIGKILL');
    const [dead] = machineFolders();
    const alive = `umaprobe-sim-${namespace()}-${process.pid}-abc`;
    const elsewhere = 'umaprobe-sim-1-4194304-abc';
    mkdirSync(join(runtime, alive));
    mkdirSync(join(runtime, elsewhere));
    expect(runUmaprobe(['--sim', 'gb10'], { env: runtimeEnvironment(), cwd: ROOT }).code).toBe(0);
    expect(machineFolders()).not.toContain(dead);
    expect(machineFolders().sort()).toEqual([elsewhere, alive].sort());
  });
});
