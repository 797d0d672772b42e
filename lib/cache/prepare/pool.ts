/** The memory that `prepare` works on: the pool of a unified device, or the host's memory if no GPU shares it. Pure. */

import { allocatable, cudaLeft, usableFree } from '../../memory/allocatable.ts';
import { unpinnable } from '../../memory/cma.ts';
import { heldBytes } from '../../memory/gpu-processes.ts';
import { hasUnknownPools, headroom, unattributed, unifiedDevice } from '../../memory/headroom.ts';
import { otherUsers } from '../../memory/others.ts';
import type { HostMemory, OtherUsers, Snapshot } from '../../types/index.ts';

export interface Pool {
  kind: 'unified' | 'host';
  /** Who else uses the GPU that shares this memory; null: nobody. */
  others: OtherUsers | null;
  immediate: number | null;
  afterReclaim: number | null;
  /** `afterReclaim` of the host, also where CUDA's own total is less. */
  available: number | null;
  /** CUDA's own total less what processes hold, which no step changes; null: no GPU limits a program, or not known. */
  limit: number | null;
  total: number;
  /** The part of `immediate` that lies in the driver's pools. */
  pools: number;
  /** Upper bound of driver pools that this process cannot read. */
  hidden: number;
}

export function poolOf(snapshot: Snapshot): Pool {
  const { driver, host } = snapshot;
  const device = unifiedDevice(snapshot);
  const isUnified = device !== undefined;
  const { immediate, afterReclaim, total } = headroom(snapshot);
  return {
    kind: isUnified ? 'unified' : 'host',
    others: device === undefined ? null : otherUsers(device, process.pid),
    immediate: isUnified ? immediate : usableFree(host),
    afterReclaim,
    available:
      host.available === null || !isUnified
        ? host.available
        : host.available - unpinnable(host).afterReclaim + (driver.poolBytes ?? 0),
    limit:
      device === undefined
        ? null
        : cudaLeft({ cuda: device.cuda, cudaTotal: device.attributes.totalGlobalMem, held: heldBytes(device) }),
    total,
    pools: isUnified ? (driver.poolBytes ?? 0) : 0,
    hidden: isUnified && hasUnknownPools(snapshot) ? Math.max(0, unattributed(snapshot)) : 0,
  };
}

/** `immediate` from a fresh /proc/meminfo alone: cheap enough to be computed during an eviction. */
export function immediateNow(kind: Pool['kind'], pools: number, host: HostMemory): number | null {
  if (kind === 'host') return usableFree(host);
  const device = { model: 'unified', cuda: null, nvml: null, mig: false, cudaTotal: null, held: null } as const;
  return allocatable({ ...device, host, poolBytes: pools, contiguity: null, others: null }).bytes.immediate;
}

/** Memory that level 2 frees. Half of the reclaimable slab: the kernel counts the same half in MemAvailable. */
export function slabAndPools({ sReclaimable }: HostMemory, { hidden }: Pool): number {
  return Math.floor((sReclaimable ?? 0) / 2) + hidden;
}

/** The most that can become available without ending a program; null: not known. */
export function maximumAvailable({ available, hidden }: Pool): number | null {
  return available === null ? null : available + hidden;
}
