/**
 * One line of judgement over a snapshot. The rules stand in order of urgency and the first that applies speaks; each
 * says in its comment what its threshold rests on.
 */
import { cmaPhantom } from '../allocatable.ts';
import { bytesInBlocks, headroom, unattributed, unifiedDevice } from '../findings.ts';
import { formatBytes, formatPercent, GiB, inGiB } from '../format.ts';
import { DROP_AND_COMPACT, DROP_PAGE_CACHE, DROP_POOLS } from '../remedies.ts';
import type { GpuProcess, Snapshot } from '../types.ts';
import { clean } from './text.ts';

export type Level = 'ok' | 'notice' | 'warning' | 'danger';

export interface Judgement {
  level: Level;
  text: string;
  /** What to do or to type; null: nothing. */
  next: string | null;
}

type Rule = (snapshot: Snapshot) => Judgement | null;

export function judge(snapshot: Snapshot): Judgement {
  for (const rule of RULES) {
    const judgement = rule(snapshot);
    if (judgement !== null) return judgement;
  }
  return allIsWell(snapshot);
}

/** full ≥ 10 % told every wedge of 19,696 samples apart (facts: lcasarin/blackbox, GB10); a spike may still be harmless. */
const stalling: Rule = ({ pressure }) => {
  if (pressure === null || pressure.full.avg10 < 10) return null;
  return {
    level: 'danger',
    text: `For ${formatPercent(pressure.full.avg10)} of the last 10 s nothing could run for want of memory: this is how a freeze begins.`,
    next: 'stop the largest GPU process now, then look again',
  };
};

/** NVML blocked for 491 to 737 s in wedges of GB10s (MiaAI DeepSeek-v4.1-Flash #23). */
const silentDriver: Rule = ({ libraries, devices }) => {
  // A context that hangs shows only where cudaMemGetInfo was to be read.
  const noContext = devices.some((device) => device.from.cuda?.startsWith('ERR_UMA_TIMEOUT') === true);
  const silent = [
    libraries.nvml.state === 'timeout' ? 'NVML' : null,
    libraries.cuda.state === 'timeout' || noContext ? 'CUDA' : null,
  ];
  const names = silent.filter((name) => name !== null).join(' and ');
  if (names === '') return null;
  return {
    level: 'danger',
    text: `${names} did not answer in time: the driver hangs. The numbers of the kernel are true all the same.`,
    next: 'umaprobe doctor',
  };
};

/** Loads that left less than 2 GiB cost engines, those that kept about 9 GiB (7 % of a GB10) did not (MiaAI PR 115). */
const nearlyOut: Rule = (snapshot) => {
  const { afterReclaim, total } = headroom(snapshot);
  if (afterReclaim === null || afterReclaim >= total * 0.07) return null;
  const danger = afterReclaim < total * 0.03;
  return {
    level: danger ? 'danger' : 'warning',
    text:
      `Only ${formatBytes(afterReclaim)} of ${isUnified(snapshot) ? 'the one pool' : "the host's memory"} can still be had.` +
      (isUnified(snapshot) ? ' Running out can freeze this machine instead of failing.' : ''),
    next: danger
      ? 'stop something before you start anything'
      : `leave at least ${formatBytes(total * 0.07)} when you load a model`,
  };
};

/** some > 10 % is where field guards begin to warn. */
const waiting: Rule = ({ pressure }) => {
  if (pressure === null || pressure.some.avg10 < 10) return null;
  return {
    level: 'warning',
    text: `Tasks waited for memory for ${formatPercent(pressure.some.avg10)} of the last 10 s: the kernel is busy reclaiming.`,
    next: 'umaprobe watch',
  };
};

