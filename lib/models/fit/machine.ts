/** Limit of the machine itself, and steps that would raise it. Pure. */

import { outOfRange } from '../../base/arguments.ts';
import { clean, formatBytes, MiB } from '../../base/format.ts';
import { cmaPhantom } from '../../core/memory/cma.ts';
import { goneText } from '../../core/memory/device-health.ts';
import { cacheOnNode } from '../../core/memory/findings/gpu.ts';
import { defaultDevice, hasUnknownPools, isMuchHidden, totalOf, unattributed } from '../../core/memory/headroom.ts';
import { refuses } from '../../core/memory/judge.ts';
import {
  BOOT_WITHOUT_KHO,
  DROP_AND_COMPACT,
  DROP_PAGE_CACHE,
  DROP_POOLS,
  RELEASE_HUGE_PAGES,
} from '../../core/memory/remedies.ts';
import { type HostFacts, hostFacts, safeByFloor, safeOnDevice, safeOnHost } from '../../core/memory/safe.ts';
import type {
  DeviceSnapshot,
  Finding,
  FitPool,
  FitRemedy,
  GpuProcess,
  HostMemory,
  LibraryStatus,
  Snapshot,
} from '../../types/index.ts';
import type { Uncertain } from './judge.ts';

/** Remedies that gain less are not worth a line, such as the 42 MiB of an X server. */
const WORTHWHILE = 256 * MiB;

export interface FitMachine {
  device: DeviceSnapshot | null;
  pool: FitPool | null;
  /** Bytes that can be loaded; null: unknown. */
  limit: number | null;
  from: string;
  /** null: the limit is certain. */
  uncertain: Uncertain | null;
  /** The reason to load nothing now; null: none. `limit` is then the amount without it. */
  refusal: Finding | null;
  /** Steps in the order in which to take them. */
  steps: FitStep[];
  /** Memory that programs read besides the snapshot's. */
  freed: Freed;
}

/** A remedy, with what holds once it and those before it are done. */
export interface FitStep {
  remedy: FitRemedy;
  limit: number;
  freed: Freed;
}

/** Memory that steps add to the readings of programs. */
export interface Freed {
  /** More MemFree and MemAvailable, or more free memory of the GPU; less than 0: it was taken. */
  bytes: number;
  /** Huge pages are released: programs that count them count MemAvailable instead. */
  hugePages: boolean;
}

/**
 * @param ordinal CUDA's; null: the device that shares the host's memory, else the first.
 * @param taken bytes that programs hold which will have been started by then.
 */
export function machineOf(snapshot: Snapshot, ordinal: number | null, taken = 0): FitMachine {
  const machine = machineNow(snapshot, ordinal);
  const { limit, pool, steps, uncertain } = machine;
  if (taken === 0 || limit === null) return machine;
  const less = (bytes: number): number => Math.max(0, bytes - taken);
  const freed = ({ bytes, hugePages }: Freed): Freed => ({ bytes: bytes - taken, hugePages });
  return {
    ...machine,
    limit: less(limit),
    pool: pool === null ? null : { ...pool, used: pool.used + limit - less(limit) },
    uncertain: uncertain === null ? null : { ...uncertain, high: less(uncertain.high) },
    steps: steps.map((step) => ({ ...step, limit: less(step.limit), freed: freed(step.freed) })),
    freed: freed(machine.freed),
  };
}

function machineNow(snapshot: Snapshot, ordinal: number | null): FitMachine {
  const device = deviceOf(snapshot, ordinal);
  if (device === null) {
    return { ...UNKNOWN, device, from: clean(withoutGpu(snapshot)), refusal: refusalOf(snapshot) };
  }
  const lost = goneText(device);
  if (lost !== null) {
    const refusal = snapshot.judgement.findings.find(({ id }) => id === 'gpu.state') ?? null;
    return { ...UNKNOWN, device, from: lost, refusal };
  }
  if (device.visible === false) {
    const from = clean(device.from.visible ?? 'CUDA does not list this GPU');
    return { ...UNKNOWN, device, from, refusal: refusalOf(snapshot) };
  }
  const refusal = refusalOf(snapshot);
  const { safe, safeHigh } = device.allocatable;
  const limit = refusal === null || safe === null ? safe : otherwise(snapshot, device);
  const from = clean(device.from['allocatable.safe'] ?? 'the snapshot does not say why').replace(
    /^immediate\b/,
    'free memory of the GPU',
  );
  const uncertain =
    refusal !== null || limit === null || safeHigh === null || safeHigh <= limit
      ? null
      : { high: safeHigh, why: clean(device.from['allocatable.safeHigh'] ?? '') };
  const pool = poolOf(snapshot, device, limit);
  const own = stepsOf(snapshot, device, limit);
  const steps = ordinal === null ? [...otherGpu(snapshot, limit, own), ...own] : own;
  return { device, pool, limit, from, uncertain, refusal, steps, freed: NOTHING_FREED };
}

