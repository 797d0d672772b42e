/** The library as a program imports it: each case in a process of its own, on a simulated machine. */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs a module that may use `umaprobe`; it must print one JSON document. */
function run(body: string, env: Record<string, string> = {}): unknown {
  const script = `import * as umaprobe from 'umaprobe';\n${body}`;
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: 60_000,
  });
  if (ran.status !== 0) throw new Error(`ended with ${ran.status ?? ran.signal}: ${ran.stderr}`);
  return JSON.parse(ran.stdout);
}

/** The same on a simulated machine, booted for this one process. */
function runOn(machine: string, body: string): unknown {
  return run(
    `import { simulate } from 'umaprobe/sim';\nconst machine = await simulate(${JSON.stringify(machine)});\nObject.assign(process.env, machine.env);\n${body}\nmachine.close();`,
  );
}

describe('import', () => {
  it('opens nothing: no CUDA, no NVML, not even the binary is mapped', () => {
    const maps = run(
      `import { readFileSync } from 'node:fs'; console.log(JSON.stringify(readFileSync('/proc/self/maps', 'utf8')));`,
    ) as string;
    expect(maps).not.toMatch(/libcuda|libnvidia|umaprobe\.node|libumasim/);
  });

  it('hostMemorySync() still opens no GPU library', () => {
    const maps = run(
      `import { readFileSync } from 'node:fs'; umaprobe.hostMemorySync(); console.log(JSON.stringify(readFileSync('/proc/self/maps', 'utf8')));`,
    ) as string;
    expect(maps).toMatch(/umaprobe.*\.node/);
    expect(maps).not.toMatch(/libcuda|libnvidia/);
  });

  it('has one door: these names and no others', () => {
    expect(run('console.log(JSON.stringify(Object.keys(umaprobe).sort()));')).toEqual([
      'UmaError',
      'cacheStatus',
      'compact',
      'dropCaches',
      'evictFiles',
      'hostMemorySync',
      'layout',
      'memGetInfo',
      'memGetInfoSync',
      'prepare',
      'reclaim',
      'snapshot',
      'stress',
      'sweep',
      'watch',
    ]);
  });
});

describe('arguments', () => {
  it.each([
    ["snapshot({ memGetInfo: 'always' })", 'ERR_INVALID_ARG_VALUE', 'memGetInfo'],
    ['snapshot({ deadlineMs: 0 })', 'ERR_OUT_OF_RANGE', 'deadlineMs'],
    ["snapshot({ deadlineMs: '5' })", 'ERR_INVALID_ARG_TYPE', 'deadlineMs'],
    ['snapshot({ deadlineMs: NaN })', 'ERR_OUT_OF_RANGE', 'deadlineMs'],
    ['memGetInfo(-1)', 'ERR_OUT_OF_RANGE', 'device'],
    ['memGetInfo(0.5)', 'ERR_OUT_OF_RANGE', 'device'],
    ['Promise.resolve().then(() => umaprobe.watch({ intervalMs: 1 }))', 'ERR_OUT_OF_RANGE', 'intervalMs'],
    ["Promise.resolve().then(() => umaprobe.watch({ signal: 'no' }))", 'ERR_INVALID_ARG_TYPE', 'signal'],
  ])('%s is refused by name', (call, code, name) => {
    const ran = run(`const call = () => ${call.startsWith('Promise') ? call : `umaprobe.${call}`};
      try { await call(); console.log('{}') } catch (error) { console.log(JSON.stringify({ code: error.code, message: error.message })) }`);
    expect(ran).toMatchObject({ code, message: expect.stringContaining(name) });
  });
});

describe('watch', () => {
  it('reads at once, then at its interval, and ends when aborted in the middle of a pause', () => {
    const ran = runOn(
      'gb10',
      `const stop = new AbortController(); const at = []; const from = performance.now(); let ended = 0;
       setTimeout(() => { ended = performance.now(); stop.abort() }, 750);
       for await (const reading of umaprobe.watch({ intervalMs: 100, signal: stop.signal })) at.push([performance.now() - from, reading.simulated]);
       console.log(JSON.stringify({ at, late: performance.now() - ended }));`,
    ) as { at: [number, string][]; late: number };
    // No more than fit, and never sooner than due; how many there are is this computer's business.
    expect(ran.at.every(([, name]) => name === 'gb10')).toBe(true);
    expect(ran.at.length).toBeGreaterThanOrEqual(2);
    for (const [index, [ms]] of ran.at.entries()) expect(ms).toBeGreaterThanOrEqual(index * 100 - 5);
    expect(ran.late).toBeLessThan(5000);
  });

  it('does nothing under a signal that is aborted already', () => {
    expect(
      runOn(
        'gb10',
        `let n = 0; for await (const _ of umaprobe.watch({ signal: AbortSignal.abort() })) n++; console.log(n);`,
      ),
    ).toBe(0);
  });
});

