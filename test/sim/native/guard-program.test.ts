/** umaprobe-guard: its judge over recorded series, its command line, and how it runs a command. */

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardProgram } from '../../../lib/native/binding.ts';
import { PROGRAM_RULES } from '../../../lib/native/guard-protocol.ts';
import { BINARY_PRELUDE } from '../../support/binary-on-machine.ts';
import {
  guardWords,
  HARMLESS,
  replayed,
  runGuard,
  runs,
  signalNumber,
  startGuard,
} from '../../support/guard-program.ts';
import { withMachine } from '../../support/machines.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB, MiB } from '../../support/units.ts';

/** A series of 100 readings a second: `at` gives what differs from a machine at rest with 40 GiB available. */
function series(seconds: number, at: (t: number) => object, step = 0.01): object[] {
  const rest = {
    available: 40 * GiB,
    free: 30 * GiB,
    pressureFull: 0,
    freeBlocks: 20 * GiB,
    swapFree: 0,
    swapTotal: 0,
  };
  return Array.from({ length: Math.round(seconds / step) }, (_, i) => ({ t: i * step, ...rest, ...at(i * step) }));
}
const stops = (actions: ReturnType<typeof replayed>) => actions.filter(({ action }) => action !== 'warn');

describe('the judge stops', () => {
  it('a fall from 29 to 6 GiB in 8 seconds, before the floor', () => {
    const actions = replayed(series(8, (t) => ({ available: (29 - (23 / 8) * t) * GiB })));
    expect(actions[0]).toMatchObject({ action: 'term', reason: 'floor-near' });
    expect(actions[0]?.evidence.available).toBeGreaterThan(10 * GiB);
    expect(actions[0]?.evidence.secondsToFloor).toBeCloseTo(1, 1);
    expect(actions[1]).toMatchObject({ action: 'kill', reason: 'floor-near' });
    expect(actions[1]?.evidence.secondsToFloor).toBeLessThanOrEqual(0.25);
  });

  it('slow growth below the floor, and critical memory at once', () => {
    const slow = stops(replayed(series(120, (t) => ({ available: (8.5 - 0.03 * t) * GiB }))));
    expect(slow[0]).toMatchObject({ action: 'term', reason: 'low-and-stalled' });
    expect(slow[0]?.evidence.available).toBeGreaterThan(7.5 * GiB);
    const [critical] = replayed(series(1, (t) => ({ available: t < 0.5 ? 20 * GiB : 1.9 * GiB })));
    expect(critical).toMatchObject({ action: 'kill', reason: 'below-kill', seconds: 0.5 });
  });

  it('the slow wedge: 10 % pressure for five minutes, while MemAvailable rises', () => {
    const wedge = (t: number) => ({ available: (38 + t / 40) * GiB, pressureFull: t < 60 ? t / 3 : 92 });
    const [stop] = replayed(series(400, wedge, 0.1));
    expect(stop).toMatchObject({ action: 'term', reason: 'stalled' });
    expect(stop?.seconds).toBeCloseTo(330, 0);
  });

  it.each([
    ['pressure', { pressureFull: 12 }],
    ['no free blocks, and some pressure', { freeBlocks: 0, pressureFull: 1.5 }],
    ['swap used up, and some pressure', { swapTotal: 16 * GiB, swapFree: 0.1 * GiB, pressureFull: 1.5 }],
  ])('what rests below the floor with other evidence: %s', (_, evidence) => {
    const actions = stops(replayed(series(15, () => ({ available: 5 * GiB, ...evidence }))));
    expect(actions).toMatchObject([{ action: 'term', reason: 'low-and-stalled' }]);
    expect(actions[0]?.seconds).toBeCloseTo(10, 1);
  });
});

