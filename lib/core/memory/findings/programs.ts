/** Rows about programs and their limits. */

import { clean, formatBytes } from '../../../base/format.ts';
import type { Evidence, ProcessesReport, ProcessMemory } from '../../../types/index.ts';
import { unifiedDevice } from '../headroom.ts';
import { ledgerBytes } from '../ledger.ts';
import {
  advice,
  applies,
  bytes,
  command,
  HOG_SHARE,
  meminfo,
  passed,
  type Row,
  takes,
  unknown,
  unknownCounter,
} from './row.ts';

/** Share of MemTotal: a desktop with its browser has less, and so has an idle Orin with 8 GiB. */
const PROGRAMS_SHARE = 0.2;
/** Processes that a finding names. */
const NAMED = 3;

/** The processes with the most of something, as evidence. */
function largest(
  processes: ProcessesReport | null | undefined,
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
  return first === undefined
    ? ''
    : ` The most: ${first.name.replace(/^\S+ of /, '')} ${formatBytes(Number(first.value))}.`;
}

/** Anonymous memory of programs, which no reclaim gives back. */
export const programs: Row = {
  needs: [],
  judge({ snapshot, processes }) {
    const { anonPages, total } = snapshot.host;
    const counted = () => meminfo(snapshot, 'anonPages');
    if (anonPages === null) return unknownCounter(snapshot, 'anonPages');
    if (anonPages < total * PROGRAMS_SHARE) return passed('Programs hold little memory outside of the GPU.', counted);
    const who = largest(processes, ({ anonymous }) => anonymous, 'RssAnon', total * 0.01);
    return applies({
      severity: 'notice',
      normal: true,
      bytes: anonPages,
      summary: `${formatBytes(anonPages)} are memory of programs, outside of the GPU.${most(who)}`,
      effect: takes(anonPages),
      evidence: () => [...counted(), ...who],
      remedy: command('stop what you do not need; programs with their workers', 'umaprobe processes'),
    });
  },
};

/** tmpfs and shared memory count as cache, and dropping caches does not free them. */
export const shared: Row = {
  needs: [],
  judge({ snapshot, processes }) {
    const { shmem, total } = snapshot.host;
    const counted = () => meminfo(snapshot, 'shmem');
    if (shmem === null) return unknownCounter(snapshot, 'shmem');
    if (shmem < total * HOG_SHARE) return passed('Little is in tmpfs and shared memory.', counted);
    const mounts = (processes?.sharedMemory ?? []).filter(({ bytes: size }) => size >= shmem * 0.05);
    mounts.sort((a, b) => b.bytes - a.bytes);
    const [place] = mounts;
    return applies({
      severity: 'notice',
      normal: true,
      bytes: shmem,
      summary: `${formatBytes(shmem)} are shared memory and files in tmpfs: they count as page cache, but dropping caches does not free them.${place === undefined ? '' : ` The most: ${clean(place.name)} ${formatBytes(place.bytes)}.`}`,
      effect: takes(shmem),
      evidence: () => [
        ...counted(),
        ...mounts.slice(0, NAMED).map(({ bytes: size, from, name }) => bytes(clean(name), size, from)),
        ...largest(processes, ({ shared: pages }) => pages, 'RssShmem', total * 0.01),
      ],
      remedy: command(
        'remove files that ended programs have left there',
        'du -xsh /dev/shm/* /tmp 2>/dev/null | sort -h',
      ),
    });
  },
};

/** 61.5 GiB of locked shared memory were on a Spark whose OOM killer ended everything else (MiaAI #193). */
export const locked: Row = {
  needs: [],
  judge({ snapshot, processes }) {
    const { mlocked, total } = snapshot.host;
    const counted = () => meminfo(snapshot, 'mlocked', 'unevictable');
    if (mlocked === null) return unknownCounter(snapshot, 'mlocked');
    if (mlocked < total * HOG_SHARE) return passed('Little memory is locked.', counted);
    const who = largest(processes, ({ locked: pages }) => pages, 'VmLck', total * 0.01);
    return applies({
      severity: 'notice',
      normal: true,
      bytes: mlocked,
      summary: `${formatBytes(mlocked)} are locked (mlock): the kernel can neither swap nor drop them.${most(who)}`,
      effect: takes(mlocked),
      evidence: () => [...counted(), ...who],
      remedy: advice(
        'start the program without locking (llama.cpp: leave --mlock out); memory on the GPU needs no lock',
        {
          gains: mlocked,
        },
      ),
    });
  },
};

