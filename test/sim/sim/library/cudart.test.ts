/** The CUDA runtime of the simulated machine as programs meet it: three versions, and kernels of their own. */

import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { simulatorLibrary } from '../../../../lib/core/native/binding.ts';
import type { Machine } from '../../../../lib/sim.ts';
import {
  CLIENTS,
  CUDA_TOOLKIT,
  compile,
  compileC,
  compileCuda,
  cudartFlags,
  missingCompiler,
  missingNvcc,
  missingToolkit,
} from '../../../support/clients.ts';
import { gb10WithTwoDevices, machineWith, withMachine } from '../../../support/machines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('cudart');
/** Under a sanitizer everything takes several times as long. */
const LIMIT_MS = 240_000;

/** Runs a program on a machine on which a simulated second takes a millisecond. */
function runOn(machine: Machine | string, program: string, args: readonly string[] = [], preload = true) {
  const run = ({ foreignEnv }: { foreignEnv: (options: { preload: boolean }) => Record<string, string> }) => {
    // Not unsanitizedEnvironment(): the simulator may be built with a sanitizer, whose runtime must come along.
    const env = { ...process.env, ...foreignEnv({ preload }) };
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
    return { status, stderr, lines: stdout.trim().split('\n') };
  };
  return withMachine(machine, run, { scale: 1000 });
}

/** A title, and whether its tests are skipped, which it then says. */
function unless(missing: string | null, title: string): [string, boolean] {
  return [missing === null ? title : `${title} (skipped: ${missing})`, missing !== null];
}

function suite(missing: string | null, title: string, tests: () => void): void {
  const [name, skipped] = unless(missing, title);
  describe.skipIf(skipped)(name, tests);
}

suite(missingCompiler(), 'the libcudart of CUDA 11, 12 and 13', () => {
  const programs = new Map<number, string>();
  beforeAll(() => {
    const libraries = dirname(simulatorLibrary());
    for (const version of [11, 12, 13]) {
      const program = join(folder, `cudart_versions_${version}`);
      compileC(join(CLIENTS, 'cudart_versions.c'), program, [
        ...(version === 12 ? ['-DcudaGetDeviceProperties=cudaGetDeviceProperties_v2'] : []),
        ...[`-L${libraries}`, `-l:libumasim-cudart${version}.so`, `-Wl,-rpath,${libraries}`],
        ...['-Wl,--allow-shlib-undefined', '-ldl'],
      ]);
      programs.set(version, program);
    }
  }, LIMIT_MS);

  /** The struct has 728, 1032 and 1008 bytes; not a byte more is written, or the caller's stack is smashed. */
  const SIZES = new Map([
    [11, 728],
    [12, 1032],
    [13, 1008],
  ]);

  test.each([
    [11, 13_010, true, [11_080, 12_090, 13_010]],
    [12, 13_010, true, [11_080, 12_090, 13_010]],
    [13, 12_060, true, [11_080, 12_060, 13_000]],
    [11, 13_010, false, [11_080, 12_090, 13_010]],
  ])('linked with CUDA %i, on a machine with runtime %i, preloaded: %s', async (linked, own, preload, versions) => {
    const machine = machineWith('gb10', { driver: { runtimeVersion: own } });
    const { status, stderr, lines } = await runOn(machine, String(programs.get(linked)), [], preload);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(lines).toEqual([
      `libcudart.so.12 cudaRuntimeGetVersion 0 ${versions[1]}`,
      'libcudart.so.12 cudaGetDeviceProperties 0 728 bytes: NVIDIA GB10',
      'libcudart.so.12 cudaGetDeviceProperties_v2 0 1032 bytes: NVIDIA GB10',
      `libcudart.so.11.0 cudaRuntimeGetVersion 0 ${versions[0]}`,
      'libcudart.so.11.0 cudaGetDeviceProperties 0 728 bytes: NVIDIA GB10',
      `libcudart.so.13 cudaRuntimeGetVersion 0 ${versions[2]}`,
      'libcudart.so.13 cudaGetDeviceProperties 0 1008 bytes: NVIDIA GB10',
      `linked cudaRuntimeGetVersion 0 ${versions[linked - 11]}`,
      `linked cudaGetDeviceProperties 0 ${SIZES.get(linked)} bytes: NVIDIA GB10`,
    ]);
  });
});

