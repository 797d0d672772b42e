/** One device as a report shows it: what CUDA, NVML and the kernel say of it, each number with its source. */

import type { Failure } from '../../base/errors.ts';
import { isFailure, Provenance, reason } from '../../base/facts.ts';
import { DEVICE_ATTRIBUTES } from '../../types/device.ts';
import type { Allocatable, DeviceAttribute, DeviceSnapshot, HostMemory, Snapshot } from '../../types/index.ts';
import { cacheOnGpu, type GpuNode } from '../host/gpu-nodes.ts';
import type { KernelFacts } from '../host/kernel.ts';
import { type AllocatableFacts, allocatable } from '../memory/allocatable.ts';
import { goneFailure, goneText } from '../memory/device-health.ts';
import { heldBytes, readProcessList } from '../memory/gpu-processes.ts';
import { mostGpuMemory } from '../memory/ledger.ts';
import { memoryModel } from '../memory/model.ts';
import { otherUsers } from '../memory/others.ts';
import { quirkNotes } from '../memory/quirks.ts';
import { views } from '../memory/views.ts';
import type { NativeCudaDevice, NativeCudaReport, NativeNvmlDevice, NativeNvmlReport } from '../native/contract.ts';
import type { ChildReadings } from './child-readings.ts';
import { type CudaMemory, cudaMemory } from './cuda-memory.ts';
import { callFailure, type DeviceFacts, deviceFailures } from './failures.ts';
import { type DevicePair, normalPciBusId } from './pairs.ts';

/** Modes by NVML's number. */
const ADDRESSING_MODES = ['NONE', 'HMM', 'ATS'];

/** Everything that the readings of the whole machine contribute to a device. */
export interface DeviceContext {
  host: HostMemory;
  facts: KernelFacts;
  cuda: NativeCudaReport;
  nvml: NativeNvmlReport;
  /** Tells whether CUDA in this process lists the device, and how that is known. */
  visibility(pair: DevicePair): { visible: boolean | null; from: string };
  libraries: Snapshot['libraries'];
  /** cudaMemGetInfo from a child process; null: none was considered. */
  child: ChildReadings | null;
  environment: Record<string, string | undefined>;
  /** True if this process is in the first PID namespace, the one of NVML's pids. */
  firstPidNamespace: boolean;
  /** NUMA nodes of memory without a processor; null: not known. */
  gpuNodes: readonly GpuNode[] | null;
  /** GPUs with memory of their own. */
  ownMemoryGpus: number;
  /** Name of a process from `/proc/<pid>/comm`; null: unknown. */
  processName(pid: number): string | null;
}

