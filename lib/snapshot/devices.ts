import type { Failure } from '../base/errors.ts';
import { isFailure, Provenance, reason } from '../base/facts.ts';
import type { KernelFacts } from '../host/kernel.ts';
import { allocatable } from '../memory/allocatable.ts';
import { memoryModel } from '../memory/model.ts';
import { quirkNotes } from '../memory/quirks.ts';
import { views } from '../memory/views.ts';
import type { NativeCudaDevice, NativeCudaReport, NativeNvmlDevice, NativeNvmlReport } from '../native/contract.ts';
import type { DeviceAttribute, DeviceSnapshot, GpuProcess, HostMemory } from '../types/index.ts';

export const DEVICE_ATTRIBUTES = [
  'integrated',
  'managedMemory',
  'concurrentManagedAccess',
  'pageableMemoryAccess',
  'pageableMemoryAccessUsesHostPageTables',
  'directManagedMemAccessFromHost',
  'hostRegisterSupported',
  'hostRegisterReadOnlySupported',
  'canMapHostMemory',
  'unifiedAddressing',
  'memoryPoolsSupported',
  'gpuDirectRdmaSupported',
  'dmaBufSupported',
  'l2CacheSize',
  'multiProcessorCount',
  'globalMemoryBusWidth',
  'memoryClockRateKHz',
  'clockRateKHz',
  'asyncEngineCount',
  'hostNumaId',
  'totalGlobalMem',
] as const satisfies readonly DeviceAttribute[];

const ADDRESSING_MODES = ['NONE', 'HMM', 'ATS'];

/** "0000000F:01:00.0" of NVML and "000f:01:00.0" of CUDA are the same address. */
export function normalPciBusId(id: string): string {
  const match = /^([0-9a-f]+):([0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])$/i.exec(id.trim());
  if (match === null) return id;
  return `${(match[1] as string).replace(/^0+/, '').padStart(4, '0')}:${match[2]}`.toUpperCase();
}

export interface DevicePair {
  cuda: NativeCudaDevice | null;
  nvml: NativeNvmlDevice | null;
}

/** The same GPU in both lists has the same PCI address; devices that CUDA sees come first, in CUDA's order. */
export function pairDevices(cuda: NativeCudaDevice[], nvml: NativeNvmlDevice[]): DevicePair[] {
  const address = (device: NativeCudaDevice | NativeNvmlDevice) =>
    typeof device.pciBusId === 'string' ? normalPciBusId(device.pciBusId) : null;
  const left = new Set(nvml);
  const pairs: DevicePair[] = cuda.map((device) => {
    const own = address(device);
    // A MIG GPU is one NVML device and several CUDA devices: each gets the GPU it is a slice of.
    const twin =
      nvml.find((candidate) => own !== null && address(candidate) === own) ??
      nvml.find((candidate) => typeof candidate.uuid === 'string' && candidate.uuid === device.uuid);
    if (twin) left.delete(twin);
    return { cuda: device, nvml: twin ?? null };
  });
  for (const device of left) pairs.push({ cuda: null, nvml: device });
  return pairs;
}

export interface DeviceContext {
  host: HostMemory;
  facts: KernelFacts;
  cuda: NativeCudaReport;
  nvml: NativeNvmlReport;
  /** Why a library as a whole has nothing to say about a device; null where it answered. */
  whyNoCuda: string | null;
  whyNoNvml: string | null;
  /** cudaMemGetInfo of a child by ordinal, each a reading or why there is none; null: none was asked. */
  child: { answers: Map<number, { free: number; total: number; from: string } | string>; missingReason: string } | null;
  environment: Record<string, string | undefined>;
  /** Name of a process in `/proc/<pid>/comm`. */
  processName(pid: number): string | null;
}