describe('the judge does not stop', () => {
  it.each([
    ['98 % pressure for two seconds', (t: number) => ({ pressureFull: t > 5 && t < 9 ? 98 : 0 }), 60],
    ['98 % pressure for two minutes', (t: number) => ({ pressureFull: t > 5 && t < 125 ? 98 : 0 }), 400],
    ['1.2 GiB MemFree with 12 GiB available', () => ({ free: 1.2 * GiB, available: 12 * GiB }), 60],
    [
      'rest at 4.9 GiB available without pressure',
      (t: number) => ({ available: 4.9 * GiB + Math.sin(t) * 20 * MiB }),
      400,
    ],
    ['few blocks at rest, as after pinning 90 GiB', () => ({ available: 5 * GiB, free: GiB, freeBlocks: 0 }), 60],
    ['swap used up at rest', () => ({ available: 5 * GiB, swapTotal: 16 * GiB, swapFree: 0 }), 60],
    ['a jump of 20 GiB that ends above the floor', (t: number) => ({ available: (t < 5 ? 40 : 9) * GiB }), 20],
    ['noise at the floor', (t: number) => ({ available: 8.02 * GiB + Math.sin(9 * t) * 15 * MiB }), 60],
  ])('%s', (_, at, seconds) => {
    expect(stops(replayed(series(seconds, at, 0.02)))).toEqual([]);
  });

  // 37 ms a GiB, as cudaMalloc on a GB10: a second before the floor it is 35 GiB away.
  it('an allocation of 38 GiB at once that leaves 9 GiB, because the floor is not near in bytes', () => {
    const allocation = series(10, (t) => ({ available: Math.max(9, Math.min(47, 47 - (t - 5) * 27)) * GiB }));
    expect(replayed(allocation)[0]).toMatchObject({ action: 'term', reason: 'floor-near' });
    expect(stops(replayed(allocation, { nearBytes: 512 * MiB, killNearBytes: 256 * MiB }))).toEqual([]);
    const further = series(10, (t) => ({ available: Math.max(1, Math.min(47, 47 - (t - 5) * 27)) * GiB }));
    const [stop, end] = stops(replayed(further, { nearBytes: 512 * MiB, killNearBytes: 256 * MiB }));
    expect([stop, end]).toMatchObject([{ action: 'term' }, { action: 'kill', reason: 'floor-near' }]);
    expect(end?.evidence.available).toBeGreaterThan(7.5 * GiB);
    const slower = series(10, (t) => ({ available: (28 - 4 * t) * GiB }));
    const [first] = stops(replayed(slower, { nearBytes: 512 * MiB, killNearBytes: 256 * MiB }));
    expect(first).toMatchObject({ action: 'term', reason: 'floor-near' });
    expect(first?.evidence.available).toBeGreaterThan(8.3 * GiB);
  });

  it('a program that does not grow while others do, and warns', () => {
    const others = (t: number) => ({ available: (16 - t) * GiB, groupBytes: 3 * GiB, groupGpuBytes: 0 });
    const [warning, stop] = replayed(series(15, others));
    expect(warning).toMatchObject({ action: 'warn', reason: 'floor-near' });
    expect(stop).toMatchObject({ action: 'kill', reason: 'below-kill' });
    // Its memory of the GPU is known twice a second only.
    const late = (t: number) => ({ ...others(t), groupGpuBytes: 20 * GiB, groupGpuAt: Math.floor(t * 2) / 2 });
    expect(replayed(series(15, late))).toMatchObject([
      { action: 'warn', reason: 'floor-near' },
      { action: 'kill', reason: 'below-kill' },
    ]);
    const onGpu = (t: number) => ({ ...late(t), groupGpuBytes: (20 + Math.floor(t * 2) / 2) * GiB });
    expect(replayed(series(15, onGpu))[0]).toMatchObject({ action: 'term', reason: 'floor-near' });
    const begins = (t: number) => ({ ...late(t), available: (t < 6.6 ? 16 - t : 9.4 - 8 * (t - 6.6)) * GiB });
    const [sudden] = stops(replayed(series(8, begins)));
    expect(sudden).toMatchObject({ reason: 'floor-near' });
    expect(sudden?.evidence.available).toBeGreaterThan(8.5 * GiB);
    const itself = (t: number) => ({ available: (16 - t) * GiB, groupBytes: (3 + t) * GiB, groupGpuBytes: 0 });
    expect(replayed(series(15, itself))[0]).toMatchObject({ action: 'term', reason: 'floor-near' });
  });
});

