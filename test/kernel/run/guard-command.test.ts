/** `umaprobe guard` on the real kernel: in a terminal as if it were not there, and a program that takes too much. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostMemorySync } from '../../../lib/core/host/meminfo.ts';
import type { GuardReport } from '../../../lib/types/index.ts';
import { CLI, cliEnvironment, exitOf, runUmaprobe, startUmaprobe, umaprobe } from '../../support/cli.ts';
import { compileC } from '../../support/clients.ts';
import { freezer } from '../../support/freezer.ts';
import { besideOthers, watchOthers } from '../../support/other-programs.ts';
import { hasSignal, removeGroup } from '../../support/processes.ts';
import { ROOT } from '../../support/root.ts';
import { parseDocument } from '../../support/schemas.ts';
import {
  BASH,
  missingTerminal,
  openTerminal,
  screenOn,
  shows as screenShows,
  type Tmux,
} from '../../support/screen.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB, MiB } from '../../support/units.ts';
import { waitFor } from '../../support/wait.ts';

/** Takes 64 MiB at a time and writes to it, at about this speed. */
const hog = (bytesPerSecond: number, most: number) => `
  const held = [];
  const begin = performance.now();
  for (let bytes = 0; bytes < ${most}; bytes += ${64 * MiB}) {
    while ((performance.now() - begin) / 1000 < bytes / ${bytesPerSecond}) await new Promise((done) => setTimeout(done, 5));
    held.push(Buffer.alloc(${64 * MiB}, 7));
  }
  setTimeout(() => console.log(held.length), 1000);`;

const available = () => hostMemorySync().available ?? 0;

