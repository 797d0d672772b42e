import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../../lib/base/errors.ts';
import type { NativeCudaDevice, NativeNvmlDevice } from '../../../../lib/core/native/contract.ts';
import { type DeviceContext, deviceSnapshot } from '../../../../lib/core/snapshot/devices.ts';
import type { LibraryStatus } from '../../../../lib/types/index.ts';
import { cudaFailure, nvmlFailure, timeout } from '../../../support/failures.ts';
import { GiB } from '../../../support/units.ts';
import { hostWith, NO_DRIVER, NO_KERNEL } from '../../../support/unknown-facts.ts';

const LOADED: LibraryStatus = {
  state: 'loaded',
  path: '/usr/lib/x',
  version: null,
  driverVersion: null,
  reason: null,
  failure: null,
};
const host = hostWith({ free: 10 * GiB, available: 100 * GiB });
const context = (changes: Partial<DeviceContext> = {}): DeviceContext => ({
  host,
  facts: { bootId: null, pressure: null, contiguity: null, kernel: NO_KERNEL, driver: NO_DRIVER, cgroup: null },
  cuda: { runtime: {}, driver: {}, devices: [], identities: 0, timedOut: null },
  nvml: { library: {}, devices: [], timedOut: null },
  visibility: () => ({ visible: true, from: 'CUDA lists it' }),
  libraries: { cuda: LOADED, nvml: LOADED },
  child: null,
  environment: {},
  firstPidNamespace: true,
  gpuNodes: null,
  ownMemoryGpus: 0,
  processName: (pid) => `process ${pid}`,
  ...changes,
});
const gb10: NativeCudaDevice = {
  ordinal: 0,
  name: 'NVIDIA GB10',
  uuid: 'GPU-1',
  pciBusId: '000f:01:00.0',
  attributes: { integrated: 1 },
};
const gb10Nvml: NativeNvmlDevice = {
  index: 0,
  name: 'NVIDIA GB10',
  uuid: 'GPU-1',
  pciBusId: '0000000F:01:00.0',
  memory: nvmlFailure('NOT_SUPPORTED', 3),
  temperatureC: 40,
  powerMilliwatt: 4000,
};

