/** One device as a report shows it: what CUDA, NVML and the kernel say of it, each number with its source. */

import type { Failure } from '../base/errors.ts';
import { isFailure, Provenance, reason } from '../base/facts.ts';
import type { KernelFacts } from '../host/kernel.ts';
import { allocatable } from '../memory/allocatable.ts';
import { readProcessList } from '../memory/gpu-processes.ts';
import { memoryModel } from '../memory/model.ts';
import { quirkNotes } from '../memory/quirks.ts';
import { views } from '../memory/views.ts';
import type { NativeCudaDevice, NativeCudaReport, NativeNvmlDevice, NativeNvmlReport } from '../native/contract.ts';
import type { DeviceSnapshot, HostMemory } from '../types/index.ts';
import { deviceAttributes } from './attributes.ts';
import type { ChildReadings } from './child-readings.ts';
import { type DevicePair, normalPciBusId } from './pairs.ts';

/** By NVML's number. */
export const ADDRESSING_MODES = ['NONE', 'HMM', 'ATS'];

/** Everything that the readings of the whole machine contribute to a device. */
export interface DeviceContext {
  host: HostMemory;
  facts: KernelFacts;
  cuda: NativeCudaReport;
  nvml: NativeNvmlReport;
  /** Whether CUDA in this process lists the device, and how that is known. */
  visibility(pair: DevicePair): { visible: boolean | null; from: string };
  /** Why a library as a whole could not be read; null: it could. */
  whyNoCuda: string | null;
  whyNoNvml: string | null;
  /** cudaMemGetInfo from a child process; null: none was considered. */
  child: ChildReadings | null;
  environment: Record<string, string | undefined>;
  /** Whether this process is in the first PID namespace, the one of NVML's pids. */
  firstPidNamespace: boolean;
  /** Name of a process from `/proc/<pid>/comm`; null: unknown. */
  processName(pid: number): string | null;
}

/** One device: each number with its source, each null with its reason. */
export function deviceSnapshot(index: number, pair: DevicePair, context: DeviceContext): DeviceSnapshot {
  const provenance = new Provenance();
  const { cuda, nvml } = pair;
  const { visible, from: whyVisible } = context.visibility(pair);
  provenance.record('visible', whyVisible);
  const noCuda = timeoutReason(context.cuda.timedOut) ?? context.whyNoCuda ?? whyVisible;
  const noNvml = timeoutReason(context.nvml.timedOut) ?? context.whyNoNvml ?? 'NVML does not see this device';

  const attributes = deviceAttributes(cuda?.attributes, provenance, noCuda);
  const mode = provenance.read('addressingMode', nvml?.addressingMode, 'nvmlDeviceGetAddressingMode', noNvml);
  const addressingMode = mode === null ? null : (ADDRESSING_MODES[mode] ?? `mode ${mode}`);
  const { model, from } = memoryModel({
    integrated: attributes.integrated,
    pageableMemoryAccessUsesHostPageTables: attributes.pageableMemoryAccessUsesHostPageTables,
    addressingMode,
    nvmlMemory: nvml?.memory ?? null,
  });
  provenance.record('memoryModel', from);

  const memory = {
    cuda: pair.hidden === true ? notAsked(provenance, whyVisible) : cudaMemory(cuda, context, provenance, noCuda),
    nvml: nvmlMemory(nvml, provenance, noNvml),
  };
  const mig = provenance.read('migMode', nvml?.migMode, 'nvmlDeviceGetMigMode', noNvml);
  const migMode = mig === null ? null : { current: mig[0] === 1, pending: mig[1] === 1 };
  const available = allocatable({
    model,
    host: context.host,
    poolBytes: context.facts.driver.poolBytes,
    ...memory,
    mig: migMode?.current ?? false,
  });
  provenance.record('allocatable', available.from);
  const toolViews = views({
    model,
    host: context.host,
    ...memory,
    whyNoCuda: provenance.sources.cuda ?? noCuda,
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
    ...processes(nvml, context, provenance, noNvml),
    allocatable: available.bytes,
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

function notAsked(provenance: Provenance, whyHidden: string): null {
  provenance.record('cuda', `not asked: ${whyHidden}`);
  return null;
}

function cudaMemory(
  device: NativeCudaDevice | null,
  context: DeviceContext,
  provenance: Provenance,
  absent: string,
): DeviceSnapshot['cuda'] {
  const reading = device?.memGetInfo;
  if (reading !== undefined && !isFailure(reading)) {
    provenance.record('cuda', 'cudaMemGetInfo in this process');
    return { free: reading[0], total: reading[1] };
  }
  if (isFailure(reading)) {
    provenance.record('cuda', reason(reading));
    return null;
  }
  if (device === null || context.child === null) {
    provenance.record(
      'cuda',
      device === null || context.cuda.timedOut !== null
        ? absent
        : 'not read: it needs a CUDA context and this process has none (memGetInfo: child or inProcess reads it)',
    );
    return null;
  }
  const answer = context.child.answers.get(device.ordinal ?? -1) ?? context.child.missingReason;
  if (typeof answer === 'string') {
    provenance.record('cuda', answer);
    return null;
  }
  provenance.record('cuda', answer.from);
  return { free: answer.free, total: answer.total };
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
