/** Failures of the allocator, and what remains after them. All *simulated*. */

import { describe, expect, it } from 'vitest';
import type { NativeAllocator } from '../../../../lib/core/native/contract.ts';
import { loadMachine, type Machine } from '../../../../lib/sim.ts';
import { printedBy, printedOnMachine, runWithBinary } from '../../../support/binary-on-machine.ts';
import { gb10WithFaults, withMachine } from '../../../support/machines.ts';
import { GiB } from '../../../support/units.ts';

const OPEN = 'const opened = await b.allocOpen(0, 10000);';

/** A GB10 whose device has these attributes. */
function withAttributes(attributes: object, faults: object = {}): Machine {
  const machine = gb10WithFaults(faults);
  const devices = machine.devices.map((device) => ({ ...device, attributes: { ...device.attributes, ...attributes } }));
  return { ...machine, devices };
}

async function openedOn(machine: Machine): Promise<NativeAllocator> {
  const [opened] = await printedOnMachine(machine, `${OPEN} print(opened);`);
  return opened as NativeAllocator;
}

describe('an unavailable kind', () => {
  it.each([
    ['managed', 'managedMemory'],
    ['pinned', 'canMapHostMemory'],
    ['system', 'pageableMemoryAccess'],
  ])('%s, on a device whose %s is 0, has a reason, which allocBlock returns too', async (kind, attribute) => {
    for (const missingLibraries of [[], ['cudart']] satisfies Machine['faults']['missingLibraries'][]) {
      const [kinds, refused] = (await printedOnMachine(
        withAttributes({ [attribute]: 0 }, { missingLibraries }),
        `${OPEN} print(opened.kinds); print(await b.allocBlock('${kind}', 4096, 1000)); print(b.liveBlocks());`,
      )) as [NativeAllocator['kinds'], unknown];
      const reason = {
        source: missingLibraries.length === 0 ? 'cudart' : 'cuda',
        name: 'NOT_SUPPORTED',
        message: `the device's attribute ${attribute} is 0`,
      };
      expect(kinds).toMatchObject({ device: expect.any(String), [kind]: reason });
      expect(refused).toMatchObject(reason);
    }
  });

  it('is the only one affected by a missing function', async () => {
    const { kinds } = await openedOn(gb10WithFaults({ missingSymbols: ['cudaMallocManaged', 'cudaHostAlloc'] }));
    expect(kinds).toMatchObject({
      device: 'cudaMalloc',
      managed: { call: 'cudaMallocManaged', name: 'SYMBOL_MISSING' },
      pinned: { call: 'cudaHostAlloc', name: 'SYMBOL_MISSING' },
      system: 'mmap',
    });
  });

  it('is not caused by a missing runtime: the driver allocates each kind', async () => {
    const { kernel, kinds } = await openedOn(gb10WithFaults({ missingLibraries: ['cudart'] }));
    expect(kinds).toEqual({
      device: 'cuMemAlloc_v2',
      managed: 'cuMemAllocManaged',
      pinned: 'cuMemHostAlloc',
      system: 'mmap',
    });
    expect(kernel).toBe('kernel');
  });
});

describe('kernels that cannot be loaded', () => {
  it.each([
    ['cuModuleLoadData', 'SYMBOL_MISSING', { missingSymbols: ['cuModuleLoadData'] }],
    ['cuLaunchKernel', 'SYMBOL_MISSING', { missingSymbols: ['cuLaunchKernel'] }],
    ['cuModuleLoadData', 'CUDA_ERROR_222', { fail: [{ call: 'cuModuleLoadData', status: 222 }] }],
    ['cuInit', 'SYMBOL_MISSING', { missingSymbols: ['cuInit'] }],
  ])('%s, %s: touch uses memset, verify is not supported', async (call, name, faults) => {
    const [kernel, touched, verified] = await printedOnMachine(
      gb10WithFaults(faults),
      `${OPEN} const { block } = await b.allocBlock('device', ${GiB}, 10000);
        print(opened.kernel); print(await b.touchBlock(block, 1, 10000)); print(await b.verifyBlock(block, 1, 10000));`,
    );
    expect(kernel).toMatchObject({ failed: true, call, name });
    expect(touched).toEqual({ durationMs: expect.any(Number) });
    expect(verified).toMatchObject({
      source: 'umaprobe',
      call: 'verifyBlock',
      name: 'NOT_SUPPORTED',
      message: `the GPU kernels could not be loaded: ${call}: ${name}`,
    });
  });
});

