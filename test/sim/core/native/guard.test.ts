/** The guard's thread: it acts while JavaScript is blocked and while the CUDA thread hangs. All *simulated*. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { NativeGuard, ProbeTrip } from '../../../../lib/core/native/contract.ts';
import { BINARY_PRELUDE, printedBy, printedOnMachine, runWithBinary } from '../../../support/binary-on-machine.ts';
import { gb10WithFaults, machineWith, withMachine } from '../../../support/machines.ts';
import { GUARD, PROBE_RULES } from '../../../support/probe-guard.ts';
import { isRunning, parseLines, requireSuccess } from '../../../support/processes.ts';
import { GiB, MiB } from '../../../support/units.ts';
import { waitFor } from '../../../support/wait.ts';

/** `available()`; `block(ms)` blocks JavaScript. */
const TOOLS = `${GUARD}
  const host = new Float64Array(35), at = b.hostMemoryFields().indexOf('available');
  const available = () => { b.hostMemory(host); return host[at]; };
  const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

  await b.allocOpen(0, 10000);`;

describe('the guard', () => {
  it('stops and frees while JavaScript is blocked, and reports it on its descriptor', async () => {
    await withMachine('gb10', async ({ env, record }) => {
      const [failure, trip, before, after, refused, free] = await printedBy(
        `${TOOLS}
        const { openSync, readFileSync } = await import('node:fs');
        const path = process.env.UMAPROBE_SIM + '.report';
        const before = available(), fd = openSync(path, 'w');
        print(guard({ floorBytes: before - ${6 * GiB}, reportFd: fd })?.message ?? null);
        for (let i = 0; i < 3; i++) b.allocBlock('device', ${4 * GiB}, 60000);
        block(1500);
        const { trip } = b.guardRead();
        print(trip); print(before); print(available());
        print(await b.allocBlock('device', 4096, 1000)); print([readFileSync(path, 'utf8'), b.liveBlocks(), b.guardRead(), b.guardStop(), b.guardRead().running]);`,
        env,
      );
      expect(failure).toBeNull();
      expect(trip).toMatchObject({
        reason: 'floor',
        stoppedAfterMs: expect.any(Number),
        freedAfterMs: expect.any(Number),
      });
      expect(Math.abs((after as number) - (before as number))).toBeLessThan(GiB);
      expect(refused).toMatchObject({ source: 'umaprobe', call: 'allocBlock', name: 'STOPPED' });
      const [text, live, read, , running] = free as [string, number[], NativeGuard, null, boolean];
      expect(JSON.parse(text)).toEqual({
        reason: 'floor',
        available: expect.any(Number),
        freeInCpuLists: expect.any(Number),
        pressureFull: expect.any(Number),
        stoppedAfterMs: null,
        freedAfterMs: null,
        atMs: expect.any(Number),
        left: false,
      });
      expect(live).toEqual([0, 0]);
      expect(read).toMatchObject({ running: true, cpuMs: expect.any(Number) });
      expect(read.lowestAvailable).toBeLessThan((before as number) - 6 * GiB);
      expect(running).toBe(false);
      expect(record().live).toEqual([]);
    });
  });

  it('exits with code 6 when the CUDA thread hangs and memory is not freed', async () => {
    const machine = gb10WithFaults({ hang: [{ call: 'cudaMalloc', ms: 60_000, after: 1 }] });
    await withMachine(machine, async ({ env }) => {
      const ended = await runWithBinary(
        `${TOOLS} await b.allocBlock('device', ${4 * GiB}, 10000);
        // After its answer, the CUDA thread is inside the hung call.
        await b.allocBlock('device', ${GiB}, 1000);
        guard({ floorBytes: available() + ${2 * GiB}, exitAfterMs: 200, reportFd: 1 });
        block(20000);`,
        env,
      );
      expect(ended).toMatchObject({ code: 6, signal: null });
      const [tripped, exited] = parseLines<object>(ended.stdout);
      expect(tripped).toMatchObject({ reason: 'floor', left: false });
      expect(exited).toMatchObject({ reason: 'floor', left: true, freedAfterMs: null });
    });
  });

  it('exits when memory comes back for a moment, and nothing of the process was freed', async () => {
    const machine = gb10WithFaults({ hang: [{ call: 'cudaMalloc', ms: 60_000, after: 1 }] });
    await withMachine(machine, async ({ env }) => {
      const ended = await runWithBinary(
        `${TOOLS} await b.allocBlock('device', ${4 * GiB}, 10000);
        await b.allocBlock('device', ${GiB}, 1000);
        b.simHold(${8 * GiB});
        guard({ floorBytes: available() + ${2 * GiB}, exitAfterMs: 1000, reportFd: 1 });
        await until(() => b.guardRead().trip);
        b.simHold(0);
        const { ticks } = b.guardRead(); await until(() => b.guardRead().ticks > ticks + 5);
        b.simHold(${8 * GiB});
        block(20000);`,
        env,
      );
      expect(ended).toMatchObject({ code: 6, signal: null });
      expect(parseLines<object>(ended.stdout).at(-1)).toMatchObject({
        reason: 'floor',
        left: true,
        freedAfterMs: null,
      });
    });
  });

  it('exits where all of it is freed and memory is below the floor still', async () => {
    await withMachine('gb10', async ({ env }) => {
      const ended = await runWithBinary(
        `${TOOLS} guard({ floorBytes: available() * 2, exitAfterMs: 200, reportFd: 1 }); block(20000);`,
        env,
      );
      expect(ended).toMatchObject({ code: 6, signal: null });
      const freedAfterMs = expect.any(Number);
      expect(parseLines<object>(ended.stdout).at(-1)).toMatchObject({ reason: 'floor', left: true, freedAfterMs });
    });
  });

  it('exits when its parent is gone, even while JavaScript is blocked', async () => {
    await withMachine('gb10', async ({ env, record, statePath }) => {
      const pidFile = `${statePath}.pid`;
      const reportFile = `${statePath}.report`;
      // The guarded process blocks for good. Its parent ends as soon as the guard runs.
      const guarded = `${BINARY_PRELUDE} ${TOOLS}
        await b.allocBlock('device', ${GiB}, 10000);
        const { openSync, writeFileSync } = await import('node:fs');
        guard({ parent: process.ppid, exitAfterMs: 200, reportFd: openSync(${JSON.stringify(reportFile)}, 'a') });
        writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); block(60000);`;
      const parent = `
        import { spawn } from 'node:child_process';
        import { existsSync } from 'node:fs';
        const args = ['--input-type=module', '-e', ${JSON.stringify(guarded)}];
        spawn(process.execPath, args, { stdio: 'ignore', detached: true }).unref();
        setInterval(() => { if (existsSync(${JSON.stringify(pidFile)})) process.exit(0); }, 5);`;
      requireSuccess(await runWithBinary(parent, env));
      const pid = Number(readFileSync(pidFile, 'utf8'));
      await waitFor('the end of the guarded process', () => !isRunning(pid));
      expect(parseLines(readFileSync(reportFile, 'utf8'))).toMatchObject([
        { reason: 'parent', left: false },
        { reason: 'parent', left: true, stoppedAfterMs: expect.any(Number), freedAfterMs: expect.any(Number) },
      ]);
      expect(record().live).toEqual([]);
    });
  });

  it('exits under pressure before the machine is wedged, although a call hangs', async () => {
    await withMachine('gb10', async ({ env, record }) => {
      // More than the machine has: the last block waits for memory in vain; after 2.5 s the machine is wedged.
      const ended = await runWithBinary(
        `${TOOLS} guard({ pressureFullPercent: 10, exitAfterMs: 200, reportFd: 1 });
        for (let i = 0; i < 40; i++) b.allocBlock('device', ${4 * GiB}, 60000);
        block(60000);`,
        env,
      );
      expect(ended).toMatchObject({ code: 6, signal: null });
      const [tripped, exited] = parseLines<ProbeTrip>(ended.stdout);
      expect(tripped).toMatchObject({ reason: 'pressure', left: false });
      expect(tripped?.pressureFull).toBeGreaterThanOrEqual(10);
      expect(exited).toMatchObject({ reason: 'pressure', left: true, stoppedAfterMs: null });
      expect(record().wedged).toBeNull();
    });
  });

  describe('with free pages in the processors’ lists', () => {
    const page = 4096;
    /** As Linux 6.17 writes it: `pages` in the list of each processor of each zone, and numbers that are no list. */
    const zoneinfo = (processors: number, pages: number) =>
      ['DMA', 'Normal']
        .map(
          (zone) =>
            `Node 0, zone ${zone.padStart(8)}\n  per-node stats\n      nr_inactive_anon 91857\n  pages free     3840\n        boost    0\n` +
            `        protection: (0, 3018)\n      nr_free_pages 3840\n  pagesets\n${Array.from(
              { length: processors },
              (_, cpu) =>
                `    cpu: ${cpu}\n              count:    ${pages}\n              high:     28\n              batch:    1\n              high_min: 28\n              high_max: 240\n  vm stats threshold: 4\n`,
            ).join('')}  node_unreclaimable:  0\n  start_pfn:           1\n`,
        )
        .join('');
    const run = async (text: string, missing: number, limitMs = 10_000) => {
      const machine = machineWith('gb10', { files: [{ path: '/proc/zoneinfo', text }] });
      const [trip] = await printedOnMachine(
        machine,
        `${TOOLS} guard({ floorBytes: available() + ${missing}, exitAfterMs: 0 });
        for (let ms = 0; ms < ${limitMs} && b.guardRead().trip === null; ms += 5) await sleep(5);
        print(b.guardRead().trip);`,
      );
      return trip;
    };

    it('trips only if MemAvailable is below the floor with them, and reports them', async () => {
      const lists = 2 * 170 * 1000 * page;
      expect(zoneinfo(170, 1000).length).toBeGreaterThan(50_000);
      expect(await run(zoneinfo(170, 1000), lists - 256 * MiB, 400)).toBeNull();
      expect(await run(zoneinfo(170, 1000), lists + 256 * MiB)).toMatchObject({
        reason: 'floor',
        freeInCpuLists: lists,
      });
    });

    it.each([
      ['a list that is no number', zoneinfo(4, 1000).replace('count:    1000\n', 'count:    many\n')],
      ['no list', 'Node 0, zone   Normal\n  pages free     3840\n        count:   99\n'],
    ])('trips without them where the kernel’s text has %s', async (_, text) => {
      expect(await run(text, GiB)).toMatchObject({ reason: 'floor', freeInCpuLists: null });
    });
  });

  it('stops a touch between two slices', async () => {
    const [touched, verified, live] = await printedOnMachine(
      'gb10',
      `${TOOLS} const { block: held } = await b.allocBlock('managed', ${24 * GiB}, 10000);
        const touching = b.touchBlock(held, 1, 60000);
        const verifying = b.verifyBlock(held, 1, 60000);
        guard({ floorBytes: available() - ${2 * GiB} });
        print(await touching); print(await verifying); await until(() => b.guardRead().trip?.freedAfterMs != null); print(b.liveBlocks());`,
    );
    expect(touched).toMatchObject({ call: 'touchBlock', name: 'STOPPED' });
    expect(verified).toMatchObject({ call: 'verifyBlock', name: 'STOPPED' });
    expect(live).toEqual([0, 0]);
  });

  it('stops and frees an idle allocator at once; a new guard allows allocations again', async () => {
    const [first, busy, stopped, again, allocated] = await printedOnMachine(
      'gb10',
      `${TOOLS} guard({ floorBytes: available() * 2 }); await until(() => b.guardRead().trip);
        print(b.guardRead().trip); print(guard({})); print((await b.allocBlock('device', 4096, 1000)).name);
        b.guardStop(); print(guard({ floorBytes: 1 })); print(await b.allocBlock('device', 4096, 1000)); b.guardStop(); b.guardStop();`,
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

  it('reads nothing before it starts, and does not trip while memory is free', async () => {
    const [before, after] = (await printedOnMachine(
      'gb10',
      `${TOOLS} print(b.guardRead()); guard({ floorBytes: ${GiB}, pressureFullPercent: 50, parent: process.ppid });
        await until(() => b.guardRead().ticks > 20); print(b.guardRead());`,
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

  it('does not start with invalid options, on a closed descriptor or on an unreachable machine', async () => {
    const [wrong, closed, messages] = await printedOnMachine(
      'gb10',
      `${TOOLS} print([{ parent: -1 }, { reportFd: -2 }, { floorBytes: -1 }, { floorBytes: NaN }, { pressureFullPercent: -1 }, { exitAfterMs: -1 }].map((o) => guard(o)?.name));
        print(guard({ reportFd: 999 }));
        print(${JSON.stringify(Object.keys(PROBE_RULES))}.map((name) => { try { return guard({ [name]: undefined }); } catch (error) { return error.message; } }));`,
    );
    expect(wrong).toEqual(Array(6).fill('EINVAL'));
    const missing = Object.keys(PROBE_RULES).map((name) => `umaprobe binding: option ${name} must be a number`);
    expect(messages).toEqual(missing);
    expect(closed).toMatchObject({ call: 'guardStart', name: 'EBADF' });
    const [blind] = await printedBy(`${GUARD} print(guard({ floorBytes: 1 }));`, {
      UMAPROBE_SIM: '/nonexistent/machine',
    });
    expect(blind).toMatchObject({ source: 'sim', failed: true });
  });

  it('does not wait for a reader of its descriptor that has stopped reading', async () => {
    await withMachine('gb10', async ({ env }) => {
      const [trip] = await printedBy(
        `${TOOLS} const { spawn } = await import('node:child_process');
        // A full pipe without a reader.
        const reader = spawn('sleep', ['60'], { stdio: ['pipe', 'ignore', 'ignore'] });
        const { writeSync } = await import('node:fs'); const fd = reader.stdin._handle.fd;
        try { for (;;) writeSync(fd, 'x'.repeat(4096)); } catch {}
        guard({ floorBytes: available() * 2, reportFd: fd }); await until(() => b.guardRead().trip?.freedAfterMs != null);
        print(b.guardRead().trip); process.exit(reader.kill() ? 0 : 1);`,
        env,
      );
      expect(trip).toMatchObject({ reason: 'floor', freedAfterMs: expect.any(Number) });
    });
  });

  it('ends with its worker', async () => {
    const [before, during, after] = await printedOnMachine(
      'gb10',
      `const { Worker } = await import('node:worker_threads'); const { readdirSync, readFileSync } = await import('node:fs');
        const guards = () => readdirSync('/proc/self/task').filter((task) => readFileSync('/proc/self/task/' + task + '/comm', 'utf8').startsWith('umaprobe-guard')).length;
        print(guards());
        const worker = new Worker(\`const b = require(\${JSON.stringify(binary)}); ${GUARD} guard({ floorBytes: 1 });
          require('node:worker_threads').parentPort.postMessage(0); setInterval(() => {}, 1000);\`, { eval: true, execArgv: [] });
        await new Promise((resolve) => worker.once('message', resolve));
        await until(() => guards() > 0);
        print(guards()); await worker.terminate();
        await until(() => guards() === 0);
        print(guards());`,
    );
    expect([before, during, after]).toEqual([0, 1, 0]);
  });
});
