/** Made-up snapshots: a few numbers, the rest computed by the functions that compute real ones. */
import { packageVersion } from '../../lib/base/package-version.ts';
import { allocatable } from '../../lib/core/memory/allocatable.ts';
import type { Facts } from '../../lib/core/memory/findings/row.ts';
import { readProcessList, sharedGpuMemory } from '../../lib/core/memory/gpu-processes.ts';
import { judged } from '../../lib/core/memory/judge.ts';
import { ledger } from '../../lib/core/memory/ledger.ts';
import { otherUsers } from '../../lib/core/memory/others.ts';
import { views } from '../../lib/core/memory/views.ts';
import { DEVICE_ATTRIBUTES } from '../../lib/types/device.ts';
import type {
  DeviceAttribute,
  DeviceSnapshot,
  FreeBlocks,
  GpuProcess,
  HostMemory,
  KernelMemory,
  Reading,
  Snapshot,
} from '../../lib/types/index.ts';

/** An idle Spark: 119.69 GiB, driver 580, a desktop. */
export function hostOf(overrides: Partial<HostMemory> = {}): HostMemory {
  return {
    total: 128_518_619_136,
    free: 115_000_000_000,
    available: 120_000_000_000,
    buffers: 268_435_456,
    cached: 5_972_688_896,
    swapCached: 0,
    shmem: 67_108_864,
    anonPages: 4_831_838_208,
    anonHugePages: 0,
    mapped: 805_306_368,
    mlocked: 16_777_216,
    unevictable: 16_777_216,
    dirty: 1_048_576,
    writeback: 0,
    activeFile: 2_000_000_000,
    inactiveFile: 3_900_000_000,
    kReclaimable: 671_088_640,
    sReclaimable: 671_088_640,
    sUnreclaim: 536_870_912,
    kernelStack: 25_165_824,
    pageTables: 50_331_648,
    secPageTables: 0,
    percpu: 33_554_432,
    vmallocUsed: 100_000_000,
    committedAs: 9_000_000_000,
    hardwareCorrupted: 0,
    zswap: 0,
    swapTotal: 17_179_869_184,
    swapFree: 17_179_869_184,
    hugePagesTotal: 0,
    hugePagesFree: 0,
    hugePageSize: 2_097_152,
    hugetlb: 0,
    cmaTotal: 0,
    cmaFree: 0,
    ...overrides,
  };
}

const KERNEL: KernelMemory = {
  release: '6.17.0-1032-nvidia',
  minFree: 46_251_008,
  watermarkScaleFactor: 10,
  watermarkBoostFactor: 15_000,
  swappiness: 60,
  compactionProactiveness: 20,
  transparentHugePages: 'madvise',
  freeInCpuLists: 0,
  zram: 0,
  compactStall: 0,
  compactFail: 0,
  compactSuccess: 0,
  pgscanDirect: 0,
  pgstealDirect: 0,
  pgscanKswapd: 0,
  pgstealKswapd: 0,
  allocstall: 0,
  oomKill: 0,
  pgmajfault: 10,
};

export interface MachineFixture {
  host?: Partial<HostMemory>;
  kernel?: Partial<KernelMemory>;
  processes?: GpuProcess[];
  /** CUDA_VISIBLE_DEVICES, and the GPUs that it hides. */
  visible?: { variable: string; hidden: number[] };
  /** The reader is in a PID namespace of its own. */
  container?: boolean;
  /** Share of the free memory in blocks of 32 MiB; the rest is in pages of 4 KiB. */
  largeShare?: number;
  /** Share of the free memory in blocks of 2 MiB. */
  mediumShare?: number;
  /** Share of the small blocks that compaction can join. Default: it is not known, as for an ordinary user. */
  movableShare?: number;
  model?: DeviceSnapshot['memoryModel'];
  gpu?: boolean;
  full?: number;
  some?: number;
  pools?: { parameter: number; bytes: number | null };
  simulated?: string | null;
  /** Free bytes of each discrete GPU. Default: one GPU with nearly all memory free. */
  ownFree?: number[];
  /** Page cache on the NUMA node of a coherent GPU. */
  cacheOnNode?: number;
  environment?: Record<string, string>;
}

export function snapshotOf(fixture: MachineFixture = {}): Snapshot {
  return judged(readingOf(fixture));
}

/** The snapshot of a machine on which this has happened, too: changed before it is judged. */
export function changed(
  change: (reading: Reading) => void,
  fixture: MachineFixture = {},
  facts: Omit<Facts, 'snapshot'> = {},
): Snapshot {
  const reading = readingOf(fixture);
  change(reading);
  return judged(reading, facts);
}

