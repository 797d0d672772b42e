/** CUDA on simulated machines: complete, with missing parts, and with failing calls. All *simulated*. */

import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NativeCudaReport } from '../../../../lib/core/native/contract.ts';
import { loadMachine, type Machine } from '../../../../lib/sim.ts';
import { DEVICE_ATTRIBUTES } from '../../../../lib/types/device.ts';
import { simulatorPath } from '../../../support/binary.ts';
import { failedFacts, printedBy, printedOnMachine } from '../../../support/binary-on-machine.ts';
import { gb10WithFaults, gb10WithTwoDevices, withMachine } from '../../../support/machines.ts';

const readCuda = (mode: 0 | 1 | 2) => `print(await b.readCuda(${mode}, 10000));`;
const readMemory =
  'const m = new Float64Array(2); print([await b.memGetInfo(0, 10000), b.memGetInfoSync(0, m), [...m]]);';

async function cudaOf(machine: Machine, mode: 0 | 1 | 2 = 0): Promise<NativeCudaReport> {
  const [report] = await printedOnMachine(machine, readCuda(mode));
  return report as NativeCudaReport;
}

describe('CUDA', () => {
  it('is read through the driver, without a context', async () => {
    const machine = loadMachine('gb10');
    await withMachine(machine, async ({ env, record }) => {
      const [report] = (await printedBy(readCuda(1), env)) as [NativeCudaReport];
      expect(report).toMatchObject({ runtimeVersion: 13000, driverVersion: 13000, deviceCount: 1, timedOut: null });
      expect(report.runtime.failure ?? report.driver.failure).toBeUndefined();
      expect(report.devices[0]).toMatchObject({
        ordinal: 0,
        name: 'NVIDIA GB10',
        uuid: 'GPU-5117ab1e-0000-0000-0000-000000000010',
        pciBusId: expect.stringMatching(/^000f:01:00\.0$/i),
        computeCapability: '12.1',
        totalMem: 128518619136,
        contextActive: false,
        attributes: { integrated: 1, l2CacheSize: 25165824, multiProcessorCount: 48, totalGlobalMem: 128518619136 },
      });
      expect(report.devices[0]).not.toHaveProperty('memGetInfo');
      expect(record().counts).toMatchObject({ contexts: 0 });
    });
  });

  it('is the same at the second reading, which queries only facts that may change', async () => {
    // Two more for the compute capability, one less for totalGlobalMem, which another function returns.
    const after = DEVICE_ATTRIBUTES.length + 1;
    const machine = gb10WithFaults({ fail: [{ call: 'cuDeviceGetAttribute', status: 999, after }] });
    const [first, second] = await printedOnMachine(machine, readCuda(0) + readCuda(0));
    expect(second).toEqual(first);
    expect(failedFacts((first as NativeCudaReport).devices[0]?.attributes ?? {})).toEqual({});
  });

  it('leaves out names, ids and attributes that the caller has', async () => {
    const readings = [0, 1, 7].map((known) => `print(await b.readCuda(0, 10000, ${known}));`).join('');
    const [all, changing, unknown] = (await printedOnMachine('gb10', readings)) as NativeCudaReport[];
    expect(all).toMatchObject({ identities: 1, devices: [{ ordinal: 0, name: 'NVIDIA GB10' }] });
    expect(changing).toEqual({ ...all, devices: [{ ordinal: 0, contextActive: false }] });
    expect(unknown).toEqual(all);
  });

  it('queries a fact again after a transient failure', async () => {
    const machine = gb10WithFaults({ fail: [{ call: 'cuDeviceGetName', status: 999, times: 1 }] });
    const [first, second] = await printedOnMachine(machine, readCuda(0) + readCuda(0));
    expect([first, second]).toMatchObject([{ identities: 0 }, { identities: 1 }]);
    expect((first as NativeCudaReport).devices[0]?.name).toMatchObject({
      source: 'cuda',
      status: 999,
      name: 'CUDA_ERROR_UNKNOWN',
    });
    expect((second as NativeCudaReport).devices[0]?.name).toBe('NVIDIA GB10');
  });

  it('loses one field per missing symbol', async () => {
    const { devices } = await cudaOf(gb10WithFaults({ missingSymbols: ['cuDeviceGetPCIBusId', 'cuDeviceGetUuid_v2'] }));
    expect(failedFacts(devices[0] ?? {})).toEqual({ pciBusId: 'SYMBOL_MISSING' });
    expect(devices[0]?.uuid).toBe('GPU-5117ab1e-0000-0000-0000-000000000010');
  });

  it('reads the other device when one fails', async () => {
    const report = await cudaOf(gb10WithTwoDevices({ fail: [{ call: 'cuDeviceGet', status: 101, times: 1 }] }));
    expect(report.devices).toHaveLength(2);
    expect(failedFacts(report.devices[0] ?? {})).toMatchObject({
      name: 'CUDA_ERROR_INVALID_DEVICE',
      totalMem: 'CUDA_ERROR_INVALID_DEVICE',
    });
    expect(Object.keys(failedFacts(report.devices[0]?.attributes ?? {}))).toHaveLength(DEVICE_ATTRIBUTES.length);
    expect(failedFacts(report.devices[1] ?? {})).toEqual({});
    expect(report.devices[1]?.uuid).toMatch(/11$/);
  });

  it('works without a runtime: the driver has every fact', async () => {
    const report = await cudaOf(gb10WithFaults({ missingLibraries: ['cudart'] }), 2);
    expect(report.runtime).toMatchObject({ failure: { source: 'dl', name: 'LIBRARY_MISSING', status: null } });
    expect(report.runtime).not.toHaveProperty('path');
    expect(report).not.toHaveProperty('runtimeVersion');
    expect(report.devices[0]).toMatchObject({ name: 'NVIDIA GB10', memGetInfo: [expect.any(Number), 128518619136] });
    expect(failedFacts(report.devices[0] ?? {})).toEqual({});
  });

  it('works without the driver, with the facts of the runtime', async () => {
    const { devices, deviceCount } = await cudaOf(gb10WithFaults({ missingSymbols: ['cuInit'] }), 1);
    expect(deviceCount).toBe(1);
    expect(devices[0]?.attributes).toMatchObject({ integrated: 1, l2CacheSize: 25165824 });
    expect(devices[0]).toMatchObject({ computeCapability: '12.1', pciBusId: expect.stringMatching(/^000f/i) });
    expect(failedFacts(devices[0] ?? {})).toEqual({
      name: 'SYMBOL_MISSING',
      uuid: 'SYMBOL_MISSING',
      totalMem: 'SYMBOL_MISSING',
      contextActive: 'SYMBOL_MISSING',
    });
    expect(devices[0]).not.toHaveProperty('memGetInfo');
  });

  it('reports a runtime that is too new for the driver, and continues with the driver', async () => {
    const report = await cudaOf(gb10WithFaults({ fail: [{ call: 'cudaGetDeviceCount', status: 35 }] }), 2);
    expect(report.runtime).toMatchObject({
      path: expect.any(String),
      failure: { source: 'cudart', status: 35, name: 'cudaErrorInsufficientDriver' },
    });
    expect(report.deviceCount).toBe(1);
    expect(report.devices[0]?.memGetInfo).toEqual([expect.any(Number), 128518619136]);
  });

  it.each([
    [34, 'CUDA_ERROR_STUB_LIBRARY'],
    [999, 'CUDA_ERROR_UNKNOWN'],
    [718, 'CUDA_ERROR_718'],
  ])('finds the library but no usable GPU when cuInit answers %i', async (status, name) => {
    const report = await cudaOf(
      gb10WithFaults({
        fail: [
          { call: 'cuInit', status },
          { call: 'cudaGetDeviceCount', status },
        ],
      }),
    );
    expect(report.driver).toMatchObject({
      path: expect.any(String),
      failure: { source: 'cuda', call: 'cuInit', status, name },
    });
    expect(report.deviceCount).toMatchObject({ call: 'cuInit', status });
    expect(report.devices).toEqual([]);
  });

  it('without a device is no failure of the libraries', async () => {
    const report = await cudaOf(
      gb10WithFaults({
        fail: [
          { call: 'cuInit', status: 100 },
          { call: 'cudaGetDeviceCount', status: 100 },
        ],
      }),
    );
    expect(report.runtime.failure ?? report.driver.failure).toBeUndefined();
    expect(report.deviceCount).toMatchObject({ name: 'CUDA_ERROR_NO_DEVICE', status: 100 });
  });

  it('is searched again: the driver may be installed later', async () => {
    const [first, second] = await withMachine('gb10', ({ env, statePath }) => {
      const [runtime, driver] = ['libcudart.so.13', 'libcuda.so.1'].map((name) => join(dirname(statePath), name));
      const install = `for (const path of ${JSON.stringify([runtime, driver])}) symlinkSync(${JSON.stringify(simulatorPath)}, path);`;
      return printedBy(`const { symlinkSync } = await import('node:fs'); ${readCuda(0)} ${install} ${readCuda(0)}`, {
        ...env,
        UMAPROBE_CUDART: runtime,
        UMAPROBE_CUDA: driver,
      });
    });
    expect(first).toMatchObject({
      runtime: {
        failure: {
          name: 'LIBRARY_MISSING',
          call: expect.stringMatching(/^dlopen .*\/libcudart\.so\.13$/),
          message: expect.stringContaining('No such file'),
        },
      },
      deviceCount: { name: 'LIBRARY_MISSING', call: expect.stringMatching(/^dlopen .*\/libcuda\.so\.1$/) },
      devices: [],
    });
    expect(second).toMatchObject({ deviceCount: 1 });
  });
});

