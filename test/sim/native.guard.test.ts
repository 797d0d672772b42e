/** The guard's thread on simulated machines: it acts while JavaScript is blocked and while the lane is stuck. All *simulated*. */

import { describe, expect, it } from 'vitest';
import type { NativeGuard } from '../../lib/native.types.ts';
import { loadMachine } from '../../lib/sim.ts';
import { faulty, onMachine, runModule, said } from './native.machine.ts';

const GiB = 2 ** 30;

/** `guard(options)` with what a test does not care about; `available()`; `block(ms)`: nothing of JavaScript runs. */
const TOOLS = `
  const guard = (options) => b.guardStart({ floor: 0, pressureFull: 0, intervalUs: 5000, parent: false, exitAfterMs: 0, wordsFd: -1, ...options });
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
        b.allocBlock('device', ${GiB}, 60000);
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
});
