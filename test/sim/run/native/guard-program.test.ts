/** umaprobe-guard: its command line, and how it runs a command. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { guardProgram } from '../../../../lib/core/native/binding.ts';
import { BINARY_PRELUDE } from '../../../support/binary-on-machine.ts';
import {
  CRITICAL,
  type Guarded,
  guardWords,
  HARMLESS,
  runGuard,
  runs,
  signalNumber,
  startGuard,
} from '../../../support/guard-program.ts';
import { withMachine } from '../../../support/machines.ts';
import { removeGroup } from '../../../support/processes.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB, MiB } from '../../../support/units.ts';
import { linesIn, waitFor } from '../../../support/wait.ts';

/** Longer than any test. */
const NEVER_S = 1_000;

const LAST_PID = '/proc/sys/kernel/ns_last_pid';
/** Anyone may open the file; to write it takes a right. */
const canChoosePid = () => spawnSync('sh', ['-c', 'echo "$(cat "$1")" > "$1"', 'sh', LAST_PID]).status === 0;
/** Starts a command with the first free pid after this one, and answers its pid. */
async function startAfter(pid: number, command: string): Promise<number> {
  const script = `echo "$2" > "$1"; ${command} & echo $!; wait`;
  const shell = spawn('sh', ['-c', script, 'sh', LAST_PID, String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] });
  return Number((await once(shell.stdout, 'data'))[0]);
}

/** Takes memory at the first line that it reads, says so, and ends when there is nothing more to read. */
const holder = (mib: number): string[] => [
  process.execPath,
  '-e',
  `let held; process.stdin.once('data', () => { held = Buffer.alloc(${mib} << 20, 1); console.log('taken'); }).on('end', () => held);`,
];

describe('the command line', () => {
  const run = (...args: string[]) => spawnSync(guardProgram().file, args, { encoding: 'utf8' });
  it.each([
    [['--floorBytes=-1', '--', 'true'], '--floorBytes=-1: expected a number from 0 to 9007199254740991'],
    [['--floorBytes', '--', 'true'], '"--floorBytes": expected --name=value, or -- and a command'],
    [['--flor=1', '--', 'true'], '--flor is not an option'],
    [['--', 'true'], '--floorBytes is missing: expected a number from 0 to 9007199254740991'],
    [guardWords({}), 'expected one of -- COMMAND, --target and --replay'],
    [guardWords({ target: 'pid:1' }), '--target=pid:1: expected pid:N'],
    [guardWords({ target: 'unit' }), '--target=unit: expected pid:N, cgroup:/PATH or system'],
    [['--load=drop,bogus', '--', 'true'], '--load=drop,bogus: "bogus" is none of drop compact free step least'],
    [['--fds=report:x', '--', 'true'], '--fds=report:x: report:x: expected a number from 0 to 1048576'],
    [['--program=tty:2', '--', 'true'], '--program=tty:2: tty:2: expected a number from 0 to 1'],
    [
      guardWords({ floorBytes: 1 }, ['true']),
      '--killBelowBytes is above --floorBytes: memory that is critical is below the floor',
    ],
  ])('%j is refused before anything runs', (args, message) => {
    expect(run(...args)).toMatchObject({ status: 2, stdout: '', stderr: `umaprobe-guard: ${message}\n` });
  });
});

describe('what differs between runs', () => {
  it.each(['--floorBytes', '--killBelowBytes', '--intervalMs', '--graceMs', '--load'])(
    '%s is missing: nothing starts',
    (name) => {
      const args = guardWords({}, ['true']).filter((word) => !word.startsWith(`${name}=`));
      const { status, stdout, stderr } = spawnSync(guardProgram().file, args, { encoding: 'utf8' });
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(new RegExp(`^umaprobe-guard: ${name} (is missing|has no free): expected a number from `));
    },
  );
});