describe('a program that takes too much', () => {
  it('is stopped before the floor, and its memory comes back', async (context) => {
    if (available() < 6 * GiB) return context.skip('less than 6 GiB available');
    await besideOthers(context, 256 * MiB, async () => {
      const floor = available() - 2 * GiB;
      const program = [process.execPath, '--input-type=module', '-e', hog(GiB, 5 * GiB)];
      const moved = watchOthers(process.pid);
      const ran = await umaprobe([
        'guard',
        '--json',
        '--floor',
        `${floor}B`,
        '--kill-below',
        '256MiB',
        '--',
        ...program,
      ]);
      const check = (): void => {
        expect([ran.code, ran.stderr]).toEqual([6, expect.stringMatching(/^umaprobe: .*: the program got SIG/)]);
        const report = parseDocument(ran.stdout);
        expect(report).toMatchObject({ outcome: 'stopped', simulated: null });
        const { after, lowest, peak } = report as unknown as GuardReport;
        expect(lowest.available).toBeGreaterThan(floor - 256 * MiB);
        expect(peak.groupBytes).toBeLessThan(4.5 * GiB);
        expect(after.available).toBeGreaterThan(floor + GiB);
      };
      return { others: moved(), check };
    });
  });

  it('and runs already is stopped with what it has started', async (context) => {
    const before = available();
    if (before < 6 * GiB) return context.skip('less than 6 GiB available');
    const script = `"$0" --input-type=module -e "$1"; echo "hog ended with $?"`;
    const child = spawn('sh', ['-c', script, process.execPath, hog(GiB, 5 * GiB)], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
    const options = ['--floor', `${before - 2 * GiB}B`, '--kill-below', '256MiB', '--json'];
    const ran = runUmaprobe(['guard', ...options, '--pid', String(child.pid)]);
    expect(ran.code).toBe(6);
    expect(parseDocument(ran.stdout)).toMatchObject({ outcome: 'stopped', target: { pid: child.pid } });
    expect(await ended).toMatch(/^SIG/);
  });
});

describe('the whole machine', () => {
  const unit = `hog-${process.pid}.service`;
  const folders = ['unified', 'memory', ''].map((mount) => join('/sys/fs/cgroup', mount, unit));
  const made: string[] = [];
  const started: ChildProcess[] = [];
  afterEach(async () => {
    // A test that failed leaves no guard of the whole machine behind.
    for (const process of started.splice(0)) {
      if (process.exitCode !== null || process.signalCode !== null) continue;
      process.kill('SIGTERM');
      await once(process, 'exit');
    }
    for (const folder of made.splice(0)) await removeGroup(folder);
  });

  it('loses the unit that its policy names, and the guard goes on', async (context) => {
    const before = available();
    if (before < 6 * GiB) return context.skip('less than 6 GiB available');
    for (const folder of folders) {
      if (!existsSync(join(folder, '../cgroup.procs'))) continue;
      try {
        mkdirSync(folder);
        made.push(folder);
      } catch {
        return context.skip('this user may not make cgroups');
      }
    }
    if (made.length === 0) return context.skip('no cgroup v2');
    const policy = join(temporaryFolder('policy'), 'policy.json');
    writeFileSync(policy, JSON.stringify({ schema: 'umaprobe/guard-policy/1', mayStop: ['hog-*'] }));
    const options = ['--floor', `${before - 2 * GiB}B`, '--kill-below', '256MiB', '--json', '--policy', policy];
    const watch = startUmaprobe(['guard', '--system', ...options]);
    started.push(watch);
    const watched = exitOf(watch);
    let [stdout, stderr] = ['', ''];
    watch.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    watch.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const joins = made.map((folder) => `echo $$ > '${folder}/cgroup.procs'; `).join('');
    // It takes memory time after time: until the list of targets was renewed, nothing may be stopped.
    const script = `${joins}while :; do "$0" --input-type=module -e "$1"; done`;
    const child = spawn('sh', ['-c', script, process.execPath, hog(GiB, 5 * GiB)], { stdio: 'ignore' });
    started.push(child);
    const signal = await new Promise((resolve) => child.once('exit', (code, by) => resolve(by ?? code)));
    expect(signal).toMatch(/^SIG/);
    expect(watch.exitCode).toBeNull();
    watch.kill('SIGTERM');
    expect(await watched).toBe(0);
    expect(stderr).toContain(`${unit} got SIG`);
    expect(parseDocument(stdout)).toMatchObject({ outcome: 'aborted', command: null });
  });
});

describe('a program that runs already', () => {
  /** Watched, in a dry run with a floor above everything: what would be done is said once it is watched. */
  async function watching({ pid }: ChildProcess) {
    const floor = `${(hostMemorySync().total ?? 0) - 1}B`;
    const options = ['--dry-run', '--floor', floor, '--kill-below', floor, '--json'];
    const watch = startUmaprobe(['guard', ...options, '--pid', String(pid)]);
    let stdout = '';
    watch.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    const end = exitOf(watch).then((code) => ({ code, stdout }));
    await once(watch.stderr, 'data');
    return { watch, end };
  }

  it('goes on when the watching ends', async () => {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
    const { watch, end } = await watching(child);
    watch.kill('SIGINT');
    const { code, stdout } = await end;
    expect(code).toBe(130);
    expect(parseDocument(stdout)).toMatchObject({ outcome: 'aborted', exitCode: null });
    expect(readFileSync(`/proc/${child.pid}/comm`, 'utf8')).toBe('sleep\n');
    child.kill();
  });

  it('ends the watching when it ends', async () => {
    const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
    const { end } = await watching(child);
    child.stdin.end();
    const { code, stdout } = await end;
    expect(code).toBe(0);
    expect(parseDocument(stdout)).toMatchObject({ outcome: 'exited', command: null, target: { pid: child.pid } });
  });
});

/** The state letter of a process: S sleeps, T is stopped. */
const stateOf = (pid: number): string =>
  /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '?';

/** Waits until all of them are in this state. */
const reach = (state: string, ...pids: number[]) =>
  waitFor(
    `the state ${state}`,
    () => pids.map(stateOf),
    (states) => states.every((each) => each === state),
  );

/** Descendants that a pattern finds in their command lines. */
function descendants(pid: number, pattern: RegExp): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return children.flatMap((child) => [
    ...(pattern.test(readFileSync(`/proc/${child}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()) ? [child] : []),
    ...descendants(child, pattern),
  ]);
}

describe.each(['guard', 'launch'] as const)('umaprobe %s that is sent SIGTSTP', (command) => {
  it('stops with its program, and both go on at SIGCONT', async () => {
    const options = command === 'launch' ? ['--quiet', '--no-record', '--no-prepare'] : ['--quiet'];
    const child = startUmaprobe([command, ...options, '--', 'cat']);
    const ended = exitOf(child);
    const pid = child.pid ?? 0;
    const program = await waitFor('cat', () => descendants(pid, /^cat$/)[0]);
    await waitFor('a handler of SIGTSTP', () => hasSignal(pid, 'SigCgt', 'SIGTSTP'));
    child.kill('SIGTSTP');
    await reach('T', pid, program);
    child.kill('SIGCONT');
    await reach('S', pid, program);
    child.stdin.end();
    expect(await ended).toBe(0);
  });
});

describe('a program in a terminal', () => {
  let tmux: Tmux;
  const screen = () => screenOn(tmux);
  const shows = (pattern: RegExp) => screenShows(tmux, pattern);
  const told = (name: string) => tmux('display-message', '-p', `#{${name}}`).stdout.trim();
  const shell = () => Number(told('pane_pid'));
  const descendant = (pattern: RegExp) => waitFor(`a process ${pattern}`, () => descendants(shell(), pattern)[0]);

  /** "u cat" is typed, and both handle signals. */
  async function startCat(): Promise<{ program: number; guarding: number }> {
    tmux('send-keys', 'u cat', 'Enter');
    const program = await descendant(/^cat$/);
    const guarding = await descendant(/guard -- cat$/);
    await waitFor('a handler of SIGTSTP', () => hasSignal(guarding, 'SigCgt', 'SIGTSTP'));
    return { program, guarding };
  }

  /** Until the shell reads the keys, or a program that it started does. */
  async function keysGoTo(reader: 'shell' | 'program'): Promise<void> {
    const isWanted = (name: string): boolean => (name === 'bash') === (reader === 'shell');
    await waitFor(`the ${reader} as reader`, () => told('pane_current_command'), isWanted);
  }

  beforeEach(async (context) => {
    if (missingTerminal !== null) return context.skip(missingTerminal);
    tmux = openTerminal(BASH, {}, { columns: 100, rows: 50 }, cliEnvironment());
    tmux('send-keys', `u() { '${process.execPath}' '${CLI}' guard -- "$@"; }; PS1='$ '; clear; echo rea''dy`, 'Enter');
    await shows(/^ready/m);
  });
  afterEach(() => void tmux?.('kill-server'));

  /** What the shell says, with the guard in front or without it; 'u ' is left out. */
  async function session(prefix: string): Promise<string[]> {
    tmux('send-keys', 'clear; tmux clear-history; echo be""gin', 'Enter');
    await waitFor('a cleared screen', screen, (text) => /^begin$/m.test(text) && !/be""gin|-\d+$/m.test(text));
    const press = async (keys: string, pattern: RegExp): Promise<void> => {
      tmux('send-keys', keys, ...(/^C-.$/.test(keys) ? [] : ['Enter']));
      await shows(pattern);
    };
    const startSleep = async (): Promise<void> => {
      tmux('send-keys', `${prefix}sleep 100`, 'Enter');
      await descendant(/^sleep 100$/);
    };
    await press(`${prefix}python3 -q`, />>>\s*$/);
    await press('print(6 * 7)', /^42$/m);
    await press('C-c', /KeyboardInterrupt/);
    await press('C-z', /Stopped/);
    await press('echo in-$((5 + 6))', /^in-11$/m);
    tmux('send-keys', 'fg', 'Enter');
    await press('print(7 * 7)', /^49$/m);
    tmux('resize-window', '-x', '120', '-y', '40');
    const sizeOf = (terminal: string) => spawnSync('stty', ['-F', terminal, 'size'], { encoding: 'utf8' }).stdout;
    await waitFor(
      'the new size',
      () => sizeOf(told('pane_tty')),
      (size) => size === '40 120\n',
    );
    await press('import os; print(os.get_terminal_size())', /columns=120, lines=40/);
    tmux('resize-window', '-x', '100', '-y', '50');
    tmux('send-keys', 'exit(5)', 'Enter');
    await press('echo code-$?', /^code-5$/m);
    await startSleep();
    tmux('send-keys', 'C-c');
    await keysGoTo('shell');
    await press('echo sleep-$?', /^sleep-130$/m);
    await startSleep();
    tmux('send-keys', 'C-\\');
    await keysGoTo('shell');
    await press('echo quit-$?', /^quit-131$/m);
    await press(`${prefix}sh -c 'kill -9 $$'; echo kill-$?`, /^kill-137$/m);
    // Lines of the session, without the names of jobs, which a shell prints as they were typed.
    return screen()
      .split('\n')
      .map((line) => line.trimEnd().replace('$ u ', '$ '))
      .filter((line) => /^([a-z]+-\d+|\d+|KeyboardInterrupt|os\.terminal_size.*)$/.test(line));
  }

  it('is stopped with umaprobe by a SIGTSTP from elsewhere, time after time, and goes on with fg', async () => {
    const { guarding, program } = await startCat();
    for (let time = 1; time <= 5; time++) {
      process.kill(guarding, 'SIGTSTP');
      await reach('T', guarding, program);
      tmux('send-keys', `echo shell-${time}`, 'Enter');
      await shows(new RegExp(`^shell-${time}$`, 'm'));
      expect([stateOf(guarding), stateOf(program)]).toEqual(['T', 'T']);
      tmux('send-keys', 'fg', 'Enter');
      await reach('S', program);
      tmux('send-keys', `line-${time}`, 'Enter');
      // Once as it is typed, once from cat.
      await shows(new RegExp(`^line-${time}\\n(.*\\n)*line-${time}$`, 'm'));
    }
    tmux('send-keys', 'C-z');
    await shows(/(Stopped[\s\S]*){6}/);
    await reach('T', guarding, program);
  });

  it('keeps the later of SIGCONT and SIGTSTP to its group, though the guard has both at once', async () => {
    const { guarding, program } = await startCat();
    const [guard = 0] = descendants(shell(), /umaprobe-guard /);
    const both = async (...signals: readonly NodeJS.Signals[]): Promise<void> => {
      process.kill(guard, 'SIGSTOP');
      for (const signal of signals) {
        process.kill(-guarding, signal);
        // Of the two, the later one takes the place of one that waits.
        await waitFor(`umaprobe with ${signal}`, () => !hasSignal(guarding, 'ShdPnd', signal));
      }
      process.kill(guard, 'SIGCONT');
    };
    await both('SIGCONT', 'SIGTSTP');
    await shows(/Stopped/);
    await reach('T', guarding, program);
    tmux('send-keys', 'fg', 'Enter');
    await reach('S', guarding, program);
    await both('SIGTSTP', 'SIGCONT');
    tmux('send-keys', 'line', 'Enter');
    await shows(/^line\nline$/m);
    await reach('S', guarding, program);
  });

  it('goes on where the guard’s stop comes after the fg of a shell', async () => {
    const sender = join(temporaryFolder('sender'), 'send-marked');
    compileC(join(ROOT, 'test/kernel/send_marked.c'), sender);
    const { guarding, program } = await startCat();
    const send = () => spawnSync(sender, [String(guarding), String(program)]).status;
    expect(send()).toBe(0);
    await waitFor('the signal taken', () => !hasSignal(guarding, 'ShdPnd', 'SIGTSTP'));
    tmux('send-keys', 'line', 'Enter');
    await shows(/^line\nline$/m);
    expect([stateOf(guarding), stateOf(program)]).toEqual(['S', 'S']);
  });

  it('is stopped with umaprobe by Ctrl-Z that umaprobe, which gets no processor, has not seen yet', async (context) => {
    const cold = freezer();
    if (cold === null) return context.skip('this user may not freeze processes');
    const { guarding, program } = await startCat();
    cold.freeze(guarding);
    tmux('send-keys', 'C-z');
    await reach('T', program).finally(() => cold.thaw(guarding));
    await shows(/Stopped/);
    await reach('T', guarding, program);
    tmux('send-keys', 'fg', 'Enter');
    await reach('S', guarding, program);
  });

  it('has a pipe with --ready, which is said, and keeps its keyboard, Ctrl-Z, fg and Ctrl-C', async () => {
    const program = (ready: string) =>
      `sh -c 'test -t 1 && echo out-terminal || echo out-pipe; test -t 0 && echo in-terminal; echo ${ready}; exec cat'`;
    tmux('send-keys', `g() { '${process.execPath}' '${CLI}' guard "$@"; }; clear`, 'Enter');
    tmux('send-keys', `g -- ${program('ready')}`, 'Enter');
    await shows(/^out-terminal\nin-terminal\nready$/m);
    expect(screen()).not.toContain('sees a pipe');
    tmux('send-keys', 'C-c');
    await keysGoTo('shell');
    tmux('send-keys', `clear; g --ready ready -- ${program('ready')}`, 'Enter');
    await shows(
      /^umaprobe: --ready reads the output: the program sees a pipe and not this terminal\.\nout-pipe\nin-terminal\nready$/m,
    );
    tmux('send-keys', 'word-1', 'Enter');
    await shows(/^word-1\nword-1$/m);
    tmux('send-keys', 'C-z');
    await shows(/Stopped/);
    tmux('send-keys', 'fg', 'Enter');
    await keysGoTo('program');
    tmux('send-keys', 'word-2', 'Enter');
    await shows(/^word-2\nword-2$/m);
    tmux('send-keys', 'C-c');
    await keysGoTo('shell');
    tmux('send-keys', 'echo code-$?', 'Enter');
    await shows(/^code-130$/m);
    tmux('send-keys', `clear; g -q --ready again -- ${program('again')}`, 'Enter');
    await shows(/^out-pipe\nin-terminal\nagain$/m);
    expect(screen()).not.toContain('sees a pipe');
  });

  it('has keys, Ctrl-C, Ctrl-Z, fg, the size and exit codes as it has them bare', async () => {
    const bare = await session('');
    expect(bare).toEqual([
      '42',
      'KeyboardInterrupt',
      'in-11',
      '49',
      expect.stringContaining('columns=120'),
      'code-5',
      'sleep-130',
      'quit-131',
      'kill-137',
    ]);
    expect(await session('u ')).toEqual(bare);
  });
});