/** A start check that refuses above 16 GiB, as a public Spark repository has it, is 13 % of the machine. */
const hidden: Rule = (snapshot) => {
  const rest = unattributed(snapshot);
  const pools = snapshot.driver.poolBytes ?? 0;
  if (!isUnified(snapshot) || Math.max(rest, pools) < snapshot.ledger.total * 0.13) return null;
  if (pools >= rest) {
    return {
      level: 'notice',
      text: `The driver keeps ${formatBytes(pools)} of freed GPU memory in its pools; CUDA can have it, other programs cannot.`,
      next: `nothing to do, or: ${DROP_POOLS}`,
    };
  }
  const kept = (snapshot.driver.systemMemoryPools ?? 0) !== 0;
  return {
    level: 'warning',
    text: `${formatBytes(rest)} belong to nobody that is listed${kept ? ': most likely driver pools of GPU programs that ended' : ''}.`,
    next: kept ? DROP_POOLS : 'umaprobe doctor',
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

/** cudaMalloc takes 2 MiB blocks; a box with 118 GiB available and next to none stalled for 10 minutes (sparkring #173). */
const inPieces: Rule = (snapshot) => {
  const { contiguity } = snapshot;
  if (contiguity === null || !isUnified(snapshot)) return null;
  const free = bytesInBlocks(contiguity, 0);
  const large = bytesInBlocks(contiguity, 2 * 1024 * 1024);
  if (free < snapshot.ledger.total * 0.1 || large >= free * 0.25) return null;
  return {
    level: 'warning',
    text: `Free memory is in pieces: ${formatBytes(large)} of ${formatBytes(free)} lie in blocks of 2 MiB or more, which GPU allocations need.`,
    next: `${DROP_AND_COMPACT}; if that brings little, reboot`,
  };
};

/** NVIDIA's rule and llama.cpp count free huge pages only, as soon as one is reserved. */
const hugePages: Rule = (snapshot) => {
  const device = unifiedDevice(snapshot);
  if (device === undefined || (snapshot.host.hugePagesTotal ?? 0) === 0) return null;
  const { nvidiaGuidance, llamaCpp } = device.views;
  return {
    level: 'warning',
    text: `Huge pages are reserved, so NVIDIA's guidance answers ${formatBytes(nvidiaGuidance)} and llama.cpp ${formatBytes(llamaCpp)}, while ${formatBytes(headroom(snapshot).afterReclaim)} can be had.`,
    next: 'release them where nothing needs them: echo 0 | sudo tee /proc/sys/vm/nr_hugepages',
  };
};

/** The story of "128 GB is not enough for 7B": the cache counts as used for whoever asks cudaMemGetInfo. */
const cached: Rule = (snapshot) => {
  const { immediate, afterReclaim, total } = headroom(snapshot);
  if (!isUnified(snapshot) || immediate === null || afterReclaim === null || afterReclaim - immediate < total * 0.08)
    return null;
  const cache = afterReclaim - immediate;
  return {
    level: 'notice',
    text: `${inGiB(cache)} of ${inGiB(total)} GiB look used but are page cache; a new allocation can have ${formatBytes(afterReclaim)}.`,
    next: `nothing to do, or: ${DROP_PAGE_CACHE}`,
  };
};

const RULES: readonly Rule[] = [
  stalling,
  silentDriver,
  nearlyOut,
  waiting,
  hidden,
  phantom,
  inPieces,
  hugePages,
  cached,
];

function allIsWell(snapshot: Snapshot): Judgement {
  const { afterReclaim } = headroom(snapshot);
  if (snapshot.devices.length === 0) {
    const next = snapshot.simulated === null ? 'see a simulated one: umaprobe --sim gb10' : null;
    return {
      level: 'notice',
      text: `No GPU: ${whyNoGpu(snapshot)}. Programs can have ${formatBytes(afterReclaim)} of this machine's memory.`,
      next,
    };
  }
  const holder = snapshot.devices
    .flatMap((device) => device.processes ?? [])
    .reduce(
      (most: GpuProcess | null, process) => ((process.gpuBytes ?? 0) > (most?.gpuBytes ?? 0) ? process : most),
      null,
    );
  const held =
    holder === null ? '' : ` ${clean(holder.name ?? 'Process')} (${holder.pid}) holds ${formatBytes(holder.gpuBytes)}.`;
  return {
    level: 'ok',
    text: `${formatBytes(deviceHeadroom(snapshot))} can be allocated on the GPU, and nothing stands in the way.${held}`,
    next: null,
  };
}

/** The libraries' own words, with every path that was tried, stand in the document and in the lines below the picture. */
function whyNoGpu({ libraries: { cuda, nvml } }: Snapshot): string {
  if (cuda.state === 'missing' && nvml.state === 'missing') return 'neither CUDA nor NVML is installed here';
  const words = {
    loaded: 'sees no device',
    missing: 'is not installed',
    unusable: 'cannot be used',
    timeout: 'does not answer',
  };
  return `CUDA ${words[cuda.state]}, NVML ${words[nvml.state]}`;
}

/** Of the unified device, else of the first. */
function deviceHeadroom(snapshot: Snapshot): number | null {
  const allocatable = (unifiedDevice(snapshot) ?? snapshot.devices[0])?.allocatable;
  return allocatable?.afterReclaim ?? allocatable?.immediate ?? null;
}

function isUnified(snapshot: Snapshot): boolean {
  return unifiedDevice(snapshot) !== undefined;
}