describe('a file of rules', () => {
  const folder = temporaryFolder('rules-wrong');
  const run = (file: string) =>
    spawnSync(guardProgram().file, [`--rules=${file}`, ...guardWords({}, ['true'])], { encoding: 'utf8' });
  it.each([
    ['horizon 1', '"horizon" is not a rule'],
    ['floor_bytes 1', '"floor_bytes" is not a rule'],
    ['horizon_s', 'horizon_s : expected a number from 0 to 86400'],
    ['horizon_s -1', 'horizon_s -1: expected a number from 0 to 86400'],
    ['horizon_s 86401', 'horizon_s 86401: expected a number from 0 to 86400'],
    ['low_for_s 0', 'low_for_s 0: expected a number from 0.001 to 86400'],
    ['others_share 1.1', 'others_share 1.1: expected a number from 0 to 1'],
    ['min_fall_bytes 1 ', 'min_fall_bytes 1 : expected a number from 1 to 9007199254740991'],
  ])('with %j is refused before anything runs', (line, message) => {
    const file = join(folder, 'rules');
    writeFileSync(file, `near_bytes 0\n${line}\n`);
    expect(run(file)).toMatchObject({ status: 2, stdout: '', stderr: `umaprobe-guard: ${file}:2: ${message}\n` });
  });

  it.each(['missing', '.'])('that cannot be read is refused: %s', (name) => {
    const file = join(folder, name);
    const stderr = `umaprobe-guard: --rules=${file}: the file cannot be read\n`;
    expect(run(file)).toMatchObject({ status: 2, stdout: '', stderr });
  });
});