describe('a series that cannot be judged', () => {
  it.each([
    ['{"t":1}', /series\.jsonl:1: expected \{"t":seconds,"available":bytes/],
    ['{"t":2,"available":1e10}\n{"t":1,"available":1e10}', /series\.jsonl:2: t is less than in the line before/],
  ])('%s', (text, message) => {
    const readings = text.split('\n').map((line) => JSON.parse(line) as object);
    expect(() => replayed(readings)).toThrow(message);
  });
});

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
    [guardWords({ load: 'drop,bogus' }, ['true']), '--load=drop,bogus: expected drop, compact, both or nothing'],
    [
      guardWords({ floorBytes: 1 }, ['true']),
      '--killBelowBytes is above --floorBytes: memory that is critical is below the floor',
    ],
  ])('%j is refused before anything runs', (args, message) => {
    expect(run(...args)).toMatchObject({ status: 2, stdout: '', stderr: `umaprobe-guard: ${message}\n` });
  });
});

describe('a rule that is missing', () => {
  it.each(Object.keys(PROGRAM_RULES))('%s: nothing starts', (name) => {
    const { status, stderr } = spawnSync(guardProgram().file, guardWords({ [name]: undefined }, ['true']), {
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toContain(`umaprobe-guard: --${name} is missing: expected a number from `);
  });
});

describe('free pages in the processors’ lists', () => {
  it('count besides MemAvailable where a reading has them', () => {
    const low = { available: 1.9 * GiB, freeInCpuLists: 0.5 * GiB };
    expect(stops(replayed(series(1, () => low)))).toEqual([]);
    const [kill] = replayed(series(1, () => ({ ...low, freeInCpuLists: 0.05 * GiB })));
    expect(kill).toMatchObject({ action: 'kill', reason: 'below-kill', evidence: { freeInCpuLists: 0.05 * GiB } });
    expect(replayed(series(1, () => ({ available: 7.9 * GiB, freeInCpuLists: 0.5 * GiB })))).toEqual([]);
  });
});

describe('a guarded command', () => {
  it('has its exit code, output and environment, and is reported', async () => {
    const { code, ended, stdout, stderr } = await runGuard(
      HARMLESS,
      ['sh', '-c', 'echo $A; sleep 0.3; echo e >&2; exit 7'],
      {
        env: { ...process.env, A: 'out' },
      },
    );
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
    const grow = 'setTimeout(() => { const held = Buffer.alloc(256 << 20, 1); setTimeout(() => held, 400) }, 400)';
    const peak = async (keys: object) => {
      const { ended } = await runGuard({ ...HARMLESS, ...keys }, [process.execPath, '-e', grow]);
      return ended.peakGroupBytes;
    };
    expect(await peak({})).toBeGreaterThan(256 * MiB);
    expect(await peak({ readGroupMs: 60_000, readGroupUrgentMs: 60_000 })).toBeLessThan(256 * MiB);
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
    while (!existsSync(marker) || readFileSync(marker, 'utf8').split('\n').length < 3)
      await new Promise((resolve) => setTimeout(resolve, 20));
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
    const guarded = startGuard({ ...HARMLESS, reportMs: 1, intervalMs: 1 }, ['sleep', '1.5']);
    guarded.child.stdio[3]?.removeAllListeners('data');
    (guarded.child.stdio[3] as NodeJS.ReadableStream).pause();
    const code = await new Promise((resolve) => guarded.child.once('exit', resolve));
    expect(code).toBe(0);
    (guarded.child.stdio[3] as NodeJS.ReadableStream).resume();
  });

  it('is judged and left alone in a dry run', async () => {
    const { code, ended } = await runGuard({ floorBytes: 2 ** 50, killBelowBytes: 2 ** 49, act: 0 }, ['sleep', '0.2']);
    expect(code).toBe(0);
    expect(ended).toMatchObject({ stopped: false, actions: [{ action: 'kill', reason: 'below-kill', dryRun: true }] });
  });

  it('is killed at once where memory is critical', async () => {
    const { code, ended } = await runGuard({ floorBytes: 2 ** 50, killBelowBytes: 2 ** 49 }, ['sleep', '10']);
    expect(code).toBe(6);
    expect(ended).toMatchObject({ stopped: true, actions: [{ action: 'kill', reason: 'below-kill', dryRun: false }] });
  });
});

const CRITICAL = { floorBytes: 2 ** 50, killBelowBytes: 2 ** 49 };

describe('what runs already', () => {
  it('is stopped with its descendants, as a process', async () => {
    const shell = spawn('sh', ['-c', 'setsid sleep 61 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const exit = new Promise((resolve) => shell.once('exit', (_, signal) => resolve(signal)));
    const below = await new Promise((resolve) => shell.stdout.once('data', (text) => resolve(String(text).trim())));
    const { code, ended } = await runGuard({ ...CRITICAL, target: `pid:${shell.pid}` }, []);
    expect(code).toBe(6);
    expect(ended).toMatchObject({ stopped: true, exitCode: null, actions: [{ action: 'kill', failure: null }] });
    expect(await exit).toBe('SIGKILL');
    expect(runs(String(below))).toBe(false);
  });

  it('is measured, with its descendants', async () => {
    const hold = 'const held = Buffer.alloc(256 << 20, 1); console.log(1); setTimeout(() => held, 60_000)';
    const shell = spawn('sh', ['-c', '"$0" -e "$1" & wait', process.execPath, hold], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    await new Promise((resolve) => shell.stdout.once('data', resolve));
    const guarded = startGuard({ ...HARMLESS, target: `pid:${shell.pid}` }, []);
    expect(await guarded.line('reading')).toMatchObject({ groupBytes: expect.any(Number) });
    process.kill(-(shell.pid as number), 'SIGKILL');
    expect((await guarded.end).ended.peakGroupBytes).toBeGreaterThan(256 * MiB);
  });

  it('is left when it ends, when the guard is told to go, and when it is not there', async () => {
    const sleep = spawn('sleep', ['0.2']);
    expect(await runGuard({ ...HARMLESS, target: `pid:${sleep.pid}` }, [])).toMatchObject({ code: 0 });
    const other = spawn('sleep', ['62']);
    const guarded = startGuard({ ...HARMLESS, target: `pid:${other.pid}` }, []);
    await guarded.line('started');
    guarded.child.kill('SIGTERM');
    expect(await guarded.end).toMatchObject({ code: 0, ended: { stopped: false } });
    expect(other.kill('SIGKILL')).toBe(true);
    for (const [target, message] of [
      ['pid:999999999', 'process 999999999: No such process'],
      ['cgroup:/no/such', 'control group /no/such: there is none'],
    ]) {
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
        const { pid = 0 } = spawn('sleep', ['63']);
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
    const guarded = startGuard({ ...CRITICAL, target: 'system' }, []);
    guarded.control(`targets cgroup:/no/such cgroup:${b.path} cgroup:${a.path}`);
    while (runs(a.pid)) await new Promise((resolve) => setTimeout(resolve, 20));
    guarded.child.kill('SIGTERM');
    const { code, ended } = await guarded.end;
    expect(code).toBe(0);
    const kills = ended.actions.filter(({ failure }) => failure === null);
    expect(kills).toMatchObject([
      { action: 'kill', target: b.path },
      { action: 'kill', target: a.path },
    ]);
    expect(process.kill(c.pid, 'SIGKILL')).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const { path } of made) rmdirSync(path);
  });

  it('can be one that a guard was given by itself', async (context) => {
    const made = groups('d');
    if (typeof made === 'string') return context.skip(made);
    const [{ path }] = made as [{ path: string; pid: number }];
    const { code, ended } = await runGuard({ ...CRITICAL, target: `cgroup:${path}` }, []);
    expect(code).toBe(6);
    expect(ended.actions).toMatchObject([{ action: 'kill', target: null, failure: null }]);
    rmdirSync(path);
  });
});

describe('on a simulated machine', () => {
  it('the memory of the host and the GPU memory of the program are those of the machine', async () => {
    await withMachine('gb10', async ({ env }) => {
      const program = `${BINARY_PRELUDE} await b.allocOpen(0, 10000); const { block } = await b.allocBlock('device', ${3 * GiB}, 10000); await b.touchBlock(block, 1, 10000); await sleep(1200);`;
      const node = [process.execPath, '--input-type=module', '-e', program];
      const { code, ended, stderr } = await runGuard(HARMLESS, node, { env: { ...process.env, ...env } });
      expect([code, stderr]).toEqual([0, '']);
      expect(ended.beforeAvailable).toBeGreaterThan(64 * GiB);
      expect(ended.peakGroupGpuBytes).toBeGreaterThanOrEqual(3 * GiB);
      expect(ended.peakGroupGpuBytes).toBeLessThan(3.5 * GiB);
    });
  });
});
