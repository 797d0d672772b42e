/** Findings about programs and their limits. */

import { clean, formatBytes } from '../../base/format.ts';
import type { Evidence, ProcessesReport, ProcessMemory } from '../../types/index.ts';
import { unifiedDevice } from '../headroom.ts';
import { ledgerBytes } from '../ledger.ts';
import { bytes, type FindingRule, HOG_SHARE, meminfo } from './finding.ts';

/** Share of MemTotal: a desktop with its browser has less, and so has an idle Orin with 8 GiB. */
const PROGRAMS_SHARE = 0.2;
/** Processes that a finding names. */
const NAMED = 3;

/** The processes with the most of something, as evidence. */
function largest(
  processes: ProcessesReport | null,
  amount: (process: ProcessMemory) => number | null,
  what: string,
  atLeast: number,
): Evidence[] {
  return [...(processes?.processes ?? [])]
    .map((process) => ({ ...process, amount: amount(process) ?? 0 }))
    .filter((process) => process.amount >= atLeast)
    .sort((a, b) => b.amount - a.amount)
    .slice(0, NAMED)
    .map(({ amount: value, name, pid }) =>
      bytes(`${what} of ${clean(name ?? 'process')} (${pid})`, value, `/proc/${pid}/status`),
    );
}

/** " Most of it: python3 (77) 12.0 GiB."; '' if nobody stands out. */
function most(evidence: readonly Evidence[]): string {
  const [first] = evidence;
  return first === undefined ? '' : ` The most: ${first.name.replace(/^\S+ of /, '')} ${formatBytes(first.value)}.`;
}

/** Anonymous memory of programs, which no reclaim gives back. */
export const programs: FindingRule = ({ snapshot, processes }) => {
  const { anonPages, total } = snapshot.host;
  if (anonPages === null || anonPages < total * PROGRAMS_SHARE) return null;
  const who = largest(processes, ({ anonymous }) => anonymous, 'RssAnon', total * 0.01);
  return {
    code: 'programs',
    severity: 'notice',
    bytes: anonPages,
    summary: `${formatBytes(anonPages)} are memory of programs, outside of the GPU.${most(who)}`,
    evidence: [...meminfo(snapshot, ['anonPages', 'AnonPages']), ...who],
    remedy: {
      text: 'stop what you do not need: umaprobe processes lists programs with their workers',
      command: 'umaprobe processes',
      needsRoot: false,
      gains: null,
    },
  };
};

/** tmpfs and shared memory count as cache, and dropping caches does not free them. */
export const sharedMemory: FindingRule = ({ snapshot, processes }) => {
  const { shmem, total } = snapshot.host;
  if (shmem === null || shmem < total * HOG_SHARE) return null;
  const mounts = (processes?.sharedMemory ?? []).filter(({ bytes: size }) => size >= shmem * 0.05);
  mounts.sort((a, b) => b.bytes - a.bytes);
  const [place] = mounts;
  return {
    code: 'shared-memory',
    severity: 'notice',
    bytes: shmem,
    summary: `${formatBytes(shmem)} are shared memory and files in tmpfs: they count as page cache, but dropping caches does not free them.${place === undefined ? '' : ` The most: ${clean(place.name)} ${formatBytes(place.bytes)}.`}`,
    evidence: [
      ...meminfo(snapshot, ['shmem', 'Shmem']),
      ...mounts.slice(0, NAMED).map(({ bytes: size, from, name }) => bytes(clean(name), size, from)),
      ...largest(processes, ({ shared }) => shared, 'RssShmem', total * 0.01),
    ],
    remedy: {
      text: 'remove files that ended programs have left there: du -xsh /dev/shm/* /tmp 2>/dev/null | sort -h',
      command: 'du -xsh /dev/shm/* /tmp 2>/dev/null | sort -h',
      needsRoot: false,
      gains: null,
    },
  };
};

