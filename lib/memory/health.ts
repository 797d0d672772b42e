/**
 * The verdict over a snapshot: a level, a sentence, and what to do. Rules are listed in order of urgency; of those that
 * apply, the first of the highest level decides. Their thresholds, each with its evidence, are here and in pressure.ts,
 * low-memory.ts, contiguity.ts and headroom.ts; rules about GPUs and libraries are in device-health.ts.
 */

import { capitalized, clean, formatBytes, formatDuration, GiB, inGiB } from '../base/format.ts';
import type {
  CallFailure,
  DeviceFailure,
  DeviceSnapshot,
  GpuProcess,
  LibraryStatus,
  Snapshot,
} from '../types/index.ts';
import { cmaPhantom } from './allocatable.ts';
import { fragmentation } from './contiguity.ts';
import {
  failedContexts,
  failedReadings,
  goneGpus,
  missingLibraries,
  refusingLibraries,
  unreachableGpus,
  versionsThatDoNotFit,
} from './device-health.ts';
import {
  hasUnknownPools,
  headroom,
  isMuchHidden,
  ownHeadrooms,
  unattributed,
  unifiedDevice,
  unknownGpuMemory,
} from './headroom.ts';
import { nearlyOut } from './low-memory.ts';
import { judgePressure, pressureVerdict } from './pressure.ts';
import { unknownProcesses } from './process-health.ts';
import {
  BOOT_WITHOUT_KHO,
  DROP_AND_COMPACT,
  DROP_PAGE_CACHE,
  DROP_POOLS,
  RELEASE_HUGE_PAGES,
  withReceipt,
} from './remedies.ts';
import { notSplit, unknownAvailable } from './unreadable.ts';
import { isUntried, noBlockForContext, suspectDriver } from './untried-context.ts';
import type { HealthVerdict, Level, Rule } from './verdict.ts';
import { allHidden } from './visibility.ts';

/** In order of urgency. */
const RULES: readonly Rule[] = [
  pressed,
  nearlyOut,
  goneGpus,
  silentDriver,
  unknownAvailable,
  refusingLibraries,
  versionsThatDoNotFit,
  failedContexts,
  noBlockForContext,
  suspectDriver,
  unreachableGpus,
  missingLibraries,
  failedReadings,
  gpuNearlyOut,
  notSplit,
  unknownProcesses,
  hidden,
  phantom,
  fragmented,
  hugePages,
  allHidden,
  cached,
  unknownPressure,
];

const LEVELS: readonly Level[] = ['ok', 'notice', 'warning', 'danger'];

/** The verdict of the highest level; of several, the first. Low memory is always said. */
export function health(snapshot: Snapshot): HealthVerdict {
  let worst: HealthVerdict | null = null;
  for (const rule of RULES) {
    const verdict = rule(snapshot);
    if (verdict === null || (worst !== null && rank(verdict) <= rank(worst))) continue;
    worst = verdict;
  }
  if (worst === null) return noProblem(snapshot);
  const low = nearlyOut(snapshot);
  const unsaid = worst.level === 'warning' && low?.level === 'notice';
  return unsaid ? { ...worst, text: `${worst.text} ${low.text}` } : worst;
}

function rank({ level }: HealthVerdict): number {
  return LEVELS.indexOf(level);
}

function pressed(snapshot: Snapshot): HealthVerdict | null {
  const [silent] = silentLibraries(snapshot);
  return pressureVerdict({ ...snapshot, silent: silent === undefined ? null : `${silent.name} does not answer` });
}

/** The libraries that did not answer in time, and the reason of each. */
function silentLibraries({ libraries: { cuda, nvml }, devices }: Snapshot): { name: string; reason: string | null }[] {
  // A library that has counted its devices is loaded, and may hang later: in a call for one device, or because
  // cudaMemGetInfo needs a context.
  const silent = (library: CallFailure['library'], { state, reason }: LibraryStatus) =>
    state === 'timeout' ? { reason } : silentCall(library, devices);
  return [
    { name: 'NVML', call: silent('nvml', nvml) },
    { name: 'CUDA', call: silent('cuda', cuda) },
  ].flatMap(({ name, call }) => (call === undefined ? [] : [{ name, reason: call.reason }]));
}

