/** NVML on simulated machines: complete, with missing parts, and with failing calls. All *simulated*. */

import { describe, expect, it } from 'vitest';
import type { NativeNvmlReport } from '../../../../lib/core/native/contract.ts';
import { loadMachine, type Machine } from '../../../../lib/sim.ts';
import { failedFacts, printedOnMachine } from '../../../support/binary-on-machine.ts';
import { gb10WithFaults, gb10WithTwoDevices, withNvml } from '../../../support/machines.ts';

const readNvml = 'print(await b.readNvml(10000));';
async function nvmlOf(machine: Machine): Promise<NativeNvmlReport> {
  const [report] = await printedOnMachine(machine, readNvml);
  return report as NativeNvmlReport;
}

describe('NVML', () => {
  it('gives each fact, or its reason', async () => {
    const report = await nvmlOf(loadMachine('gb10'));
    expect(report).toMatchObject({
      driverVersion: '580.142',
      cudaDriverVersion: 13000,
      deviceCount: 1,
      timedOut: null,
    });
    expect(report.nvmlVersion).toMatch(/^13\.580/);
    expect(report.devices).toEqual([
      {
        index: 0,
        name: 'NVIDIA GB10',
        uuid: 'GPU-5117ab1e-0000-0000-0000-000000000010',
        pciBusId: expect.stringMatching(/^0000000F:01:00\.0$/i),
        memory: expect.objectContaining({ call: 'nvmlDeviceGetMemoryInfo_v2', status: 3, name: 'NOT_SUPPORTED' }),
        processes: [],
        addressingMode: 2,
        migMode: expect.objectContaining({ name: 'NOT_SUPPORTED' }),
        utilizationPercent: 0,
        temperatureC: 40,
        powerMilliwatt: 4000,
        smClockMHz: 208,
      },
    ]);
  });

  it('reads memory with the newest call of the library', async () => {
    const machine = (missingSymbols: string[]) => withNvml(gb10WithFaults({ missingSymbols }), { memory: 'HOST' });
    const { devices: newer } = await nvmlOf(machine([]));
    expect(newer[0]?.memory).toMatchObject({
      total: 128518619136,
      reserved: expect.any(Number),
      call: 'nvmlDeviceGetMemoryInfo_v2',
    });
    const { devices: older } = await nvmlOf(machine(['nvmlDeviceGetMemoryInfo_v2']));
    expect(older[0]?.memory).toMatchObject({ total: 128518619136, reserved: null, call: 'nvmlDeviceGetMemoryInfo' });
  });

  it('loses one field per missing symbol, and none where an older symbol exists', async () => {
    const { devices, cudaDriverVersion } = await nvmlOf(
      gb10WithFaults({
        missingSymbols: ['nvmlDeviceGetAddressingMode', 'nvmlDeviceGetPowerUsage', 'nvmlSystemGetCudaDriverVersion_v2'],
      }),
    );
    const { devices: whole } = await nvmlOf(loadMachine('gb10'));
    expect(failedFacts(devices[0] ?? {})).toEqual({
      ...failedFacts(whole[0] ?? {}),
      addressingMode: 'SYMBOL_MISSING',
      powerMilliwatt: 'SYMBOL_MISSING',
    });
    expect(cudaDriverVersion).toBe(13000);
  });

  it('reads the other device when one is lost', async () => {
    const report = await nvmlOf(
      gb10WithTwoDevices({ fail: [{ call: 'nvmlDeviceGetHandleByIndex_v2', status: 15, times: 1 }] }),
    );
    const [lost = {}, other = {}] = report.devices;
    const facts = Object.keys(other).filter((name) => name !== 'index');
    expect(failedFacts(lost)).toEqual(Object.fromEntries(facts.map((name) => [name, 'GPU_IS_LOST'])));
    const { devices: whole } = await nvmlOf(loadMachine('gb10'));
    expect(failedFacts(other)).toEqual(failedFacts(whole[0] ?? {}));
  });

  it('is initialized again after a failure: the driver may be loaded later', async () => {
    const machine = gb10WithFaults({ fail: [{ call: 'nvmlInit_v2', status: 9, times: 1 }] });
    const [first, second] = await printedOnMachine(machine, readNvml + readNvml);
    expect(first).toMatchObject({
      library: { path: expect.any(String), failure: { status: 9, name: 'DRIVER_NOT_LOADED' } },
      devices: [],
    });
    expect(first).not.toHaveProperty('deviceCount');
    expect(second).toMatchObject({ deviceCount: 1 });
  });

  it('is missing with a reason', async () => {
    const report = await nvmlOf(gb10WithFaults({ missingLibraries: ['nvml'] }));
    expect(report).toEqual({
      library: { failure: expect.objectContaining({ source: 'dl', name: 'LIBRARY_MISSING' }) },
      devices: [],
      timedOut: null,
    });
  });

  it('lists a process with a context once, with its bytes', async () => {
    const body = `await b.memGetInfo(0, 10000); print(process.pid); ${readNvml}`;
    const [pid, report] = await printedOnMachine('gb10', body);
    expect((report as NativeNvmlReport).devices[0]?.processes).toEqual([{ pid, gpuBytes: 268435456 }]);
  });

  it('lists more processes than fit into the first buffer', async () => {
    const processes = Array.from({ length: 32 }, (_, i) => ({
      name: 'p',
      pid: 5_000_000 + i,
      gpuBytes: 2 ** 20,
      anonBytes: 0,
    }));
    const body = `await b.memGetInfo(0, 10000); ${readNvml}`;
    const [report] = await printedOnMachine({ ...loadMachine('gb10'), processes }, body);
    expect((report as NativeNvmlReport).devices[0]?.processes).toHaveLength(33);
  });

  it('counts a process of both lists once, with the larger number', async () => {
    const listed = (pid: number, list: 'compute' | 'graphics', gpuBytes: number) => ({
      name: 'p',
      pid,
      list,
      gpuBytes,
      anonBytes: 0,
    });
    const processes = [
      listed(5_000_000, 'compute', 2 ** 20),
      listed(5_000_000, 'graphics', 2 ** 21),
      listed(5_000_001, 'compute', 2 ** 23),
      listed(5_000_001, 'graphics', 2 ** 22),
    ];
    const { devices } = await nvmlOf({ ...loadMachine('gb10'), processes });
    expect(devices[0]?.processes).toEqual([
      { pid: 5_000_000, gpuBytes: 2 ** 21 },
      { pid: 5_000_001, gpuBytes: 2 ** 23 },
    ]);
  });

  it('gives null for a process whose memory the driver does not report', async () => {
    const silent = withNvml(loadMachine('gb10'), { processMemory: false });
    const [report] = await printedOnMachine(silent, `await b.memGetInfo(0, 10000); ${readNvml}`);
    expect((report as NativeNvmlReport).devices[0]?.processes).toEqual([{ pid: expect.any(Number), gpuBytes: null }]);
  });

  it('does not return an incomplete process list', async () => {
    const refused = await nvmlOf(
      gb10WithFaults({ fail: [{ call: 'nvmlDeviceGetGraphicsRunningProcesses_v3', status: 4 }] }),
    );
    expect(refused.devices[0]?.processes).toMatchObject({
      call: 'nvmlDeviceGetGraphicsRunningProcesses_v3',
      name: 'NO_PERMISSION',
    });
    const without = await nvmlOf(
      gb10WithFaults({ fail: [{ call: 'nvmlDeviceGetGraphicsRunningProcesses_v3', status: 3 }] }),
    );
    expect(without.devices[0]?.processes).toEqual([]);
  });
});