/** The facts alone. */
export function readingOf(fixture: MachineFixture = {}): Reading {
  const host = hostOf(fixture.host);
  const pools = fixture.pools ?? { parameter: 0, bytes: 0 };
  const own = fixture.ownFree ?? [143_000 * 2 ** 20];
  const devices =
    fixture.gpu === false ? [] : own.map((free, index) => deviceOf(index, free, host, fixture, pools.bytes));
  const psi = (avg10: number) => ({ avg10, avg60: avg10 / 2, avg300: avg10 / 10, totalUs: 1000 });
  const library = {
    state: 'loaded',
    path: '/usr/lib/libcudart.so.13',
    version: '13.0',
    driverVersion: '13.0',
    reason: null,
    failure: null,
  } as const;
  const absent = {
    state: 'missing',
    path: null,
    version: null,
    driverVersion: null,
    reason: 'ERR_UMA_LIBRARY_MISSING: tried libcudart.so.13',
    failure: null,
  } as const;
  return {
    schema: 'umaprobe/snapshot/1',
    at: '2026-10-07T12:34:56.789Z',
    bootId: '0b5e7a2c-0000-4000-8000-000000000000',
    simulated: fixture.simulated ?? null,
    hostName: 'spark',
    umaprobeVersion: packageVersion(),
    host,
    ledger: ledger(host, {
      gpuProcesses: sharedGpuMemory(devices),
      driverPools: devices.some(({ memoryModel }) => memoryModel === 'unified') ? pools.bytes : null,
      freeInCpuLists: fixture.kernel?.freeInCpuLists ?? KERNEL.freeInCpuLists,
      zram: fixture.kernel?.zram ?? KERNEL.zram,
    }),
    pressure: { some: psi(fixture.some ?? 0), full: psi(fixture.full ?? 0) },
    contiguity: freeBlocksOf(host, fixture),
    kernel: { ...KERNEL, ...fixture.kernel },
    driver: { version: '580.142', systemMemoryPools: pools.parameter, poolBytes: pools.bytes },
    cgroup: { version: 2, path: '/', limit: null, high: null, current: null },
    libraries:
      fixture.gpu === false
        ? { cuda: { ...absent }, nvml: { ...absent } }
        : {
            cuda: { ...library },
            nvml: { ...library, path: '/usr/lib/libnvidia-ml.so.1', version: '13.580.142', driverVersion: '580.142' },
          },
    cudaVisibleDevices: fixture.visible?.variable ?? null,
    devices,
    noDevices:
      fixture.gpu === false
        ? 'CUDA is missing: ERR_UMA_LIBRARY_MISSING. NVML is missing: ERR_UMA_LIBRARY_MISSING'
        : null,
    from: {},
    durationMs: 0.4,
  };
}

function freeBlocksOf(host: HostMemory, fixture: MachineFixture): FreeBlocks[] {
  const { largeShare = 0.97, mediumShare = 0, movableShare } = fixture;
  const free = host.free ?? 0;
  const medium = Math.floor((free * mediumShare) / (2 * 2 ** 20));
  const large = Math.floor((free * largeShare) / (32 * 2 ** 20));
  const small = Math.max(0, Math.floor((free - large * 32 * 2 ** 20 - medium * 2 * 2 ** 20) / 4096));
  const blocks = (order: number, freeBlocks: number, movable: number) => ({
    ...{ order, blockBytes: 4096 * 2 ** order, freeBlocks },
    movableBlocks: movableShare === undefined ? null : Math.floor(freeBlocks * movable),
  });
  return [blocks(0, small, movableShare ?? 0), blocks(9, medium, 1), blocks(13, large, 1)];
}

function deviceOf(
  index: number,
  free: number,
  host: HostMemory,
  fixture: MachineFixture,
  poolBytes: number | null,
): DeviceSnapshot {
  const model = fixture.model ?? 'unified';
  const total = 143_771 * 2 ** 20;
  const own = { total, free, used: total - free, reserved: null };
  const nvml = model === 'unified' ? null : own;
  const cuda = model === 'unified' ? { free: host.free ?? 0, total: host.total } : { free: own.free, total: own.total };
  const seen = views({
    model,
    host,
    cuda,
    cudaState: 'ok',
    nvml,
    cudaTotal: cuda.total,
    whyNoCuda: '',
    whyNoNvml: 'ERR_UMA_NOT_SUPPORTED: NOT_SUPPORTED',
    environment: fixture.environment ?? {},
  });
  const hidden = fixture.visible?.hidden.includes(index) === true;
  const list = readProcessList(fixture.processes ?? [], fixture.container !== true);
  const { processes, complete: processesComplete } = list;
  const held = { processes, processesComplete, from: { processes: list.from, processesComplete: list.from } };
  const others = otherUsers({ memoryModel: model, migMode: null, nvml, ...held }, process.pid);
  const available = allocatable({
    ...{ model, host, kernel: { ...KERNEL, ...fixture.kernel }, poolBytes, cuda, nvml, mig: false },
    contiguity: freeBlocksOf(host, fixture),
    ...{ cudaTotal: cuda.total, held: null },
    cacheOnNode: fixture.cacheOnNode === undefined ? null : { bytes: fixture.cacheOnNode, from: 'node1/meminfo' },
    others,
  });
  return {
    index,
    cudaIndex: hidden ? null : index,
    visible: !hidden,
    nvmlIndex: index,
    name: model === 'unified' ? 'NVIDIA GB10' : 'NVIDIA H200',
    uuid: `GPU-${index + 1}a2b3c4d`,
    pciBusId: '000F:01:00.0',
    computeCapability: '12.1',
    memoryModel: model,
    attributes: Object.fromEntries(DEVICE_ATTRIBUTES.map((name) => [name, null])) as Record<DeviceAttribute, null>,
    cuda,
    nvml,
    processes,
    processesComplete,
    others,
    allocatable: available.bytes,
    views: seen.bytes,
    addressingMode: 'ATS',
    migMode: null,
    utilizationPercent: 0,
    temperatureC: 40,
    powerW: 4,
    smClockMHz: 208,
    failures: [],
    notes: [],
    from: {
      ...Object.fromEntries(Object.entries(seen.from).map(([name, source]) => [`views.${name}`, source])),
      ...held.from,
      'allocatable.safe': available.safe.from,
      ...(available.safe.between === null ? {} : { 'allocatable.safeHigh': available.safe.between }),
      ...(hidden ? { visible: `CUDA_VISIBLE_DEVICES="${fixture.visible?.variable}" hides it` } : {}),
    },
  };
}
