/** umaprobe-guard on the real kernel: whose memory grows, how slowly or suddenly it does, and what stays behind. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import type { GuardReport } from '../../../lib/types/index.ts';
import { umaprobe } from '../../support/cli.ts';
import { compileC } from '../../support/clients.ts';
import { HARMLESS, runGuard, startGuard } from '../../support/guard-program.ts';
import { besideOthers, watchOthers } from '../../support/other-programs.ts';
import { asNobody } from '../../support/real-files.ts';
import { ROOT } from '../../support/root.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB, MiB } from '../../support/units.ts';

/** How often each is shown; by hand UMAPROBE_TEST_REPEATS=10. */
const REPEATS = Number(process.env.UMAPROBE_TEST_REPEATS ?? 1);
const IN_MEMORY = 0x01021994; // tmpfs
const SHM = '/dev/shm';
/** Other programs of this machine move the same counter meanwhile. */
const OTHERS = 64 * MiB;

let taker = '';
let storm = '';
let holder = '';
beforeAll(() => {
  const folder = temporaryFolder('growth');
  spawnSync('chmod', ['755', folder]);
  taker = join(folder, 'taker');
  storm = join(folder, 'storm');
  holder = join(folder, 'holder');
  compileC(join(ROOT, 'test/kernel/taker.c'), taker);
  compileC(join(ROOT, 'test/kernel/storm.c'), storm);
  compileC(join(ROOT, 'test/kernel/holder.c'), holder);
});

const file = `${SHM}/umaprobe-test-${process.pid}`;
const others: ChildProcess[] = [];
beforeEach(async (context) => {
  if (freemem() < 8 * GiB) context.skip('less than 8 GiB of free memory');
  // A program that was killed gives its memory back after the guard has ended. Beside other programs it never rests.
  let last = available();
  for (let attempt = 0, moved = Infinity; attempt < 25 && moved > 16 * MiB; attempt++) {
    await sleep(200);
    const now = available();
    moved = Math.abs(now - last);
    last = now;
  }
});
afterEach(() => {
  for (const child of others.splice(0)) child.kill('SIGKILL');
  rmSync(file, { force: true });
});