describe('deviceSnapshot', () => {
  it('one failed call costs one field (ts-nvml loses the whole device)', () => {
    const device = deviceSnapshot(0, { cuda: gb10, nvml: gb10Nvml }, context());
    expect(device.nvml).toBeNull();
    expect(device.from.nvml).toBe('ERR_UMA_NOT_SUPPORTED: nvmlDeviceGetMemoryInfo_v2 answered NOT_SUPPORTED (3)');
    expect(device).toMatchObject({
      name: 'NVIDIA GB10',
      memoryModel: 'unified',
      temperatureC: 40,
      powerW: 4,
      allocatable: { immediate: 10 * GiB, afterReclaim: 100 * GiB },
    });
    expect(device.views.cudaMemGetInfo).toBe(10 * GiB);
    expect(device.from['attributes.l2CacheSize']).toMatch(/\w/);
  });

  it('0, unknown and failed are distinct (NemoClaw #11678)', () => {
    const list = [
      { pid: 1, gpuBytes: 0 },
      { pid: 2, gpuBytes: null },
    ];
    const device = deviceSnapshot(
      0,
      { cuda: gb10, nvml: { ...gb10Nvml, processes: list, utilizationPercent: 0 } },
      context(),
    );
    expect(device.processes).toEqual([
      { pid: 1, name: 'process 1', gpuBytes: 0 },
      { pid: 2, name: 'process 2', gpuBytes: null },
    ]);
    expect(device.utilizationPercent).toBe(0);
    expect(
      deviceSnapshot(0, { cuda: gb10, nvml: { ...gb10Nvml, processes: nvmlFailure('NO_PERMISSION', 4) } }, context())
        .processes,
    ).toBeNull();
  });

  it.each<[string, { pid: number; gpuBytes: number | null }[], boolean, object, RegExp]>([
    ['all', [{ pid: 1, gpuBytes: 5 }], true, { processesComplete: true }, /every process/],
    ['none', [], true, { processes: [], processesComplete: true }, /every process/],
    [
      'some without bytes',
      [
        { pid: 1, gpuBytes: 5 },
        { pid: 2, gpuBytes: null },
      ],
      true,
      { processesComplete: false },
      /1 of the 2 processes/,
    ],
    [
      'all without bytes',
      [{ pid: 2, gpuBytes: null }],
      true,
      { processesComplete: false },
      /how much memory the processes/,
    ],
    ['in a container', [{ pid: 1, gpuBytes: 5 }], false, { processesComplete: false }, /PID namespace of its own/],
    ['in a container, none', [], false, { processes: null, processesComplete: null }, /PID namespace of its own/],
  ])('the list of processes: %s', (_, list, firstPidNamespace, expected, from) => {
    const pair = { cuda: gb10, nvml: { ...gb10Nvml, processes: list } };
    const device = deviceSnapshot(0, pair, context({ firstPidNamespace }));
    expect(device).toMatchObject(expected);
    expect(device.from.processesComplete).toMatch(from);
    if (device.processes === null) expect(device.from.processes).toMatch(from);
  });

  it('SUCCESS with a total of 0 is not a reading', () => {
    const memory = { total: 0, free: 0, used: 0, reserved: null, call: 'nvmlDeviceGetMemoryInfo' };
    const device = deviceSnapshot(0, { cuda: gb10, nvml: { ...gb10Nvml, memory } }, context());
    expect(device.nvml).toBeNull();
    expect(device.from.nvml).toContain('total of 0');
  });

  it('fields not read before the deadline have it as their reason', () => {
    const timedOut: Failure = {
      failed: true,
      source: 'umaprobe',
      call: 'nvmlDeviceGetPowerUsage',
      status: null,
      name: 'TIMEOUT',
      message: 'no answer within 2000 ms',
    };
    const nvml = { library: {}, devices: [], timedOut };
    const device = deviceSnapshot(0, { cuda: gb10, nvml: { index: 0, temperatureC: 40 } }, context({ nvml }));
    expect(device.temperatureC).toBe(40);
    expect(device.powerW).toBeNull();
    expect(device.from.powerW).toMatch(/^ERR_UMA_TIMEOUT: nvmlDeviceGetPowerUsage/);
  });

  it('cudaMemGetInfo: read here, read in a child, failed, or not read', () => {
    const cuda = (memGetInfo: NativeCudaDevice['memGetInfo']) => ({
      ...gb10,
      ...(memGetInfo === undefined ? {} : { memGetInfo }),
    });
    expect(deviceSnapshot(0, { cuda: cuda([1, 2]), nvml: null }, context()).cuda).toEqual({ free: 1, total: 2 });
    const child = {
      answers: new Map([[0, { free: 3, total: 4, from: 'a child' }]]),
      missing: timeout('cudaMemGetInfo'),
    };
    expect(deviceSnapshot(0, { cuda: cuda(undefined), nvml: null }, context({ child })).cuda).toEqual({
      free: 3,
      total: 4,
    });
    const oom: Failure = {
      failed: true,
      source: 'cudart',
      call: 'cudaMemGetInfo',
      status: 2,
      name: 'cudaErrorMemoryAllocation',
      message: '',
    };
    const refused = deviceSnapshot(0, { cuda: cuda(oom), nvml: null }, context());
    expect(refused.cuda).toBeNull();
    expect(refused.from.cuda).toMatch(/^ERR_UMA_OUT_OF_MEMORY: cudaMemGetInfo/);
    const unasked = deviceSnapshot(0, { cuda: cuda(undefined), nvml: null }, context());
    expect(unasked.from.cuda).toContain('context');
    expect(unasked.views.torch).toBe(10 * GiB);
  });

  it('a context that fails: failed views, the failure by itself, and what was not tried stays MemFree', () => {
    const busy = cudaFailure('cudaErrorDevicesUnavailable', 46);
    const inProcess = deviceSnapshot(0, { cuda: { ...gb10, memGetInfo: busy }, nvml: gb10Nvml }, context());
    const child = { answers: new Map([[0, busy]]), missing: timeout('x') };
    const inChild = deviceSnapshot(0, { cuda: gb10, nvml: gb10Nvml }, context({ child }));
    for (const device of [inProcess, inChild]) {
      expect(device).toMatchObject({
        cuda: null,
        views: { cudaMemGetInfo: null, torch: null, vllm: null, sglang: null, llamaCpp: 0, nvidiaGuidance: 100 * GiB },
        failures: [{ path: 'cuda', library: 'cuda', call: 'cudaMemGetInfo', status: 46 }],
        allocatable: { immediate: 10 * GiB, afterReclaim: 100 * GiB },
      });
      expect(device.from.cuda).toMatch(/^ERR_UMA_BUSY/);
      expect(device.from.allocatable).toContain('no program can allocate it');
    }
    const unborn = { answers: new Map(), missing: 'ERR_UMA_BUSY: no descriptor is left' };
    const untried = deviceSnapshot(0, { cuda: gb10, nvml: gb10Nvml }, context({ child: unborn }));
    expect(untried).toMatchObject({ failures: [], views: { torch: 10 * GiB } });
    expect(untried.from.cuda).toContain('no descriptor');
  });

  it('the child hangs or dies in CUDA: no view is made up', () => {
    for (const [failure, llamaCpp] of [
      [timeout('cudaMemGetInfo in a child process'), null],
      [{ ...timeout('cudaMemGetInfo in a child process'), name: 'KILLED' }, 0],
    ] as const) {
      const child = { answers: new Map(), missing: failure };
      const device = deviceSnapshot(0, { cuda: gb10, nvml: gb10Nvml }, context({ child }));
      expect(device.views).toMatchObject({ cudaMemGetInfo: null, vllm: null, llamaCpp });
      expect(device.failures).toHaveLength(1);
    }
  });

  it('a device whose context state cannot be read has failed, though nothing was asked', () => {
    const lost = cudaFailure('CUDA_ERROR_UNKNOWN', 999, 'cuDeviceGet');
    const device = deviceSnapshot(0, { cuda: { ...gb10, contextActive: lost }, nvml: gb10Nvml }, context());
    expect(device.views.cudaMemGetInfo).toBeNull();
    expect(device.failures).toMatchObject([{ path: 'cuda', call: 'cuDeviceGet', status: 999 }]);
  });

  it('CUDA as a whole refuses: no program sees the device', () => {
    const cuda = { ...LOADED, state: 'unusable' as const, reason: 'ERR_UMA_CALL_FAILED: cuInit answered X (999)' };
    const nvml = { ...gb10Nvml, addressingMode: 2 };
    const device = deviceSnapshot(0, { cuda: null, nvml }, context({ libraries: { cuda, nvml: LOADED } }));
    expect(device).toMatchObject({
      memoryModel: 'unified',
      views: { cudaMemGetInfo: null, vllm: null, llamaCpp: null },
    });
    // Hidden by CUDA_VISIBLE_DEVICES only: a program without that variable gets MemFree.
    expect(deviceSnapshot(0, { cuda: null, nvml }, context()).views.cudaMemGetInfo).toBe(10 * GiB);
  });

  it('a lost GPU can allocate nothing; the fields that were still answered stay', () => {
    const lost = nvmlFailure('GPU_IS_LOST', 15, 'nvmlDeviceGetPowerUsage');
    const device = deviceSnapshot(0, { cuda: gb10, nvml: { ...gb10Nvml, powerMilliwatt: lost } }, context());
    expect(device).toMatchObject({
      temperatureC: 40,
      powerW: null,
      allocatable: { immediate: null, afterReclaim: null },
      failures: [{ path: 'powerW', status: 15 }],
    });
    expect(device.from.allocatable).toMatch(/^GPU 0 is lost/);
  });

  it('lists a failed call once, and nothing that the device or the library does not have', () => {
    const handle = nvmlFailure('UNKNOWN', 999, 'nvmlDeviceGetHandleByIndex_v2');
    const facts = { name: handle, uuid: handle, pciBusId: handle, memory: handle, temperatureC: handle };
    const device = deviceSnapshot(0, { cuda: null, nvml: { index: 0, ...facts } }, context());
    expect(device.failures).toMatchObject([{ path: 'nvml', call: 'nvmlDeviceGetHandleByIndex_v2' }]);
    const missing: Failure = {
      ...handle,
      source: 'dl',
      call: 'nvmlDeviceGetClockInfo',
      status: null,
      name: 'SYMBOL_MISSING',
    };
    const ordinary = {
      ...gb10Nvml,
      temperatureC: nvmlFailure('FUNCTION_NOT_FOUND', 13),
      smClockMHz: missing,
    };
    const unknown = { l2CacheSize: cudaFailure('CUDA_ERROR_INVALID_VALUE', 1, 'cuDeviceGetAttribute') };
    const sound = { ...gb10, attributes: { ...gb10.attributes, ...unknown } };
    expect(deviceSnapshot(0, { cuda: sound, nvml: ordinary }, context()).failures).toEqual([]);
  });
});
