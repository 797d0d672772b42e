/** The parent's watch over its child, with a child that does nothing by itself, and clocks that are moved on. */

import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Exit } from '../../../../lib/core/probe/child-process.ts';
import { type SuperviseOptions, supervise } from '../../../../lib/core/probe/supervisor.ts';
import { GiB } from '../../../support/units.ts';

beforeEach(() =>
  vi.useFakeTimers({ toFake: ['clearInterval', 'clearTimeout', 'performance', 'setInterval', 'setTimeout'] }),
);
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const FLOOR = 8 * GiB;
const EXITED: Exit = { code: 0, signal: null, output: '' };

/** A supervised child that exits only when it is killed, and `killable`; `available` is read as MemAvailable. */
function watched(options: Partial<SuperviseOptions> = {}, killable = true) {
  const calls: string[] = [];
  const machine: { available: number | null; failure: Error | null; isDone: boolean } = {
    available: 100 * GiB,
    failure: null,
    isDone: false,
  };
  let exit: (exit: Exit) => void = () => undefined;
  const exited = new Promise<Exit>((resolve) => {
    exit = resolve;
  });
  const child = {
    exited,
    requestStop: (request: string) => calls.push(request),
    kill() {
      calls.push('kill');
      if (killable) exit({ code: null, signal: 'SIGKILL', output: '' });
    },
    detach: () => calls.push('detach'),
  };
  const settings = { floor: null, timeoutMs: null, signal: undefined, isDone: () => machine.isDone, ...options };
  const supervisor = supervise(child, settings, async () => {
    if (machine.failure !== null) throw machine.failure;
    return { available: machine.available };
  });
  return { calls, exit, machine, supervisor };
}

/** Lets the child live for so long, with a sign of life every quarter of a second. */
async function live({ supervisor }: ReturnType<typeof watched>, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    if (passed % 250 === 0) supervisor.noteActivity();
    await vi.advanceTimersByTimeAsync(50);
  }
}

describe('a silent child', () => {
  it('is killed after 5 s, and not before', async () => {
    const run = watched();
    await live(run, 60_000);
    run.supervisor.noteActivity();
    await vi.advanceTimersByTimeAsync(5000);
    expect(run.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(run.calls).toEqual(['kill']);
    expect(await run.supervisor.verdict).toEqual({
      end: 'lost',
      reason: 'the child process gave no sign of life for 5 s and was killed',
      guard: null,
      exit: { code: null, signal: 'SIGKILL', output: '' },
    });
  });

  it('is not one whose messages this process was too busy to read', async () => {
    const run = watched();
    await vi.advanceTimersByTimeAsync(4000);
    // The clock moves on by a minute in which no timer runs.
    const before = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => before() + 60_000);
    await vi.advanceTimersByTimeAsync(5000);
    expect(run.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(150);
    expect(run.calls).toEqual(['kill']);
  });
});

describe('MemAvailable below the floor', () => {
  it('by less than a tenth is the guard’s business', async () => {
    const run = watched({ floor: FLOOR });
    run.machine.available = 0.9 * FLOOR;
    await live(run, 10_000);
    expect(run.calls).toEqual([]);
  });

  it('by more than that for 0.3 s ends the child', async () => {
    const run = watched({ floor: FLOOR });
    await live(run, 1000);
    run.machine.available = 0.89 * FLOOR;
    await live(run, 300);
    expect(run.calls).toEqual([]);
    await live(run, 100);
    expect(run.calls).toEqual(['kill']);
    expect(await run.supervisor.verdict).toMatchObject({
      end: 'lost',
      reason: expect.stringMatching(/^MemAvailable 7\.12 GiB .* stayed far below the floor of 8\.00 GiB /),
      guard: { reason: 'floor', memAvailable: 0.89 * FLOOR, left: false },
    });
  });

  it('again and again, and never for long, does not', async () => {
    const run = watched({ floor: FLOOR });
    for (let dip = 0; dip < 20; dip++) {
      run.machine.available = dip % 2 === 0 ? 0.5 * FLOOR : null;
      await live(run, 250);
    }
    expect(run.calls).toEqual([]);
  });

  it('is nothing once the result is there, nor without a floor', async () => {
    const done = watched({ floor: FLOOR });
    done.machine.isDone = true;
    const other = watched();
    for (const run of [done, other]) run.machine.available = 0;
    await live(other, 2000);
    expect([...done.calls, ...other.calls]).toEqual([]);
  });

  it('that cannot be read ends the child', async () => {
    const run = watched({ floor: FLOOR });
    run.machine.failure = new Error('read /proc/meminfo answered TIMEOUT');
    await live(run, 100);
    expect(run.calls).toEqual(['kill']);
    expect(await run.supervisor.verdict).toMatchObject({
      end: 'lost',
      reason: 'the floor can no longer be watched: read /proc/meminfo answered TIMEOUT',
    });
  });
});

describe('a child that is asked to stop', () => {
  it('by the time limit has 2 s', async () => {
    const run = watched({ timeoutMs: 3000 });
    await live(run, 2950);
    expect(run.calls).toEqual([]);
    await live(run, 50);
    expect(run.calls).toEqual(['timeout']);
    await live(run, 2000);
    expect(run.calls).toEqual(['timeout']);
    await live(run, 100);
    expect(run.calls).toEqual(['timeout', 'kill']);
    expect(await run.supervisor.verdict).toMatchObject({
      end: 'timeout',
      reason: 'it did not stop within 2 s and was killed',
    });
  });

  it('is asked once, and its exit without a result is a loss', async () => {
    const caller = new AbortController();
    const run = watched({ signal: caller.signal, timeoutMs: 1000 });
    caller.abort();
    await live(run, 1500);
    expect(run.calls).toEqual(['aborted']);
    run.exit({ code: 3, signal: null, output: 'a line\nthe last line' });
    expect(await run.supervisor.verdict).toMatchObject({
      end: 'lost',
      reason: 'the child process exited with 3 before it had finished: the last line',
    });
  });

  it('is asked at once by a signal that was aborted before', () => {
    expect(watched({ signal: AbortSignal.abort() }).calls).toEqual(['aborted']);
  });
});

it('a child with a result has 30 s to exit', async () => {
  const run = watched();
  run.machine.isDone = true;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(run.calls).toEqual([]);
  await vi.advanceTimersByTimeAsync(150);
  expect(await run.supervisor.verdict).toMatchObject({
    end: 'complete',
    reason: 'it did not exit within 30 s of its result and was killed',
  });
});

it('a child that outlives its kill by 5 s is left', async () => {
  const run = watched({ timeoutMs: 10 }, false);
  await live(run, 2150);
  expect(run.calls).toEqual(['timeout', 'kill']);
  await live(run, 4800);
  expect(run.calls).toEqual(['timeout', 'kill']);
  await live(run, 250);
  expect(run.calls).toEqual(['timeout', 'kill', 'detach']);
  expect(await run.supervisor.verdict).toMatchObject({
    end: 'timeout',
    reason: expect.stringMatching(/; it did not exit after SIGKILL: it is inside a driver call$/),
    exit: null,
  });
});

it('nothing of the watch outlives the child', async () => {
  const caller = new AbortController();
  const run = watched({ floor: FLOOR, signal: caller.signal, timeoutMs: 60_000 });
  expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1);
  run.machine.isDone = true;
  run.exit(EXITED);
  expect(await run.supervisor.verdict).toEqual({ end: 'complete', reason: null, guard: null, exit: EXITED });
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