/** Share of MemTotal. Mapped libraries and fonts of a desktop are 1 GiB. */
const MAPPED_SHARE = 0.1;

/** Resident sets mislead: mapped datasets and weights show as RSS, though the kernel can page them out. */
export const mapped: Row = {
  needs: [],
  judge({ snapshot, processes }) {
    const { mapped: pages, shmem, total } = snapshot.host;
    const counted = () => meminfo(snapshot, 'mapped', 'shmem');
    if (pages === null) return unknownCounter(snapshot, 'mapped');
    // Mapped counts shared memory, too.
    const files = Math.max(0, pages - (shmem ?? 0));
    if (files < total * MAPPED_SHARE) return passed('Few files are mapped.', counted);
    const who = largest(processes, ({ file }) => file, 'RssFile', total * 0.01);
    return applies({
      severity: 'notice',
      normal: true,
      bytes: files,
      summary: `${formatBytes(files)} of what programs show as resident (RSS) are only mapped files, which the kernel can drop.${most(who)}`,
      evidence: () => [...counted(), ...who],
      remedy: command('nothing to do; programs without their mapped files', 'umaprobe processes', { gains: 0 }),
    });
  },
};

/** cudaMalloc has no __GFP_ACCOUNT: 12 GiB under MemoryMax=8G were charged as 0.4 and not stopped (model-serving-minefield #57). */
export const containerLimit: Row = {
  needs: ['cuda'],
  judge({ snapshot }) {
    const { cgroup, from, host, ledger } = snapshot;
    if (cgroup === null)
      return unknown(
        `the cgroup of this process cannot be read${from.cgroup === undefined ? '' : ` (${clean(from.cgroup)})`}`,
      );
    const limits = [cgroup.limit, cgroup.high].filter((limit) => limit !== null);
    const limit = Math.min(...limits);
    if (limits.length === 0 || limit >= host.total)
      return passed('No memory limit below the machine’s memory applies here.');
    const evidence = () => [
      bytes('memory limit', limit, from['cgroup.limit'] ?? 'cgroup'),
      ...(cgroup.current === null ? [] : [bytes('counted in it', cgroup.current, from['cgroup.current'] ?? 'cgroup')]),
      bytes('GPU processes', ledgerBytes(ledger, 'gpuProcesses'), 'NVML'),
    ];
    if (unifiedDevice(snapshot) === undefined)
      return passed('A limit is set; no GPU here shares the host’s memory.', evidence);
    return applies({
      severity: 'notice',
      bytes: limit,
      summary: `The limit of ${formatBytes(limit)} on ${clean(cgroup.path)} does not hold GPU memory: cudaMalloc takes the machine’s memory past it, while page cache and other memory count.`,
      evidence,
      remedy: advice('limit the program itself (vLLM: --gpu-memory-utilization), and do not rely on the container'),
    });
  },
};

/** A node wants at least as much memory as its GPUs: weights are loaded and checkpoints recomposed there. */
export const hostSmaller: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const { devices, host } = snapshot;
    const own = devices.flatMap(({ index, memoryModel, nvml }) =>
      memoryModel === 'discrete' && nvml !== null
        ? [bytes(`memory of GPU ${index}`, nvml.total, 'NVML memory info')]
        : [],
    );
    const gpus = own.reduce((sum, { value }) => sum + Number(value), 0);
    const evidence = () => [...meminfo(snapshot, 'total'), ...own];
    if (own.length === 0 || host.total >= gpus) return passed('The host has as much memory as its GPUs.', evidence);
    return applies({
      severity: 'notice',
      normal: true,
      bytes: gpus - host.total,
      summary: `This machine has less memory (${formatBytes(host.total)}) than its ${own.length === 1 ? 'GPU' : `${own.length} GPUs`} (${formatBytes(gpus)}): loading a model or saving a checkpoint by way of the host may not fit.`,
      evidence,
      remedy: advice(
        'load shard by shard, straight to the GPU (safetensors, low_cpu_mem_usage=True), and save sharded checkpoints',
      ),
    });
  },
};