describe('a failing allocOpen', () => {
  it.each([
    ['no such device', {}, 7, { call: 'cudaDeviceGetAttribute', status: 101, name: 'cudaErrorInvalidDevice' }],
    ['no such device, driver', { missingLibraries: ['cudart'] }, 7, { call: 'cuDeviceGet', status: 101 }],
    [
      'no device',
      { fail: ['cuInit', 'cudaGetDeviceCount'].map((call) => ({ call, status: 100 })) },
      0,
      { status: 100 },
    ],
    ['no library', { missingLibraries: ['cudart', 'cuda'] }, 0, { source: 'dl', name: 'LIBRARY_MISSING' }],
    ['no context', { fail: [{ call: 'cudaFree', status: 2 }] }, 0, { call: 'cudaFree', status: 2 }],
  ])('%s: says why, and leaves no context and no kernel', async (_, faults, device, failure) => {
    await withMachine(gb10WithFaults(faults), async ({ env, record }) => {
      const [opened, refused] = await printedBy(
        `print(await b.allocOpen(${device}, 10000)); print(await b.allocBlock('device', 4096, 1000));`,
        env,
      );
      expect(opened).toMatchObject({ failed: true, ...failure });
      expect(refused).toMatchObject({ source: 'umaprobe', call: 'allocBlock', name: 'NOT_OPEN' });
      expect(record().live).toEqual([]);
    });
  });

  it('succeeds the next time when the failure was transient', async () => {
    const machine = gb10WithFaults({ fail: [{ call: 'cudaSetDevice', status: 46, times: 1 }] });
    const [first, second] = await printedOnMachine(
      machine,
      'print(await b.allocOpen(0, 10000)); print(await b.allocOpen(0, 10000));',
    );
    expect(first).toMatchObject({ call: 'cudaSetDevice', status: 46 });
    expect(second).toMatchObject({ kinds: { device: 'cudaMalloc' }, kernel: 'kernel' });
  });
});

