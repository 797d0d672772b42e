/** The addon in worker threads: loaded, used and torn down in the middle of calls, on simulated machines. */

import { describe, expect, it } from 'vitest';
import { sanitized } from '../../../support/binary.ts';
import { printedOnMachine, runWithBinary } from '../../../support/binary-on-machine.ts';
import { gb10WithFaults, withMachine } from '../../../support/machines.ts';
import type { ProcessResult } from '../../../support/processes.ts';

/**
 * Number of workers. A thousand are needed to tell leaked memory from noise, and take a minute: CI has them. A hundred
 * show a leaked thread or descriptor, and are enough for a sanitizer, which takes about 30 ms for each.
 */
const MANY = 1000;
const WORKERS = process.env.CI && !sanitized ? MANY : 100;

/** Resources of a process at one moment. */
type Resources = Record<'threads' | 'descriptors' | 'heapKiB', number>;

/** Calls of every kind; some are in progress when the worker is terminated. */
const CALLS = `
    const b = require(\${JSON.stringify(binary)});
    b.hostMemory(new Float64Array(35));
    b.readFiles(['/proc/meminfo']);
    b.readNvml(5);
    b.readNvml(60000);
    b.readCuda(0, 60000);
    b.readCuda(1, 20);`;

/** `await startAndTerminate(i)`: starts a worker that makes these calls, and terminates it. */
const startAndTerminate = (calls = CALLS) => `
  const { Worker } = await import('node:worker_threads');
  const { readdirSync, readFileSync } = await import('node:fs');
  const source = \`${calls}
    require('node:worker_threads').parentPort.postMessage('inside');
    setInterval(() => {}, 1000);\`;
  async function startAndTerminate(i) {
    const worker = new Worker(source, { eval: true, execArgv: [] });
    const failed = new Promise((_, reject) => worker.once('error', reject));
    await Promise.race([new Promise((resolve) => worker.once('message', resolve)), failed]);
    if (i % 3 === 0) await sleep(i % 10);
    const started = performance.now();
    await worker.terminate();
    return performance.now() - started;
  }`;

/**
 * Prints the resources of the process before and after this many workers. The heap is that of malloc: V8's own mappings
 * grow and shrink by megabytes.
 */
const resources = (calls?: string) => `${startAndTerminate(calls)}
  const heapKiB = () => readFileSync('/proc/self/smaps', 'utf8').split(/\\n(?=\\w+-\\w+ )/)
    .filter((mapping) => /^.*\\[heap\\]$/m.test(mapping))
    .reduce((sum, mapping) => sum + Number(/^Rss: +(\\d+) kB$/m.exec(mapping)[1]), 0);
  const measure = async () => {
    await sleep(1000);
    gc();
    return { threads: readdirSync('/proc/self/task').length, descriptors: readdirSync('/proc/self/fd').length, heapKiB: heapKiB() };
  };
  for (let i = 0; i < ${WORKERS / 10}; i++) await startAndTerminate(i);
  const before = await measure();
  for (let i = 0; i < ${WORKERS}; i++) await startAndTerminate(i);
  print([before, await measure()]);`;

describe('worker threads', () => {
  it('have CUDA and NVML threads of their own: a hung one blocks no other worker', async () => {
    const machine = gb10WithFaults({ hang: [{ call: 'nvmlDeviceGetName', ms: 60_000, times: 1 }] });
    const [here, there] = await printedOnMachine(
      machine,
      `const { Worker } = await import('node:worker_threads');
        print((await b.readNvml(1000)).timedOut.call);
        const worker = new Worker(\`require(\${JSON.stringify(binary)}).readNvml(5000).then((r) => require('node:worker_threads').parentPort.postMessage(r.devices[0].name))\`, { eval: true, execArgv: [] });
        worker.once('message', (name) => { print(name); process.exit(); });`,
    );
    expect([here, there]).toEqual(['nvmlDeviceGetName', 'NVIDIA GB10']);
  });

  it('know the hung calls of other workers: memGetInfoSync, which has no deadline, fails at once', async () => {
    const machine = gb10WithFaults({ hang: [{ call: 'cudaMemGetInfo', ms: 3000, times: 1 }] });
    const [before, hung, sync, other, after] = await printedOnMachine(
      machine,
      `const { Worker } = await import('node:worker_threads');
        const memory = new Float64Array(2);
        const worker = new Worker(\`require(\${JSON.stringify(binary)}).memGetInfo(0, 1000).then((r) => require('node:worker_threads').parentPort.postMessage(r)); setTimeout(() => {}, 50000)\`, { eval: true, execArgv: [] });
        print(b.simulatedMachine());
        print(await new Promise((resolve) => worker.once('message', resolve)));
        print(b.memGetInfoSync(0, memory)); print((await b.readNvml(5000)).timedOut);
        // The hung thread outlives its worker; when its call returns, the call is no longer listed as hung.
        await worker.terminate();
        let after; await until(() => (after = b.memGetInfoSync(0, memory)) === null);
        print(after); process.exit();`,
    );
    expect([before, other, after]).toEqual(['gb10', null, null]);
    const timeout = { source: 'umaprobe', call: 'cudaMemGetInfo', name: 'TIMEOUT' };
    expect(hung).toMatchObject({ ...timeout, message: expect.stringMatching(/^no answer within/) });
    expect(sync).toMatchObject({
      ...timeout,
      message: expect.stringMatching(/^an earlier call is still blocked for \d+ ms in cudaMemGetInfo$/),
    });
  });

  it('are terminated at once in the middle of a call of a minute', async () => {
    const [slowest] = await printedOnMachine(
      gb10WithFaults({ hang: [{ call: 'nvmlDeviceGetName', ms: 60_000 }] }),
      `${startAndTerminate()} let slowest = 0; for (let i = 0; i < 20; i++) slowest = Math.max(slowest, await startAndTerminate(i)); print(slowest); process.exit();`,
    );
    expect(slowest).toBeLessThan(5_000);
  });

  it(`${WORKERS} of them, terminated mid-call, leave nothing behind`, { timeout: 600_000 }, async () => {
    // Calls of 20 ms: a call that outlives its worker ends soon, and its thread must end with it.
    const machine = gb10WithFaults({
      hang: [
        { call: 'nvmlDeviceGetName', ms: 20 },
        { call: 'cuDeviceGetName', ms: 20 },
      ],
    });
    const [ended, without] = await withMachine(machine, ({ env }) => {
      // One arena: all memory of malloc is in the mapping that is measured.
      const one = { ...env, MALLOC_ARENA_MAX: '1' };
      return Promise.all([runWithBinary(resources(), one), runWithBinary(resources(''), one)]);
    });
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    const growth = ({ stdout }: ProcessResult) => {
      const [before, after] = JSON.parse(stdout) as [Resources, Resources];
      return {
        threads: after.threads - before.threads,
        descriptors: after.descriptors - before.descriptors,
        heapKiB: after.heapKiB - before.heapKiB,
      };
    };
    const ours = growth(ended);
    expect(ours).toMatchObject({ threads: 0, descriptors: 0 });
    // The same workers without the addon measure the growth of Node itself. A leaked thread would take 2.7 KiB per worker.
    if (WORKERS === MANY) expect(ours.heapKiB - growth(without).heapKiB).toBeLessThan(WORKERS);
  });
});