/** Bytes that could be loaded if nothing refused. */
function otherwise(snapshot: Snapshot, device: DeviceSnapshot): number | null {
  if (device.memoryModel === 'unified') return safeOnHost(hostFacts(snapshot, device)).low;
  const { allocatable, cuda, memoryModel: model, others } = device;
  return safeOnDevice({ cuda, model, others }, allocatable.immediate).low;
}

const NOTHING_FREED: Freed = { bytes: 0, hugePages: false };
const UNKNOWN = { pool: null, limit: null, uncertain: null, refusal: null, steps: [], freed: NOTHING_FREED };

/** Too little memory is no refusal here: the limit and the steps that raise it tell. */
const TOO_LITTLE: readonly Finding['id'][] = ['memory.available', 'gpu.memory'];

function refusalOf({ judgement }: Snapshot): Finding | null {
  return judgement.findings.find((finding) => refuses(finding) && !TOO_LITTLE.includes(finding.id)) ?? null;
}

/** The reason in short; the snapshot has all of it, with every path that was tried. */
function withoutGpu({ libraries }: Snapshot): string {
  const stateOf = ({ failure, state }: LibraryStatus): string =>
    `${state === 'loaded' ? 'sees none' : `is ${state}`}${failure === null ? '' : ` (${failure.name})`}`;
  return `no GPU was found: CUDA ${stateOf(libraries.cuda)}, NVML ${stateOf(libraries.nvml)}; umaprobe snapshot says why`;
}

function deviceOf(snapshot: Snapshot, ordinal: number | null): DeviceSnapshot | null {
  const { devices } = snapshot;
  if (ordinal === null) return defaultDevice(snapshot);
  // Devices without a CUDA number come last in the list.
  const numberOf = ({ cudaIndex, index }: DeviceSnapshot): number => cudaIndex ?? index;
  const device = devices.find((candidate) => numberOf(candidate) === ordinal);
  if (device !== undefined) return device;
  if (devices.length === 0) return null;
  throw outOfRange('device', `one of ${devices.map(numberOf).join(', ')}`, ordinal);
}

function poolOf(snapshot: Snapshot, device: DeviceSnapshot, limit: number | null): FitPool | null {
  const { host } = snapshot;
  const { afterReclaim, immediate } = device.allocatable;
  const available = afterReclaim ?? immediate;
  const total = totalOf(device, host.total);
  if (available === null || total === null || limit === null) return null;
  const inAnyBlocks = device.memoryModel === 'unified' ? safeByFloor(hostFacts(snapshot, device)).low : null;
  const fragmented = Math.max(0, (inAnyBlocks ?? limit) - limit);
  const kept = Math.max(0, available - limit - fragmented);
  return { total, used: Math.max(0, total - available), kept, fragmented };
}

/** Another GPU for a program that names none: more can be loaded there than on its own, whatever is stopped here. */
function otherGpu({ devices }: Snapshot, limit: number | null, own: readonly FitStep[]): FitStep[] {
  if (limit === null) return [];
  const [most] = devices
    .filter(
      ({ memoryModel, uuid, visible }) =>
        (memoryModel === 'discrete' || memoryModel === 'coherent') && uuid !== null && visible !== false,
    )
    .flatMap(({ allocatable: { safe }, index, uuid }) => (safe === null ? [] : [{ index, safe, uuid }]))
    .sort((a, b) => b.safe - a.safe);
  if (most === undefined || most.safe - limit < WORTHWHILE || own.some((step) => step.limit > most.safe)) return [];
  const text = `start it on GPU ${most.index}, on which ${formatBytes(most.safe)} can be loaded: CUDA_VISIBLE_DEVICES=${most.uuid}`;
  const gains = most.safe - limit;
  const freed = { bytes: gains, hugePages: false };
  return [{ remedy: { text, command: null, needsRoot: false, gains }, limit: most.safe, freed }];
}

/** Steps that would raise the limit, the least harmful first. */
function stepsOf(snapshot: Snapshot, device: DeviceSnapshot, limit: number | null): FitStep[] {
  if (limit === null) return [];
  const steps = device.memoryModel === 'unified' ? hostSteps(snapshot, device, limit) : deviceSteps(device, limit);
  return steps.filter(({ remedy }) => remedy.gains === null || remedy.gains >= WORTHWHILE);
}