/** 61.5 GiB of locked shared memory were on a Spark whose OOM killer ended everything else (MiaAI #193). */
export const lockedMemory: FindingRule = ({ snapshot, processes }) => {
  const { mlocked, total } = snapshot.host;
  if (mlocked === null || mlocked < total * HOG_SHARE) return null;
  const who = largest(processes, ({ locked }) => locked, 'VmLck', total * 0.01);
  return {
    code: 'locked-memory',
    severity: 'notice',
    bytes: mlocked,
    summary: `${formatBytes(mlocked)} are locked (mlock): the kernel can neither swap nor drop them.${most(who)}`,
    evidence: [...meminfo(snapshot, ['mlocked', 'Mlocked'], ['unevictable', 'Unevictable']), ...who],
    remedy: {
      text: 'start the program without locking (llama.cpp: leave --mlock out); memory on the GPU needs no lock',
      command: null,
      needsRoot: false,
      gains: mlocked,
    },
  };
};

/** Share of MemTotal. Mapped libraries and fonts of a desktop are 1 GiB. */
const MAPPED_SHARE = 0.1;

/** Resident sets mislead: mapped datasets and weights show as RSS, though the kernel can page them out. */
export const mappedFiles: FindingRule = ({ snapshot, processes }) => {
  const { mapped, shmem, total } = snapshot.host;
  // Mapped counts shared memory, too.
  const files = mapped === null ? null : Math.max(0, mapped - (shmem ?? 0));
  if (files === null || files < total * MAPPED_SHARE) return null;
  const who = largest(processes, ({ file }) => file, 'RssFile', total * 0.01);
  return {
    code: 'mapped-files',
    severity: 'notice',
    bytes: files,
    summary: `${formatBytes(files)} of what programs show as resident (RSS) are only mapped files, which the kernel can drop.${most(who)}`,
    evidence: [...meminfo(snapshot, ['mapped', 'Mapped'], ['shmem', 'Shmem']), ...who],
    remedy: {
      text: 'nothing to do: compare programs by umaprobe processes, which leaves mapped files out',
      command: 'umaprobe processes',
      needsRoot: false,
      gains: 0,
    },
  };
};

/** cudaMalloc has no __GFP_ACCOUNT: 12 GiB under MemoryMax=8G were not stopped (model-serving-minefield #57). */
export const containerLimit: FindingRule = ({ snapshot }) => {
  const { cgroup, host } = snapshot;
  const limit = cgroup?.limit ?? null;
  if (cgroup === null || limit === null || limit >= host.total || unifiedDevice(snapshot) === undefined) return null;
  const gpu = ledgerBytes(snapshot.ledger, 'gpuProcesses');
  return {
    code: 'container-limit',
    severity: 'notice',
    bytes: limit,
    summary: `The limit of ${formatBytes(limit)} on ${clean(cgroup.path)} does not hold GPU memory: cudaMalloc takes the machine’s memory past it, while page cache and other memory count.`,
    evidence: [
      bytes('memory limit', limit, snapshot.from['cgroup.limit'] ?? 'cgroup'),
      ...(cgroup.current === null
        ? []
        : [bytes('counted in it', cgroup.current, snapshot.from['cgroup.current'] ?? 'cgroup')]),
      ...(gpu === 0 ? [] : [bytes('GPU processes', gpu, 'NVML')]),
    ],
    remedy: {
      text: 'limit the program itself (vLLM: --gpu-memory-utilization), and do not rely on the container',
      command: null,
      needsRoot: false,
      gains: null,
    },
  };
};

/** A node wants at least as much memory as its GPUs: weights are loaded and checkpoints recomposed there. */
export const hostSmallerThanGpus: FindingRule = ({ snapshot: { devices, host, from } }) => {
  const own = devices.flatMap(({ index, memoryModel, nvml }) =>
    memoryModel === 'discrete' && nvml !== null
      ? [bytes(`memory of GPU ${index}`, nvml.total, 'NVML memory info')]
      : [],
  );
  const gpus = own.reduce((sum, { value }) => sum + value, 0);
  if (own.length === 0 || host.total >= gpus) return null;
  return {
    code: 'host-smaller-than-gpus',
    severity: 'notice',
    bytes: gpus - host.total,
    summary: `This machine has less memory (${formatBytes(host.total)}) than its ${own.length === 1 ? 'GPU' : `${own.length} GPUs`} (${formatBytes(gpus)}): loading a model or saving a checkpoint by way of the host may not fit.`,
    evidence: [bytes('MemTotal', host.total, from.host ?? '/proc/meminfo'), ...own],
    remedy: {
      text: 'load shard by shard, straight to the GPU (safetensors, low_cpu_mem_usage=True), and save sharded checkpoints',
      command: null,
      needsRoot: false,
      gains: null,
    },
  };
};
