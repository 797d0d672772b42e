import type { Allocatable, DeviceSnapshot, HostMemory, MemoryModel } from '../types/index.ts';

export interface AllocatableFacts {
  model: MemoryModel;
  host: HostMemory;
  /** Driver page pools, where readable. They are in no line of meminfo, but the next CUDA process takes them first. */
  poolBytes: number | null;
  cuda: DeviceSnapshot['cuda'];
  nvml: DeviceSnapshot['nvml'];
  /** A MIG slice: NVML's numbers are of the whole GPU and do not bound it. */
  mig: boolean;
}

/**
 * Pages that a GPU allocation can never have: CMA blocks take movable pages only, and GPU pages are pinned. Free ones
 * are gone now; after reclaim all of CMA may be free, because page cache that lay in it is given back there.
 */
export function unpinnable(host: HostMemory): { now: number; afterReclaim: number } {
  const now = host.cmaFree ?? 0;
  return { now, afterReclaim: Math.max(now, host.cmaTotal ?? 0) };
}

/**
 * CmaFree above CmaTotal is impossible for real CMA: kexec-handover has released its reserve as CMA pageblocks. At least
 * that much: page cache may lie in some of them.
 */
export function cmaPhantom(host: HostMemory): number {
  return host.cmaFree !== null && host.cmaFree > (host.cmaTotal ?? 0) ? host.cmaFree : 0;
}

/**
 * What a new allocation on this device can have, and from which numbers.
 *
 * Unified: the host's pool. Swap is not added (GPU pages cannot be swapped), free huge pages are not added (cudaMalloc
 * takes pages from the buddy allocator, never from hugetlb), and a sum says nothing about contiguity: see `contiguity`.
 */
export function allocatable(facts: AllocatableFacts): { bytes: Allocatable; from: string } {
  const { model, host, cuda, nvml } = facts;
  if (model === 'unified') {
    const cma = unpinnable(host);
    const pools = facts.poolBytes ?? 0;
    const answer = (bytes: number | null, pinned: number) =>
      bytes === null ? null : Math.max(0, bytes - pinned) + pools;
    // Pages below the kernel's watermarks are free but not to be had: MemAvailable has them taken off.
    const free = host.free === null || host.available === null ? host.free : Math.min(host.free, host.available);
    const minus = cma.afterReclaim > 0 ? ' − CMA' : '';
    const plus = pools > 0 ? ' + driver pools' : '';
    return {
      bytes: { immediate: answer(free, cma.now), afterReclaim: answer(host.available, cma.afterReclaim) },
      from: `immediate: the smaller of MemFree and MemAvailable${minus}${plus}; afterReclaim: MemAvailable${minus}${plus}`,
    };
  }
  const own = facts.mig || nvml === null ? cuda : { free: Math.min(nvml.free, cuda?.free ?? nvml.free) };
  if (own === null)
    return { bytes: { immediate: null, afterReclaim: null }, from: 'neither CUDA nor NVML memory was read' };
  const source =
    facts.mig || nvml === null
      ? 'cudaMemGetInfo'
      : cuda === null
        ? 'NVML memory info'
        : 'the smaller of NVML memory info and cudaMemGetInfo';
  // On a GH200 the device's memory is a NUMA node whose page cache counts as used: what reclaim would give back there is
  // in no counter that is read here, so it stays unknown.
  if (model === 'coherent')
    return {
      bytes: { immediate: own.free, afterReclaim: null },
      from: `immediate: ${source}; afterReclaim: page cache on the GPU's NUMA node is not counted`,
    };
  if (model === 'unknown')
    return {
      bytes: { immediate: own.free, afterReclaim: null },
      from: `immediate: ${source}; afterReclaim: whether this GPU shares the host’s memory is not known`,
    };
  return { bytes: { immediate: own.free, afterReclaim: own.free }, from: source };
}