/** One device: each number with its source, each null with its reason. */
export function deviceSnapshot(index: number, pair: DevicePair, context: DeviceContext): DeviceSnapshot {
  const provenance = new Provenance();
  const { cuda, nvml, pairedBy } = pair;
  if (pairedBy !== undefined) provenance.record('nvmlIndex', pairedBy);
  const { visible, from: whyVisible } = context.visibility(pair);
  provenance.record('visible', whyVisible);
  const { noCuda, noNvml } = whyAbsent(nvml, whyVisible, context);

  const attributes = deviceAttributes(cuda?.attributes, provenance, noCuda);
  const mode = provenance.read('addressingMode', nvml?.addressingMode, 'nvmlDeviceGetAddressingMode', noNvml);
  const addressingMode = mode === null ? null : (ADDRESSING_MODES[mode] ?? `mode ${mode}`);
  const { model, from } = memoryModel({
    integrated: attributes.integrated,
    pageableMemoryAccessUsesHostPageTables: attributes.pageableMemoryAccessUsesHostPageTables,
    addressingMode,
    nvmlMemory: nvml?.memory ?? null,
    migMode: nvml?.migMode ?? null,
  });
  provenance.record('memoryModel', from);

  const memGetInfo = cudaMemory(pair, context, pair.hidden === true ? whyVisible : noCuda);
  provenance.record('cuda', memGetInfo.from);
  const memory = { cuda: memGetInfo.memory, nvml: nvmlMemory(nvml, provenance, noNvml) };
  const failures = deviceFailures({
    ...pair,
    memGetInfo: memGetInfo.failure,
    timedOut: unfinished(pair, context),
  });
  const mig = provenance.read('migMode', nvml?.migMode, 'nvmlDeviceGetMigMode', noNvml);
  const migMode = mig === null ? null : { current: mig[0] === 1, pending: mig[1] === 1 };
  const held = processes(nvml, context, provenance, noNvml);
  const { driver, kernel } = context.facts;
  const most = model === 'unified' ? mostGpuMemory(context.host, kernel, driver) : Number.POSITIVE_INFINITY;
  const others = otherUsers(
    { memoryModel: model, migMode, ...memory, ...held, from: provenance.sources },
    process.pid,
    most,
  );
  const node =
    model === 'coherent' && memory.nvml !== null && migMode?.current !== true
      ? cacheOnGpu(context.gpuNodes, memory.nvml.total, context.ownMemoryGpus)
      : null;
  const bytes = allocatableBytes(
    {
      cacheOnNode: node === null ? null : { bytes: node.cache, from: node.file },
      model,
      host: context.host,
      kernel,
      poolBytes: driver.poolBytes,
      contiguity: context.facts.contiguity,
      ...memory,
      cudaTotal: attributes.totalGlobalMem,
      held: heldBytes(held, most),
      others,
      mig: migMode?.current ?? false,
    },
    { gone: goneText({ index, failures }), memGetInfo },
    provenance,
  );
  const toolViews = views({
    model,
    host: context.host,
    ...memory,
    cudaState: memGetInfo.state,
    cudaTotal: attributes.totalGlobalMem,
    whyNoCuda: memGetInfo.from,
    whyNoNvml: provenance.sources.nvml ?? noNvml,
    environment: context.environment,
  });
  for (const [name, source] of Object.entries(toolViews.from)) provenance.record(`views.${name}`, source);
  const power = provenance.read('powerW', nvml?.powerMilliwatt, 'nvmlDeviceGetPowerUsage', noNvml);

  return {
    index,
    cudaIndex: pair.hidden === true ? null : (cuda?.ordinal ?? null),
    visible,
    nvmlIndex: nvml?.index ?? null,
    name: either(provenance, 'name', [cuda?.name, 'cuDeviceGetName'], [nvml?.name, 'nvmlDeviceGetName'], noCuda),
    uuid: either(provenance, 'uuid', [cuda?.uuid, 'cuDeviceGetUuid'], [nvml?.uuid, 'nvmlDeviceGetUUID'], noCuda),
    pciBusId: pciBusId(
      either(
        provenance,
        'pciBusId',
        [cuda?.pciBusId, 'cuDeviceGetPCIBusId'],
        [nvml?.pciBusId, 'nvmlDeviceGetPciInfo_v3'],
        noCuda,
      ),
    ),
    computeCapability: provenance.read('computeCapability', cuda?.computeCapability, 'CUDA device attributes', noCuda),
    memoryModel: model,
    attributes,
    ...memory,
    ...held,
    others,
    allocatable: bytes,
    views: toolViews.bytes,
    addressingMode,
    migMode,
    utilizationPercent: provenance.read(
      'utilizationPercent',
      nvml?.utilizationPercent,
      'nvmlDeviceGetUtilizationRates',
      noNvml,
    ),
    temperatureC: provenance.read('temperatureC', nvml?.temperatureC, 'nvmlDeviceGetTemperature', noNvml),
    powerW: power === null ? null : power / 1000,
    smClockMHz: provenance.read('smClockMHz', nvml?.smClockMHz, 'nvmlDeviceGetClockInfo', noNvml),
    failures,
    notes: quirkNotes({
      host: context.host,
      kernel: context.facts.kernel,
      driver: context.facts.driver,
      device: { memoryModel: model, ...memory, migMode, attributes, addressingMode },
      nvmlRefusal: isFailure(nvml?.memory) ? nvml.memory.name : null,
    }),
    from: provenance.sources,
  };
}

/** Returns why a fact of this device is missing if a library does not list it or did not get as far. */
function whyAbsent(
  nvml: NativeNvmlDevice | null,
  whyVisible: string,
  context: DeviceContext,
): { noCuda: string; noNvml: string } {
  const { libraries } = context;
  const refusal = isFailure(nvml?.memory) ? callFailure('nvml', nvml.memory) : null;
  const lost = refusal !== null && goneFailure([refusal]) !== null ? `. ${refusal.reason}` : '';
  return {
    noCuda: timeoutReason(context.cuda.timedOut) ?? libraries.cuda.reason ?? `${whyVisible}${lost}`,
    noNvml: timeoutReason(context.nvml.timedOut) ?? libraries.nvml.reason ?? 'NVML does not see this device',
  };
}

