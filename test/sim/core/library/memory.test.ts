/** memory() and memorySync() of the built package, on simulated machines. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { memoryOf } from '../../../../lib/core/memory/pool.ts';
import type { Memory, Snapshot } from '../../../../lib/types/index.ts';
import { CLI, cliEnvironment } from '../../../support/cli.ts';
import { evaluateOnMachine } from '../../../support/package-on-machine.ts';
import { ROOT } from '../../../support/root.ts';

type Thrown = { thrown: { name: string; code: string; message: string } };
interface Timed<T> {
  ms: number;
  answer: T;
}

/** How long a call on this thread takes, and its answer. */
const TIMED = `
  const timed = (call) => {
    const from = performance.now();
    let answer;
    try { answer = call(); } catch (error) { answer = caught(error); }
    return { ms: performance.now() - from, answer };
  };`;

/** Simulated. */
const NEVER_MS = 1e12;

describe('memory() and memorySync() (simulated)', () => {
  it.each(['gb10-cached', 'gb10-resting', 'gb10-kho', 'gb10-fragmented', 'n1x', 'gh200', 'h200-lost', 'no-driver'])(
    'on %s are what the snapshot says',
    async (machine) => {
      const [seen, async, sync] = await evaluateOnMachine<[Snapshot, Memory, Memory]>(
        machine,
        'return [await umaprobe.snapshot(), await umaprobe.memory(), umaprobe.memorySync()];',
      );
      expect(async).toEqual(memoryOf(seen));
      expect(sync).toEqual(async);
      expect(sync.simulated).toBe(machine);
    },
  );

  it('create no CUDA context', async () => {
    const attempts = await evaluateOnMachine<unknown[]>(
      'gb10',
      `umaprobe.memorySync();
       await umaprobe.memory();
       return (await umaprobe.snapshot()).devices.map(({ cuda, processes }) => ({ cuda, processes }));`,
    );
    expect(attempts).toEqual([{ cuda: null, processes: [] }]);
  });

  it('wait for NVML no longer than the limit, know what the kernel knows, and do not wait again', async () => {
    const [first, second] = await evaluateOnMachine<Timed<Memory>[]>(
      'gb10-hang',
      `${TIMED}
       return [timed(() => umaprobe.memorySync({ deadlineMs: 700 })), timed(() => umaprobe.memorySync())];`,
    );
    expect(first?.ms).toBeGreaterThan(690);
    expect(first?.ms).toBeLessThan(3_700);
    expect(first?.answer.because).toMatch(/NVML did not answer/);
    expect(first?.answer.total).toBeGreaterThan(0);
    expect(second?.answer.because).toMatch(/NVML did not answer/);
  });

  it('say that nothing is known where /proc/meminfo hangs', async () => {
    const [sync, async] = await evaluateOnMachine<[Timed<Thrown>, Thrown]>(
      'gb10',
      `${TIMED}
       return [timed(() => umaprobe.memorySync({ deadlineMs: 1000 })), await umaprobe.memory({ deadlineMs: 1000 }).catch(caught)];`,
      { change: `machine.files = [{ path: '/proc/meminfo', hangMs: ${NEVER_MS} }];` },
    );
    expect(sync.answer.thrown).toMatchObject({ name: 'UmaError', code: 'ERR_UMA_TIMEOUT' });
    expect(sync.answer.thrown.message).toMatch(/\/proc\/meminfo/);
    expect(sync.ms).toBeLessThan(4_000);
    expect(async.thrown).toMatchObject({ code: 'ERR_UMA_TIMEOUT' });
  });

  it('end a wait for a thread that does not answer, and answer the next call', async () => {
    const [late, next] = await evaluateOnMachine<[Timed<Thrown>, Memory]>(
      'gb10',
      `${TIMED}
       umaprobe.memorySync();
       // The clock of this thread runs on while the other one is asked: its answer is late.
       const now = performance.now.bind(performance);
       let jump = 0;
       performance.now = () => now() + (jump += 5_000);
       const late = timed(() => umaprobe.memorySync({ deadlineMs: 1 }));
       performance.now = now;
       return [late, umaprobe.memorySync()];`,
    );
    expect(late.answer.thrown).toMatchObject({ name: 'UmaError', code: 'ERR_UMA_TIMEOUT' });
    expect(late.answer.thrown.message).toMatch(/did not answer within 3001 ms/);
    expect(next).toMatchObject({ unified: true, verdict: 'yes' });
  });

  it('refuse a misspelt option', async () => {
    const [sync, async] = await evaluateOnMachine<[Timed<Thrown>, Thrown]>(
      'gb10',
      `${TIMED}
       return [timed(() => umaprobe.memorySync({ deadline: 5 })), await umaprobe.memory({ deadlineMs: 0 }).catch(caught)];`,
    );
    expect(sync.answer.thrown.message).toMatch(/no option "deadline". Did you mean deadlineMs\?/);
    expect(async.thrown.code).toBe('ERR_OUT_OF_RANGE');
  });

  it('are there for CommonJS, also in a worker thread, and keep no process alive', () => {
    const program = `
      const { Worker, isMainThread, parentPort } = require('node:worker_threads');
      const { memorySync } = require('umaprobe');
      if (isMainThread) {
        console.log(memorySync().safe);
        new Worker(process.env.PROGRAM, { eval: true }).on('message', console.log);
      } else parentPort.postMessage(memorySync().safe);`;
    const args = [CLI, 'sim', 'run', 'gb10', '--', process.execPath, '-e', program];
    const options = {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: 30_000,
      env: cliEnvironment({ PROGRAM: program }),
    } as const;
    const { status, stderr, stdout } = spawnSync(process.execPath, args, options);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [one, other] = stdout.trim().split('\n').map(Number);
    expect(one).toBeGreaterThan(1e11);
    expect(other).toBe(one);
  });
});