describe('a guarded command', () => {
  it('has its exit code, output and environment, and is reported', async () => {
    const guarded = startGuard({ ...HARMLESS, report_s: 0.001 }, ['sh', '-c', 'echo $A; read _; echo e >&2; exit 7'], {
      env: { ...process.env, A: 'out' },
    });
    await guarded.readings('eleven readings, the last with memory', (readings) => {
      return readings.length > 10 && (readings.at(-1)?.groupBytes ?? 0) > 0.1 * MiB;
    });
    guarded.goOn();
    const { code, ended, stdout, stderr } = await guarded.end;
    expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: 'out\n', stderr: 'e\n' });
    expect(ended).toMatchObject({ exitCode: 7, signal: null, stopped: false, actions: [] });
    expect(ended.readings).toBeGreaterThan(10);
    expect(ended.lowestAvailable).toBeGreaterThan(0);
    expect(ended.peakGroupBytes).toBeGreaterThan(0.1 * MiB);
  });

  it('is in the control group that is reported, from its start', async (context) => {
    const guarded = startGuard(HARMLESS, ['cat', '/proc/self/cgroup']);
    const { cgroup } = await guarded.line('started');
    if (cgroup === null) return context.skip('this user may not make cgroups');
    expect((await guarded.end).stdout).toContain(`/${String(cgroup).split('/').at(-1)}\n`);
    expect(existsSync(String(cgroup))).toBe(false);
  });

  it('is measured as often as the options say', async () => {
    /** It takes 256 MiB once it has been measured. */
    const start = async (keys: object) => {
      const guarded = startGuard({ ...HARMLESS, report_s: 0.001, ...keys }, holder(256));
      await guarded.readings('its memory', (readings) => readings.some(({ groupBytes }) => groupBytes !== null));
      guarded.child.stdin?.write('take\n');
      await once(guarded.child.stdout as Readable, 'data');
      return guarded;
    };
    const peakOf = async (guarded: Guarded) => {
      guarded.goOn();
      return (await guarded.end).ended.peakGroupBytes;
    };
    // While no memory moves it is measured more seldom, and at once when it moves.
    const moved = await start({ read_group_idle_s: NEVER_S });
    await moved.readings('its 256 MiB', (readings) => (readings.at(-1)?.groupBytes ?? 0) > 256 * MiB);
    expect(await peakOf(moved)).toBeGreaterThan(256 * MiB);
    const seldom = await start({ read_group_s: NEVER_S, read_group_urgent_s: NEVER_S, read_group_idle_s: NEVER_S });
    const { length } = seldom.lines;
    await seldom.readings('thirty readings more', () => seldom.lines.length > length + 30);
    expect(await peakOf(seldom)).toBeLessThan(256 * MiB);
  });

  it('has loaded once its memory has not grown for a while, or the time is over', async () => {
    const start = (keys: object) => {
      const guarded = startGuard({ ...HARMLESS, report_s: 0.001, loadStepBytes: 32 * MiB, ...keys }, holder(128));
      guarded.child.stdin?.write('take\n');
      return guarded;
    };
    const endOf = async (guarded: Guarded) => {
      guarded.goOn();
      await guarded.end;
      return guarded.lines.filter(({ event }) => event === 'loaded').map(({ because }) => because);
    };
    /** By the clock of the guard: it has what it takes for four times the plateau. */
    const stays = async (guarded: Guarded) => {
      await guarded.readings('400 ms with 128 MiB', (readings) => {
        const whole = readings.filter(({ groupBytes }) => (groupBytes ?? 0) > 128 * MiB);
        return whole.length > 0 && Date.parse(whole.at(-1)?.at ?? '') - Date.parse(whole[0]?.at ?? '') > 400;
      });
      return guarded;
    };
    const loaded = async (guarded: Guarded) => {
      await guarded.line('loaded');
      return guarded;
    };
    expect(await endOf(await loaded(start({ load_plateau_s: 0.1 })))).toEqual(['plateau']);
    expect(await endOf(await stays(start({ load_plateau_s: NEVER_S })))).toEqual([]);
    // Between weights and cache, while kernels are compiled, it holds less than it will.
    expect(await endOf(await stays(start({ load_plateau_s: 0.1, loadLeastBytes: 2048 * MiB })))).toEqual([]);
    expect(await endOf(await loaded(start({ load_plateau_s: 0.1, loadLeastBytes: 96 * MiB })))).toEqual(['plateau']);
    // What does not grow does not load.
    expect(await endOf(await stays(start({ load_plateau_s: 0.1, loadStepBytes: 2 ** 40 })))).toEqual([]);
    const limited = start({ load_plateau_s: NEVER_S, load_limit_s: 0.2 });
    expect(await endOf(await loaded(limited))).toEqual(['limit']);
  });

  it('ends by the same signal', async () => {
    const { signal, ended } = await runGuard(HARMLESS, ['sh', '-c', 'kill -USR1 $$']);
    expect(signal).toBe('SIGUSR1');
    expect(ended).toMatchObject({ exitCode: null, signal: signalNumber('SIGUSR1'), stopped: false });
  });

  it.each([
    ['no-such-command-at-all', 127, 'ENOENT', 'no-such-command-at-all: command not found'],
    ['/etc/passwd', 126, 'EACCES', '/etc/passwd: cannot be run: Permission denied'],
  ])('that cannot be run: %s', async (file, exit, reason, message) => {
    const guarded = startGuard(HARMLESS, [file]);
    expect(await guarded.end).toMatchObject({ code: exit, stderr: '' });
    expect(guarded.lines).toMatchObject([{ event: 'failed', code: reason, message }]);
  });

  it('gets signals, its own priority and OOM score, and no descriptor of the guard', async () => {
    const script =
      "trap 'echo got; exit 3' TERM; cat /proc/self/oom_score_adj; nice; ls -l /proc/self/fd | wc -l; echo up >&2; while :; do sleep 0.02; done";
    const guarded = startGuard(HARMLESS, ['sh', '-c', script]);
    await guarded.line('started');
    while (!(await new Promise((resolve) => guarded.child.stderr?.once('data', () => resolve(true)))));
    guarded.child.kill('SIGTERM');
    const { code, stdout } = await guarded.end;
    expect(code).toBe(3);
    const own = readFileSync('/proc/self/oom_score_adj', 'utf8').trim();
    const bare = spawnSync('sh', ['-c', 'ls -l /proc/self/fd | wc -l'], { encoding: 'utf8' }).stdout.trim();
    expect(stdout.trim().split('\n')).toEqual([own, String(getPriority()), bare, 'got']);
  });

  it('is stopped on request with all that left its group, also if it ignores SIGTERM', async () => {
    const marker = join(temporaryFolder('guard'), 'pids');
    const script = `trap '' TERM; setsid sh -c 'trap "" TERM; echo $$ >> ${marker}; sleep 60 & wait; sleep 60' & echo $$ >> ${marker}; while :; do sleep 0.05; done`;
    const guarded = startGuard({ ...HARMLESS, graceMs: 200 }, ['sh', '-c', script]);
    await linesIn(marker, 2);
    guarded.control('stop');
    const { code, ended } = await guarded.end;
    expect(code).toBe(6);
    expect(ended).toMatchObject({ stopped: true, signal: signalNumber('SIGKILL') });
    expect(ended.actions).toMatchObject([
      { action: 'term', reason: 'requested', dryRun: false, failure: null },
      { action: 'kill', reason: 'requested', dryRun: false, failure: null },
    ]);
    for (const pid of readFileSync(marker, 'utf8').trim().split('\n')) expect(runs(pid)).toBe(false);
  });

  it('is not delayed by a report that nobody reads', async () => {
    const file = join(temporaryFolder('report'), 'pipe');
    expect(spawnSync('mkfifo', [file]).status).toBe(0);
    const full = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
    expect(() => {
      for (;;) writeSync(full, 'x'.repeat(4096));
    }).toThrow('EAGAIN');
    const report = openSync(file, constants.O_WRONLY);
    const args = guardWords(
      { ...HARMLESS, report_s: 0.001, fds: { report: 3, control: -1, signals: -1, readings: -1 } },
      ['true'],
    );
    const child = spawn(guardProgram().file, args, { stdio: ['ignore', 'ignore', 'ignore', report] });
    expect(await once(child, 'exit')).toEqual([0, null]);
    for (const fd of [full, report]) closeSync(fd);
  });

  it('is judged and left alone in a dry run', async () => {
    const guarded = startGuard({ ...CRITICAL, dryRun: true }, ['cat']);
    await guarded.line('action');
    guarded.goOn();
    const { code, ended } = await guarded.end;
    expect(code).toBe(0);
    expect(ended).toMatchObject({ stopped: false, actions: [{ action: 'term', reason: 'below-kill', dryRun: true }] });
  });

  it('is stopped at once where memory is critical', async () => {
    const { code, ended } = await runGuard(CRITICAL, ['sleep', '600']);
    expect(code).toBe(6);
    expect(ended).toMatchObject({ stopped: true, actions: [{ action: 'term', reason: 'below-kill', dryRun: false }] });
  });

  it('that has ended gives its number to no other process group', async (context) => {
    if (!canChoosePid()) return context.skip('this user cannot choose the pid of a process (ns_last_pid)');
    // It ends by SIGTERM, and what left its group does not; the number is another program's when that gets SIGKILL.
    const outside = `setsid sh -c 'trap "" TERM; echo ready; while :; do sleep 1; done' & wait`;
    for (;;) {
      const guarded = startGuard({ ...HARMLESS, graceMs: 1000 }, ['sh', '-c', outside]);
      await once(guarded.child.stdout as Readable, 'data');
      const { pid, processGroup } = await guarded.line('started');
      expect(processGroup).toBe(pid);
      guarded.control('stop');
      await waitFor('its end', () => !existsSync(`/proc/${pid}`));
      guarded.child.kill('SIGSTOP');
      const innocent = await startAfter(Number(pid) - 1, 'setsid sleep 600');
      try {
        if (innocent !== pid) continue;
        await waitFor('its own group', () => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n');
        guarded.child.kill('SIGCONT');
        expect((await guarded.end).ended.actions).toMatchObject([{ action: 'term' }, { action: 'kill' }]);
        expect(runs(innocent)).toBe(true);
        return;
      } finally {
        guarded.child.kill('SIGCONT');
        await guarded.end;
        process.kill(innocent);
      }
    }
  });
});