suite(missingCompiler(), 'the calls of PyTorch up to its first tensor', () => {
  const program = join(folder, 'torch_first_allocation');
  beforeAll(() => {
    const libraries = dirname(simulatorLibrary());
    const flags = [`-L${libraries}`, '-l:libumasim-cudart12.so', '-l:libumasim.so', `-Wl,-rpath,${libraries}`];
    compileC(join(CLIENTS, 'torch_first_allocation.c'), program, [...flags, '-Wl,--allow-shlib-undefined', '-ldl']);
  }, LIMIT_MS);

  test.each(['gb10', 'h200'])('%s answers them', async (machine) => {
    const { status, stderr, lines } = await runOn(machine, program);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    // One device has no NVLink, the affinity is not modelled, and a fourth mode of capture does not exist.
    const refused = lines.filter((line) => /\) [1-9]/.test(line));
    expect(refused).toEqual(['exchange(&mode) 1', 'link(device, 0, &type) 3', 'affinity(device, 1, &processors) 3']);
    expect(lines.filter((line) => !line.includes('('))).toEqual([
      ...Array(2).fill(['capturing 0', 'mode before 0', 'mode restored 2']).flat(),
      'taken 22 MiB',
      'back 1',
      'active 1',
    ]);
  });
});

suite(missingCompiler(), 'what nvcc makes of a program, written by hand', () => {
  const program = join(folder, 'registered_kernels');
  beforeAll(() => compile(['-std=c++17', join(CLIENTS, 'registered_kernels.cc'), '-ldl', '-o', program]), LIMIT_MS);

  test.each(['libcudart.so.11.0', 'libcudart.so.12', 'libcudart.so.13', 'libcudart.so'])(
    'its kernels are registered with %s: two run, the others are not supported',
    async (library) => {
      const { status, stderr, lines } = await runOn('gb10', program, [library]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(lines).toEqual([
        'allocated: 0 no error',
        'fill: 0 no error',
        'verify: 0 no error',
        '1 wrong, the first at 5',
        'vectorAdd: 801 operation not supported',
        'a block of 2048 threads: 9 invalid configuration argument',
        'a function that was never registered: 98 invalid device function',
        'unregistered: 98 invalid device function',
      ]);
    },
  );
});

/** The one line on stderr for a program in which NVIDIA's runtime is linked. */
const advice = (program: string) =>
  `umasim: ${program} has NVIDIA's CUDA runtime linked in, which needs a real driver. ` +
  'Build it with nvcc -cudart shared, so that the simulated one is found.\n';

suite(missingCompiler(), 'a program that starts as the static runtime does', () => {
  test('is told once what to do, and gets no table', async () => {
    const program = join(folder, 'private_tables');
    compileC(join(CLIENTS, 'private_tables.c'), program, ['-ldl']);
    const { status, stderr, lines } = await runOn('gb10', program);
    expect({ status, stderr }).toEqual({ status: 0, stderr: advice(program) });
    expect(lines).toEqual(['cuInit 0', ...Array(3).fill('cuGetExportTable 801 no table')]);
  });
});

/** What programs look up before they use any of it, by their sources: a selection, not of one release. */
const LOOKUPS = {
  'ggml of llama.cpp': `cuDeviceGet cuDeviceGetAttribute cuGetErrorString cuMemAddressFree cuMemAddressReserve cuMemCreate
    cuMemGetAllocationGranularity cuMemMap cuMemRelease cuMemSetAccess cuMemUnmap`,
  PyTorch: `cuDeviceGetAttribute cuMemAddressReserve cuMemRelease cuMemMap cuMemAddressFree cuMemSetAccess cuMemUnmap cuMemCreate
    cuMemGetAllocationGranularity cuMemExportToShareableHandle cuMemImportFromShareableHandle cuMemsetD32Async
    cuStreamWriteValue32 cuGetErrorString cuMulticastAddDevice cuMulticastBindMem cuMulticastCreate cuMulticastUnbind
    cuPointerGetAttribute cuCtxGetCurrent cuDevicePrimaryCtxGetState`,
  'ffmpeg (nv-codec-headers)': `cuInit cuDeviceGetCount cuDeviceGet cuDeviceGetAttribute cuDeviceGetName cuDeviceComputeCapability
    cuCtxCreate cuCtxSetLimit cuCtxPushCurrent cuCtxPopCurrent cuCtxDestroy cuMemAlloc cuMemAllocPitch cuMemAllocManaged
    cuMemsetD8Async cuMemFree cuMemcpy cuMemcpyAsync cuMemcpy2D cuMemcpy2DAsync cuMemcpyHtoD cuMemcpyHtoDAsync cuMemcpyDtoH
    cuMemcpyDtoHAsync cuMemcpyDtoD cuMemcpyDtoDAsync cuGetErrorName cuGetErrorString cuCtxGetDevice cuDevicePrimaryCtxRetain
    cuDevicePrimaryCtxRelease cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxGetState cuDevicePrimaryCtxReset cuStreamCreate
    cuStreamQuery cuStreamSynchronize cuStreamDestroy cuStreamAddCallback cuStreamWaitEvent cuEventCreate cuEventDestroy
    cuEventSynchronize cuEventQuery cuEventRecord cuLaunchKernel cuLinkCreate cuLinkAddData cuLinkComplete cuLinkDestroy
    cuModuleLoadData cuModuleUnload cuModuleGetFunction cuModuleGetGlobal cuTexObjectCreate cuTexObjectDestroy cuGLGetDevices
    cuGraphicsGLRegisterImage cuGraphicsUnregisterResource cuGraphicsMapResources cuGraphicsUnmapResources
    cuGraphicsSubResourceGetMappedArray cuGraphicsResourceGetMappedPointer cuDeviceGetUuid cuImportExternalMemory
    cuDestroyExternalMemory cuExternalMemoryGetMappedBuffer cuExternalMemoryGetMappedMipmappedArray
    cuMipmappedArrayDestroy cuMipmappedArrayGetLevel cuImportExternalSemaphore cuDestroyExternalSemaphore
    cuSignalExternalSemaphoresAsync cuWaitExternalSemaphoresAsync cuArray3DCreate cuArrayDestroy`,
  Numba: `cuInit cuDriverGetVersion cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDeviceGetAttribute cuDeviceComputeCapability
    cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease cuDevicePrimaryCtxReset cuDevicePrimaryCtxRetain
    cuDevicePrimaryCtxSetFlags cuCtxCreate cuCtxGetCurrent cuCtxPushCurrent cuCtxPopCurrent cuCtxDestroy cuModuleLoadDataEx
    cuModuleUnload cuModuleGetFunction cuModuleGetGlobal cuMemAlloc cuMemAllocManaged cuMemsetD8 cuMemsetD8Async cuMemcpyHtoD
    cuMemcpyHtoDAsync cuMemcpyDtoD cuMemcpyDtoDAsync cuMemcpyDtoH cuMemcpyDtoHAsync cuMemFree cuStreamCreate cuStreamDestroy
    cuStreamSynchronize cuStreamAddCallback cuLaunchKernel cuLaunchCooperativeKernel cuMemHostAlloc cuMemFreeHost
    cuMemHostRegister cuMemHostUnregister cuMemHostGetDevicePointer cuMemGetInfo cuEventCreate cuEventDestroy
    cuEventElapsedTime cuEventRecord cuEventQuery cuEventSynchronize cuStreamWaitEvent cuPointerGetAttribute
    cuMemGetAddressRange cuIpcGetMemHandle cuIpcOpenMemHandle cuIpcCloseMemHandle cuCtxEnablePeerAccess
    cuDeviceCanAccessPeer cuFuncGetAttribute cuOccupancyMaxActiveBlocksPerMultiprocessor cuCtxSynchronize cuGetErrorName`,
};

suite(missingCompiler(), 'the driver for programs that open it by hand', () => {
  const program = join(folder, 'driver_lookups');
  beforeAll(() => compileC(join(CLIENTS, 'driver_lookups.c'), program, ['-ldl']), LIMIT_MS);

  test.each(Object.entries(LOOKUPS))('has all that %s looks for', async (_, names) => {
    const { status, stderr, lines } = await runOn('gb10', program, ['12000', ...names.split(/\s+/)]);
    expect({ status, stderr, lines }).toEqual({ status: 0, stderr: '', lines: ['cuInit 0, cuMemCreate 801'] });
  });

  test('a name that is no function of CUDA is not found, nor anything for a CUDA newer than the driver', async () => {
    const { lines } = await runOn('gb10', program, ['13000', 'cuMemDefragment', 'cudaMalloc', 'nvmlInit_v2']);
    expect(lines).toEqual([
      'cuMemDefragment: cuGetProcAddress 0, result 1',
      'cuMemDefragment: no symbol',
      // In one library with the driver's functions, but none of them.
      'cudaMalloc: cuGetProcAddress 0, result 1',
      'nvmlInit_v2: cuGetProcAddress 0, result 1',
      'cuInit 0, cuMemCreate 801',
    ]);
    const newer = await runOn('gb10', program, ['13010', 'cuInit']);
    expect(newer.lines[0]).toMatch(/^cuInit: cuGetProcAddress 1,/);
  });
});

suite(missingNvcc(), 'a program of nvcc', () => {
  test(
    'with the shared runtime runs the two known kernels',
    async () => {
      const program = join(folder, 'kernels_shared');
      compileCuda(join(CLIENTS, 'kernels.cu'), program, 'shared');
      const { status, stderr, lines } = await runOn('gb10', program);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(lines).toEqual([
        'cudaMalloc: cudaSuccess: no error',
        'umaprobe_fill: cudaSuccess: no error',
        'word 1000: cf1b8d545d1615ca', // pattern_word(7, 1000) of native/abi/pattern.h
        'vectorAdd: cudaErrorNotSupported: operation not supported',
        'cudaFree: cudaSuccess: no error',
      ]);
    },
    LIMIT_MS,
  );

  test(
    'with the static runtime is told what to do',
    async () => {
      const program = join(folder, 'kernels_static');
      compileCuda(join(CLIENTS, 'kernels.cu'), program, 'static');
      const { status, stderr, lines } = await runOn('gb10', program);
      expect({ status, stderr }).toEqual({ status: 1, stderr: advice(program) });
      expect(lines).toEqual(['cudaMalloc: cudaErrorNotSupported: operation not supported']);
    },
    LIMIT_MS,
  );
});

suite(missingToolkit(), 'a program that is linked with NVIDIA’s runtime', () => {
  test('finds each of its functions here, simulated or not', ({ skip }) => {
    const names = (library: string): string[] => {
      const { stdout, error } = spawnSync('nm', ['-D', '--defined-only', library], { encoding: 'utf8' });
      if (error !== undefined) skip(`no nm: ${error.message}`);
      return [...stdout.matchAll(/ [TW] ([^@\n]+)/g)].map((match) => String(match[1]));
    };
    const theirs = names(join(CUDA_TOOLKIT, 'lib64', 'libcudart.so'));
    const simulator = simulatorLibrary();
    const version = theirs.includes('cudaGetDeviceProperties_v2') ? 12 : 13;
    const ours = new Set([...names(simulator), ...names(simulator.replace(/\.so$/, `-cudart${version}.so`))]);
    expect(theirs.length).toBeGreaterThan(300);
    expect(theirs.filter((name) => /^(__)?cuda/.test(name) && !ours.has(name))).toEqual([]);
  });
});

suite(missingToolkit(), 'the calls of deviceQuery', () => {
  const program = join(folder, 'device_query');
  beforeAll(() => compileC(join(CLIENTS, 'device_query.c'), program, cudartFlags()), LIMIT_MS);

  test.each([
    [
      'gb10',
      ['Device 0: "NVIDIA GB10"', '12.1', '122565 MBytes (128518619136 bytes)', '102400 bytes', 'Yes', '15 / 1 / 0'],
    ],
    ['h200', ['Device 0: "NVIDIA H200"', '9.0', '143156 MBytes (150109880320 bytes)', '233472 bytes', 'No']],
  ])('%s', async (machine, answers) => {
    const { status, stderr, lines } = await runOn(machine, program);
    expect({ status, stderr, result: lines.at(-1) }).toEqual({ status: 0, stderr: '', result: 'Result = PASS' });
    const shown = lines.filter((line) =>
      /^Device 0|Capability|global memory|per multiprocessor: +\d+ bytes|Integrated|PCI/.test(line),
    );
    for (const [i, answer] of answers.entries()) expect(shown[i]).toContain(answer);
  });

  test('two devices: neither reaches the memory of the other', async () => {
    const { lines } = await runOn(gb10WithTwoDevices({}), program);
    expect(lines).toContain('> Peer access from NVIDIA GB10 (GPU0) -> NVIDIA GB10 (GPU1) : No');
    expect(lines.at(-2)).toContain('CUDA Runtime Version = 13.0, NumDevs = 2');
  });

  test('no driver: the error of the runtime', async () => {
    const { status, lines } = await runOn('no-driver', program);
    expect(status).toBe(1);
    expect(lines[0]).toBe('cudaGetDeviceCount returned 35');
  });
});
