import { toUmaError } from '../base/errors.ts';
import { isFailure, Provenance } from '../base/facts.ts';
import { readKernelFacts } from '../host/kernel.ts';
import { hostMemorySync } from '../host/meminfo.ts';
import { FIRST_PID_NAMESPACE, pidNamespace, processName } from '../host/process.ts';
import { ledger } from '../memory/ledger.ts';
import { native } from '../native/binding.ts';
import type { NativeBinding, NativeCudaReport } from '../native/contract.ts';
import type { DeviceSnapshot, HostMemory, MemGetInfo, Snapshot, SnapshotOptions } from '../types/index.ts';
import { type DeviceContext, deviceSnapshot, pairDevices } from './devices.ts';
import { cudaLibrary, nvmlLibrary, whyNoDevices } from './libraries.ts';
import type { ChildLine } from './mem-get-info-child.ts';

/** What the binary calls the ways to read cudaMemGetInfo; a child is asked afterwards. */
const MODES = { auto: 1, child: 1, inProcess: 2, never: 0 } as const;

/** `snapshot()` with its options checked and filled in. */
export async function takeSnapshot(options: Required<SnapshotOptions>): Promise<Snapshot> {
  const { memGetInfo: mode, deadlineMs, childDeadlineMs } = options;
  const started = performance.now();
  const binding = native();
  const simulated = simulatedMachine(binding);

  // Both libraries work on their own threads while this one reads the kernel's files.
  const asked = Promise.all([binding.readCuda(MODES[mode], deadlineMs), binding.readNvml(deadlineMs)]);
  asked.catch(() => undefined);
  const at = new Date().toISOString();
  const host = hostMemorySync();
  const origins = new Provenance();
  const facts = readKernelFacts(binding, origins);
  noteMissingLines(host, origins);

  const [cuda, nvml] = await asked;
  const child = mode === 'child' ? await readInChild(cuda, childDeadlineMs) : null;
  const libraries = { cuda: cudaLibrary(cuda), nvml: nvmlLibrary(nvml) };
  const around: DeviceContext = {
    host,
    facts,
    cuda,
    nvml,
    whyNoCuda: libraries.cuda.reason,
    whyNoNvml: libraries.nvml.reason,
    child,
    environment: process.env,
    processName: processNames(binding, simulated !== null),
  };
  const devices = pairDevices(cuda.devices, nvml.devices).map((pair, index) => deviceSnapshot(index, pair, around));
  return {
    schema: 'umaprobe/snapshot/1',
    at,
    bootId: facts.bootId,
    simulated,
    host,
    ledger: ledger(host, { gpuProcesses: sharedGpuBytes(devices), driverPools: facts.driver.poolBytes }),
    pressure: facts.pressure,
    contiguity: facts.contiguity,
    kernel: facts.kernel,
    driver: facts.driver,
    cgroup: facts.cgroup,
    libraries,
    devices,
    noDevices: devices.length === 0 ? whyNoDevices(libraries.cuda, libraries.nvml) : null,
    from: origins.sources,
    durationMs: performance.now() - started,
  };
}

function noteMissingLines(host: HostMemory, origins: Provenance): void {
  origins.record('host', '/proc/meminfo');
  for (const [field, value] of Object.entries(host)) {
    if (value === null) origins.record(`host.${field}`, 'this kernel’s /proc/meminfo has no such line');
  }
}

/** A child is worth its start only where there is a device to ask, and where CUDA is not already stuck. */
async function readInChild(cuda: NativeCudaReport, deadlineMs: number): Promise<DeviceContext['child']> {
  if (cuda.timedOut !== null || typeof cuda.deviceCount !== 'number' || cuda.deviceCount === 0) return null;
  if (cuda.devices.every((device) => device.memGetInfo !== undefined)) return null;
  const { readMemGetInfoInChild } = await import('./mem-get-info-child.ts'); // node:child_process costs 3 ms to load
  const { lines, missingReason } = await readMemGetInfoInChild(deadlineMs);
  const answers = new Map(lines.map((line) => [line.ordinal, withoutOwnContext(line, cuda)]));
  return { answers, missingReason };
}

/**
 * On a device that shares the host's memory the child's own context has lowered the number that it read. That is what
 * NVML attributes to the child, and is added back, so that looking does not change what is seen.
 */
function withoutOwnContext(line: ChildLine, cuda: NativeCudaReport): (MemGetInfo & { from: string }) | string {
  if ('failure' in line) return line.failure;
  const { ordinal, free, total, ownBytes } = line;
  const integrated = cuda.devices.find((device) => device.ordinal === ordinal)?.attributes?.integrated === 1;
  if (!integrated) return { free, total, from: 'cudaMemGetInfo in a child process, which had a context of its own' };
  const words =
    ownBytes === null
      ? 'its own context, whose size is not known, counts as used'
      : `${ownBytes} bytes of its own context (NVML) are added back`;
  return { free: free + (ownBytes ?? 0), total, from: `cudaMemGetInfo in a child process; ${words}` };
}

/** GPU memory inside MemTotal: only devices that share the host's memory count, and unknown stays unknown. */
function sharedGpuBytes(devices: DeviceSnapshot[]): number | null {
  const shared = devices.filter((device) => device.memoryModel === 'unified' && device.processes !== null);
  const processes = shared.flatMap((device) => device.processes ?? []);
  const known = processes.map(({ gpuBytes }) => gpuBytes).filter((bytes) => bytes !== null);
  if (shared.length === 0 || (known.length === 0 && processes.length > 0)) return null;
  return known.reduce((sum, bytes) => sum + bytes, 0);
}

/** NVML's pids belong to the first PID namespace: looked up in a container's own they would name another process. */
function processNames(binding: NativeBinding, simulated: boolean): DeviceContext['processName'] {
  if (!simulated && pidNamespace() !== FIRST_PID_NAMESPACE) return () => null;
  return (pid) => processName(binding, pid);
}

function simulatedMachine(binding: NativeBinding): string | null {
  const name = binding.simulatedMachine();
  if (isFailure(name)) throw toUmaError(name);
  return name;
}
