/** Takes a snapshot: reads the kernel, CUDA and NVML at the same time, and puts the readings together. */

import { yieldToEventLoop } from '../../base/event-loop.ts';
import { Provenance } from '../../base/facts.ts';
import { packageVersion } from '../../base/package-version.ts';
import type { HostMemory, Reading, Snapshot } from '../../types/index.ts';
import { type KernelFiles, kernelFiles } from '../host/files.ts';
import { readGpuNodes } from '../host/gpu-nodes.ts';
import { beginKernel, type KernelFacts } from '../host/kernel.ts';
import { hostName, simulatedMachine } from '../host/machine-name.ts';
import { checkOrder, hostMemoryOf } from '../host/meminfo.ts';
import { recordMissingLines } from '../host/meminfo-lines.ts';
import { readOrThrow } from '../host/meminfo-within.ts';
import { readMovableBlocks } from '../host/movable-blocks.ts';
import { FIRST_PID_NAMESPACE, namesOfAllProcesses, pidNamespace, processNames } from '../host/process.ts';
import { needsMovable } from '../memory/contiguity.ts';
import { anyRuleActs } from '../memory/foreign-rules.ts';
import { sharedGpuMemory } from '../memory/gpu-processes.ts';
import { judged } from '../memory/judge.ts';
import { ledger } from '../memory/ledger.ts';
import { mayTryContext } from '../memory/untried-context.ts';
import { native } from '../native/binding.ts';
import type { NativeCudaReport, NativeNvmlReport } from '../native/contract.ts';
import { isIntegrated, readInChild } from './child-readings.ts';
import { knownIdentities, withIdentities } from './cuda-report.ts';
import { type DeviceContext, deviceSnapshot } from './devices.ts';
import { hidesEveryDevice, readHidden, visibility, visibleDevices, withHidden } from './hidden-devices.ts';
import { cudaLibrary, nvmlLibrary, whyNoDevices } from './libraries.ts';
import type { CheckedSnapshotOptions } from './options.ts';
import { readWithOwnContext } from './own-context.ts';
import { type DevicePair, pairDevices } from './pairs.ts';

/** The binary's number for each mode. Contexts that are created for a reading come after this one. */
const MODES = { auto: 1, needed: 1, neededInProcess: 1, child: 1, inProcess: 2, never: 0 } as const;

/** `snapshot()` with checked and complete options. */
export async function takeSnapshot(options: CheckedSnapshotOptions): Promise<Snapshot> {
  const { memGetInfo: mode, deadlineMs, childDeadlineMs } = options;
  const started = performance.now();
  const binding = native();
  const simulated = simulatedMachine();

  const at = new Date().toISOString();
  const provenance = new Provenance();
  const files = kernelFiles(binding, deadlineMs);
  // Both libraries and the kernel's files are read on threads of their own, because any of them may never answer.
  const kernel = await beginKernel(files);
  const identities = knownIdentities(binding);
  // The longest of the readings begins first.
  const cpuLists = binding.readCpuLists(files.limitMs);
  const machine = binding.readMachine(
    MODES[mode],
    identities?.number ?? 0,
    deadlineMs,
    kernel.paths,
    kernel.bytes,
    files.limitMs,
  );
  // It may be answered without a turn of the event loop; a program that awaits many must still get to its timers.
  await yieldToEventLoop();
  const [[meminfo], texts, nvml, report] = await machine;
  checkOrder(binding);
  const host = hostMemoryOf(readOrThrow(meminfo));
  const cuda = withIdentities(binding, report, identities);
  const paired = pairDevices(cuda.devices, nvml.devices);
  const whole = await kernel.finish(texts, cpuLists, provenance);
  const facts = await withMovableBlocks(whole, { files, host, cuda }, provenance);
  await recordMissingLines(files, host, provenance);
  const mayTry = mayTryContext({ driver: facts.driver, host, pressure: facts.pressure });
  const asking = { driver: facts.driver, hostTotal: host.total, mayTry };
  const child =
    mode === 'child' || mode === 'needed'
      ? await readInChild(mode, cuda, asking, childDeadlineMs)
      : mode === 'neededInProcess'
        ? await readWithOwnContext(binding, cuda, asking, childDeadlineMs)
        : null;
  const hidden = options.hiddenDevices ? await readHidden(cuda, nvml, paired, childDeadlineMs) : null;
  const pairs = withHidden(paired, hidden);
  const libraries = { cuda: cudaLibrary(cuda, hidesEveryDevice(cuda, hidden, pairs)), nvml: nvmlLibrary(nvml) };
  // Processes on a simulated machine are real ones of this namespace.
  const firstPidNamespace = simulated !== null || pidNamespace() === FIRST_PID_NAMESPACE;
  // The pids would name other processes in a container's own namespace.
  const names = firstPidNamespace ? await processNames(files, gpuPids(nvml)) : null;
  const ownMemoryGpus = cuda.devices.filter((device) => !isIntegrated(device)).length;
  const context: DeviceContext = {
    host,
    facts,
    cuda,
    nvml,
    libraries,
    // Only a coherent GPU's memory is a node.
    gpuNodes: ownMemoryGpus > 0 && pairs.some(usesHostPageTables) ? await readGpuNodes(files) : null,
    ownMemoryGpus,
    visibility: (pair) => visibility(pair, cuda, hidden),
    child,
    environment: process.env,
    firstPidNamespace,
    processName: (pid) => names?.get(pid) ?? null,
  };
  const devices = pairs.map((pair, index) => deviceSnapshot(index, pair, context));
  const reading: Reading = {
    schema: 'umaprobe/snapshot/1',
    at,
    bootId: facts.bootId,
    simulated,
    hostName: hostName(),
    umaprobeVersion: packageVersion(),
    host,
    ledger: ledger(host, {
      gpuProcesses: sharedGpuMemory(devices),
      driverPools: facts.driver.poolBytes,
      freeInCpuLists: facts.kernel.freeInCpuLists,
      zram: facts.kernel.zram,
    }),
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
  const programs = anyRuleActs(host) ? await namesOfAllProcesses(files) : null;
  return judged(reading, { programs });
}

/** Reads which free blocks move, if a GPU shares the host's memory and that changes what can be loaded. */
async function withMovableBlocks(
  facts: KernelFacts,
  { cuda, files, host }: { cuda: NativeCudaReport; files: KernelFiles; host: HostMemory },
  provenance: Provenance,
): Promise<KernelFacts> {
  if (facts.contiguity === null || !cuda.devices.some(isIntegrated) || !needsMovable(host, facts.contiguity))
    return facts;
  const { contiguity, from } = await readMovableBlocks(files, facts.contiguity);
  provenance.record('contiguity.movableBlocks', from);
  return { ...facts, contiguity };
}

function usesHostPageTables({ cuda }: DevicePair): boolean {
  return cuda?.attributes?.pageableMemoryAccessUsesHostPageTables === 1;
}

/** The processes that NVML lists, on all devices. */
function gpuPids({ devices }: NativeNvmlReport): number[] {
  const pids = devices.flatMap(({ processes }) => (Array.isArray(processes) ? processes.map(({ pid }) => pid) : []));
  return [...new Set(pids)];
}
