/** The memory that `prepare` works on: the pool of a unified device, or the host's memory if no GPU shares it. Pure. */

import { allocatable, usableFree } from '../../memory/allocatable.ts';
import { hasUnknownPools, headroom, unattributed, unifiedDevice } from '../../memory/headroom.ts';
import type { HostMemory, Snapshot } from '../../types/index.ts';

export interface Pool {
  kind: 'unified' | 'host';
  immediate: number | null;
  afterReclaim: number | null;
  total: number;
  /** The part of `immediate` that lies in the driver's pools. */
  pools: number;
  /** Upper bound of driver pools that this process cannot read. */
  hidden: number;
}

export function poolOf(snapshot: Snapshot): Pool {
  const { driver, host } = snapshot;
  const isUnified = unifiedDevice(snapshot) !== undefined;
  const { immediate, afterReclaim, total } = headroom(snapshot);
  return {
    kind: isUnified ? 'unified' : 'host',
    immediate: isUnified ? immediate : usableFree(host),
    afterReclaim,
    total,
    pools: isUnified ? (driver.poolBytes ?? 0) : 0,
    hidden: isUnified && hasUnknownPools(snapshot) ? Math.max(0, unattributed(snapshot)) : 0,
  };
}

/** `immediate` from a fresh /proc/meminfo alone: cheap enough to be computed during an eviction. */
export function immediateNow(kind: Pool['kind'], pools: number, host: HostMemory): number | null {
  if (kind === 'host') return usableFree(host);
  const device = { model: 'unified', cuda: null, nvml: null, mig: false, cudaTotal: null, held: null } as const;
  return allocatable({ ...device, host, poolBytes: pools }).bytes.immediate;
}

/** Page cache that level 1 drops: clean, not mapped, not shared. A lower bound: Mapped contains shared memory. */
export function droppable(host: HostMemory): number {
  const { buffers, cached, dirty, mapped, shmem, writeback } = host;
  const fileCache = (cached ?? 0) - (shmem ?? 0) + (buffers ?? 0);
  return Math.max(0, fileCache - (mapped ?? 0) - (dirty ?? 0) - (writeback ?? 0));
}

/** Memory that level 2 frees. Half of the reclaimable slab: the kernel counts the same half in MemAvailable. */
export function slabAndPools({ sReclaimable }: HostMemory, { hidden }: Pool): number {
  return Math.floor((sReclaimable ?? 0) / 2) + hidden;
}

/** The most that can become available without ending a program; null: not known. */
export function maximumAvailable({ afterReclaim, hidden }: Pool): number | null {
  return afterReclaim === null ? null : afterReclaim + hidden;
}
