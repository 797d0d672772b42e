/** The same contract on a real GPU, and its numbers compared with nvidia-smi and a plain CUDA program. */

import { execFileSync } from 'node:child_process';
import { memGetInfo, memGetInfoSync, snapshot } from 'umaprobe';
import { describe, expect, it, vi } from 'vitest';
import { snapshotJson } from '../support/cli.ts';
import { expectContract } from '../support/contract.ts';
import { compilePlain, computeProcesses, hasGpu, noGpu, queryGpu, usedMiB } from '../support/gpu.ts';
import { meminfoBytes } from '../support/meminfo.ts';
import { evaluatePackage } from '../support/package-on-machine.ts';
import { MiB } from '../support/units.ts';

describe.skipIf(!hasGpu)(`on a real GPU${noGpu}`, () => {
  it('keeps the contract', async () => {
    const taken = await snapshot();
    expect(taken.simulated).toBeNull();
    expect(taken.devices.length).toBeGreaterThan(0);
    expectContract(taken);
    expectContract(snapshotJson());
  });

  it('creates no CUDA context: NVML lists no process and its used memory stays', async () => {
    const ran = await evaluatePackage<Record<string, unknown>>(`
      const { execFileSync } = await import('node:child_process');
      const smi = (query) => execFileSync('nvidia-smi', [query, '--format=csv,noheader,nounits'], { encoding: 'utf8' }).trim();
      // Of all GPUs.
      const used = () => smi('--query-gpu=memory.used').split('\\n').reduce((sum, line) => sum + Number(line), 0);
      const before = used();
      const taken = []; for (let i = 0; i < 20; i++) taken.push(await umaprobe.snapshot());
      const last = taken.at(-1).devices[0];
      return { before, after: used(), gpus: taken.at(-1).devices.length, apps: smi('--query-compute-apps=pid,used_memory'),
        cuda: last.cuda, why: last.from.cuda, processes: last.processes, maps: (await import('node:fs')).readFileSync('/proc/self/maps', 'utf8').includes('libcuda.so') };`);
    expect(ran.maps).toBe(true);
    // cuInit alone takes 3.25 MiB on an H200 (driver 580.159) while the process lives; a context takes over 500.
    expect(Number(ran.after) - Number(ran.before)).toBeLessThanOrEqual(8 * Number(ran.gpus));
    expect(ran.apps).toBe('');
    // In a container an empty list means nothing, and is null.
    expect(ran.processes ?? []).toEqual([]);
    expect(ran.cuda).toBeNull();
    expect(ran.why).toContain('context');
  });

  it('leaves no memory in use, also after the command line’s child had a context', () => {
    const before = usedMiB();
    const taken = snapshotJson(['--memgetinfo', 'child']);
    expect(taken.devices[0]?.cuda?.total).toBeGreaterThan(0);
    expect(taken.devices[0]?.from.cuda).toContain('child');
    expect(usedMiB()).toBe(before);
    expect(computeProcesses()).toBe('');
  });

  it('memory model, attributes and identity', async () => {
    const [device] = (await snapshot()).devices;
    const [row] = queryGpu('name,uuid,pci.bus_id,compute_cap');
    expect(device).toMatchObject({
      memoryModel: 'discrete',
      name: row?.[0],
      uuid: row?.[1],
      computeCapability: row?.[3],
    });
    expect(row?.[2]?.toUpperCase().endsWith(device?.pciBusId ?? '?')).toBe(true);
    expect(device?.attributes.integrated).toBe(0);
    expect(device?.attributes.multiProcessorCount).toBeGreaterThan(0);
    for (const [name, value] of Object.entries(device?.attributes ?? {})) expect(value, name).not.toBeNull();
  });

  it('all NVML numbers equal nvidia-smi’s', async () => {
    const { devices, libraries, driver } = await snapshot();
    const device = devices[0] as (typeof devices)[number];
    const row = queryGpu(
      'driver_version,memory.total,memory.used,memory.free,memory.reserved,temperature.gpu,power.draw.instant,mig.mode.current',
    )[0] as (string | null)[];
    expect(libraries.nvml.driverVersion).toBe(row[0]);
    expect(driver.version).toBe(row[0]);
    expect(device.nvml).not.toBeNull();
    const { total, used, free, reserved } = device.nvml as NonNullable<typeof device.nvml>;
    expect(Math.floor(total / MiB)).toBe(Number(row[1]));
    expect(Math.abs(used / MiB - Number(row[2]))).toBeLessThan(8);
    expect(Math.abs(free / MiB - Number(row[3]))).toBeLessThan(8);
    expect(Math.abs((reserved as number) / MiB - Number(row[4]))).toBeLessThan(2);
    expect(Math.abs((device.temperatureC as number) - Number(row[5]))).toBeLessThanOrEqual(2);
    expect(Math.abs((device.powerW as number) - Number(row[6]))).toBeLessThan(25);
    expect(device.migMode).toEqual({ current: row[7] === 'Enabled', pending: row[7] === 'Enabled' });
    expect(device.addressingMode).toBe('NONE');
  });

  it('utilization and clock equal nvidia-smi’s once the GPU is quiet', async () => {
    // The driver samples both up to once per second, so two readings may lie on two sides of a sample.
    await vi.waitFor(
      async () => {
        const [row] = queryGpu('utilization.gpu,clocks.sm');
        const [device] = (await snapshot()).devices;
        expect([device?.utilizationPercent, device?.smClockMHz]).toEqual(row?.map(Number));
      },
      { timeout: 8000, interval: 300 },
    );
  });

  it('cudaMemGetInfo equals what a plain CUDA program reads', async () => {
    const program = compilePlain('mem_get_info.c');
    const [, , free, total] = execFileSync(program, ['100'], { encoding: 'utf8' }).trim().split(' ').map(Number);
    type Reading = { free: number; total: number };
    const [later, sync] = await evaluatePackage<[Reading, Reading]>(
      'return [await umaprobe.memGetInfo(), umaprobe.memGetInfoSync()];',
    );
    expect(later.total).toBe(total);
    expect(sync).toEqual(later);
    expect(Math.abs(later.free - (free as number))).toBeLessThan(16 * MiB);
  });

  it('with a context in this process snapshot() reads cudaMemGetInfo here, and NVML lists us', async () => {
    const here = await memGetInfo();
    expect(memGetInfoSync().total).toBe(here.total);
    const [device] = (await snapshot()).devices;
    expect(device?.from.cuda).toBe('cudaMemGetInfo in this process');
    expect(device?.cuda?.total).toBe(here.total);
    expect(device?.processes?.some(({ gpuBytes }) => (gpuBytes ?? 0) > 100 * MiB)).toBe(true);
  });

  it('works with the driver alone where no runtime is installed', () => {
    const taken = snapshotJson(['--memgetinfo', 'child'], { env: { UMAPROBE_CUDART: '/nonexistent/libcudart.so' } });
    expect(taken.devices[0]?.attributes.integrated).toBe(0);
    expect(taken.devices[0]?.cuda?.total).toBeGreaterThan(0);
    expectContract(taken);
  });

  it('works with NVML alone where CUDA is missing', () => {
    const taken = snapshotJson([], {
      env: { UMAPROBE_CUDART: '/nonexistent/a.so', UMAPROBE_CUDA: '/nonexistent/b.so' },
    });
    expect(taken.libraries.cuda.state).toBe('missing');
    expect(taken.devices[0]).toMatchObject({ memoryModel: 'unknown', cudaIndex: null, cuda: null });
    expect(taken.devices[0]?.nvml?.total).toBeGreaterThan(0);
    expectContract(taken);
  });

  it('an invisible device is read by NVML alone', () => {
    const taken = snapshotJson([], { env: { CUDA_VISIBLE_DEVICES: '' } });
    expect(taken.devices[0]).toMatchObject({ cudaIndex: null, nvmlIndex: 0 });
    expectContract(taken);
  });

  it('host.available is the kernel’s', async () => {
    const { host } = await snapshot();
    const available = meminfoBytes('MemAvailable');
    expect(Math.abs((host.available as number) - available)).toBeLessThan(0.01 * available);
  });
});
