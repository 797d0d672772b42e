/** The library as a program imports it: each case in a process of its own, on a simulated machine. */

import { beforeAll, describe, expect, it } from 'vitest';
import { evaluatePackage } from '../../../support/package-on-machine.ts';

/** Evaluates on a simulated machine that the program enters by its environment variables, without activate(). */
function evaluateInEnvironment<T>(machine: string, body: string): Promise<T> {
  return evaluatePackage(`
    const { simulate } = await import('umaprobe/sim');
    const simulation = simulate(${JSON.stringify(machine)});
    Object.assign(process.env, simulation.env);
    try {
      ${body}
    } finally {
      simulation.close();
    }`);
}

describe('import', () => {
  const imports = "import { readFileSync } from 'node:fs';";

  it('opens nothing: no CUDA, no NVML, not even the binary is mapped', async () => {
    const maps = await evaluatePackage<string>("return readFileSync('/proc/self/maps', 'utf8');", { imports });
    expect(maps).not.toMatch(/libcuda|libnvidia|umaprobe\.node|libumasim/);
  });

  it('hostMemorySync() still opens no GPU library', async () => {
    const maps = await evaluatePackage<string>(
      "umaprobe.hostMemorySync(); return readFileSync('/proc/self/maps', 'utf8');",
      { imports },
    );
    expect(maps).toMatch(/umaprobe.*\.node/);
    expect(maps).not.toMatch(/libcuda|libnvidia/);
  });
});

describe('arguments', () => {
  const REFUSED = [
    ["snapshot({ memGetInfo: 'always' })", 'ERR_INVALID_ARG_VALUE', 'memGetInfo'],
    ['snapshot({ deadlineMs: 0 })', 'ERR_OUT_OF_RANGE', 'deadlineMs'],
    ["snapshot({ deadlineMs: '5' })", 'ERR_INVALID_ARG_TYPE', 'deadlineMs'],
    ['snapshot({ deadlineMs: NaN })', 'ERR_OUT_OF_RANGE', 'deadlineMs'],
    ['memGetInfo(-1)', 'ERR_OUT_OF_RANGE', 'device'],
    ['memGetInfo(0.5)', 'ERR_OUT_OF_RANGE', 'device'],
    ['watch({ intervalMs: 1 })', 'ERR_OUT_OF_RANGE', 'intervalMs'],
    ["watch({ signal: 'no' })", 'ERR_INVALID_ARG_TYPE', 'signal'],
  ] as const;
  let refused: { code?: string; message?: string }[] = [];
  beforeAll(async () => {
    refused = await evaluatePackage(`
      const caught = async (call) => {
        try { await call(); return {}; } catch (error) { return { code: error.code, message: error.message }; }
      };
      return [${REFUSED.map(([call]) => `await caught(() => umaprobe.${call})`).join()}];`);
  });

  it.each(REFUSED)('%s is refused by name', (call, code, name) => {
    const answer = refused[REFUSED.findIndex(([each]) => each === call)];
    expect(answer).toMatchObject({ code, message: expect.stringContaining(name) });
  });
});

describe('watch', () => {
  it('reads at once, then at its interval, and ends when aborted in the middle of a pause', async () => {
    const { at, readings } = await evaluateInEnvironment<{ at: [number, string][]; readings: number }>(
      'gb10',
      `const at = []; const from = performance.now();
       for await (const reading of umaprobe.watch({ intervalMs: 100 })) {
         at.push([performance.now() - from, reading.simulated]);
         if (at.length === 3) break;
       }
       const stop = new AbortController(); let readings = 0;
       for await (const _ of umaprobe.watch({ intervalMs: 3600000, signal: stop.signal })) {
         readings++;
         setImmediate(() => stop.abort());
       }
       return { at, readings };`,
    );
    expect(at.map(([, name]) => name)).toEqual(['gb10', 'gb10', 'gb10']);
    // Readings are never early.
    for (const [index, [ms]] of at.entries()) expect(ms).toBeGreaterThanOrEqual(index * 100 - 5);
    expect(readings).toBe(1);
  });

  it('does nothing under a signal that is aborted already', async () => {
    expect(
      await evaluateInEnvironment(
        'gb10',
        `let n = 0; for await (const _ of umaprobe.watch({ signal: AbortSignal.abort() })) n++; return n;`,
      ),
    ).toBe(0);
  });
});