/** The calls that did not return while the last field of this device was still to be read; null: it is complete. */
function unfinished({ cuda, hidden, nvml }: DevicePair, context: DeviceContext): DeviceFacts['timedOut'] {
  const cudaIsComplete = cuda === null || hidden === true || cuda.contextActive !== undefined;
  const nvmlIsComplete = nvml === null || nvml.migMode !== undefined;
  return {
    cuda: cudaIsComplete ? null : context.cuda.timedOut,
    nvml: nvmlIsComplete ? null : context.nvml.timedOut,
  };
}

/** Bytes that can be allocated on a device that is there, and on which CUDA programs can run. */
function allocatableBytes(
  facts: AllocatableFacts,
  { gone, memGetInfo }: { gone: string | null; memGetInfo: CudaMemory },
  provenance: Provenance,
): Allocatable {
  const { bytes, from, safe } = allocatable(facts);
  const refused = memGetInfo.state === 'failed' || memGetInfo.state === 'missing';
  provenance.record('allocatable', gone ?? `${from}${refused ? `; ${UNUSABLE}` : ''}`);
  provenance.record('allocatable.safe', gone ?? (refused ? `${UNUSABLE}: ${memGetInfo.from}` : safe.from));
  if (safe.between !== null) provenance.record('allocatable.safeHigh', safe.between);
  if (gone !== null) return { immediate: null, afterReclaim: null, safe: null, safeHigh: null };
  return refused ? { ...bytes, safe: null, safeHigh: null } : bytes;
}

/** Memory that is there, on a device on which no CUDA program can start. */
const UNUSABLE = 'no program can allocate it while CUDA fails';

function timeoutReason(timedOut: Failure | null): string | null {
  return timedOut === null ? null : reason(timedOut);
}

function pciBusId(id: string | null): string | null {
  return id === null ? null : normalPciBusId(id);
}

/** The value from CUDA, else from NVML; the source names the call. */
function either(
  provenance: Provenance,
  path: string,
  first: [string | Failure | undefined, string],
  second: [string | Failure | undefined, string],
  absent: string,
): string | null {
  const [fact, call] = typeof first[0] === 'string' || second[0] === undefined ? first : second;
  return provenance.read(path, fact, call, absent);
}

/** SUCCESS with a total of 0 is not a reading: it is a zeroed struct from a shim that swallowed an error. */
function nvmlMemory(device: NativeNvmlDevice | null, provenance: Provenance, absent: string): DeviceSnapshot['nvml'] {
  const memory = provenance.read('nvml', device?.memory, 'nvmlDeviceGetMemoryInfo', absent);
  if (memory === null) return null;
  provenance.record(
    'nvml',
    memory.total === 0 ? `${memory.call} returned SUCCESS with a total of 0, which is not a reading` : memory.call,
  );
  return memory.total === 0
    ? null
    : { total: memory.total, free: memory.free, used: memory.used, reserved: memory.reserved };
}

function processes(
  device: NativeNvmlDevice | null,
  context: DeviceContext,
  provenance: Provenance,
  absent: string,
): Pick<DeviceSnapshot, 'processes' | 'processesComplete'> {
  const call = 'nvmlDeviceGetComputeRunningProcesses_v3 and graphics';
  const listed = provenance.read('processes', device?.processes, call, absent);
  if (listed === null) return { processes: null, processesComplete: null };
  const named = listed.map(({ pid, gpuBytes }) => ({ pid, name: context.processName(pid), gpuBytes }));
  const { processes, complete, from } = readProcessList(named, context.firstPidNamespace);
  if (processes === null) provenance.record('processes', from);
  provenance.record('processesComplete', from);
  return { processes, processesComplete: complete };
}

/** @param absent why `attributes` is undefined, or lacks one: CUDA did not read it. */
function deviceAttributes(
  attributes: NativeCudaDevice['attributes'],
  provenance: Provenance,
  absent: string,
): DeviceSnapshot['attributes'] {
  const values: DeviceSnapshot['attributes'] = { ...NO_ATTRIBUTES };
  for (const [name, path] of ATTRIBUTE_PATHS)
    values[name] = provenance.read(path, attributes?.[name], 'CUDA device attribute', absent);
  return values;
}

const ATTRIBUTE_PATHS = DEVICE_ATTRIBUTES.map((name) => [name, `attributes.${name}`] as const);
const NO_ATTRIBUTES = Object.fromEntries(DEVICE_ATTRIBUTES.map((name) => [name, null])) as Record<
  DeviceAttribute,
  null
>;
