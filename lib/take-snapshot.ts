import type { ChildReading } from './child.ts';
import { deviceSnapshot, pairDevices, type Surroundings } from './devices.ts';
import { toUmaError } from './errors.ts';
import { hostMemorySync } from './host-memory.ts';
import { readKernelFacts } from './kernel-facts.ts';
import { ledger } from './ledger.ts';
import { cudaLibrary, nvmlLibrary, whyNoDevices } from './libraries.ts';
import { native } from './native.ts';
import type { NativeBinding, NativeCudaReport } from './native.types.ts';
import { isFailure, Origins } from './reason.ts';
import type { DeviceSnapshot, HostMemory, Snapshot, SnapshotOptions } from './types.ts';

/** What the binary calls the ways to read cudaMemGetInfo; a child is asked afterwards. */
const MODES = { auto: 1, child: 1, inProcess: 2, never: 0 } as const;

/** `snapshot()` with its options checked and filled in. */
export async function takeSnapshot(options: Required<SnapshotOptions>): Promise<Snapshot> {
  const { memGetInfo: mode, deadlineMs, childDeadlineMs } = options;
  const started = performance.now();
  const binding = native();

  // Both libraries work on their own threads while this one reads the kernel's files.
  const asked = Promise.all([binding.readCuda(MODES[mode], deadlineMs), binding.readNvml(deadlineMs)]);
  asked.catch(() => undefined);
  const at = new Date().toISOString();
  const host = hostMemorySync();
  const origins = new Origins();
  const facts = readKernelFacts(binding, origins);
  noteMissingLines(host, origins);

  const [cuda, nvml] = await asked;
  const child = mode === 'child' ? await askChild(cuda, childDeadlineMs) : null;
  const libraries = { cuda: cudaLibrary(cuda), nvml: nvmlLibrary(nvml) };
  const around: Surroundings = {
    host,
    facts,
    cuda,
    nvml,
    whyNoCuda: libraries.cuda.reason,
    whyNoNvml: libraries.nvml.reason,
    child: child === null || typeof child === 'string' ? child : withoutOwnContext(child, cuda),
    environment: process.env,
    processName: processNames(binding),
  };
  const devices = pairDevices(cuda.devices, nvml.devices).map((pair, index) => deviceSnapshot(index, pair, around));
  return {
    schema: 'umaprobe/snapshot/1',
    at,
    bootId: facts.bootId,
    simulated: simulatedMachine(binding),
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
    from: origins.record,
    durationMs: performance.now() - started,
  };
}

function noteMissingLines(host: HostMemory, origins: Origins): void {
  origins.note('host', '/proc/meminfo');
  for (const [field, value] of Object.entries(host)) {
    if (value === null) origins.note(`host.${field}`, 'this kernel’s /proc/meminfo has no such line');
  }
}

/** A child is worth its start only where there is a device to ask, and where CUDA is not already stuck. */
async function askChild(
  cuda: NativeCudaReport,
  deadlineMs: number,
): Promise<Map<number, ChildReading> | string | null> {
  if (cuda.timedOut !== null || typeof cuda.deviceCount !== 'number' || cuda.deviceCount === 0) return null;
  if (cuda.devices.every((device) => device.memGetInfo !== undefined)) return null;
  const { readInChild } = await import('./child.ts'); // node:child_process costs 3 ms to load
  return readInChild(deadlineMs);
}

/**
 * On a device that shares the host's memory the child's own context has lowered the number it read. What it took is
 * measured there (MemFree before and after) and added back, so that looking does not change what is seen.
 */
function withoutOwnContext(
  readings: Map<number, ChildReading>,
  cuda: NativeCudaReport,
): Exclude<Surroundings['child'], string | null> {
  const answers = new Map<number, { free: number; total: number; from: string }>();
  for (const [ordinal, { free, total, hostFreeBefore, hostFreeAfter }] of readings) {
    const integrated = cuda.devices.find((device) => device.ordinal === ordinal)?.attributes?.integrated === 1;
    const own =
      integrated && hostFreeBefore !== null && hostFreeAfter !== null ? Math.max(0, hostFreeBefore - hostFreeAfter) : 0;
    const words = integrated
      ? `; ${own} bytes that its own context took are added back`
      : ', with a context of its own';
    answers.set(ordinal, { free: free + own, total, from: `cudaMemGetInfo in a child process${words}` });
  }
  return answers;
}

/** GPU memory inside MemTotal: only devices that share the host's memory count, and unknown stays unknown. */
function sharedGpuBytes(devices: DeviceSnapshot[]): number | null {
  const shared = devices.filter((device) => device.memoryModel === 'unified' && device.processes !== null);
  if (shared.length === 0) return null;
  return shared.reduce(
    (sum, device) => sum + (device.processes ?? []).reduce((own, { gpuBytes }) => own + (gpuBytes ?? 0), 0),
    0,
  );
}

/** comm, not cmdline: reading a command line takes the process's mmap lock, which a wedged process may hold. */
function processNames(binding: NativeBinding): Surroundings['processName'] {
  return (pid) => {
    const [comm] = binding.readFiles([`/proc/${pid}/comm`]);
    return comm === undefined || isFailure(comm) ? null : comm.trim();
  };
}

function simulatedMachine(binding: NativeBinding): string | null {
  const name = binding.simulatedMachine();
  if (isFailure(name)) throw toUmaError(name);
  return name;
}
