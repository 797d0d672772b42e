/** Takes a snapshot: reads the kernel, CUDA and NVML at the same time, and puts the readings together. */

import { toUmaError } from '../base/errors.ts';
import { isFailure, Provenance } from '../base/facts.ts';
import { kernelFiles } from '../host/files.ts';
import { beginKernel } from '../host/kernel.ts';
import { checkOrder, hostMemoryOf } from '../host/meminfo.ts';
import { recordMissingLines } from '../host/meminfo-lines.ts';
import { readOrThrow } from '../host/meminfo-within.ts';
import { FIRST_PID_NAMESPACE, pidNamespace, processNames } from '../host/process.ts';
import { sharedGpuMemory } from '../memory/gpu-processes.ts';
import { ledger } from '../memory/ledger.ts';
import { native } from '../native/binding.ts';
import type { NativeBinding, NativeNvmlReport } from '../native/contract.ts';
import type { Snapshot, SnapshotOptions } from '../types/index.ts';
import { readInChild } from './child-readings.ts';
import { knownIdentities, withIdentities } from './cuda-report.ts';
import { type DeviceContext, deviceSnapshot } from './devices.ts';
import { hidesEveryDevice, readHidden, visibility, visibleDevices, withHidden } from './hidden-devices.ts';
import { cudaLibrary, nvmlLibrary, whyNoDevices } from './libraries.ts';
import { readWithOwnContext } from './own-context.ts';
import { pairDevices } from './pairs.ts';

/** The binary's number for each mode. Contexts that are created for a reading come after this one. */
const MODES = { auto: 1, needed: 1, neededInProcess: 1, child: 1, inProcess: 2, never: 0 } as const;

/**
 * A reading may be answered without a turn of the event loop. A program that awaits one after the other must still get
 * to its timers: every eighth waits for a turn, which takes 2 µs where nothing else is to be done.
 */
const READINGS_A_TURN = 8;
let readings = 0;

const aTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

export type CheckedSnapshotOptions = Required<Omit<SnapshotOptions, 'signal'>>;

/** `snapshot()` with checked and complete options. */
export async function takeSnapshot(options: CheckedSnapshotOptions): Promise<Snapshot> {
  const { memGetInfo: mode, deadlineMs, childDeadlineMs } = options;
  if (++readings % READINGS_A_TURN === 0) await aTurn();
  const started = performance.now();
  const binding = native();
  const simulated = simulatedMachine(binding);

  const at = new Date().toISOString();
  const provenance = new Provenance();
  const files = kernelFiles(binding, deadlineMs);
  // Both libraries and the kernel's files are read on threads of their own, because any of them may never answer.
  const kernel = beginKernel(files);
  const identities = knownIdentities(binding);
  const [nvml, report, [meminfo], texts] = await binding.readMachine(
    MODES[mode],
    identities?.number ?? 0,
    deadlineMs,
    kernel.paths,
    kernel.bytes,
    files.limitMs,
  );
  checkOrder(binding);
  const host = hostMemoryOf(readOrThrow(meminfo));
  const cuda = withIdentities(binding, report, identities);
  const facts = await kernel.finish(texts, provenance);
  await recordMissingLines(files, host, provenance);
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
  // In a container's own namespace the pids would name other processes.
  const names = firstPidNamespace ? await processNames(files, gpuPids(nvml)) : null;
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
    processName: (pid) => names?.get(pid) ?? null,
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

/** The processes that NVML lists, on all devices. */
function gpuPids({ devices }: NativeNvmlReport): number[] {
  const pids = devices.flatMap(({ processes }) => (Array.isArray(processes) ? processes.map(({ pid }) => pid) : []));
  return [...new Set(pids)];
}

function simulatedMachine(binding: NativeBinding): string | null {
  const name = binding.simulatedMachine();
  if (isFailure(name)) throw toUmaError(name);
  return name;
}