/**
 * NVML blocked for 491 to 737 s in wedges of GB10s (MiaAI DeepSeek-v4.1-Flash #23). But a first start of CUDA takes
 * seconds too, so silence alone does not prove a hang; together with a memory stall the rule above has already decided.
 */
function silentDriver(snapshot: Snapshot): HealthVerdict | null {
  const sentences = silentLibraries(snapshot).map(({ name, reason }) => noAnswerText(name, reason));
  if (sentences.length === 0) return null;
  return {
    level: 'warning',
    text: `${sentences.join(', ')}: slow or stuck. The kernel’s numbers are valid.`,
    next: 'check again, then run: umaprobe doctor',
  };
}

/** The call for a device that did not return in time. */
export function silentCall(
  library: CallFailure['library'],
  devices: readonly DeviceSnapshot[],
): DeviceFailure | undefined {
  return devices
    .flatMap(({ failures }) => failures)
    .find((call) => call.library === library && call.name === 'TIMEOUT');
}

/** "NVML did not answer within 2.00 s", with the time from the reason of the timeout. */
export function noAnswerText(name: string, reason: string | null): string {
  const ms = /(?:within|blocked for) (\d+(?:\.\d+)?) ms/.exec(reason ?? '')?.[1];
  return `${name} did not answer ${ms === undefined ? 'in time' : `within ${formatDuration(Number(ms))}`}`;
}

/**
 * Shares of a GPU's own memory: the floor's, and that of 2 GiB on 64. Such memory is no host's: it holds nothing but
 * allocations, so its share says how full it is.
 */
const GPU_LOW_SHARE = 0.07;
const GPU_VERY_LOW_SHARE = 0.03;

/**
 * Little of a GPU's own memory is left, for the fullest GPU. At most a warning: an allocation fails there with an error
 * and the machine keeps running, and inference servers fill such a GPU on purpose.
 */
function gpuNearlyOut(snapshot: Snapshot): HealthVerdict | null {
  // Without a number after reclaim (GH200) little free memory does not mean that little can be allocated.
  const fullest = ownHeadrooms(snapshot).find(({ device }) => device.allocatable.afterReclaim !== null);
  if (fullest === undefined || fullest.bytes >= fullest.total * GPU_LOW_SHARE) return null;
  return {
    level: fullest.bytes < fullest.total * GPU_VERY_LOW_SHARE ? 'warning' : 'notice',
    text: `Only ${formatBytes(fullest.bytes)} of the ${formatBytes(fullest.total)} of GPU ${fullest.device.index} can still be allocated.${largestHolder(fullest.device.processes ?? [])}`,
    next: 'stop a program there before you load more',
  };
}

function hidden(snapshot: Snapshot): HealthVerdict | null {
  const rest = unattributed(snapshot);
  const pools = snapshot.driver.poolBytes ?? 0;
  if (!isUnified(snapshot) || snapshot.ledger.notSplit.length > 0) return null;
  if (!isMuchHidden(Math.max(rest, pools), snapshot)) return null;
  if (pools >= rest) {
    return {
      level: 'notice',
      text: `The driver keeps ${formatBytes(pools)} of freed GPU memory in its pools; CUDA programs can use it, other programs cannot.`,
      next: `nothing to do, or: ${withReceipt(DROP_POOLS)}`,
    };
  }
  // Another rule says that it is not known who holds it.
  if (unknownGpuMemory(snapshot) !== null) return null;
  // Pools of known size are in the ledger already and explain nothing more.
  const inPools = hasUnknownPools(snapshot);
  return {
    level: 'warning',
    text: `${formatBytes(rest)} are in no counter and no listed process${inPools ? ': most likely driver pools of GPU programs that ended' : ''}.`,
    next: inPools ? withReceipt(DROP_POOLS) : 'umaprobe doctor',
  };
}

