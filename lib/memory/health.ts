/**
 * The verdict over a snapshot: a level, a sentence, what to do. The rules stand in order of urgency, and the first that
 * applies decides. Their thresholds are in pressure.ts, contiguity.ts, floor.ts, headroom.ts and here, each with its evidence.
 */

import { clean, formatBytes, formatDuration, GiB, inGiB } from '../base/format.ts';
import type { GpuProcess, Snapshot } from '../types/index.ts';
import { cmaPhantom } from './allocatable.ts';
import { fragmentation } from './contiguity.ts';
import { FLOOR_SHARE } from './floor.ts';
import {
  hasUnknownPools,
  headroom,
  isMuchHidden,
  ownHeadrooms,
  silentForMs,
  unattributed,
  unifiedDevice,
} from './headroom.ts';
import { FREEZE_BEGINS, stalledPercent, stalledText, waitingPercent, waitingText } from './pressure.ts';
import { DROP_AND_COMPACT, DROP_PAGE_CACHE, DROP_POOLS, RELEASE_HUGE_PAGES, withReceipt } from './remedies.ts';

export type Level = 'ok' | 'notice' | 'warning' | 'danger';

export interface HealthVerdict {
  level: Level;
  text: string;
  /** What to do or to type; null: nothing. */
  next: string | null;
}

type Rule = (snapshot: Snapshot) => HealthVerdict | null;

export function health(snapshot: Snapshot): HealthVerdict {
  for (const rule of RULES) {
    const verdict = rule(snapshot);
    if (verdict !== null) return verdict;
  }
  return nothingWrong(snapshot);
}

const stalled: Rule = ({ pressure }) => {
  const percent = stalledPercent(pressure);
  if (percent === null) return null;
  return {
    level: 'danger',
    text: `${capitalized(stalledText(percent))}: ${FREEZE_BEGINS}.`,
    next: 'stop the largest GPU process now, then look again',
  };
};

/**
 * NVML blocked for 491 to 737 s in wedges of GB10s (MiaAI DeepSeek-v4.1-Flash #23). But a first start of CUDA takes
 * seconds, too: silence alone is no hang, and where memory is stalled as well the rule above has spoken already.
 */
const silentDriver: Rule = ({ libraries: { cuda, nvml }, devices }) => {
  // A context that is not created in time shows only where cudaMemGetInfo was to be read.
  const noContext = devices.map((device) => device.from.cuda).find((from) => from?.startsWith('ERR_UMA_TIMEOUT'));
  const silent = [
    nvml.state === 'timeout' ? (['NVML', nvml.reason] as const) : null,
    cuda.state === 'timeout' ? (['CUDA', cuda.reason] as const) : null,
    cuda.state !== 'timeout' && noContext !== undefined ? (['CUDA', noContext] as const) : null,
  ].filter((one) => one !== null);
  if (silent.length === 0) return null;
  const sentences = silent.map(([name, reason]) => {
    const ms = silentForMs(reason);
    return `${name} did not answer ${ms === null ? 'in time' : `within ${formatDuration(ms)}`}`;
  });
  return {
    level: 'warning',
    text: `${sentences.join(', ')}: slow or stuck. The kernel’s numbers are valid.`,
    next: 'look again, then run: umaprobe doctor',
  };
};

/** Share of MemTotal. Below it nothing should be started: loads that left less than 2 GiB cost engines (MiaAI PR 115). */
const VERY_LOW_SHARE = 0.03;

const nearlyOut: Rule = (snapshot) => {
  const { afterReclaim, total } = headroom(snapshot);
  if (afterReclaim === null || afterReclaim >= total * FLOOR_SHARE) return null;
  const danger = afterReclaim < total * VERY_LOW_SHARE;
  return {
    level: danger ? 'danger' : 'warning',
    text:
      `Only ${formatBytes(afterReclaim)} of ${isUnified(snapshot) ? 'the one pool' : "the host's memory"} can still be allocated.` +
      (isUnified(snapshot) ? ' Running out can freeze this machine instead of failing.' : ''),
    next: danger
      ? 'stop something before you start anything'
      : `leave at least ${formatBytes(total * FLOOR_SHARE)} when you load a model`,
  };
};