describe('what runs already', () => {
  it('is stopped with its descendants, as a process', async () => {
    const shell = spawn('sh', ['-c', 'setsid sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const exit = new Promise((resolve) => shell.once('exit', (_, signal) => resolve(signal)));
    const below = await new Promise((resolve) => shell.stdout.once('data', (text) => resolve(String(text).trim())));
    const { code, ended } = await runGuard({ ...CRITICAL, target: `pid:${shell.pid}` }, []);
    expect(code).toBe(6);
    expect(ended).toMatchObject({ stopped: true, exitCode: null, actions: [{ action: 'term', failure: null }] });
    expect(await exit).toBe('SIGTERM');
    expect(runs(String(below))).toBe(false);
  });

  it('is continued to act on SIGTERM if it is stopped', async () => {
    const script = "trap 'exit 3' TERM; kill -STOP $$; while :; do sleep 0.02; done";
    const shell = spawn('sh', ['-c', script], { stdio: 'ignore' });
    const exit = once(shell, 'exit');
    try {
      await waitFor('its stop', () => readFileSync(`/proc/${shell.pid}/stat`, 'utf8').includes(') T '));
      const guarded = startGuard({ ...HARMLESS, target: `pid:${shell.pid}`, graceMs: 30_000 }, []);
      guarded.control('stop');
      expect((await guarded.end).ended.actions).toMatchObject([{ action: 'term', failure: null }]);
      expect(await exit).toEqual([3, null]);
    } finally {
      shell.kill('SIGKILL');
    }
  });

  it('is measured, with its descendants', async () => {
    const hold = 'const held = Buffer.alloc(256 << 20, 1); console.log(1); setTimeout(() => held, 60_000)';
    const shell = spawn('sh', ['-c', '"$0" -e "$1" & wait', process.execPath, hold], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    await new Promise((resolve) => shell.stdout.once('data', resolve));
    const guarded = startGuard({ ...HARMLESS, target: `pid:${shell.pid}` }, []);
    await guarded.readings('its 256 MiB', (readings) => (readings.at(-1)?.groupBytes ?? 0) > 256 * MiB);
    process.kill(-(shell.pid as number), 'SIGKILL');
    expect((await guarded.end).ended.peakGroupBytes).toBeGreaterThan(256 * MiB);
  });

  it('as a control group holds what the kernel charges to it', async () => {
    const sleep = spawn('sleep', ['600']);
    const folder = temporaryFolder('cgroup');
    writeFileSync(join(folder, 'cgroup.procs'), `${sleep.pid}\n`);
    writeFileSync(join(folder, 'memory.stat'), `anon ${GiB}\nfile 7\nkernel ${MiB}\nshmem ${2 * MiB}\nfile_mapped 9\n`);
    const guarded = startGuard({ ...HARMLESS, target: `cgroup:${folder}` }, []);
    await guarded.readings('1 GiB and 3 MiB', (readings) => readings.at(-1)?.groupBytes === GiB + 3 * MiB);
    sleep.kill('SIGKILL');
    await new Promise((resolve) => sleep.once('exit', resolve));
    guarded.child.kill('SIGTERM');
    await guarded.end;
  });

  it('and has ended is not mixed up with a later process that has its pid', async (context) => {
    if (!canChoosePid()) return context.skip('this user cannot choose the pid of a process (ns_last_pid)');
    // Another program may get the pid first, and keep it: then all begins again with another one.
    for (;;) {
      const target = spawn('sleep', ['600'], { stdio: 'ignore' });
      const guarded = startGuard({ ...HARMLESS, target: `pid:${target.pid}`, graceMs: 0 }, []);
      await guarded.line('started');
      guarded.child.kill('SIGSTOP');
      target.kill('SIGKILL');
      await once(target, 'exit');
      const innocent = await startAfter(Number(target.pid) - 1, 'sleep 600');
      try {
        if (innocent !== target.pid) continue;
        guarded.control('stop');
        guarded.child.kill('SIGCONT');
        await guarded.end;
        expect(runs(innocent)).toBe(true);
        return;
      } finally {
        guarded.child.kill('SIGKILL');
        process.kill(innocent);
      }
    }
  });

  it('is left when it ends, when the guard is told to go, and when it is not there', async () => {
    const cat = spawn('cat');
    const watched = startGuard({ ...HARMLESS, target: `pid:${cat.pid}` }, []);
    await watched.line('started');
    cat.stdin.end();
    expect(await watched.end).toMatchObject({ code: 0, ended: { stopped: false } });
    const other = spawn('sleep', ['600']);
    const guarded = startGuard({ ...HARMLESS, target: `pid:${other.pid}` }, []);
    await guarded.line('started');
    guarded.child.kill('SIGTERM');
    expect(await guarded.end).toMatchObject({ code: 0, ended: { stopped: false } });
    expect(other.kill('SIGKILL')).toBe(true);
    for (const [target, message] of [
      ['pid:999999999', 'process 999999999: No such process'],
      ['cgroup:/no/such', 'control group /no/such: there is none'],
    ] as const) {
      const absent = startGuard({ ...HARMLESS, target }, []);
      expect(await absent.end).toMatchObject({ code: 1, stderr: '' });
      expect(absent.lines).toMatchObject([{ event: 'failed', message }]);
    }
  });
});

describe('the control groups of a system', () => {
  /** New groups with a process in each, or why there are none. */
  function groups(...names: string[]): { path: string; pid: number }[] | string {
    const mount = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].find((path) =>
      existsSync(join(path, 'cgroup.controllers')),
    );
    if (mount === undefined) return 'cgroup v2 is not mounted';
    try {
      return names.map((name) => {
        const path = join(mount, `umaprobe-test-${process.pid}-${name}`);
        mkdirSync(path);
        const { pid = 0 } = spawn('sleep', ['600']);
        writeFileSync(join(path, 'cgroup.procs'), String(pid));
        return { path, pid };
      });
    } catch (error) {
      return `no control group can be made here: ${(error as Error).message}`;
    }
  }

  it('are stopped one by one in the order of the list, and no other', async (context) => {
    const made = groups('a', 'b', 'c');
    if (typeof made === 'string') return context.skip(made);
    const [a, b, c] = made as [
      { path: string; pid: number },
      { path: string; pid: number },
      { path: string; pid: number },
    ];
    // What is run after a stop is run after each.
    const notes = join(temporaryFolder('notes'), 'notes');
    const notify = ['sh', '-c', `echo "$UMAPROBE_GUARD_TARGET" >> ${notes}`];
    const guarded = startGuard({ ...CRITICAL, target: 'system', notifyWords: notify.length }, notify);
    guarded.control(`targets cgroup:/no/such cgroup:${b.path} cgroup:${a.path}`);
    await linesIn(notes, 2);
    guarded.child.kill('SIGTERM');
    const { code, ended } = await guarded.end;
    expect(code).toBe(0);
    const stopped = ended.actions.filter(({ failure }) => failure === null);
    expect(stopped).toMatchObject([
      { action: 'term', target: b.path },
      { action: 'term', target: a.path },
    ]);
    expect(readFileSync(notes, 'utf8')).toBe(`${b.path}\n${a.path}\n`);
    expect(process.kill(c.pid, 'SIGKILL')).toBe(true);
    for (const { path } of made) await removeGroup(path);
  });

  it('can be one that a guard was given by itself', async (context) => {
    const made = groups('d');
    if (typeof made === 'string') return context.skip(made);
    const [{ path }] = made as [{ path: string; pid: number }];
    const { code, ended } = await runGuard({ ...CRITICAL, target: `cgroup:${path}` }, []);
    expect(code).toBe(6);
    expect(ended.actions).toMatchObject([{ action: 'term', target: null, failure: null }]);
    await removeGroup(path);
  });
});

describe('on a simulated machine', () => {
  it('the memory of the host and the GPU memory of the program are those of the machine', async () => {
    await withMachine('gb10', async ({ env }) => {
      const program = `${BINARY_PRELUDE} await b.allocOpen(0, 10000); const { block } = await b.allocBlock('device', ${3 * GiB}, 10000); await b.touchBlock(block, 1, 10000); for await (const _ of process.stdin);`;
      const node = [process.execPath, '--input-type=module', '-e', program];
      const guarded = startGuard(HARMLESS, node, { env: { ...process.env, ...env } });
      await guarded.readings('its 3 GiB', (readings) => (readings.at(-1)?.groupGpuBytes ?? 0) >= 3 * GiB);
      guarded.goOn();
      const { code, ended, stderr } = await guarded.end;
      expect([code, stderr]).toEqual([0, '']);
      expect(ended.beforeAvailable).toBeGreaterThan(64 * GiB);
      expect(ended.peakGroupGpuBytes).toBeGreaterThanOrEqual(3 * GiB);
      expect(ended.peakGroupGpuBytes).toBeLessThan(3.5 * GiB);
    });
  });
});