describe('snapshot', () => {
  it('after snapshot lets the event loop turn, however fast they are answered', async () => {
    const longest = await evaluateInEnvironment<number>(
      'no-driver',
      `let turns = 0, still = 0, longest = 0, turning; const turn = () => { turns++; turning = setImmediate(turn); }; turn();
       for (let taken = 0; taken < 500; taken++) {
         const before = turns; await umaprobe.snapshot();
         still = turns === before ? still + 1 : 0; longest = Math.max(longest, still);
       }
       clearImmediate(turning); return longest;`,
    );
    expect(longest).toBeLessThan(8);
  });
});

describe('memGetInfo', () => {
  it('is literal: the context that it creates lowers what it reads', async () => {
    const { after, before, later, sync } = await evaluateInEnvironment<{
      before: number;
      later: { free: number; total: number };
      sync: { free: number; total: number };
      after: number;
    }>(
      'gb10',
      `const before = umaprobe.hostMemorySync().free; const later = await umaprobe.memGetInfo(); const sync = umaprobe.memGetInfoSync();
       return { before, later, sync, after: umaprobe.hostMemorySync().free };`,
    );
    expect(later).toEqual(sync);
    expect(later.free).toBe(after);
    expect(before - after).toBe(268435456);
  });

  it('rejects with the native facts and the caller’s stack', async () => {
    const error = await evaluateInEnvironment(
      'no-driver',
      `async function whoAsked() { return umaprobe.memGetInfo() }
       try { await whoAsked() } catch (error) { return { code: error.code, uma: error instanceof umaprobe.UmaError, stack: error.stack }; }`,
    );
    expect(error).toMatchObject({
      code: 'ERR_UMA_LIBRARY_MISSING',
      uma: true,
      stack: expect.stringContaining('whoAsked'),
    });
  });

  it('for the second device creates no context on the first (cudaSetDevice does since CUDA 12)', async () => {
    const live = await evaluatePackage(`const { loadMachine, simulate } = await import('umaprobe/sim');
      const machine = structuredClone(loadMachine('h200'));
      machine.devices.push({ ...structuredClone(machine.devices[0]), uuid: 'GPU-00000000-0000-0000-0000-000000000002', pciBusId: '0000:07:00.0' });
      const two = simulate(machine); Object.assign(process.env, two.env);
      umaprobe.memGetInfoSync(1); await umaprobe.memGetInfo(1);
      try { return two.record().live.map(({ kind, device }) => [kind, device]); } finally { two.close(); }`);
    expect(live).toEqual([['context', 1]]);
  });

  it('reports a missing device', async () => {
    const error = await evaluateInEnvironment(
      'gb10',
      `try { await umaprobe.memGetInfo(7) } catch (error) { return { code: error.code, status: error.status }; }`,
    );
    expect(error).toEqual({ code: 'ERR_UMA_NO_DEVICE', status: 101 });
  });
});

describe('a library that hangs', () => {
  it.each([
    ['gb10-hang', 'auto'], // every NVML call blocks
    ['gb10-cuda-hang', 'inProcess'], // CUDA blocks once a context is needed
  ])('%s: ten snapshots in a row return within their deadlines, the host complete', async (machine, memGetInfo) => {
    const { available, devices, durations, libraries, pool } = await evaluateInEnvironment<{
      durations: number[];
      available: number;
      libraries: Record<string, { state: string; reason: string | null }>;
      devices: Record<string, string>[];
      pool: number;
    }>(
      machine,
      `const { readFile } = await import('node:fs/promises');
       const taken = []; for (let i = 0; i < 10; i++) taken.push(await umaprobe.snapshot({ deadlineMs: 300, memGetInfo: '${memGetInfo}' }));
       const from = performance.now(); await Promise.all(Array.from({ length: 8 }, () => readFile('/proc/self/comm'))); const pool = performance.now() - from;
       const last = taken.at(-1);
       return { durations: taken.map((t) => t.durationMs), available: last.host.available, libraries: last.libraries, devices: last.devices.map((d) => d.from), pool };`,
    );
    expect(Math.max(...durations)).toBeLessThan(3000); // they hang for ten minutes
    // Only the first waits: later ones know that the library hangs and do not call it until it answers.
    expect(durations.slice(1).reduce((sum, ms) => sum + ms, 0)).toBeLessThan(9 * 300 * 0.8);
    expect(available).toBeGreaterThan(0);
    expect(JSON.stringify([libraries, devices])).toContain('ERR_UMA_TIMEOUT');
    expect(pool).toBeLessThan(1000);
  });
});