/** One device: each number with its origin, each gap with its reason. */
export function deviceSnapshot(index: number, pair: DevicePair, around: DeviceContext): DeviceSnapshot {
  const origins = new Provenance();
  const { cuda, nvml } = pair;
  const noCuda =
    late(around.cuda.timedOut) ?? around.whyNoCuda ?? 'CUDA does not see this device (CUDA_VISIBLE_DEVICES)';
  const noNvml = late(around.nvml.timedOut) ?? around.whyNoNvml ?? 'NVML does not see this device';

  const attributes = Object.fromEntries(
    DEVICE_ATTRIBUTES.map((name) => [
      name,
      origins.read(`attributes.${name}`, cuda?.attributes?.[name], 'CUDA device attribute', noCuda),
    ]),
  ) as Record<DeviceAttribute, number | null>;
  const mode = origins.read('addressingMode', nvml?.addressingMode, 'nvmlDeviceGetAddressingMode', noNvml);
  const addressingMode = mode === null ? null : (ADDRESSING_MODES[mode] ?? `mode ${mode}`);
  const { model, from } = memoryModel({
    integrated: attributes.integrated,
    pageableMemoryAccessUsesHostPageTables: attributes.pageableMemoryAccessUsesHostPageTables,
    addressingMode,
    nvmlMemory: nvml?.memory ?? null,
  });
  origins.record('memoryModel', from);

  const own = {
    cuda: cudaMemory(cuda, around, origins, noCuda),
    nvml: nvmlMemory(nvml, origins, noNvml),
  };
  const mig = origins.read('migMode', nvml?.migMode, 'nvmlDeviceGetMigMode', noNvml);
  const migMode = mig === null ? null : { current: mig[0] === 1, pending: mig[1] === 1 };
  const can = allocatable({
    model,
    host: around.host,
    poolBytes: around.facts.driver.poolBytes,
    ...own,
    mig: migMode?.current ?? false,
  });
  origins.record('allocatable', can.from);
  const seen = views({
    model,
    host: around.host,
    ...own,
    whyNoCuda: origins.sources.cuda ?? noCuda,
    whyNoNvml: origins.sources.nvml ?? noNvml,
    environment: around.environment,
  });
  for (const [name, words] of Object.entries(seen.from)) origins.record(`views.${name}`, words);
  const power = origins.read('powerW', nvml?.powerMilliwatt, 'nvmlDeviceGetPowerUsage', noNvml);

  return {
    index,
    cudaIndex: cuda?.ordinal ?? null,
    nvmlIndex: nvml?.index ?? null,
    name: either(origins, 'name', [cuda?.name, 'cuDeviceGetName'], [nvml?.name, 'nvmlDeviceGetName'], noCuda),
    uuid: either(origins, 'uuid', [cuda?.uuid, 'cuDeviceGetUuid'], [nvml?.uuid, 'nvmlDeviceGetUUID'], noCuda),
    pciBusId: pciBusId(
      either(
        origins,
        'pciBusId',
        [cuda?.pciBusId, 'cuDeviceGetPCIBusId'],
        [nvml?.pciBusId, 'nvmlDeviceGetPciInfo_v3'],
        noCuda,
      ),
    ),
    computeCapability: origins.read('computeCapability', cuda?.computeCapability, 'CUDA device attributes', noCuda),
    memoryModel: model,
    attributes,
    ...own,
    processes: processes(nvml, around, origins, noNvml),
    allocatable: can.bytes,
    views: seen.bytes,
    addressingMode,
    migMode,
    utilizationPercent: origins.read(
      'utilizationPercent',
      nvml?.utilizationPercent,
      'nvmlDeviceGetUtilizationRates',
      noNvml,
    ),
    temperatureC: origins.read('temperatureC', nvml?.temperatureC, 'nvmlDeviceGetTemperature', noNvml),
    powerW: power === null ? null : power / 1000,
    smClockMHz: origins.read('smClockMHz', nvml?.smClockMHz, 'nvmlDeviceGetClockInfo', noNvml),
    notes: quirkNotes({
      host: around.host,
      kernel: around.facts.kernel,
      driver: around.facts.driver,
      device: { memoryModel: model, ...own, migMode, attributes, addressingMode },
      nvmlRefusal: isFailure(nvml?.memory) ? nvml.memory.name : null,
    }),
    from: origins.sources,
  };
}

function late(timedOut: Failure | null): string | null {
  return timedOut === null ? null : reason(timedOut);
}

function pciBusId(id: string | null): string | null {
  return id === null ? null : normalPciBusId(id);
}

/** CUDA's answer, else NVML's; the origin names the one that was taken. */
function either(
  origins: Provenance,
  path: string,
  first: [string | Failure | undefined, string],
  second: [string | Failure | undefined, string],
  absent: string,
): string | null {
  const [fact, call] = typeof first[0] === 'string' || second[0] === undefined ? first : second;
  return origins.read(path, fact, call, absent);
}

function cudaMemory(
  device: NativeCudaDevice | null,
  around: DeviceContext,
  origins: Provenance,
  absent: string,
): DeviceSnapshot['cuda'] {
  const read = device?.memGetInfo;
  if (read !== undefined && !isFailure(read)) {
    origins.record('cuda', 'cudaMemGetInfo in this process');
    return { free: read[0], total: read[1] };
  }
  if (isFailure(read)) {
    origins.record('cuda', reason(read));
    return null;
  }
  if (device === null || around.child === null) {
    origins.record(
      'cuda',
      device === null || around.cuda.timedOut !== null
        ? absent
        : 'not read: it needs a CUDA context and this process has none (memGetInfo: child or inProcess reads it)',
    );
    return null;
  }
  const answer = around.child.answers.get(device.ordinal ?? -1) ?? around.child.missingReason;
  if (typeof answer === 'string') {
    origins.record('cuda', answer);
    return null;
  }
  origins.record('cuda', answer.from);
  return { free: answer.free, total: answer.total };
}

/** SUCCESS with a total of 0 is what a zeroed struct looks like after a shim swallowed an error: it is not a reading. */
function nvmlMemory(device: NativeNvmlDevice | null, origins: Provenance, absent: string): DeviceSnapshot['nvml'] {
  const memory = origins.read('nvml', device?.memory, 'nvmlDeviceGetMemoryInfo', absent);
  if (memory === null) return null;
  origins.record(
    'nvml',
    memory.total === 0 ? `${memory.call} answered SUCCESS with a total of 0, which is no answer` : memory.call,
  );
  return memory.total === 0
    ? null
    : { total: memory.total, free: memory.free, used: memory.used, reserved: memory.reserved };
}

function processes(
  device: NativeNvmlDevice | null,
  around: DeviceContext,
  origins: Provenance,
  absent: string,
): GpuProcess[] | null {
  const list = origins.read(
    'processes',
    device?.processes,
    'nvmlDeviceGetComputeRunningProcesses_v3 and graphics',
    absent,
  );
  return list === null ? null : list.map(({ pid, gpuBytes }) => ({ pid, name: around.processName(pid), gpuBytes }));
}
