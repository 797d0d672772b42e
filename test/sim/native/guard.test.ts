/** The guard's thread on simulated machines: it acts while JavaScript is blocked and while the lane is stuck. All *simulated*. */

import { describe, expect, it } from 'vitest';
import type { NativeGuard, NativeTripReport } from '../../../lib/native/contract.ts';
import { loadMachine } from '../../../lib/sim.ts';
import { faulty, onMachine, runModule, said } from '../../support/binary-on-machine.ts';

const GiB = 2 ** 30;

/** `guard(options)` with what a test does not care about; `available()`; `block(ms)`: nothing of JavaScript runs. */
const TOOLS = `
  const guard = (options) => b.guardStart({ floor: 0, pressureFull: 0, intervalUs: 5000, parent: 0, exitAfterMs: 0, wordsFd: -1, ...options });
  const host = new Float64Array(35), at = b.hostMemoryFields().indexOf('available');
  const available = () => { b.hostMemory(host); return host[at]; };
  const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  const until = async (what) => { for (let i = 0; i < 2000 && !what(); i++) await sleep(5); };
  await b.allocOpen(0, 10000);`;

describe('the guard', () => {
  it('stops and frees while JavaScript is blocked, and says so on its descriptor', async () => {
    await onMachine(loadMachine('gb10'), async ({ env, record }) => {
      const [words, trip, before, after, refused, free] = await said(
        `${TOOLS}
        const { openSync, readFileSync } = await import('node:fs');
        const path = process.env.UMAPROBE_SIM + '.words';
        const before = available(), words = openSync(path, 'w');
        say(guard({ floor: before - ${6 * GiB}, wordsFd: words })?.message ?? null);
        for (let i = 0; i < 3; i++) b.allocBlock('device', ${4 * GiB}, 60000);
        block(1500);
        const { trip } = b.guardRead();
        say(trip); say(before); say(available());
        say(await b.allocBlock('device', 4096, 1000)); say([readFileSync(path, 'utf8'), b.liveBlocks(), b.guardRead(), b.guardStop(), b.guardRead().running]);`,
        env,
      );
      expect(words).toBeNull();
      expect(trip).toMatchObject({
        reason: 'floor',
        stoppedAfterMs: expect.any(Number),
        freedAfterMs: expect.any(Number),
      });
      expect(Math.abs((after as number) - (before as number))).toBeLessThan(GiB);
      expect(refused).toMatchObject({ source: 'umaprobe', call: 'allocBlock', name: 'STOPPED' });
      const [text, live, read, , running] = free as [string, number[], NativeGuard, null, boolean];
      expect(JSON.parse(text)).toMatchObject({
        reason: 'floor',
        left: false,
        available: expect.any(Number),
        freedAfterMs: null,
      });
      expect(live).toEqual([0, 0]);
      expect(read).toMatchObject({ running: true, cpuMs: expect.any(Number) });
      expect(read.lowestAvailable).toBeLessThan((before as number) - 6 * GiB);
      expect(running).toBe(false);
      expect(record().live).toEqual([]);
    });
  });

  it('leaves with exit code 6 when the lane is stuck and memory does not come back', async () => {
    const machine = faulty({ hang: [{ call: 'cudaMalloc', ms: 60_000, after: 1 }] });
    await onMachine(machine, async ({ env }) => {
      const ended = await runModule(
        `${TOOLS} await b.allocBlock('device', ${4 * GiB}, 10000);
        // Its answer says that the lane is inside the call that hangs.
        await b.allocBlock('device', ${GiB}, 100);
        guard({ floor: available() + ${2 * GiB}, exitAfterMs: 200, wordsFd: 1 });
        block(20000);`,
        env,
      );
      expect(ended).toMatchObject({ code: 6, signal: null });
      const [tripped, left] = ended.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
      expect(tripped).toMatchObject({ reason: 'floor', left: false });
      expect(left).toMatchObject({ reason: 'floor', left: true, freedAfterMs: null });
    });
  });

  it('leaves when its parent is gone, whatever JavaScript does', async () => {
    await onMachine(loadMachine('gb10'), async ({ env, record }) => {
      // The parent waits until the child has told its number, and ends; the child blocks for good.
      const [child, words] = (await said(
        `const { spawn } = await import('node:child_process');
        const { openSync, writeFileSync, existsSync, readFileSync } = await import('node:fs');
        const path = process.env.UMAPROBE_SIM + '.parent';
        const grandchild = ${JSON.stringify(TOOLS)} + \`
          await b.allocBlock('device', ${GiB}, 10000);
          const { openSync, writeFileSync } = await import('node:fs');
          const words = openSync(\${JSON.stringify(path)} + '.words', 'a');
          guard({ parent: process.ppid, exitAfterMs: 200, wordsFd: words });
          writeFileSync(\${JSON.stringify(path)}, String(process.pid)); block(60000);\`;
        const head = "import { createRequire } from 'node:module'; const b = createRequire(" + JSON.stringify(import.meta.url.startsWith('file:') ? import.meta.url : 'file:///') + ")(" + JSON.stringify(binary) + "); const sleep = (ms) => new Promise((r) => setTimeout(r, ms));";
        const parent = spawn(process.execPath, ['--input-type=module', '-e',
          "const { spawn } = await import('node:child_process'); const { existsSync } = await import('node:fs');" +
          "spawn(process.execPath, ['--input-type=module', '-e', " + JSON.stringify(head + grandchild) + "], { stdio: 'ignore', detached: true }).unref();" +
          "const timer = setInterval(() => { if (existsSync(" + JSON.stringify(path) + ")) process.exit(0); }, 5);"], { stdio: 'inherit' });
        await new Promise((resolve) => parent.once('exit', resolve));
        const pid = Number(readFileSync(path, 'utf8'));
        const alive = () => { try { process.kill(pid, 0); return !/^State:\\s+Z/m.test(readFileSync('/proc/' + pid + '/status', 'utf8')); } catch { return false; } };
        for (let i = 0; i < 1000 && alive(); i++) await sleep(10);
        say(alive()); say(readFileSync(path + '.words', 'utf8').trim().split('\\n').map((line) => JSON.parse(line)));`,
        env,
      )) as [boolean, NativeTripReport[]];
      expect(child).toBe(false);
      expect(words).toMatchObject([
        { reason: 'parent', left: false },
        { reason: 'parent', left: true, stoppedAfterMs: expect.any(Number), freedAfterMs: expect.any(Number) },
      ]);
      expect(record().live).toEqual([]);
    });
  });

  it('leaves under pressure, with a call that does not end, before the machine is wedged', async () => {
    await onMachine(loadMachine('gb10'), async ({ env, record }) => {
      // More than there is: the last block waits for memory that does not come, and 2.5 s of that are a wedge.
      const ended = await runModule(
        `${TOOLS} guard({ pressureFull: 10, exitAfterMs: 200, wordsFd: 1 });
        for (let i = 0; i < 40; i++) b.allocBlock('device', ${4 * GiB}, 60000);
        block(60000);`,
        env,
      );
      expect(ended).toMatchObject({ code: 6, signal: null });
      const [tripped, left] = ended.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as NativeTripReport);
      expect(tripped).toMatchObject({ reason: 'pressure', left: false });
      expect(tripped?.pressureFull).toBeGreaterThanOrEqual(10);
      expect(left).toMatchObject({ reason: 'pressure', left: true, stoppedAfterMs: null });
      expect(record().wedged).toBeNull();
    });
  });

  it('stops a touch between two slices', async () => {
    const [touched, verified, live] = await onMachine(loadMachine('gb10'), ({ env }) =>
      said(
        `${TOOLS} const { block: held } = await b.allocBlock('managed', ${24 * GiB}, 10000);
        const touching = b.touchBlock(held, 1, 60000);
        const verifying = b.verifyBlock(held, 1, 60000);
        guard({ floor: available() - ${2 * GiB} });
        say(await touching); say(await verifying); await until(() => b.guardRead().trip?.freedAfterMs != null); say(b.liveBlocks());`,
        env,
      ),
    );
    expect(touched).toMatchObject({ call: 'touchBlock', name: 'STOPPED' });
    expect(verified).toMatchObject({ call: 'verifyBlock', name: 'STOPPED' });
    expect(live).toEqual([0, 0]);
  });

  it('of an idle allocator has stopped and freed at once; a new guard lets it allocate again', async () => {
    const [first, busy, stopped, again, allocated] = await onMachine(loadMachine('gb10'), ({ env }) =>
      said(
        `${TOOLS} guard({ floor: available() * 2 }); await until(() => b.guardRead().trip);
        say(b.guardRead().trip); say(guard({})); say((await b.allocBlock('device', 4096, 1000)).name);
        b.guardStop(); say(guard({ floor: 1 })); say(await b.allocBlock('device', 4096, 1000)); b.guardStop(); b.guardStop();`,
        env,
      ),
    );
    expect(first).toMatchObject({
      reason: 'floor',
      stoppedAfterMs: expect.any(Number),
      freedAfterMs: expect.any(Number),
    });
    expect(busy).toMatchObject({ call: 'guardStart', name: 'EBUSY' });
    expect(stopped).toBe('STOPPED');
    expect(again).toBeNull();
    expect(allocated).toMatchObject({ block: 1 });
  });

  it('that is not needed costs nothing: nothing read before it starts, no trip while all is well', async () => {
    const [before, after] = (await onMachine(loadMachine('gb10'), ({ env }) =>
      said(
        `${TOOLS} say(b.guardRead()); guard({ floor: ${GiB}, pressureFull: 50, parent: process.ppid });
        await until(() => b.guardRead().ticks > 20); say(b.guardRead());`,
        env,
      ),
    )) as [NativeGuard, NativeGuard];
    expect(before).toEqual({
      running: false,
      ticks: 0,
      lowestAvailable: null,
      highestPressure: null,
      cpuMs: 0,
      trip: null,
    });
    expect(after).toMatchObject({ running: true, highestPressure: 0, trip: null });
    expect(after.lowestAvailable).toBeGreaterThan(50 * GiB);
    expect(after.cpuMs).toBeGreaterThan(0);
  });

  it('is not started with options that make no sense, on a closed descriptor, or where there is nothing to see', async () => {
    const [wrong, closed] = await onMachine(loadMachine('gb10'), ({ env }) =>
      said(
        `${TOOLS} say([{ intervalUs: 999 }, { intervalUs: 1000001 }, { floor: -1 }, { floor: NaN }, { pressureFull: -1 }, { exitAfterMs: -1 }].map((o) => guard(o)?.name));
        say(guard({ wordsFd: 999 })); try { b.guardStart({}); } catch (error) { say(error.message); }`,
        env,
      ),
    );
    expect(wrong).toEqual(Array(6).fill('EINVAL'));
    expect(closed).toMatchObject({ call: 'guardStart', name: 'EBADF' });
    const [blind] = await said(
      `say(b.guardStart({ floor: 1, pressureFull: 0, intervalUs: 5000, parent: 0, exitAfterMs: 0, wordsFd: -1 }));`,
      { UMAPROBE_SIM: '/nonexistent/machine' },
    );
    expect(blind).toMatchObject({ source: 'sim', failed: true });
  });

  it('does not wait for a reader that has stopped reading', async () => {
    await onMachine(loadMachine('gb10'), async ({ env }) => {
      const [trip] = await said(
        `${TOOLS} const { spawn } = await import('node:child_process');
        // A pipe that nobody reads, filled to the brim.
        const reader = spawn('sleep', ['60'], { stdio: ['pipe', 'ignore', 'ignore'] });
        const { writeSync } = await import('node:fs'); const fd = reader.stdin._handle.fd;
        try { for (;;) writeSync(fd, 'x'.repeat(4096)); } catch {}
        guard({ floor: available() * 2, wordsFd: fd }); await until(() => b.guardRead().trip?.freedAfterMs != null);
        say(b.guardRead().trip); process.exit(reader.kill() ? 0 : 1);`,
        env,
      );
      expect(trip).toMatchObject({ reason: 'floor', freedAfterMs: expect.any(Number) });
    });
  });

  it('of a worker ends with it', async () => {
    const [before, during, after] = await onMachine(loadMachine('gb10'), ({ env }) =>
      said(
        `const { Worker } = await import('node:worker_threads'); const { readdirSync, readFileSync } = await import('node:fs');
        const guards = () => readdirSync('/proc/self/task').filter((task) => readFileSync('/proc/self/task/' + task + '/comm', 'utf8').startsWith('umaprobe-guard')).length;
        say(guards());
        const worker = new Worker(\`require(\${JSON.stringify(binary)}).guardStart({ floor: 1, pressureFull: 0, intervalUs: 5000, parent: 0, exitAfterMs: 0, wordsFd: -1 });
          require('node:worker_threads').parentPort.postMessage(0); setInterval(() => {}, 1000);\`, { eval: true, execArgv: [] });
        await new Promise((resolve) => worker.once('message', resolve));
        for (let i = 0; i < 200 && guards() === 0; i++) await sleep(10);
        say(guards()); await worker.terminate();
        for (let i = 0; i < 200 && guards() > 0; i++) await sleep(10);
        say(guards());`,
        env,
      ),
    );
    expect([before, during, after]).toEqual([0, 1, 0]);
  });
});
