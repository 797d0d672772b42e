/** The memory that `prepare` works on: the pool of a unified device, or the host's memory if no GPU shares it. Pure. */

import type { HostMemory, Snapshot } from '../../../types/index.ts';
import { availableBytes, usableFree } from '../../memory/available.ts';
import { unpinnable } from '../../memory/cma.ts';
import { hasUnknownPools, unattributed, unifiedDevice } from '../../memory/headroom.ts';
import { hostFacts, type Reserve, reserveFor, type Safe, safeByFloor, safeOnHost } from '../../memory/safe.ts';

export interface Pool {
  kind: 'unified' | 'host';
  /** Free at once, in bytes: MemFree that can be pinned, free pages in the processors' lists, driver pools. */
  immediate: number | null;
  afterReclaim: number | null;
  /** Bytes that can be loaded beside the reserve, by the rule of the judgement. */
  safe: Safe;
  /** Bytes that stay for the host. */
  reserve: Reserve;
  total: number;
  /** The parts of `immediate` that are not in MemFree. */
  lists: number;
  pools: number;
  /** Upper bound of driver pools that this process cannot read. */
  hidden: number;
}

/** @param floor in bytes; null: the machine's default. It applies as on a unified machine: `prepare` frees the host's memory. */
export function poolOf(snapshot: Snapshot, floor: number | null): Pool {
  const { driver, host, kernel } = snapshot;
  const device = unifiedDevice(snapshot);
  const own = { host, kernel, poolBytes: null, others: null, cudaLeft: null };
  const facts = device === undefined ? own : hostFacts(snapshot, device);
  const kind = device === undefined ? 'host' : 'unified';
  const pools = facts.poolBytes ?? 0;
  const lists = kernel.freeInCpuLists ?? 0;
  const free = immediateNow(kind, host);
  return {
    kind,
    immediate: free === null ? null : free + lists + pools,
    afterReclaim: device?.allocatable.afterReclaim ?? availableBytes(host, kernel),
    safe: 'contiguity' in facts ? safeOnHost(facts, floor) : safeByFloor(facts, floor),
    reserve: reserveFor(host.total, floor, facts.others),
    total: host.total,
    lists,
    pools,
    hidden:
      kind === 'unified' && driver.poolBytes === null && hasUnknownPools(snapshot)
        ? Math.max(0, unattributed(snapshot))
        : 0,
  };
}

/** The part of `immediate` that /proc/meminfo has: cheap enough to be read during an eviction. */
export function immediateNow(kind: Pool['kind'], host: HostMemory): number | null {
  const free = usableFree(host);
  return free === null || kind === 'host' ? free : Math.max(0, free - unpinnable(host).now);
}

/** Memory that level 2 frees. Half of the reclaimable slab counts: the kernel has the same half in MemAvailable. */
export function slabAndPools({ sReclaimable }: HostMemory, { hidden }: Pool): number {
  return Math.floor((sReclaimable ?? 0) / 2) + hidden;
}