describe('memGetInfo', () => {
  it('is literal: the context that it creates lowers what it reads', () => {
    const ran = runOn(
      'gb10',
      `const before = umaprobe.hostMemorySync().free; const later = await umaprobe.memGetInfo(); const sync = umaprobe.memGetInfoSync();
       console.log(JSON.stringify({ before, later, sync, after: umaprobe.hostMemorySync().free }));`,
    ) as {
      before: number;
      later: { free: number; total: number };
      sync: { free: number; total: number };
      after: number;
    };
    expect(ran.later).toEqual(ran.sync);
    expect(ran.later.free).toBe(ran.after);
    expect(ran.before - ran.after).toBe(268435456);
  });

  it('rejects with the native facts and the caller’s stack', () => {
    const ran = runOn(
      'no-driver',
      `async function whoAsked() { return umaprobe.memGetInfo() }
       try { await whoAsked() } catch (error) { console.log(JSON.stringify({ code: error.code, uma: error instanceof umaprobe.UmaError, stack: error.stack })) }`,
    );
    expect(ran).toMatchObject({
      code: 'ERR_UMA_LIBRARY_MISSING',
      uma: true,
      stack: expect.stringContaining('whoAsked'),
    });
  });

  it('asking the second device creates no context on the first (cudaSetDevice does since CUDA 12)', () => {
    const live = run(`import { loadMachine, simulate } from 'umaprobe/sim';
      const machine = structuredClone(loadMachine('h200'));
      machine.devices.push({ ...structuredClone(machine.devices[0]), uuid: 'GPU-2', pciBusId: '0000:07:00.0' });
      const two = simulate(machine); Object.assign(process.env, two.env);
      umaprobe.memGetInfoSync(1); await umaprobe.memGetInfo(1);
      console.log(JSON.stringify(two.record().live.map(({ kind, device }) => [kind, device]))); two.close();`);
    expect(live).toEqual([['context', 1]]);
  });

  it('a device that is not there is a clear error', () => {
    const ran = runOn(
      'gb10',
      `try { await umaprobe.memGetInfo(7) } catch (error) { console.log(JSON.stringify({ code: error.code, status: error.status })) }`,
    );
    expect(ran).toEqual({ code: 'ERR_UMA_NO_DEVICE', status: 101 });
  });
});

describe('a library that hangs', () => {
  it.each([
    ['gb10-hang', 'auto'], // every NVML call blocks
    ['gb10-cuda-hang', 'inProcess'], // CUDA blocks once a context is needed
  ])('%s: ten snapshots in a row return within their deadlines, the host complete', (machine, memGetInfo) => {
    const ran = runOn(
      machine,
      `import { readFile } from 'node:fs/promises';
       const taken = []; for (let i = 0; i < 10; i++) taken.push(await umaprobe.snapshot({ deadlineMs: 300, memGetInfo: '${memGetInfo}' }));
       const from = performance.now(); await Promise.all(Array.from({ length: 8 }, () => readFile('/proc/self/comm'))); const pool = performance.now() - from;
       const last = taken.at(-1);
       console.log(JSON.stringify({ durations: taken.map((t) => t.durationMs), available: last.host.available, libraries: last.libraries, devices: last.devices.map((d) => d.from), pool }));
       machine.close(); process.exit(0);`,
    ) as {
      durations: number[];
      available: number;
      libraries: Record<string, { state: string; reason: string | null }>;
      devices: Record<string, string>[];
      pool: number;
    };
    expect(Math.max(...ran.durations)).toBeLessThan(3000); // they hang for ten minutes
    // Only the first waits: afterwards the library is known to be stuck and is not asked again until it answers.
    expect(ran.durations.slice(1).reduce((sum, ms) => sum + ms, 0)).toBeLessThan(9 * 300 * 0.8);
    expect(ran.available).toBeGreaterThan(0);
    const words = JSON.stringify([ran.libraries, ran.devices]);
    expect(words).toContain('ERR_UMA_TIMEOUT');
    expect(ran.pool).toBeLessThan(1000);
  });
});
