import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type WorkerAnswer, workerAnswer } from '../../../../lib/core/snapshot/worker-process.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['clearTimeout', 'setTimeout'] }));
afterEach(() => vi.useRealTimers());

/** A child that does nothing but what the test says, with 1000 ms for its answer. */
function child() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const process = Object.assign(new EventEmitter(), {
    stdin,
    stdout,
    stderr,
    stdio: [stdin, stdout, stderr],
    kill: vi.fn(),
    unref: vi.fn(),
  });
  let answer: WorkerAnswer | null = null;
  void workerAnswer(process as unknown as ChildProcess, 1000, 'a call').then((settled) => {
    answer = settled;
  });
  return {
    async print(text: string) {
      stdout.write(text);
      await turn();
    },
    async wait(ms: number) {
      await vi.advanceTimersByTimeAsync(ms);
      return answer;
    },
    async exit(code: number) {
      process.emit('close', code, null);
      await turn();
      return answer;
    },
    kill: process.kill,
  };
}

const timeout = (message: string) => ({ failed: true, name: 'TIMEOUT', call: 'a call', message });

describe('the time of a child process', () => {
  it('begins when it runs, however long its start took', async () => {
    const { wait, exit, print } = child();
    expect(await wait(9_000)).toBeNull();
    await print('\n');
    expect(await wait(999)).toBeNull();
    await print('{}\n');
    expect(await exit(0)).toMatchObject({ lines: ['{}'] });
  });

  it('ends at its limit, with the lines that came before, and with no more time for each line', async () => {
    const { wait, kill, print } = child();
    await print('\n');
    expect(await wait(600)).toBeNull();
    await print('{"ordinal":0}\n{"ord');
    expect(await wait(399)).toBeNull();
    expect(await wait(1)).toMatchObject({
      lines: ['{"ordinal":0}'],
      missing: timeout('no answer within 1000 ms'),
    });
    expect(kill).toHaveBeenCalledWith('SIGKILL');
  });

  it('that never runs ends after 10 s', async () => {
    const { wait, kill } = child();
    expect(await wait(9_999)).toBeNull();
    // A sentence, and no timeout of the library: doctor would say that CUDA is slow or stuck.
    expect(await wait(1)).toMatchObject({
      missing: 'ERR_UMA_CALL_FAILED: a call was not made: Node did not start within 10 s',
    });
    expect(kill).toHaveBeenCalledWith('SIGKILL');
  });
});
