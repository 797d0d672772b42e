/** The memory that `prepare` makes room in: the one pool of a unified device, or the host's where no GPU shares it. */

import { allocatable } from '../../memory/allocatable.ts';
import { hasUnknownPools, headroom, unattributed, unifiedDevice } from '../../memory/headroom.ts';
import type { HostMemory, Snapshot } from '../../types/index.ts';

export interface Pool {
  kind: 'unified' | 'host';
  immediate: number | null;
  afterReclaim: number | null;
  total: number;
  /** Of `immediate`: what lies in the driver's pools. */
  pools: number;
  /** What the driver may keep in pools that this process cannot read. */
  hidden: number;
}

export function poolOf(snapshot: Snapshot): Pool {
  const { driver, host } = snapshot;
  const unified = unifiedDevice(snapshot) !== undefined;
  const unreadable = unified && hasUnknownPools(snapshot);
  const { immediate, afterReclaim, total } = headroom(snapshot);
  return {
    kind: unified ? 'unified' : 'host',
    immediate: unified ? immediate : usable(host),
    afterReclaim,
    total,
    pools: unified ? (driver.poolBytes ?? 0) : 0,
    hidden: unreadable ? Math.max(0, unattributed(snapshot)) : 0,
  };
}

/** The same `immediate` from a fresh /proc/meminfo alone: cheap enough to be asked in the middle of an eviction. */
export function immediateNow(kind: Pool['kind'], pools: number, host: HostMemory): number | null {
  if (kind === 'host') return usable(host);
  const facts = { model: 'unified', host, poolBytes: pools, cuda: null, nvml: null, mig: false } as const;
  return allocatable(facts).bytes.immediate;
}

/** Pages below the kernel's watermarks are free but not to be had: MemAvailable has them taken off. */
function usable({ free, available }: HostMemory): number | null {
  return free === null || available === null ? free : Math.min(free, available);
}

/** Page cache that level 1 can drop: clean, not mapped, not shared memory. Mapped counts shared memory, too: an underestimate. */
export function droppable(host: HostMemory): number {
  const { buffers, cached, dirty, mapped, shmem, writeback } = host;
  const all = (cached ?? 0) - (shmem ?? 0) + (buffers ?? 0);
  return Math.max(0, all - (mapped ?? 0) - (dirty ?? 0) - (writeback ?? 0));
}

/** Half of the reclaimable slab is what the kernel itself expects to get (MemAvailable counts no more). */
export function slabAndPools({ sReclaimable }: HostMemory, { hidden }: Pool): number {
  return Math.floor((sReclaimable ?? 0) / 2) + hidden;
}

/** What can be had here at the very most without ending a program. */
export function reachable({ afterReclaim, hidden }: Pool): number | null {
  return afterReclaim === null ? null : afterReclaim + hidden;
}
