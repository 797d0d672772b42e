/** Reads all processes: their own counters, their exact share of shared pages, and their GPU memory. */

import { abortable } from '../../base/abort.ts';
import { errorCode, type Failure, UmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import { formatCount, MiB } from '../../base/format.ts';
import type { ExplainedMemory, MemoryModel, ProcessesReport, ProportionalMemory, Snapshot } from '../../types/index.ts';
import { kernelFiles } from '../host/files.ts';
import { ownerOf } from '../host/owner.ts';
import { parseRollup, parseStatus, type StatusFacts } from '../host/process-status.ts';
import { unattributed } from '../memory/headroom.ts';
import { native } from '../native/binding.ts';
import type { NativeBinding } from '../native/contract.ts';
import { snapshot } from '../snapshot/index.ts';
import { grouped, type Loose } from './group.ts';
import { sharedMemoryOf } from './shared-memory.ts';

export interface ReadLimits {
  pssLimitMs: number;
  deadlineMs: number;
  signal: AbortSignal | undefined;
}

/** Batch size: the files of 64 processes take about 1 ms; then the event loop runs. */
const PROCESSES_PER_BATCH = 64;

/**
 * Processes that hold and map less are not read exactly: walking their pages would cost more than the error is worth. Mapped
 * files have a larger limit, because every program maps tens of MiB of libraries.
 */
const SMALL = 4 * MiB;
const SMALL_FILES = 256 * MiB;

/** Characters of a command line that are kept. */
const COMMAND_LENGTH = 4096;

export async function readProcesses({ pssLimitMs, deadlineMs, signal }: ReadLimits): Promise<ProcessesReport> {
  const started = performance.now();
  const binding = native();
  const reading = await snapshot({ memGetInfo: 'never', deadlineMs });
  const gpu = gpuMemory(reading);
  const { found, refused } = await readAll(binding, signal);
  const exact = await readExactly(binding, found, performance.now() + pssLimitMs, signal);
  const loose = looseProcesses(found, exact.of, gpu);
  const { groups, processes } = grouped(loose);
  const sharedMemory = reading.simulated === null ? await sharedMemoryOf(binding) : [];
  const { host, simulated } = reading;
  return {
    schema: 'umaprobe/processes/1',
    at: reading.at,
    simulated,
    memoryModel: gpu.model,
    total: host.total,
    available: host.available,
    groups,
    processes,
    sharedMemory,
    totals: totalsOf(reading, processes, gpu),
    unattributed: unattributed(reading),
    hiddenProcesses: refused,
    limits: [...hiddenLimits(refused), ...exact.limits, ...gpu.limits],
    from: sourcesOf(reading, gpu),
    durationMs: performance.now() - started,
  };
}

/** A process as its files in /proc say. */
interface Found {
  pid: number;
  status: StatusFacts;
  cgroup: string;
}

/** `refused`: processes that the kernel does not let this user see (hidepid). */
async function readAll(
  binding: NativeBinding,
  signal: AbortSignal | undefined,
): Promise<{ found: Found[]; refused: number }> {
  // Any of them may never answer: smaps_rollup takes a lock of the process, and a cgroup's file one of the kernel.
  const names = await kernelFiles(binding).list('/proc');
  if (isFailure(names)) throw new UmaError(errorCode(names), names);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found: Found[] = [];
  let refused = 0;
  for (let start = 0; start < pids.length; start += PROCESSES_PER_BATCH) {
    const batch = pids.slice(start, start + PROCESSES_PER_BATCH);
    const files = kernelFiles(binding);
    const texts = await files.read(batch.map((pid) => `/proc/${pid}/status`));
    const running = batch.flatMap((pid, index) => {
      const text = texts[index];
      if (isFailure(text) && !hasEnded(text)) refused++;
      // A process that ended meanwhile, a kernel thread or a zombie holds nothing.
      const status = typeof text === 'string' ? parseStatus(text) : null;
      return status === null ? [] : [{ pid, status }];
    });
    const cgroups = await files.read(running.map(({ pid }) => `/proc/${pid}/cgroup`));
    for (const [index, { pid, status }] of running.entries()) {
      const cgroup = cgroups[index];
      found.push({ pid, status, cgroup: typeof cgroup === 'string' ? cgroup : '' });
    }
    signal?.throwIfAborted();
  }
  return { found, refused };
}

function hasEnded({ name }: Failure): boolean {
  return name === 'ENOENT' || name === 'ESRCH';
}

/**
 * Memory that only the end of the process, or swap, gives back. Mapped files of a process with locked memory count as
 * far as they may be locked: weights that llama.cpp maps with --mlock.
 */
function ownBytes(memory: Pick<StatusFacts, 'anonymous' | 'file' | 'locked' | 'shared'> & { rss?: number }): number {
  const { anonymous, file, locked, rss, shared } = memory;
  if (anonymous === null || shared === null) return rss ?? 0;
  return anonymous + shared + Math.min(file ?? 0, locked ?? 0);
}

interface Exact {
  pss: ProportionalMemory | null;
  command: string | null;
}

/** The exact figures of the processes that hold the most, until the time limit is reached. */
async function readExactly(
  binding: NativeBinding,
  found: readonly Found[],
  until: number,
  signal: AbortSignal | undefined,
): Promise<{ of: ReadonlyMap<number, Exact>; limits: string[] }> {
  const large = found.filter(({ status }) => ownBytes(status) >= SMALL || (status.file ?? 0) >= SMALL_FILES);
  large.sort((a, b) => ownBytes(b.status) - ownBytes(a.status));
  const of = new Map<number, Exact>();
  let refused = 0;
  let late = 0;
  // The name of a process costs nothing, so it is read first.
  const files = ['cmdline', 'smaps_rollup'].flatMap((name) => large.map(({ pid }) => `/proc/${pid}/${name}`));
  const leftMs = Math.round(until - performance.now());
  // One reading for all: a file that hangs, because its process holds the lock of its memory map, delays no other.
  const texts = leftMs < 1 ? [] : await abortable(signal, () => binding.readFilesWithin(files, leftMs));
  for (const [index, { pid }] of large.entries()) {
    const [command, rollup] = [texts[index], texts[large.length + index]];
    if (rollup === undefined || (isFailure(rollup) && rollup.name === 'TIMEOUT')) late++;
    else if (isFailure(rollup) && !hasEnded(rollup)) refused++;
    of.set(pid, {
      pss: typeof rollup === 'string' ? parseRollup(rollup) : null,
      command: typeof command === 'string' ? commandOf(command) : null,
    });
  }
  const limits: string[] = [];
  const meaning = 'shared pages count in each of them, so their memory is an upper bound';
  if (refused > 0) limits.push(`The kernel does not let this user read ${processCount(refused)} exactly: ${meaning}.`);
  if (late > 0) limits.push(`The time limit left ${processCount(late)} without exact figures: ${meaning}.`);
  return { of, limits };
}

function hiddenLimits(count: number): string[] {
  if (count === 0) return [];
  return [`${processCount(count)} cannot be read by this user (hidepid of /proc): their memory is missing here.`];
}

function processCount(count: number): string {
  return count === 1 ? '1 process' : `${formatCount(count)} processes`;
}

/** Arguments end with NUL; a program that overwrote them may have left spaces. */
function commandOf(text: string): string | null {
  const line = text.slice(0, COMMAND_LENGTH).replaceAll('\0', ' ').trim();
  return line === '' ? null : line;
}

interface HeldOnGpu {
  name: string | null;
  bytes: number | null;
  /** Those of devices that use the host's memory: they are in no RSS. */
  ofHost: number;
}

interface GpuMemory {
  model: MemoryModel | null;
  /** pid → its memory over all devices. */
  of: ReadonlyMap<number, HeldOnGpu>;
  /** True: a process that is not listed holds no GPU memory. */
  complete: boolean;
  /** Used memory of the devices; null: unknown, or they share the host's memory. */
  total: number | null;
  limits: string[];
}

export function gpuMemory({ devices }: Snapshot): GpuMemory {
  const of = new Map<number, HeldOnGpu>();
  for (const { memoryModel, processes } of devices) {
    for (const { gpuBytes, name, pid } of processes ?? []) {
      const before = of.get(pid) ?? { bytes: 0, ofHost: 0 };
      of.set(pid, {
        name,
        bytes: before.bytes === null || gpuBytes === null ? null : before.bytes + gpuBytes,
        ofHost: before.ofHost + (memoryModel === 'unified' ? (gpuBytes ?? 0) : 0),
      });
    }
  }
  const incomplete = devices.filter(({ processesComplete }) => processesComplete !== true);
  const models = devices.map(({ memoryModel }) => memoryModel);
  // If the GPU uses the host's memory, no counter says how much of it.
  const own = devices.map(({ memoryModel, nvml }) => (memoryModel === 'unified' ? null : (nvml?.used ?? null)));
  return {
    model: models.includes('unified') ? 'unified' : (models[0] ?? null),
    of,
    complete: incomplete.length === 0,
    total: devices.length > 0 && own.every((bytes) => bytes !== null) ? sum(own) : null,
    limits: incomplete.map(
      ({ from, index }) =>
        `GPU ${index}: who holds its memory is not fully known: ${from.processesComplete ?? from.processes ?? 'NVML did not say'}.`,
    ),
  };
}

function looseProcesses(found: readonly Found[], exact: ReadonlyMap<number, Exact>, gpu: GpuMemory): Loose[] {
  const unlisted = gpu.complete ? 0 : null;
  const known = found.map(({ cgroup, pid, status }): Loose => {
    const { command, pss } = exact.get(pid) ?? { command: null, pss: null };
    const listed = gpu.of.get(pid);
    const gpuBytes = listed === undefined ? unlisted : listed.bytes;
    return {
      ...status,
      pid,
      command,
      owner: ownerOf(cgroup),
      held: ownBytes(pss ?? status) + (listed?.ofHost ?? 0),
      heldFrom: pss === null ? 'rss' : 'pss',
      pss,
      gpuBytes,
    };
  });
  const pids = new Set(found.map(({ pid }) => pid));
  const hidden = [...gpu.of].filter(([pid]) => !pids.has(pid));
  return [...known, ...hidden.map(([pid, held]) => hiddenProcess(pid, held))];
}

/** A process that NVML lists and /proc does not show: of another PID namespace, or hidden by hidepid. */
function hiddenProcess(pid: number, { bytes, name, ofHost }: HeldOnGpu): Loose {
  return {
    pid,
    name,
    gpuBytes: bytes,
    held: ofHost > 0 ? ofHost : null,
    heldFrom: ofHost > 0 ? 'rss' : null,
    parentPid: null,
    command: null,
    uid: null,
    owner: null,
    rss: null,
    anonymous: null,
    file: null,
    shared: null,
    swap: null,
    locked: null,
    peakRss: null,
    pss: null,
  };
}

function totalsOf(
  { host }: Snapshot,
  processes: readonly Omit<Loose, 'owner'>[],
  gpu: GpuMemory,
): ProcessesReport['totals'] {
  const exact = processes.every(({ heldFrom }) => heldFrom !== 'rss');
  const explained = (total: number | null, name: 'anonymous' | 'shared'): ExplainedMemory => ({
    total,
    listed: sum(processes.map(({ [name]: rss, pss }) => pss?.[name] ?? rss ?? 0)),
    exact,
  });
  const swapUsed = host.swapTotal === null || host.swapFree === null ? null : host.swapTotal - host.swapFree;
  return {
    anonymous: explained(host.anonPages, 'anonymous'),
    shared: explained(host.shmem, 'shared'),
    gpu: { total: gpu.total, listed: sum([...gpu.of.values()].map(({ bytes }) => bytes ?? 0)), exact: gpu.complete },
    swap: { total: swapUsed, listed: sum(processes.map(({ swap }) => swap ?? 0)), exact: true },
  };
}

function sourcesOf({ devices, from }: Snapshot, gpu: GpuMemory): Record<string, string> {
  const [first] = devices;
  const used =
    first === undefined
      ? 'there is no GPU'
      : gpu.model === 'unified'
        ? 'the GPU uses the host’s memory, and no counter says how much of it'
        : 'used memory of the devices by NVML';
  return {
    processes: '/proc/<pid>/status, smaps_rollup, cgroup',
    sharedMemory: '/proc/self/mountinfo, statfs, /proc/sysvipc/shm',
    'totals.anonymous': from['host.anonPages'] ?? 'AnonPages of /proc/meminfo',
    'totals.shared': from['host.shmem'] ?? 'Shmem of /proc/meminfo',
    'totals.swap': 'SwapTotal − SwapFree of /proc/meminfo',
    'totals.gpu.total': used,
    'totals.gpu.listed': first?.from.processesComplete ?? first?.from.processes ?? used,
    unattributed: 'MemTotal less every row of the ledger (umaprobe snapshot --full)',
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