function hostSteps(snapshot: Snapshot, device: DeviceSnapshot, limit: number): FitStep[] {
  const { host } = snapshot;
  let facts = hostFacts(snapshot, device);
  const { others } = facts;
  let reached = limit;
  let hugePages = false;
  const steps: FitStep[] = [];
  const freedBy = (after: HostFacts): Freed => ({
    bytes: Math.max(0, (after.host.available ?? 0) - (host.available ?? 0)),
    hugePages,
  });
  const step = (text: string, command: string | null, needsRoot: boolean, next: HostFacts): void => {
    const after = Math.max(reached, safeOnHost(next).low ?? reached);
    steps.push({ remedy: { text, command, needsRoot, gains: after - reached }, limit: after, freed: freedBy(next) });
    facts = next;
    reached = after;
  };
  /** A step for root whose yield this user cannot see. */
  const unknownStep = (text: string, command: string): void => {
    steps.push({ remedy: { text, command, needsRoot: true, gains: null }, limit: reached, freed: freedBy(facts) });
  };
  // The yield of compaction is not known if this user cannot see which pages move.
  if (safeOnHost(facts).between !== null)
    unknownStep('compact free memory, and let root say how much can be loaded then', DROP_AND_COMPACT);
  const huge = (host.hugePagesFree ?? 0) * (host.hugePageSize ?? 0);
  if (huge > 0) {
    hugePages = true;
    step('release reserved huge pages, which cudaMalloc never uses', RELEASE_HUGE_PAGES, true, {
      ...facts,
      host: withAvailable(facts.host, huge),
    });
  }
  if (hasUnknownPools(snapshot) && isMuchHidden(unattributed(snapshot), snapshot))
    unknownStep('empty the driver’s pools, whose size only root can read', DROP_POOLS);
  for (const { bytes, user } of freedByEnds(others))
    step(stopText(user), null, false, {
      ...facts,
      host: withAvailable(facts.host, bytes),
      others: without(facts.others, user),
      cudaLeft: facts.cudaLeft === null ? null : facts.cudaLeft + bytes,
    });
  const phantom = cmaPhantom(host);
  if (phantom > 0)
    step(`${BOOT_WITHOUT_KHO}: kexec-handover keeps ${formatBytes(phantom)} that cannot be pinned`, null, true, {
      ...facts,
      host: { ...facts.host, cmaFree: 0 },
    });
  return steps;
}

/** Memory that comes back as one after the other ends. Shared memory counts in each, and comes back with the last. */
function freedByEnds(others: DeviceSnapshot['others']): { user: GpuProcess; bytes: number }[] {
  const users = others?.processes ?? [];
  const sum = users.reduce((total, { gpuBytes }) => total + (gpuBytes ?? 0), 0);
  let shared = Math.max(0, sum - (others?.bytes ?? sum));
  return users.map((user) => {
    const bytes = Math.max(0, (user.gpuBytes ?? 0) - shared);
    shared -= (user.gpuBytes ?? 0) - bytes;
    return { user, bytes };
  });
}

function deviceSteps(device: DeviceSnapshot, limit: number): FitStep[] {
  const { allocatable, cuda, memoryModel: model } = device;
  let { others } = device;
  let { immediate } = allocatable;
  let reached = limit;
  const step = (text: string, command: string | null, bytes: number): FitStep => {
    immediate = immediate === null ? null : immediate + bytes;
    const after = Math.max(reached, safeOnDevice({ cuda, model, others }, immediate).low ?? reached);
    const gains = after - reached;
    reached = after;
    const freed = { bytes: Math.max(0, (immediate ?? 0) - (allocatable.immediate ?? 0)), hugePages: false };
    return { remedy: { text, command, needsRoot: command !== null, gains }, limit: after, freed };
  };
  const cached = cacheOnNode(device) ?? 0;
  return [
    ...(cached === 0 ? [] : [step('give back the page cache on the GPU’s NUMA node', DROP_PAGE_CACHE, cached)]),
    ...freedByEnds(others).map(({ bytes, user }) => {
      others = without(others, user);
      return step(stopText(user), null, bytes);
    }),
  ];
}

function stopText({ gpuBytes, name, pid }: GpuProcess): string {
  return `stop ${clean(name ?? 'process')} (${pid}), which holds ${formatBytes(gpuBytes)} of GPU memory`;
}

function withAvailable(host: HostMemory, bytes: number): HostMemory {
  return { ...host, available: host.available === null ? null : host.available + bytes };
}

function without(others: HostFacts['others'], user: GpuProcess): HostFacts['others'] {
  if (others === null) return null;
  const processes = others.processes.filter(({ pid }) => pid !== user.pid);
  if (processes.length === 0) return null;
  return {
    ...others,
    processes,
    bytes: others.bytes === null ? null : Math.max(0, others.bytes - (user.gpuBytes ?? 0)),
  };
}