/**
 * The same shares of each GPU's own memory; the fullest speaks. One level lower: there an allocation fails with an
 * error and the machine goes on, and inference servers fill such a GPU on purpose.
 */
const gpuNearlyOut: Rule = (snapshot) => {
  // Where what reclaim would give back is not known (GH200), little that is free need not mean little to be had.
  const fullest = ownHeadrooms(snapshot).find(({ device }) => device.allocatable.afterReclaim !== null);
  if (fullest === undefined || fullest.bytes >= fullest.total * FLOOR_SHARE) return null;
  return {
    level: fullest.bytes < fullest.total * VERY_LOW_SHARE ? 'warning' : 'notice',
    text: `Only ${formatBytes(fullest.bytes)} of the ${formatBytes(fullest.total)} of GPU ${fullest.device.index} can still be allocated.${heldBy(fullest.device.processes ?? [])}`,
    next: 'stop something there before you load more',
  };
};

const waiting: Rule = ({ pressure }) => {
  const percent = waitingPercent(pressure);
  if (percent === null) return null;
  return {
    level: 'warning',
    text: `${capitalized(waitingText(percent))}: the kernel is busy reclaiming.`,
    next: 'umaprobe watch',
  };
};

const hidden: Rule = (snapshot) => {
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
  // Pools whose size is known are in the ledger already: they explain nothing more.
  const inPools = hasUnknownPools(snapshot);
  return {
    level: 'warning',
    text: `${formatBytes(rest)} are in no counter and no listed process${inPools ? ': most likely driver pools of GPU programs that ended' : ''}.`,
    next: inPools ? withReceipt(DROP_POOLS) : 'umaprobe doctor',
  };
};

/** Kernel 7.0.0 with kexec-handover: 9.30 GiB of "free" that ibv_reg_mr and cudaMalloc cannot pin (NV-Kernels PR 590). */
const phantom: Rule = (snapshot) => {
  const bytes = cmaPhantom(snapshot.host);
  if (bytes < GiB) return null;
  return {
    level: 'warning',
    text: `${formatBytes(bytes)} of what counts as free cannot hold GPU memory (CMA left by kexec-handover).`,
    next: 'boot with kho=off to get it back',
  };
};

const fragmented: Rule = (snapshot) => {
  const found = fragmentation(snapshot);
  if (found === null || !found.telling || !found.fragmented) return null;
  const { cma, free, large } = found;
  return {
    level: 'warning',
    text: `Free memory is fragmented: ${formatBytes(large)} of ${formatBytes(free)} are in blocks of 2 MiB or more, which GPU allocations need${cma === 0 ? '' : ` (without ${formatBytes(cma)} of CMA)`}.`,
    next: `${withReceipt(DROP_AND_COMPACT)}; if that brings little, reboot`,
  };
};

/** NVIDIA's rule and llama.cpp count free huge pages only, as soon as one is reserved. */
const hugePages: Rule = (snapshot) => {
  const device = unifiedDevice(snapshot);
  if (device === undefined || (snapshot.host.hugePagesTotal ?? 0) === 0) return null;
  const { nvidiaGuidance, llamaCpp } = device.views;
  return {
    level: 'warning',
    text: `Huge pages are reserved, so NVIDIA's guidance answers ${formatBytes(nvidiaGuidance)} and llama.cpp ${formatBytes(llamaCpp)}, while ${formatBytes(headroom(snapshot).afterReclaim)} can be allocated.`,
    next: `release them where nothing needs them: ${RELEASE_HUGE_PAGES}`,
  };
};