describe('blocks', () => {
  it('out of memory is returned, and the next allocation succeeds', async () => {
    for (const missingLibraries of [[], ['cudart']] satisfies Machine['faults']['missingLibraries'][]) {
      const [full, after, live] = await printedOnMachine(
        { ...loadMachine('h200'), faults: { hang: [], fail: [], missingSymbols: [], missingLibraries } },
        `${OPEN} print(await b.allocBlock('device', ${1000 * GiB}, 10000)); print(await b.allocBlock('device', 4096, 10000)); print(b.liveBlocks());`,
      );
      expect(full).toMatchObject({ status: 2, name: expect.stringMatching(/MemoryAllocation$|OUT_OF_MEMORY$/) });
      expect(after).toMatchObject({ block: 1 });
      expect(live).toEqual([1, 4096]);
    }
  });

  it('that are freed twice, unknown or of an impossible size are refused by name', async () => {
    const [answers, live] = await printedOnMachine(
      'gb10',
      `${OPEN} const { block } = await b.allocBlock('device', 4096, 1000);
        const answers = { freed: await b.freeBlock(block, 1000), again: await b.freeBlock(block, 1000) };
        for (const call of ['touchBlock', 'verifyBlock']) answers[call] = await b[call](99, 0, 1000);
        for (const bytes of [0, -1, 0.5, NaN, Infinity, 2 ** 53]) answers[bytes] = await b.allocBlock('device', bytes, 1000);
        answers.kind = await b.allocBlock('gpu', 4096, 1000);
        await b.allocBlock('device', 16, 1000);
        answers.all = await b.freeBlocks(1000);
        answers.none = await b.freeBlocks(1000);
        print(answers); print(b.liveBlocks());`,
    );
    const invalid = { source: 'umaprobe', name: 'EINVAL' };
    const unknown = { source: 'umaprobe', name: 'UNKNOWN_BLOCK' };
    expect(answers).toMatchObject({
      freed: { durationMs: expect.any(Number) },
      again: { ...unknown, call: 'freeBlock', message: 'block 1 was freed, or never allocated' },
      touchBlock: unknown,
      verifyBlock: unknown,
      ...Object.fromEntries(
        ['0', '-1', '0.5', 'NaN', 'Infinity', String(2 ** 53), 'kind'].map((key) => [key, invalid]),
      ),
      all: { blocks: 1, bytes: 16 },
      none: { durationMs: 0, blocks: 0, bytes: 0 },
    });
    expect(live).toEqual([0, 0]);
  });

  it('stay held when freeing fails, and are freed when it works again', async () => {
    const machine = gb10WithFaults({ fail: [{ call: 'cudaFree', status: 999, after: 1, times: 2 }] });
    const [one, all, live, rest] = await printedOnMachine(
      machine,
      `${OPEN} for (let i = 0; i < 3; i++) await b.allocBlock('device', 4096, 1000);
        print(await b.freeBlock(2, 1000)); print(await b.freeBlocks(1000)); print(b.liveBlocks()); print(await b.freeBlocks(1000));`,
    );
    expect(one).toMatchObject({ call: 'cudaFree', status: 999 });
    expect(all).toMatchObject({ call: 'cudaFree', status: 999 });
    expect(live).toEqual([1, 4096]);
    expect(rest).toMatchObject({ blocks: 1, bytes: 4096 });
  });

  it('that are allocated after the deadline are freed, and the call is named', async () => {
    await withMachine(
      gb10WithFaults({ hang: [{ call: 'cudaMalloc', ms: 3000, times: 1 }] }),
      async ({ env, record }) => {
        const [late, hung, after, live] = await printedBy(
          `${OPEN} print(await b.allocBlock('device', ${GiB}, 1000)); print(await b.freeBlocks(50));
        let after; await until(async () => (after = await b.freeBlocks(5000)).name !== 'TIMEOUT');
        print(after); print(b.liveBlocks());`,
          env,
        );
        expect(late).toMatchObject({ source: 'umaprobe', call: 'cudaMalloc', name: 'TIMEOUT' });
        expect(hung).toMatchObject({ call: 'cudaMalloc', name: 'TIMEOUT' });
        expect(after).toEqual({ durationMs: 0, blocks: 0, bytes: 0 });
        expect(live).toEqual([0, 0]);
        expect(record().counts).toMatchObject({ allocations: expect.any(Number) });
      },
    );
  });

  it('a process that hangs in cudaMalloc can exit', async () => {
    await withMachine(gb10WithFaults({ hang: [{ call: 'cudaMalloc', ms: 60_000 }] }), async ({ env }) => {
      const ended = await runWithBinary(
        `${OPEN} print((await b.allocBlock('device', ${GiB}, 1000)).name); process.exit(3);`,
        env,
      );
      expect(ended).toMatchObject({ code: 3, signal: null, stdout: '"TIMEOUT"\n' });
    });
  });
});

describe('the end of an environment', () => {
  it('a process that exits with live blocks exits with 0 and frees them', async () => {
    await withMachine('gb10', async ({ env, record }) => {
      await printedBy(
        `${OPEN} for (const kind of ['device', 'managed', 'pinned', 'system']) await b.allocBlock(kind, ${GiB}, 10000);`,
        env,
      );
      expect(record().live).toEqual([]);
    });
  });

  it.each([
    ['idle', 'setInterval(() => {}, 1000); port.postMessage(b.liveBlocks());'],
    [
      'in the middle of an allocation',
      `b.allocBlock('device', ${16 * GiB}, 60000); setTimeout(() => port.postMessage(b.liveBlocks()), 50);`,
    ],
  ])('a worker that is terminated %s frees its blocks', async (_, last) => {
    await withMachine('gb10', async ({ env }) => {
      const [live, slow, left] = await printedBy(
        `${OPEN} const { Worker } = await import('node:worker_threads'); const { readFileSync } = await import('node:fs');
        const host = new Float64Array(35), at = b.hostMemoryFields().indexOf('available');
        const available = () => { b.hostMemory(host); return host[at]; };
        const before = available();
        const worker = new Worker(\`const b = require(\${JSON.stringify(binary)}), port = require('node:worker_threads').parentPort;
          (async () => { await b.allocOpen(0, 10000); await b.allocBlock('device', ${4 * GiB}, 10000); ${last} })();\`, { eval: true, execArgv: [] });
        print(await new Promise((resolve) => worker.once('message', resolve)));
        const started = performance.now(); await worker.terminate(); print(performance.now() - started < 10000);
        await until(() => Math.abs(available() - before) <= ${GiB / 4});
        print(Math.abs(available() - before) <= ${GiB / 4});`,
        env,
      );
      expect(live).toEqual([1, 4 * GiB]);
      expect([slow, left]).toEqual([true, true]);
    });
  });
});
