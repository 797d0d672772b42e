/** The addon in worker threads: loaded, used and torn down in the middle of calls, on simulated machines. */

import { describe, expect, it } from 'vitest';
import { faulty, onMachine, runModule, said, sanitized } from './native.machine.ts';

/** The issue asks for a thousand. A sanitizer needs some 30 ms for each, and finds what it finds in the first hundred. */
const WORKERS = sanitized ? 100 : 1000;

/** `await spoil(i)`: starts a worker that is inside calls of every kind, and terminates it. Nothing else runs meanwhile. */
const spoil = `
  const { Worker } = await import('node:worker_threads');
  const { readdirSync } = await import('node:fs');
  const source = \`
    const b = require(\${JSON.stringify(binary)});
    const { parentPort } = require('node:worker_threads');
    b.hostMemory(new Float64Array(35));
    b.readFiles(['/proc/meminfo']);
    b.readNvml(5);
    b.readNvml(60000);
    b.readCuda(0, 60000);
    b.readCuda(1, 20);
    parentPort.postMessage('inside');
    setInterval(() => {}, 1000);\`;
  async function spoil(i) {
    const worker = new Worker(source, { eval: true, execArgv: [] });
    const failed = new Promise((_, reject) => worker.once('error', reject));
    await Promise.race([new Promise((resolve) => worker.once('message', resolve)), failed]);
    if (i % 3 === 0) await sleep(i % 10);
    const started = performance.now();
    await worker.terminate();
    return performance.now() - started;
  }
  const threads = () => readdirSync('/proc/self/task').length;
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const residentMiB = () => { gc(); return process.memoryUsage.rss() / 2 ** 20; };`;

describe('worker threads', () => {
  it('have lanes of their own: one that hangs does not hold up another', async () => {
    const machine = faulty({ hang: [{ call: 'nvmlDeviceGetName', ms: 60_000, times: 1 }] });
    const [here, there] = await onMachine(machine, ({ env }) =>
      said(
        `const { Worker } = await import('node:worker_threads');
        say((await b.readNvml(100)).timedOut.call);
        const worker = new Worker(\`require(\${JSON.stringify(binary)}).readNvml(5000).then((r) => require('node:worker_threads').parentPort.postMessage(r.devices[0].name))\`, { eval: true, execArgv: [] });
        worker.once('message', (name) => { say(name); process.exit(); });`,
        env,
      ),
    );
    expect([here, there]).toEqual(['nvmlDeviceGetName', 'NVIDIA GB10']);
  });

  it('are terminated at once in the middle of a call of a minute', async () => {
    const [slowest] = await onMachine(faulty({ hang: [{ call: 'nvmlDeviceGetName', ms: 60_000 }] }), ({ env }) =>
      said(
        `${spoil} let slowest = 0; for (let i = 0; i < 20; i++) slowest = Math.max(slowest, await spoil(i)); say(slowest); process.exit();`,
        env,
      ),
    );
    expect(slowest).toBeLessThan(sanitized ? 5_000 : 1_000);
  });

  it(`${WORKERS} of them, terminated mid-call, leave nothing behind`, { timeout: 300_000 }, async () => {
    // Calls of 20 ms: those that are left behind end soon after, and their threads must end with them.
    const machine = faulty({
      hang: [
        { call: 'nvmlDeviceGetName', ms: 20 },
        { call: 'cuDeviceGetName', ms: 20 },
      ],
    });
    const ended = await onMachine(machine, ({ env }) =>
      runModule(
        `${spoil}
        const measure = async () => { await sleep(1000); return { threads: threads(), descriptors: descriptors(), residentMiB: residentMiB() }; };
        for (let i = 0; i < ${WORKERS / 10}; i++) await spoil(i);
        const before = await measure();
        for (let i = 0; i < ${WORKERS}; i++) await spoil(i);
        say([before, await measure()]);`,
        env,
      ),
    );
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    const [before, after] = JSON.parse(ended.stdout) as Record<'threads' | 'descriptors' | 'residentMiB', number>[];
    expect(after?.threads).toBe(before?.threads);
    expect(after?.descriptors).toBe(before?.descriptors);
    // Node's own share: a thousand workers without the addon leave some 5 MiB as well.
    if (!sanitized) expect((after?.residentMiB ?? 0) - (before?.residentMiB ?? 0)).toBeLessThan(20);
  });
});
