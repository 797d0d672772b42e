/** Headroom: how much the next allocation can get, and how much memory nothing accounts for. */

import { isUnread } from '../../base/facts.ts';
import type { Allocatable, DeviceSnapshot, DriverFacts, Reading } from '../../types/index.ts';
import { availableBytes } from './available.ts';
import { whyIncomplete } from './gpu-processes.ts';
import { ledgerBytes } from './ledger.ts';
import { fullestFirst } from './own-memory.ts';

/**
 * Bytes that the next allocation can get, and MemTotal: the numbers of the unified device, else of the host, for which
 * nothing is called safe.
 */
export function headroom(snapshot: Reading): Allocatable & { total: number } {
  const { host, kernel } = snapshot;
  const device = unifiedDevice(snapshot);
  return {
    immediate: device?.allocatable.immediate ?? host.free,
    afterReclaim: device?.allocatable.afterReclaim ?? availableBytes(host, kernel),
    safe: device?.allocatable.safe ?? null,
    safeHigh: device?.allocatable.safeHigh ?? null,
    total: host.total,
  };
}

export function unifiedDevice({ devices }: Pick<Reading, 'devices'>): DeviceSnapshot | undefined {
  return devices.find((device) => device.memoryModel === 'unified');
}

/** The device of a program that names none: the unified one, else CUDA's first; where CUDA shows none of them, the first. */
export function defaultDevice(snapshot: Pick<Reading, 'devices'>): DeviceSnapshot | null {
  const { devices } = snapshot;
  return unifiedDevice(snapshot) ?? devices.find(({ visible }) => visible !== false) ?? devices[0] ?? null;
}

/** Headroom of a GPU with its own memory, in bytes. */
export interface OwnHeadroom {
  device: DeviceSnapshot;
  /** Allocatable bytes: after reclaim where known, else immediate. */
  bytes: number;
  total: number;
}

/** The size of the memory that allocations on a device come from, in bytes; null: unknown. */
export function totalOf(device: DeviceSnapshot, hostTotal: number): number | null {
  return device.memoryModel === 'unified' ? hostTotal : ownTotal(device);
}

/** NVML's total is that of the whole GPU in MIG mode, but allocations come from one slice. */
function ownTotal({ cuda, migMode, nvml }: DeviceSnapshot): number | null {
  return (migMode?.current === true ? cuda?.total : (nvml?.total ?? cuda?.total)) ?? null;
}

/** GPUs with their own memory for which both numbers are known, the fullest first. */
function ownHeadrooms({ devices }: Reading): OwnHeadroom[] {
  const gpus = devices
    .filter((device) => device.memoryModel !== 'unified')
    .map((device) => {
      const { afterReclaim, immediate } = device.allocatable;
      return { device, bytes: afterReclaim ?? immediate, total: ownTotal(device) };
    })
    .filter((gpu): gpu is OwnHeadroom => gpu.bytes !== null && gpu.total !== null && gpu.total > 0);
  return fullestFirst(gpus, ({ bytes, total }) => ({ left: bytes, total }));
}

/** GPUs that programs started here find; if CUDA shows none of them, all. */
export function visibleHeadrooms(snapshot: Reading): OwnHeadroom[] {
  const all = ownHeadrooms(snapshot);
  const visible = all.filter(({ device }) => device.visible !== false);
  return visible.length === 0 ? all : visible;
}

/** Bytes in no counter and no process. */
export function unattributed({ ledger }: Reading): number {
  return ledgerBytes(ledger, 'unattributed');
}

/**
 * The reason why GPU memory that processes hold of the shared pool is not known, so that the unattributed bytes contain
 * some; null: it is known, or no GPU shares the host's memory.
 */
export function unknownGpuMemory(snapshot: Pick<Reading, 'devices'>): string | null {
  const device = unifiedDevice(snapshot);
  return device === undefined || device.processesComplete === true ? null : whyIncomplete(device);
}

/**
 * Share of MemTotal in no counter above which something is hidden. A launch script in the field refuses above 16 GiB of
 * 121.7 (13 %); an idle desktop has 1.1 GiB.
 */
const HIDDEN_SHARE = 0.13;

/** True if this many unattributed bytes are more than the kernel and the driver usually take. */
export function isMuchHidden(bytes: number, { ledger }: Reading): boolean {
  return bytes >= ledger.total * HIDDEN_SHARE;
}

/** True if this driver keeps freed GPU memory in pools: EnableSystemMemoryPools says it, or some is there. */
export function hasPools({ poolBytes, systemMemoryPools }: DriverFacts): boolean {
  return systemMemoryPools === null ? (poolBytes ?? 0) > 0 : systemMemoryPools !== 0;
}

/** True if this driver may keep freed GPU memory in pools of unreadable size, so that the ledger lacks them. */
export function hasUnknownPools({ driver, from }: Pick<Reading, 'driver' | 'from'>): boolean {
  return driver.poolBytes === null && (hasPools(driver) || isUnread(from['driver.systemMemoryPools']));
}
