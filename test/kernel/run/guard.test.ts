/** umaprobe-guard on the real kernel: what takes too much is stopped before the floor, and what is healthy is not. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { guardProgram } from '../../../lib/core/native/binding.ts';
import { compileC } from '../../support/clients.ts';
import { type EndedLine, guardWords, HARMLESS, runGuard, runs, startGuard } from '../../support/guard-program.ts';
import { besideOthers, watchOthers } from '../../support/other-programs.ts';
import { asNobody, diskFolder } from '../../support/real-files.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB, MiB } from '../../support/units.ts';
import { waitFor } from '../../support/wait.ts';

/** How often each is shown; by hand UMAPROBE_TEST_REPEATS=10. */
const REPEATS = Number(process.env.UMAPROBE_TEST_REPEATS ?? 1);

let folder = '';
let hog = '';
beforeAll(() => {
  folder = temporaryFolder('hog');
  spawnSync('chmod', ['755', folder]);
  hog = join(folder, 'hog');
  compileC(join(ROOT, 'test/kernel/hog.c'), hog);
});

/**
 * A virtual machine gets its memory when it is first touched, some of it at 0.2 GiB/s; what was touched before and is free
 * again, at 10 GiB/s.
 */
async function touchMemory(bytes: number): Promise<void> {
  const child = spawn(hog, ['100000', String(bytes / MiB)], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdout.on('data', (text) => String(text).includes('has it') && child.kill('SIGKILL'));
  await ended;
}

const available = () => Number(/MemAvailable: +(\d+) kB/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024;
/** A floor that leaves `room` bytes to take; critical is a GiB below it. */
function floorWith(room: number): { floorBytes: number; killBelowBytes: number } {
  const floorBytes = Math.floor(available() - room);
  return { floorBytes, killBelowBytes: floorBytes - GiB };
}

type Rules = ReturnType<typeof floorWith>;
type End = { code: number | null; ended: EndedLine };

function expectStopped({ floorBytes }: Rules, { code, ended }: End): void {
  expect(code).toBe(6);
  expect(ended.actions.find(({ action }) => action !== 'warn')).toMatchObject({ reason: 'floor-near', failure: null });
  expect(ended.lowestAvailable).toBeGreaterThan(floorBytes);
}

/** It is stopped before the floor, unless other programs take it; `check` is of the end alone. */
async function stops(
  context: TestContext,
  run: (rules: Rules) => Promise<End>,
  check = (_: End): void => {},
  room = 2 * GiB,
): Promise<void> {
  await besideOthers(context, 64 * MiB, async () => {
    const moved = watchOthers(process.pid);
    const rules = floorWith(room);
    const end = await run(rules);
    const others = moved();
    const checkAll = (): void => {
      expectStopped(rules, end);
      check(end);
    };
    return { others, check: checkAll };
  });
}

describe('a program that takes memory', () => {
  beforeEach((context) => {
    if (freemem() < 8 * GiB) context.skip('less than 8 GiB of free memory');
  });
  const others: number[] = [];
  afterEach(() => {
    for (const pid of others.splice(0)) process.kill(pid, 'SIGKILL');
  });

  it.for([1, 4])('at %i GiB/s is stopped before the floor', async (rate, context) => {
    const room = rate === 1 ? 2 * GiB : 4 * GiB;
    const stopped: number[] = [];
    for (let tries = 0; stopped.length < REPEATS && tries < REPEATS + 4; tries++) {
      await touchMemory(room);
      const run = (rules: Rules) => runGuard(rules, [hog, String(rate * 1024), String((room + 2 * GiB) / MiB)]);
      // Whatever the machine gave.
      await stops(
        context,
        run,
        ({ ended }) => {
          const slope = ended.actions.find(({ action }) => action !== 'warn')?.evidence.slope ?? 0;
          if (-slope > 0.8 * rate * GiB) stopped.push(-slope / GiB);
        },
        room,
      );
    }
    if (REPEATS > 1) console.log(`stopped while it took ${stopped.map((each) => each.toFixed(1)).join(', ')} GiB/s`);
    if (stopped.length < REPEATS) context.skip(`stopped each time, but ${stopped.length} of ${REPEATS} at this rate`);
  });

  it('is stopped while both cores are busy', async (context) => {
    for (let at = 0; at < 4; at++) others.push(spawn('sh', ['-c', 'while :; do :; done']).pid as number);
    await stops(context, (rules) => runGuard(rules, [hog, '2048', '4096']));
  });

  it('is killed before the floor if it ignores SIGTERM, and if it left its group and its session', async (context) => {
    const script = `trap '' TERM; setsid sh -c 'setsid ${hog} 2048 4096' & sleep 100`;
    await stops(
      context,
      (rules) => runGuard(rules, ['sh', '-c', script]),
      ({ ended }) =>
        expect(ended.actions.filter(({ action }) => action !== 'warn')).toMatchObject([
          { action: 'term', reason: 'floor-near' },
          { action: 'kill', reason: 'floor-near' },
        ]),
    );
    expect(spawnSync('pgrep', ['-f', hog], { encoding: 'utf8' }).stdout).toBe('');
  });

  it('is stopped although the program that started it has ended', async (context) => {
    await besideOthers(context, 64 * MiB, async () => {
      const moved = watchOthers(process.pid);
      const rules = floorWith(2 * GiB);
      const guarded = startGuard(rules, ['sh', '-c', `setsid ${hog} 2048 4096 > /dev/null 2>&1 &`]);
      const { pids } = (await guarded.line('left')) as { pids?: number[] };
      expect(await guarded.line('ended')).toMatchObject({ exitCode: 0, stopped: false });
      const [left = 0] = pids ?? [];
      await waitFor('the end of what was left', () => !runs(left));
      const now = available();
      expect((await guarded.end).code).toBe(0);
      return { others: moved(), check: () => expect(now).toBeGreaterThan(rules.floorBytes) };
    });
  });

  it('is stopped by a user without rights', async (context) => {
    await stops(context, (rules) => runGuard(rules, [hog, '2048', '4096'], asNobody));
  });

  it('is stopped while JavaScript is blocked', async (context) => {
    await stops(context, async (rules) => {
      const guarded = startGuard({ ...rules, report_s: 0.001 }, [hog, '2048', '4096']);
      const { pid } = await guarded.line('started');
      const end = performance.now() + 50_000;
      while (runs(String(pid)) && performance.now() < end)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      expect(runs(String(pid))).toBe(false);
      return guarded.end;
    });
  });

  it.for(['SIGSTOP', 'SIGKILL'] as const)('is stopped after %s to the parent', async (signal, context) => {
    await stops(context, async (rules) => {
      const [report, gate] = ['report', 'gate'].map((name) => join(temporaryFolder(name), name)) as [string, string];
      spawnSync('mkfifo', [gate]);
      const fd = openSync(report, 'w');
      const args = guardWords({ ...rules, fds: { report: 3, control: -1, signals: -1, readings: -1 } }, [
        'sh',
        '-c',
        `read _ < ${gate}; exec ${hog} 2048 4096`,
      ]);
      const parent = spawn('sh', ['-c', '"$@" & wait', 'sh', guardProgram().file, ...args], {
        stdio: ['ignore', 'ignore', 'ignore', fd],
      });
      closeSync(fd);
      const lineOf = (event: string) =>
        waitFor(`the line ${event}`, () =>
          new RegExp(`^\\{"event":"${event}".*\n`, 'm').exec(readFileSync(report, 'utf8')),
        );
      await lineOf('started');
      parent.kill(signal);
      await writeFile(gate, 'go\n');
      const [ended] = await lineOf('ended');
      parent.kill('SIGKILL');
      return { code: 6, ended: JSON.parse(ended) as EndedLine };
    });
  });
});

describe('what is healthy is not stopped:', () => {
  async function expectLeft(rules: object, command: readonly string[]): Promise<EndedLine> {
    let last = {} as EndedLine;
    for (let at = 0; at < REPEATS; at++) {
      const { code, ended, stderr } = await runGuard({ ...rules }, command);
      expect([code, stderr, ended.actions]).toEqual([0, '', []]);
      last = ended;
    }
    return last;
  }

  it('a flood of the page cache, which takes MemFree', async (context) => {
    const disk = diskFolder(3 * GiB);
    if ('reason' in disk) return context.skip(disk.reason);
    const file = join(disk.path, 'flood');
    const script = `dd if=/dev/zero of=${file} bs=1M count=2048 2>/dev/null; cat ${file} > /dev/null`;
    const before = freemem();
    const ended = await expectLeft(floorWith(2 * GiB), ['sh', '-c', script]);
    expect(ended.lowestFree).toBeLessThan(before - GiB);
    rmSync(disk.path, { recursive: true });
  });

  it('a storm of forks', async () => {
    const script = 'for i in 1 2 3 4; do (j=0; while [ $j -lt 300 ]; do /bin/true; j=$((j + 1)); done) & done; wait';
    await expectLeft(floorWith(2 * GiB), ['sh', '-c', script]);
  });

  it('memory that is taken and given back far from the floor', async () => {
    const script = `for i in 1 2 3; do timeout 0.3 ${hog} 4096 512 > /dev/null; done; true`;
    await expectLeft(floorWith(6 * GiB), ['sh', '-c', script]);
  });
});

it('the thread that judges allocates nothing once the program runs', async () => {
  const library = join(folder, 'count.so');
  compileC(join(ROOT, 'test/kernel/count_allocations.c'), library, ['-shared', '-fPIC', '-ldl']);
  const env = { ...process.env, LD_PRELOAD: library };
  const bare = ['env', '-u', 'LD_PRELOAD', 'sh', '-c', "trap '' TERM; echo deaf; read _"];
  const rules = {
    ...HARMLESS,
    load: ['drop', 'compact'] as const,
    loadFreeBytes: 2 ** 50,
    dryRun: true,
    intervalMs: 1,
    report_s: 0.001,
  };
  const calm = startGuard(rules, bare, { env });
  await calm.readings('400 readings', ({ length }) => length > 400);
  calm.goOn();
  expect((await calm.end).stderr).toBe('0 allocations\n');
  const stopped = startGuard({ floorBytes: 2 ** 50, killBelowBytes: 0, graceMs: 100 }, bare, { env });
  await Promise.all([stopped.line('action'), once(stopped.child.stdout as Readable, 'data')]);
  stopped.control('stop');
  const { code, stderr, ended } = await stopped.end;
  expect([code, stderr]).toEqual([6, '0 allocations\n']);
  expect(ended.actions.map(({ action }) => action)).toEqual(['warn', 'term', 'kill']);
});
