/** The allocator on a real GPU: the same calls as on the simulated machines; all memory is freed. */

import { describe, expect, it } from 'vitest';
import type { NativeAllocator } from '../../lib/core/native/contract.ts';
import { printedBy } from '../support/binary-on-machine.ts';
import { computeProcesses, hasGpu, noGpu, usedMiB } from '../support/gpu.ts';
import { differences } from '../support/pattern.ts';
import { GUARD } from '../support/probe-guard.ts';
import { GiB, MiB } from '../support/units.ts';

const OPEN = 'const opened = await b.allocOpen(0, 60000); if (opened.failed) throw new Error(JSON.stringify(opened));';
const DRIVER_ONLY = { UMAPROBE_CUDART: '/nonexistent/libcudart.so' };

const opened = hasGpu ? ((await printedBy(`${OPEN} print(opened);`))[0] as NativeAllocator) : null;
const noSystem = opened && typeof opened.kinds.system !== 'string' ? opened.kinds.system.message : null;

/** A program that allocates, fills, verifies, frees, and prints each result. */
const exercise = (kind: string, bytes: number) => `${OPEN}
  const { block, ...failure } = await b.allocBlock('${kind}', ${bytes}, 60000);
  if (!block) throw new Error(JSON.stringify(failure));
  const check = async (seed) => { const { mismatches, firstMismatch } = await b.verifyBlock(block, seed, 60000); return [mismatches, firstMismatch]; };
  for (const seed of [1, 2]) { await b.touchBlock(block, seed, 60000); print(await check(seed)); }
  print(await check(3));
  print(b.liveBlocks()); const free = await b.freeBlock(block, 60000); if (free.failed) throw new Error(JSON.stringify(free)); print(b.liveBlocks());`;

/** Bytes whose differences are counted one by one. */
const COUNTED = 2 * MiB;

async function expectExercised(kind: string, bytes: number, env: NodeJS.ProcessEnv = {}) {
  const [first, second, wrong, ...live] = (await printedBy(exercise(kind, bytes), env)) as [number, number | null][];
  expect([first, second]).toEqual([
    [0, null],
    [0, null],
  ]);
  if (bytes <= COUNTED) expect(wrong).toEqual(differences(bytes, 2n, 3n));
  // One in 256 bytes is equal under another seed.
  expect((wrong?.[0] ?? 0) / bytes).toBeGreaterThan(0.99);
  expect(live).toEqual([
    [1, bytes],
    [0, 0],
  ]);
}

describe.skipIf(!hasGpu)(`the allocator on a real GPU${noGpu}`, () => {
  it('has its kernels and the runtime’s functions', () => {
    expect(opened).toMatchObject({
      kernel: 'kernel',
      kinds: { device: 'cudaMalloc', managed: 'cudaMallocManaged', pinned: 'cudaHostAlloc' },
      memGetInfo: [expect.any(Number), expect.any(Number)],
    });
  });

  it.each([
    ['device', 1],
    ['device', 17],
    ['device', MiB + 3],
    ['pinned', MiB + 5],
    ['device', GiB],
    ['device', 10 * GiB],
    ['managed', 2 * GiB],
    ['pinned', 256 * MiB + 1],
  ])(
    '%s memory of %i bytes is filled, verified and found wrong under another seed',
    { timeout: 180_000 },
    async (kind, bytes) => {
      await expectExercised(kind, bytes);
    },
  );

  it.skipIf(noSystem !== null)(`system memory${noSystem === null ? '' : ` (skipped: ${noSystem})`}`, async () => {
    await expectExercised('system', 256 * MiB + 1);
  });

  it('works with the driver alone', { timeout: 180_000 }, async () => {
    const [over] = (await printedBy(`${OPEN} print(opened);`, DRIVER_ONLY)) as [NativeAllocator];
    expect(over).toMatchObject({ kernel: 'kernel', kinds: { device: 'cuMemAlloc_v2', managed: 'cuMemAllocManaged' } });
    for (const kind of ['device', 'managed', 'pinned']) await expectExercised(kind, 64 * MiB + 5, DRIVER_ONLY);
  });

  it('reports out of memory and continues', async () => {
    for (const env of [{}, DRIVER_ONLY]) {
      const [full, after] = await printedBy(
        `${OPEN} print(await b.allocBlock('device', ${2 ** 50}, 60000));
        const { block } = await b.allocBlock('device', ${MiB}, 60000); await b.touchBlock(block, 9, 60000); print(await b.verifyBlock(block, 9, 60000));`,
        env,
      );
      expect(full).toMatchObject({ status: 2 });
      expect(after).toMatchObject({ mismatches: 0 });
    }
  });

  it('the guard frees device memory while JavaScript is blocked', async () => {
    const [held, trip, left] = (await printedBy(
      `${OPEN} const host = new Float64Array(35); b.hostMemory(host); const available = host[b.hostMemoryFields().indexOf('available')];
      const [free] = await b.memGetInfo(0, 10000);
      await b.allocBlock('device', ${4 * GiB}, 60000); print(free - (await b.memGetInfo(0, 10000))[0]);
      ${GUARD} guard({ floorBytes: available * 2 });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
      print(b.guardRead().trip); print(free - (await b.memGetInfo(0, 10000))[0]);`,
    )) as [number, { reason: string; freedAfterMs: number | null }, number];
    expect(held).toBeGreaterThanOrEqual(4 * GiB);
    expect(trip).toMatchObject({ reason: 'floor', freedAfterMs: expect.any(Number) });
    expect(left).toBeLessThan(64 * MiB);
  });

  it('a terminated worker frees its blocks while its process continues', async () => {
    const [held, left] = (await printedBy(
      `${OPEN} const { Worker } = await import('node:worker_threads'); const [free] = await b.memGetInfo(0, 10000);
      const worker = new Worker(\`const b = require(\${JSON.stringify(binary)});
        (async () => { await b.allocOpen(0, 60000); await b.allocBlock('device', ${4 * GiB}, 60000);
          require('node:worker_threads').parentPort.postMessage(0); setInterval(() => {}, 1000); })();\`, { eval: true, execArgv: [] });
      await new Promise((resolve) => worker.once('message', resolve));
      print(free - (await b.memGetInfo(0, 10000))[0]); await worker.terminate();
      let left; await until(async () => (left = free - (await b.memGetInfo(0, 10000))[0]) <= ${64 * MiB}); print(left);`,
    )) as [number, number];
    expect(held).toBeGreaterThanOrEqual(4 * GiB);
    expect(left).toBeLessThan(64 * MiB);
  });

  it('processes that exit with live blocks leave no memory in use and no entry in NVML’s list', async () => {
    const before = usedMiB();
    await printedBy(`${OPEN} await b.allocBlock('device', ${8 * GiB}, 60000); await b.touchBlock(1, 1, 60000);`);
    expect(computeProcesses()).toBe('');
    expect(Math.abs(usedMiB() - before)).toBeLessThan(8);
  });
});
