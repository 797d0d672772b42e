/** Takes a snapshot: reads the kernel, CUDA and NVML at the same time, and puts the readings together. */

import { toUmaError } from '../base/errors.ts';
import { isFailure, Provenance } from '../base/facts.ts';
import { readKernelFacts } from '../host/kernel.ts';
import { hostMemorySync } from '../host/meminfo.ts';
import { recordMissingLines } from '../host/meminfo-lines.ts';
import { FIRST_PID_NAMESPACE, pidNamespace, processName } from '../host/process.ts';
import { sharedGpuMemory } from '../memory/gpu-processes.ts';
import { ledger } from '../memory/ledger.ts';
import { native } from '../native/binding.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { Snapshot, SnapshotOptions } from '../types/index.ts';
import { readInChild } from './child-readings.ts';
import { readCudaReport } from './cuda-report.ts';
import { type DeviceContext, deviceSnapshot } from './devices.ts';
import { hidesEveryDevice, readHidden, visibility, visibleDevices, withHidden } from './hidden-devices.ts';
import { cudaLibrary, nvmlLibrary, whyNoDevices } from './libraries.ts';
import { readWithOwnContext } from './own-context.ts';
import { pairDevices } from './pairs.ts';

/** The binary's number for each mode. Contexts that are created for a reading come after this one. */
const MODES = { auto: 1, needed: 1, neededInProcess: 1, child: 1, inProcess: 2, never: 0 } as const;

/** `snapshot()` with checked and complete options. */
export async function takeSnapshot(options: Required<SnapshotOptions>): Promise<Snapshot> {
  const { memGetInfo: mode, deadlineMs, childDeadlineMs } = options;
  const started = performance.now();
  const binding = native();
  const simulated = simulatedMachine(binding);

  // Both libraries work on their own threads while this thread reads the kernel's files.
  const reports = Promise.all([readCudaReport(binding, MODES[mode], deadlineMs), binding.readNvml(deadlineMs)]);
  reports.catch(() => undefined);
  const at = new Date().toISOString();
  const host = hostMemorySync();
  const provenance = new Provenance();
  const facts = readKernelFacts(binding, provenance);
  recordMissingLines(binding, host, provenance);

  const [cuda, nvml] = await reports;
  const child =
    mode === 'child' || mode === 'needed'
      ? await readInChild(mode, cuda, { driver: facts.driver, hostTotal: host.total }, childDeadlineMs)
      : mode === 'neededInProcess'
        ? await readWithOwnContext(binding, cuda, host.total, childDeadlineMs)
        : null;
  const paired = pairDevices(cuda.devices, nvml.devices);
  const hidden = options.hiddenDevices ? await readHidden(cuda, nvml, paired, childDeadlineMs) : null;
  const pairs = withHidden(paired, hidden);
  const libraries = { cuda: cudaLibrary(cuda, hidesEveryDevice(cuda, hidden, pairs)), nvml: nvmlLibrary(nvml) };
  // Processes on a simulated machine are real ones of this namespace.
  const firstPidNamespace = simulated !== null || pidNamespace() === FIRST_PID_NAMESPACE;
  const context: DeviceContext = {
    host,
    facts,
    cuda,
    nvml,
    libraries,
    visibility: (pair) => visibility(pair, cuda, hidden),
    child,
    environment: process.env,
    firstPidNamespace,
    // In a container's own namespace the pids would name other processes.
    processName: (pid) => (firstPidNamespace ? processName(binding, pid) : null),
  };
  const devices = pairs.map((pair, index) => deviceSnapshot(index, pair, context));
  return {
    schema: 'umaprobe/snapshot/1',
    at,
    bootId: facts.bootId,
    simulated,
    host,
    ledger: ledger(host, { gpuProcesses: sharedGpuMemory(devices), driverPools: facts.driver.poolBytes }),
    pressure: facts.pressure,
    contiguity: facts.contiguity,
    kernel: facts.kernel,
    driver: facts.driver,
    cgroup: facts.cgroup,
    libraries,
    cudaVisibleDevices: visibleDevices(),
    devices,
    noDevices: devices.length === 0 ? whyNoDevices(libraries.cuda, libraries.nvml) : null,
    from: provenance.sources,
    durationMs: performance.now() - started,
  };
}

function simulatedMachine(binding: NativeBinding): string | null {
  const name = binding.simulatedMachine();
  if (isFailure(name)) throw toUmaError(name);
  return name;
}