const available = () => Number(/MemAvailable: +(\d+) kB/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024;
/** The rules of the field, with a floor that leaves so much to take. */
function rulesWith(room: number) {
  const floorBytes = Math.floor(available() - room);
  return { floorBytes, killBelowBytes: floorBytes - GiB, min_fall_bytes: 128 * MiB };
}

/** How far others moved: without end where they gave back so much that the program came nowhere near its floor. */
function watchOthersAbove(floor: number, pid: number): () => number {
  let least = available();
  const timer = setInterval(() => {
    least = Math.min(least, available());
  }, 10);
  const moved = watchOthers(pid);
  return () => {
    clearInterval(timer);
    return least > floor + GiB / 2 ? Number.POSITIVE_INFINITY : moved();
  };
}

const hasShm = () => existsSync(SHM) && statfsSync(SHM).type === IN_MEMORY;

/** The floor holds, unless other programs take it. */
async function expectHeld(
  context: TestContext,
  room: number,
  command: readonly string[],
  { user = {}, action = /term/ } = {},
): Promise<void> {
  for (let at = 0; at < REPEATS; at++)
    await besideOthers(context, OTHERS / 2, async () => {
      const rules = rulesWith(room);
      const guarded = startGuard(rules, command, user);
      const moved = watchOthersAbove(rules.floorBytes, guarded.child.pid ?? 0);
      const { code, ended } = await guarded.end;
      const others = moved();
      rmSync(file, { force: true });
      const check = (): void => {
        expect(code).toBe(6);
        const stop = ended.actions.find(({ action }) => action !== 'warn');
        expect(stop).toMatchObject({ action: expect.stringMatching(action), reason: 'floor-near', failure: null });
        expect(ended.lowestAvailable).toBeGreaterThan(rules.floorBytes - OTHERS);
      };
      return { others, check };
    });
}

describe('memory that is no process’s own is the program’s', () => {
  it.for(['shared', 'memfd', 'pipe'])('%s', async (kind, context) => {
    await expectHeld(context, GiB, [taker, kind, '1024', '3000']);
  });

  it('files in a tmpfs, whose place is named with what stays there', async (context) => {
    if (!hasShm()) return context.skip(`${SHM} is not a tmpfs here`);
    await besideOthers(context, OTHERS / 2, async () => {
      rmSync(file, { force: true });
      const floor = Math.floor(available() - GiB);
      const options = ['--json', '--floor', `${floor}B`, '--kill-below', `${floor - GiB}B`];
      const moved = watchOthersAbove(floor, process.pid);
      // The program waits to be stopped, however late: the output is the report's.
      const quiet = ['sh', '-c', 'exec "$@" > /dev/null', 'sh', taker, file, '1024', '3000'];
      const ran = await umaprobe(['guard', ...options, '--', ...quiet]);
      const check = (): void => {
        expect(ran.code, ran.stdout).toBe(6);
        const { leftBehind, lowest, sentence } = parseDocument(ran.stdout) as unknown as GuardReport;
        expect(lowest.available).toBeGreaterThan(floor - OTHERS);
        expect(leftBehind).toEqual([{ where: SHM, bytes: expect.any(Number), files: [file] }]);
        expect(leftBehind[0]?.bytes).toBeGreaterThan(256 * MiB);
        expect(sentence).toMatch(/ [GM]iB stay in \/dev\/shm \(umaprobe-test-\d+\)\.$/);
      };
      return { others: moved(), check };
    });
  });
});

/** A control group of the folder alone: it has the process, and this memory is charged to it. */
function controlGroupOf(process: ChildProcess): string {
  const folder = temporaryFolder('cgroup');
  writeFileSync(join(folder, 'cgroup.procs'), `${process.pid}\n`);
  writeFileSync(join(folder, 'memory.stat'), `anon ${MiB}\nkernel 0\nshmem 0\n`);
  return folder;
}

describe('memory that another process takes', () => {
  // Of a control group it is known which files of memory are its own.
  it.each(['private', 'in a tmpfs'])(
    '%s, is seen to be its own: the program goes on, and the guard says so',
    async (kind) => {
      const rules = rulesWith(1.5 * GiB);
      const idle = spawn('sleep', ['600'], { stdio: 'ignore' });
      others.push(idle);
      const target = kind === 'private' ? `pid:${idle.pid}` : `cgroup:${controlGroupOf(idle)}`;
      // On a busy machine it takes longer than the rules of the field allow to see whose memory it is.
      const guarded = startGuard({ ...rules, killBelowBytes: 0, wait_s: 5, target }, []);
      // Before it starts, nothing has grown.
      await guarded.line('started');
      others.push(spawn(taker, [kind === 'private' ? kind : file, '600', '9000'], { stdio: 'ignore' }));
      expect(await guarded.line('action')).toMatchObject({ action: 'warn', reason: 'floor-near' });
      const { length } = guarded.lines;
      await guarded.readings('five readings more', () => guarded.lines.length > length + 5);
      guarded.child.kill('SIGTERM');
      const { ended } = await guarded.end;
      // A stop is seen with its evidence.
      expect(ended).toMatchObject({ stopped: false, actions: [{ action: 'warn' }] });
      expect(ended.actions[0]?.evidence.othersGrewBytes).toBeGreaterThan(64 * MiB);
    },
  );
});

it('pages that forks share are not counted beyond what the machine has', async () => {
  const forks = Math.ceil(totalmem() / (512 * MiB));
  const pool = spawn(holder, ['pool', String(512 * MiB), String(forks)], { stdio: ['pipe', 'pipe', 'ignore'] });
  others.push(pool);
  await once(pool.stdout, 'data');
  const guarded = startGuard({ ...HARMLESS, target: `pid:${pool.pid}` }, []);
  await guarded.readings('its memory', (readings) => (readings.at(-1)?.groupBytes ?? 0) > 512 * MiB);
  guarded.child.kill('SIGTERM');
  expect((await guarded.end).ended.peakGroupBytes).toBeLessThan(totalmem());
});

it('the guard of an ordinary user has its code locked in memory', async () => {
  const { stdout } = await runGuard(HARMLESS, ['sh', '-c', 'grep VmLck /proc/$PPID/status; ulimit -l'], asNobody);
  const [, locked = 0, limit = 0] = (/(\d+) kB\n(\w+)/.exec(stdout) ?? []).map(Number);
  // 8 MiB is what systemd gives; with less, a part of it.
  expect(locked).toBeGreaterThanOrEqual(Math.min(1024, Number.isNaN(limit) ? 1024 : limit));
});

describe('the floor holds', () => {
  // At 20 MiB/s each of the eight attempts takes 18 s.
  it.for([20, 100, 400])('at %i MiB/s, with SIGTERM first', { timeout: 240_000 }, async (rate, context) => {
    await expectHeld(context, rate < 50 ? 350 * MiB : 800 * MiB, [taker, 'private', String(rate), '3000']);
  });

  it('where the program ignores SIGTERM: its grace lasts until the floor', async (context) => {
    await besideOthers(context, OTHERS, async () => {
      const rules = rulesWith(800 * MiB);
      const script = `trap '' TERM; ${taker} private 150 3000`;
      const moved = watchOthers(process.pid);
      const { code, ended } = await runGuard({ ...rules, graceMs: 60_000 }, ['sh', '-c', script]);
      const check = (): void => {
        expect(code).toBe(6);
        const [term, kill] = ended.actions.filter(({ action }) => action !== 'warn');
        expect([term, kill]).toMatchObject([{ action: 'term' }, { action: 'kill' }]);
        expect(Date.parse(String(kill?.at)) - Date.parse(String(term?.at))).toBeGreaterThan(500);
        expect(ended.lowestAvailable).toBeGreaterThan(rules.floorBytes - 2 * OTHERS);
        expect(ended.lowestAvailable).toBeLessThan(rules.floorBytes + OTHERS);
      };
      return { others: moved(), check };
    });
  });

  it('in a storm of processes of a user without rights', { timeout: 120_000 }, async (context) => {
    // With 16 processors the floor is too near for SIGTERM when it is seen.
    await expectHeld(context, 2 * GiB, [storm, '4', '3000'], { user: asNobody, action: /term|kill/ });
  });
});
