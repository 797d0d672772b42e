/** The memory that a new allocation on a device can get. */

import { formatBytes } from '../../base/format.ts';
import type {
  Allocatable,
  DeviceSnapshot,
  FreeBlocks,
  HostMemory,
  KernelMemory,
  MemoryModel,
  OtherUsers,
} from '../../types/index.ts';
import { availableBytes, usableFree } from './available.ts';
import { unpinnable } from './cma.ts';
import { hasOwnLimit } from './model.ts';
import { type CudaUse, cudaLeft, type Safe, safeOnDevice, safeOnHost } from './safe.ts';

export interface AllocatableFacts extends CudaUse {
  model: MemoryModel;
  host: HostMemory;
  /**
   * Size of the driver's page pools; null: unknown. They are in no line of meminfo, but the next CUDA process uses them
   * first.
   */
  poolBytes: number | null;
  kernel: Pick<KernelMemory, 'freeInCpuLists'>;
  /** Free blocks of the host; null: unknown. */
  contiguity: readonly FreeBlocks[] | null;
  nvml: DeviceSnapshot['nvml'];
  /** Other users of the device; null: none. */
  others: OtherUsers | null;
  /** Page cache on the NUMA node that is the device's memory (GH200), in bytes; null: unknown, or there is no such node. */
  cacheOnNode?: { bytes: number; from: string } | null;
  /** The device is a MIG slice; NVML's numbers, which are those of the whole GPU, do not apply to it. */
  mig: boolean;
}

/** The numbers but `safe`, which has a rule of its own (safe.ts). */
type Raw = { bytes: Pick<Allocatable, 'immediate' | 'afterReclaim'>; from: string };

/**
 * The memory that a new allocation on this device can get, and the numbers behind it.
 *
 * A unified device takes it from the host's memory. Swap is not added (GPU pages cannot be swapped), free huge pages
 * are not added (cudaMalloc takes pages from the buddy allocator, never from hugetlb), and contiguity is considered for
 * `safe` only.
 */
export function allocatable(facts: AllocatableFacts): { bytes: Allocatable; from: string; safe: Safe } {
  const isUnified = facts.model === 'unified';
  const { bytes, from } = isUnified ? allocatableFromHost(facts) : allocatableFromDevice(facts);
  const safe = isUnified ? safeOnHost({ ...facts, cudaLeft: cudaLeft(facts) }) : safeOnDevice(facts, bytes.immediate);
  return { bytes: { ...bytes, safe: safe.low, safeHigh: safe.high }, from, safe };
}

function allocatableFromHost(facts: AllocatableFacts): Raw {
  const { cuda, cudaTotal, held, host, kernel, poolBytes } = facts;
  const cma = unpinnable(host);
  const pools = poolBytes ?? 0;
  const without = (unpinnableBytes: number, bytes: number | null) =>
    bytes === null ? null : Math.max(0, bytes - unpinnableBytes) + pools;
  const free = usableFree(host);
  const minus = cma.afterReclaim > 0 ? ' − CMA' : '';
  const plus = pools > 0 ? ' + driver pools' : '';
  const lists = (kernel.freeInCpuLists ?? 0) > 0 ? ' + free pages in the processors’ lists' : '';
  const bytes = {
    immediate: without(cma.now, free),
    afterReclaim: without(cma.afterReclaim, availableBytes(host, kernel)),
  };
  const from = `immediate: the smaller of MemFree and MemAvailable${minus}${plus}; afterReclaim: MemAvailable${lists}${minus}${plus}`;
  const total = cudaTotal ?? cuda?.total ?? null;
  if (!hasOwnLimit(total, host.total)) return { bytes, from };
  // CUDA refuses more than its own total, whatever is available. Memory that processes hold counts against it.
  const left = cudaLeft(facts) ?? total;
  const atMost = (value: number | null, limit: number) => (value === null ? null : Math.min(value, limit));
  return {
    bytes: {
      immediate: atMost(bytes.immediate, Math.min(left, cuda?.free ?? left)),
      afterReclaim: atMost(bytes.afterReclaim, left),
    },
    from: `${from}; at most CUDA's own total of ${formatBytes(total)}${held === null ? '; what processes hold of it is not known' : ` less ${formatBytes(held)} that processes hold`}`,
  };
}

function allocatableFromDevice({ cacheOnNode, cuda, mig, model, nvml }: AllocatableFacts): Raw {
  // NVML may report the carve-out of an integrated GPU (N1X: 8,128 MiB of 54.2 GiB), which limits nothing.
  if (model === 'unknown' && cuda === null && nvml !== null)
    return {
      bytes: { immediate: null, afterReclaim: null },
      from: `whether this GPU shares the host’s memory is not known, so NVML's ${formatBytes(nvml.free)} may be of a carve-out`,
    };
  const usesCuda = mig || nvml === null || model === 'unknown';
  const free = usesCuda ? cuda?.free : Math.min(nvml.free, cuda?.free ?? nvml.free);
  if (free === undefined)
    return { bytes: { immediate: null, afterReclaim: null }, from: 'neither CUDA nor NVML memory was read' };
  const source = usesCuda
    ? 'cudaMemGetInfo'
    : cuda === null
      ? 'NVML memory info'
      : 'the smaller of NVML memory info and cudaMemGetInfo';
  // The memory of a GH200's GPU is a NUMA node, and page cache on it counts as used.
  if (model === 'coherent' && cacheOnNode != null)
    return {
      bytes: { immediate: free, afterReclaim: free + cacheOnNode.bytes },
      from: `immediate: ${source}; afterReclaim: with the page cache on its NUMA node, ${cacheOnNode.from}`,
    };
  if (model === 'coherent')
    return {
      bytes: { immediate: free, afterReclaim: null },
      from: `immediate: ${source}; afterReclaim: which NUMA node is the GPU's, and how much page cache it has, is not known`,
    };
  if (model === 'unknown')
    return {
      bytes: { immediate: free, afterReclaim: null },
      from: `immediate: ${source}; afterReclaim: whether this GPU shares the host’s memory is not known`,
    };
  return { bytes: { immediate: free, afterReclaim: free }, from: source };
}