/**
 * Kernel 7.0.0 with kexec-handover: 9.30 GiB of "free" that ibv_reg_mr and cudaMalloc cannot pin (NV-Kernels PR 590).
 */
function phantom(snapshot: Snapshot): HealthVerdict | null {
  const bytes = cmaPhantom(snapshot.host);
  if (bytes < GiB) return null;
  return {
    level: 'warning',
    text: `${formatBytes(bytes)} of the free memory cannot hold GPU memory (CMA left by kexec-handover).`,
    next: `${BOOT_WITHOUT_KHO} to get it back`,
  };
}

function fragmented(snapshot: Snapshot): HealthVerdict | null {
  const measure = fragmentation(snapshot);
  if (measure === null || !measure.telling || !measure.fragmented) return null;
  const { cma, free, large } = measure;
  return {
    level: 'warning',
    text: `Free memory is fragmented: ${formatBytes(large)} of ${formatBytes(free)} are in blocks of 2 MiB or more, which GPU allocations need${cma === 0 ? '' : ` (without ${formatBytes(cma)} of CMA)`}.`,
    next: `${withReceipt(DROP_AND_COMPACT)}; if that does not help, reboot`,
  };
}

/** NVIDIA's rule and llama.cpp count free huge pages only, as soon as one is reserved. */
function hugePages(snapshot: Snapshot): HealthVerdict | null {
  const device = unifiedDevice(snapshot);
  if (device === undefined || (snapshot.host.hugePagesTotal ?? 0) === 0) return null;
  const { nvidiaGuidance, llamaCpp } = device.views;
  return {
    level: 'warning',
    text: `Huge pages are reserved, so NVIDIA's guidance answers ${formatBytes(nvidiaGuidance)} and llama.cpp ${formatBytes(llamaCpp)}, while ${formatBytes(headroom(snapshot).afterReclaim)} can be allocated.`,
    next: `release them if nothing needs them: ${RELEASE_HUGE_PAGES}`,
  };
}

/** Share of MemTotal in page cache above which programs that read cudaMemGetInfo refuse models that fit. */
const CACHED_SHARE = 0.08;

/** "128 GB is not enough for 7B": cudaMemGetInfo counts page cache as used. */
function cached(snapshot: Snapshot): HealthVerdict | null {
  const { immediate, afterReclaim, total } = headroom(snapshot);
  if (!isUnified(snapshot) || immediate === null || afterReclaim === null) return null;
  const cache = afterReclaim - immediate;
  if (cache < total * CACHED_SHARE) return null;
  return {
    level: 'notice',
    text: `${inGiB(cache)} of ${inGiB(total)} GiB look used but are page cache; ${formatBytes(afterReclaim)} can be allocated.`,
    next: `nothing to do, or: ${withReceipt(DROP_PAGE_CACHE)}`,
  };
}

/**
 * All else is fine, but a stall could not be seen. It matters where the GPU uses the host's memory: there a shortage
 * freezes the machine.
 */
function unknownPressure(snapshot: Snapshot): HealthVerdict | null {
  const { level, next, state, text } = judgePressure(snapshot);
  if (state !== 'unknown' || !isUnified(snapshot)) return null;
  const room = allocatableOnGpu(snapshot);
  const why = snapshot.from.pressure;
  return {
    level,
    text: `${room === null ? '' : `${room}, but `}${room === null ? capitalized(text) : text}${why === undefined ? '' : ` (${clean(why)})`}.`,
    next,
  };
}