/** Share of MemTotal that is page cache: more of it makes programs that ask cudaMemGetInfo refuse a model that fits. */
const CACHED_SHARE = 0.08;

/** The story of "128 GB is not enough for 7B": cudaMemGetInfo counts page cache as used. */
const cached: Rule = (snapshot) => {
  const { immediate, afterReclaim, total } = headroom(snapshot);
  if (
    !isUnified(snapshot) ||
    immediate === null ||
    afterReclaim === null ||
    afterReclaim - immediate < total * CACHED_SHARE
  )
    return null;
  const cache = afterReclaim - immediate;
  return {
    level: 'notice',
    text: `${inGiB(cache)} of ${inGiB(total)} GiB look used but are page cache; ${formatBytes(afterReclaim)} can be allocated.`,
    next: `nothing to do, or: ${withReceipt(DROP_PAGE_CACHE)}`,
  };
};

const RULES: readonly Rule[] = [
  stalled,
  silentDriver,
  nearlyOut,
  waiting,
  gpuNearlyOut,
  hidden,
  phantom,
  fragmented,
  hugePages,
  cached,
];

function nothingWrong(snapshot: Snapshot): HealthVerdict {
  const { afterReclaim } = headroom(snapshot);
  if (snapshot.devices.length === 0) {
    const next = snapshot.simulated === null ? 'see a simulated one: umaprobe --sim gb10' : null;
    return {
      level: 'notice',
      text: `No GPU: ${whyNoGpu(snapshot)}. Programs can use ${formatBytes(afterReclaim)} of this machine's memory.`,
      next,
    };
  }
  const held = heldBy(snapshot.devices.flatMap((device) => device.processes ?? []));
  const room = roomOnGpu(snapshot);
  if (room === null) {
    return {
      level: 'notice',
      text: `How much can be allocated on the GPU is not known; nothing else stands in the way.${held}`,
      next: null,
    };
  }
  return { level: 'ok', text: `${room}, and nothing stands in the way.${held}`, next: null };
}

function isUnified(snapshot: Snapshot): boolean {
  return unifiedDevice(snapshot) !== undefined;
}

/** " vllm (7) holds 60.0 GiB.", of the one that holds most; '' where nobody is known to hold anything. */
export function heldBy(processes: readonly GpuProcess[]): string {
  const holder = processes.reduce(
    (most: GpuProcess | null, process) => ((process.gpuBytes ?? 0) > (most?.gpuBytes ?? 0) ? process : most),
    null,
  );
  return holder === null
    ? ''
    : ` ${clean(holder.name ?? 'Process')} (${holder.pid}) holds ${formatBytes(holder.gpuBytes)}.`;
}

/** Of the unified device, else of the fullest of those that have memory of their own. */
export function roomOnGpu(snapshot: Snapshot): string | null {
  const unified = unifiedDevice(snapshot)?.allocatable;
  const shared = unified?.afterReclaim ?? unified?.immediate ?? null;
  if (shared !== null) return `${formatBytes(shared)} can be allocated on the GPU`;
  const own = ownHeadrooms(snapshot);
  const [fullest] = own;
  if (fullest === undefined) return null;
  const which = snapshot.devices.length === 1 ? 'the GPU' : `GPU ${fullest.device.index}`;
  const others = own.length > 1 ? `, the fullest of ${own.length}` : '';
  return `${formatBytes(fullest.bytes)} can be allocated on ${which}${others}`;
}

/** The libraries' own words, with every path that was tried, stand in the document and in the lines below the picture. */
export function whyNoGpu({ libraries: { cuda, nvml } }: Snapshot): string {
  if (cuda.state === 'missing' && nvml.state === 'missing') return 'neither CUDA nor NVML is installed here';
  const words = {
    loaded: 'sees no device',
    missing: 'is not installed',
    unusable: 'cannot be used',
    timeout: 'does not answer',
  };
  return `CUDA ${words[cuda.state]}, NVML ${words[nvml.state]}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