describe('memGetInfo', () => {
  it.each([
    ['the runtime', {}],
    ['the driver', { missingLibraries: ['cudart'] }],
  ])('through %s is MemFree after the one context was created', async (_, faults) => {
    await withMachine(gb10WithFaults(faults), async ({ env, record }) => {
      const [memory, free] = await printedBy(
        `${readMemory} const h = new Float64Array(35); b.hostMemory(h); print(h[b.hostMemoryFields().indexOf('free')]);`,
        env,
      );
      expect(memory).toEqual([[free, 128518619136], null, [free, 128518619136]]);
      expect(record().counts).toMatchObject({ contexts: 1 });
    });
  });

  it('is part of readCuda where a context exists', async () => {
    const body = `await b.memGetInfo(0, 10000); ${readCuda(0)} ${readCuda(1)}`;
    const [never, existing] = await printedOnMachine('gb10', body);
    expect((never as NativeCudaReport).devices[0]).toMatchObject({ contextActive: true });
    expect((never as NativeCudaReport).devices[0]).not.toHaveProperty('memGetInfo');
    expect((existing as NativeCudaReport).devices[0]?.memGetInfo).toEqual([expect.any(Number), 128518619136]);
  });

  it('can itself run out of memory, and works the next time', async () => {
    const machine = gb10WithFaults({ fail: [{ call: 'cudaMemGetInfo', status: 2, times: 2 }] });
    const [first, second] = await printedOnMachine(
      machine,
      `${readMemory.replace('const', 'let')} print(await b.memGetInfo(0, 10000));`,
    );
    const outOfMemory = { source: 'cudart', call: 'cudaMemGetInfo', status: 2, name: 'cudaErrorMemoryAllocation' };
    expect(first).toEqual([expect.objectContaining(outOfMemory), expect.objectContaining(outOfMemory), [0, 0]]);
    expect(second).toEqual([expect.any(Number), 128518619136]);
  });

  it('reports a missing device', async () => {
    const [async, sync] = await printedOnMachine(
      'gb10',
      'print(await b.memGetInfo(7, 10000)); print(b.memGetInfoSync(7, new Float64Array(2)));',
    );
    expect(async).toMatchObject({
      source: 'cudart',
      call: 'cudaSetDevice',
      status: 101,
      name: 'cudaErrorInvalidDevice',
    });
    // The synchronous call uses the driver, which keeps the current device of the caller's thread.
    expect(sync).toMatchObject({
      source: 'cuda',
      call: 'cuDeviceGet',
      status: 101,
      name: 'CUDA_ERROR_INVALID_DEVICE',
    });
  });

  it('reports missing libraries', async () => {
    const [memory] = await printedOnMachine(
      gb10WithFaults({ missingLibraries: ['cudart', 'cuda', 'nvml'] }),
      readMemory,
    );
    const missing = expect.objectContaining({ source: 'dl', name: 'LIBRARY_MISSING' });
    expect(memory).toEqual([missing, missing, [0, 0]]);
  });
});