function noProblem(snapshot: Snapshot): HealthVerdict {
  const { afterReclaim } = headroom(snapshot);
  if (snapshot.devices.length === 0) {
    const next = snapshot.simulated === null ? 'see a simulated one: umaprobe --sim gb10' : null;
    return {
      level: 'notice',
      text: `No GPU: ${whyNoGpu(snapshot)}. Programs can use ${formatBytes(afterReclaim)} of this machine's memory.`,
      next,
    };
  }
  const holder = largestHolder(snapshot.devices.flatMap((device) => device.processes ?? []));
  const gpuRoom = allocatableOnGpu(snapshot);
  if (gpuRoom === null) {
    return {
      level: 'notice',
      text: `How much can be allocated on the GPU is not known; nothing else stands in the way.${holder}`,
      next: null,
    };
  }
  const unknown = unknownFacts(snapshot);
  if (unknown.length > 0)
    return { level: 'notice', text: `${gpuRoom}, but ${unknown.join(', and ')}.${holder}`, next: null };
  return { level: 'ok', text: `${gpuRoom}, and nothing stands in the way.${untried(snapshot)}${holder}`, next: null };
}

/** A reading without a context does not find out that none can be created. */
function untried({ devices }: Snapshot): string {
  return devices.some(isUntried) ? ' Whether a CUDA program can start was not tried: umaprobe doctor does that.' : '';
}

/** What had to be known to say that nothing stands in the way, besides pressure (pressure.ts). */
function unknownFacts(snapshot: Snapshot): string[] {
  const { contiguity, devices, from } = snapshot;
  const because = (reason: string | undefined) => (reason === undefined ? '' : ` (${clean(reason)})`);
  const model = devices.find(({ memoryModel }) => memoryModel === 'unknown');
  return [
    ...(model === undefined
      ? []
      : [
          `whether GPU ${model.index} shares the host's memory is not known${because(model.from['attributes.integrated'])}`,
        ]),
    ...(isUnified(snapshot) && contiguity === null
      ? [`whether free memory is fragmented is not known${because(from.contiguity)}`]
      : []),
  ];
}

/** The libraries' own messages, with every path tried, are in the document and below the headline. */
function whyNoGpu({ libraries: { cuda, nvml } }: Snapshot): string {
  if (cuda.state === 'missing' && nvml.state === 'missing') return 'neither CUDA nor NVML is installed here';
  const verbs = {
    loaded: 'sees no device',
    missing: 'is not installed',
    unusable: 'cannot be used',
    timeout: 'does not answer',
  };
  return `CUDA ${verbs[cuda.state]}, NVML ${verbs[nvml.state]}`;
}

/**
 * "60.0 GiB can be allocated on the GPU": the unified device, else the fullest GPU with its own memory; null: unknown.
 */
function allocatableOnGpu(snapshot: Snapshot): string | null {
  const unified = unifiedDevice(snapshot)?.allocatable;
  const shared = unified?.afterReclaim ?? unified?.immediate ?? null;
  if (shared !== null) return `${formatBytes(shared)} can be allocated on the GPU`;
  const gpus = ownHeadrooms(snapshot);
  const [fullest] = gpus;
  if (fullest === undefined) return null;
  const gpu = snapshot.devices.length === 1 ? 'the GPU' : `GPU ${fullest.device.index}`;
  const others = gpus.length > 1 ? `, the fullest of ${gpus.length}` : '';
  return `${formatBytes(fullest.bytes)} can be allocated on ${gpu}${others}`;
}

/** " vllm (7) holds 60.0 GiB.": the process that holds the most GPU memory; '' if none is known to hold any. */
function largestHolder(processes: readonly GpuProcess[]): string {
  const holder = processes.reduce(
    (largest: GpuProcess | null, process) => ((process.gpuBytes ?? 0) > (largest?.gpuBytes ?? 0) ? process : largest),
    null,
  );
  return holder === null
    ? ''
    : ` ${clean(holder.name ?? 'Process')} (${holder.pid}) holds ${formatBytes(holder.gpuBytes)}.`;
}

function isUnified(snapshot: Snapshot): boolean {
  return unifiedDevice(snapshot) !== undefined;
}
