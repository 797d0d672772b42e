/**
 * The verdict over a snapshot: a level, a sentence, and what to do. Rules are tried in order of urgency; the first that
 * applies decides. Their thresholds, each with its evidence, are here and in pressure.ts, contiguity.ts, floor.ts and
 * headroom.ts.
 */

import { capitalized, clean, formatBytes, formatDuration, GiB, inGiB } from '../base/format.ts';
import type { GpuProcess, Snapshot } from '../types/index.ts';
import { cmaPhantom } from './allocatable.ts';
import { fragmentation } from './contiguity.ts';
import { FLOOR_SHARE } from './floor.ts';
import { hasUnknownPools, headroom, isMuchHidden, ownHeadrooms, unattributed, unifiedDevice } from './headroom.ts';
import { FREEZE_BEGINS, stalledPercent, stalledText, waitingPercent, waitingText } from './pressure.ts';
import { unknownProcesses } from './process-health.ts';
import {
  BOOT_WITHOUT_KHO,
  DROP_AND_COMPACT,
  DROP_PAGE_CACHE,
  DROP_POOLS,
  RELEASE_HUGE_PAGES,
  STOP_LARGEST,
  withReceipt,
} from './remedies.ts';
import { notSplit, unknownAvailable } from './unreadable.ts';
import type { HealthVerdict, Rule } from './verdict.ts';

/** In order of urgency. */
const RULES: readonly Rule[] = [
  stalled,
  silentDriver,
  unknownAvailable,
  nearlyOut,
  waiting,
  gpuNearlyOut,
  notSplit,
  unknownProcesses,
  hidden,
  phantom,
  fragmented,
  hugePages,
  cached,
];

export function health(snapshot: Snapshot): HealthVerdict {
  for (const rule of RULES) {
    const verdict = rule(snapshot);
    if (verdict !== null) return verdict;
  }
  return noProblem(snapshot);
}

function stalled({ pressure }: Snapshot): HealthVerdict | null {
  const percent = stalledPercent(pressure);
  if (percent === null) return null;
  return {
    level: 'danger',
    text: `${capitalized(stalledText(percent))}: ${FREEZE_BEGINS}.`,
    next: `${STOP_LARGEST} now, then check again`,
  };
}

/**
 * NVML blocked for 491 to 737 s in wedges of GB10s (MiaAI DeepSeek-v4.1-Flash #23). But a first start of CUDA takes
 * seconds too, so silence alone does not prove a hang; together with a memory stall the rule above has already decided.
 */
function silentDriver({ libraries: { cuda, nvml }, devices }: Snapshot): HealthVerdict | null {
  // A context that is not created in time shows only if cudaMemGetInfo was to be read.
  const noContext = devices.map((device) => device.from.cuda).find((from) => from?.startsWith('ERR_UMA_TIMEOUT'));
  const sentences = [
    nvml.state === 'timeout' ? noAnswerText('NVML', nvml.reason) : null,
    cuda.state === 'timeout' ? noAnswerText('CUDA', cuda.reason) : null,
    cuda.state !== 'timeout' && noContext !== undefined ? noAnswerText('CUDA', noContext) : null,
  ].filter((sentence) => sentence !== null);
  if (sentences.length === 0) return null;
  return {
    level: 'warning',
    text: `${sentences.join(', ')}: slow or stuck. The kernel’s numbers are valid.`,
    next: 'check again, then run: umaprobe doctor',
  };
}

/** "NVML did not answer within 2.00 s", with the time from the reason of the timeout. */
export function noAnswerText(name: string, reason: string | null): string {
  const ms = /(?:within|blocked for) (\d+(?:\.\d+)?) ms/.exec(reason ?? '')?.[1];
  return `${name} did not answer ${ms === undefined ? 'in time' : `within ${formatDuration(Number(ms))}`}`;
}

/**
 * Share of MemTotal below which nothing should be started: loads that left less than 2 GiB cost engines (MiaAI PR 115).
 */
const VERY_LOW_SHARE = 0.03;

function nearlyOut(snapshot: Snapshot): HealthVerdict | null {
  const { afterReclaim, total } = headroom(snapshot);
  if (afterReclaim === null || afterReclaim >= total * FLOOR_SHARE) return null;
  const danger = afterReclaim < total * VERY_LOW_SHARE;
  const unified = isUnified(snapshot);
  return {
    level: danger ? 'danger' : 'warning',
    text:
      `Only ${formatBytes(afterReclaim)} of ${unified ? 'the unified memory' : "the host's memory"} can still be allocated.` +
      (unified ? ' Running out of it can freeze this machine instead of failing an allocation.' : ''),
    next: danger
      ? 'stop a program before you start another'
      : `leave at least ${formatBytes(total * FLOOR_SHARE)} when you load a model`,
  };
}

/**
 * The same shares of each GPU's own memory, for the fullest GPU. The level is one lower: there an allocation fails with
 * an error and the machine keeps running, and inference servers fill such a GPU on purpose.
 */
function gpuNearlyOut(snapshot: Snapshot): HealthVerdict | null {
  // Without a number after reclaim (GH200) little free memory does not mean that little can be allocated.
  const fullest = ownHeadrooms(snapshot).find(({ device }) => device.allocatable.afterReclaim !== null);
  if (fullest === undefined || fullest.bytes >= fullest.total * FLOOR_SHARE) return null;
  return {
    level: fullest.bytes < fullest.total * VERY_LOW_SHARE ? 'warning' : 'notice',
    text: `Only ${formatBytes(fullest.bytes)} of the ${formatBytes(fullest.total)} of GPU ${fullest.device.index} can still be allocated.${largestHolder(fullest.device.processes ?? [])}`,
    next: 'stop a program there before you load more',
  };
}

function waiting({ pressure }: Snapshot): HealthVerdict | null {
  const percent = waitingPercent(pressure);
  if (percent === null) return null;
  return {
    level: 'warning',
    text: `${capitalized(waitingText(percent))}: the kernel is busy reclaiming.`,
    next: 'umaprobe watch',
  };
}

function hidden(snapshot: Snapshot): HealthVerdict | null {
  const rest = unattributed(snapshot);
  const pools = snapshot.driver.poolBytes ?? 0;
  if (!isUnified(snapshot) || !isMuchHidden(Math.max(rest, pools), snapshot)) return null;
  if (pools >= rest) {
    return {
      level: 'notice',
      text: `The driver keeps ${formatBytes(pools)} of freed GPU memory in its pools; CUDA programs can use it, other programs cannot.`,
      next: `nothing to do, or: ${withReceipt(DROP_POOLS)}`,
    };
  }
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
  return { level: 'ok', text: `${gpuRoom}, and nothing stands in the way.${holder}`, next: null };
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
