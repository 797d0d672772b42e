/**
 * Memory that a program can load, by the rule of stress: the host keeps its floor, and a device's other users their
 * share.
 */

import { formatBytes } from '../../base/format.ts';
import type {
  DeviceSnapshot,
  FreeBlocks,
  HostMemory,
  KernelMemory,
  MemoryModel,
  OtherUsers,
  Reading,
} from '../../types/index.ts';
import { availableBytes } from './available.ts';
import { unpinnable } from './cma.ts';
import { blockUse, hostRoom } from './contiguity.ts';
import { type Floor, hostFloor, PROGRAM_BYTES, stepMargin } from './floor.ts';
import { heldBytes } from './gpu-processes.ts';
import { mostGpuMemory } from './ledger.ts';
import { floorWithShare, shareFor } from './others.ts';

/** Host memory that a program on a unified device must leave, in bytes. */
export interface Reserve {
  floor: Floor;
  /** The floor, the margin of a step above it, and the program's memory besides its data. */
  bytes: number;
  /** The same as a sentence. */
  from: string;
}

/**
 * The host memory that stays when a program has loaded the safe amount.
 *
 * @param requested floor in bytes; null: the default.
 * @param others other users of the device; null: none.
 */
export function reserveFor(total: number, requested: number | null, others: OtherUsers | null): Reserve {
  const floor = floorWithShare(hostFloor(total, requested), shareFor(null, others));
  const margin = stepMargin(floor.bytes);
  return {
    floor,
    bytes: floor.bytes + margin + PROGRAM_BYTES,
    from: `${formatBytes(floor.bytes)} for the host (${floor.from}), ${formatBytes(margin)} of margin and ${PROGRAM_TEXT}`,
  };
}

const PROGRAM_TEXT = `${formatBytes(PROGRAM_BYTES)} for the program itself`;

/** Bytes that a program can load: `low` for certain, at most `high`. null: unknown. */
export interface Safe {
  low: number | null;
  high: number | null;
  /** The rule and its numbers. */
  from: string;
  /** The condition on which the difference depends; null: the two are equal. */
  between: string | null;
}

const unknown = (from: string): Safe => ({ low: null, high: null, from, between: null });

export interface HostFacts {
  host: HostMemory;
  kernel: Pick<KernelMemory, 'freeInCpuLists'>;
  contiguity: readonly FreeBlocks[] | null;
  poolBytes: number | null;
  others: OtherUsers | null;
  /** CUDA's own total less what processes hold of it; null: unknown. */
  cudaLeft: number | null;
}

/** Facts of the device that shares the host's memory. */
export function hostFacts(
  { contiguity, driver, host, kernel }: Pick<Reading, 'contiguity' | 'driver' | 'host' | 'kernel'>,
  device: Pick<DeviceSnapshot, 'attributes' | 'cuda' | 'others' | 'processes' | 'processesComplete'>,
): HostFacts {
  const { attributes, cuda, others } = device;
  const most = mostGpuMemory(host, kernel, driver);
  return {
    host,
    kernel,
    contiguity,
    poolBytes: driver.poolBytes,
    others,
    cudaLeft: cudaLeft({ cuda, cudaTotal: attributes.totalGlobalMem, held: heldBytes(device, most) }),
  };
}

/** The memory that CUDA can give of a device, and what is taken of it. */
export interface CudaUse {
  cuda: DeviceSnapshot['cuda'];
  /** Total that CUDA reports for the device, without a context (totalGlobalMem); null: unknown. */
  cudaTotal: number | null;
  /** GPU memory of the listed processes; null: unknown. */
  held: number | null;
}

/** CUDA's own total less what processes hold of it; null: CUDA's total is unknown. */
export function cudaLeft({ cuda, cudaTotal, held }: CudaUse): number | null {
  const total = cudaTotal ?? cuda?.total ?? null;
  return total === null ? null : Math.max(0, total - (held ?? 0));
}

/**
 * Range on a unified device.
 *
 * @param requested floor in bytes; null: the default.
 */
export function safeOnHost(facts: HostFacts, requested: number | null = null): Safe {
  const { contiguity, host, poolBytes } = facts;
  const usual = safeByFloor(facts, requested);
  if (usual.low === null || usual.low === 0) return usual;
  const why = 'whether free memory comes in blocks of 2 MiB, which GPU allocations need, is not known';
  if (contiguity === null || contiguity.length === 0) return { low: null, high: usual.high, from: why, between: why };
  const use = blockUse(host, contiguity);
  const room = hostRoom(host, use);
  const aboveFloor = usual.low;
  const inBlocks = (bytes: number): number =>
    Math.min(aboveFloor, atMost(bytes + (poolBytes ?? 0) - PROGRAM_BYTES, facts));
  const [low, high] = [inBlocks(room.low), inBlocks(room.high)];
  if (low === aboveFloor) return usual;
  const plusPools = poolsText(facts);
  return {
    low,
    high,
    from:
      use.stuck === null
        ? `free blocks of 2 MiB, and what reclaimed page cache yields of them at their share of free memory${plusPools}, less ${PROGRAM_TEXT}`
        : `free memory that compaction can join to blocks of 2 MiB, and page cache${plusPools}, less ${PROGRAM_TEXT}`,
    between: low === high ? null : STUCK_UNKNOWN,
  };
}

/** The same as far as only amounts of memory limit it, whatever the sizes of the free blocks are. */
export function safeByFloor(facts: Omit<HostFacts, 'contiguity'>, requested: number | null = null): Safe {
  const { cudaLeft, host, kernel, others, poolBytes } = facts;
  const available = availableBytes(host, kernel);
  if (available === null) return unknown('MemAvailable could not be read');
  const cma = unpinnable(host).afterReclaim;
  const reserve = reserveFor(host.total, requested, others);
  const minusCma = cma > 0 ? ' − CMA' : '';
  const plusLists = (kernel.freeInCpuLists ?? 0) > 0 ? ' + free pages in the processors’ lists' : '';
  const aboveFloor = atMost(available - cma + (poolBytes ?? 0) - reserve.bytes, facts);
  return {
    low: aboveFloor,
    high: aboveFloor,
    from:
      cudaLeft === aboveFloor
        ? 'CUDA’s own total of the device, less what processes hold'
        : `MemAvailable${plusLists}${minusCma}${poolsText(facts)} less ${reserve.from}`,
    between: null,
  };
}

function atMost(bytes: number, { cudaLeft }: Pick<HostFacts, 'cudaLeft'>): number {
  return Math.max(0, Math.floor(Math.min(bytes, cudaLeft ?? bytes)));
}

function poolsText({ poolBytes }: Pick<HostFacts, 'poolBytes'>): string {
  return (poolBytes ?? 0) > 0 ? ' + driver pools' : '';
}

/** Part of the free memory that an ordinary user cannot judge. */
const STUCK_UNKNOWN =
  'how much of the free memory compaction can join to blocks of 2 MiB is not known: only root reads /proc/pagetypeinfo';

/**
 * Range on a device with its own memory: it refuses an allocation that does not fit, and the host loses nothing.
 *
 * @param immediate free bytes of the device; null: unknown.
 */
export function safeOnDevice(
  { cuda, model, others }: { model: MemoryModel; cuda: object | null; others: OtherUsers | null },
  immediate: number | null,
): Safe {
  if (immediate === null) return unknown('free memory of the device is not known');
  if (model === 'unknown')
    return unknown('whether this GPU shares the host’s memory is not known, nor what must stay for the host');
  const share = shareFor(null, others);
  // cudaMemGetInfo was read with a context in place, NVML without.
  const own = cuda === null ? PROGRAM_BYTES : 0;
  const less = [
    ...(share === null ? [] : [`${formatBytes(share.bytes)} for the GPU’s other users (${share.from})`]),
    ...(own === 0 ? [] : [`${formatBytes(own)} for the program’s CUDA context`]),
  ];
  const rest =
    model === 'coherent' ? '; page cache on the GPU’s NUMA node, which reclaim may free, is not counted' : '';
  const bytes = Math.max(0, immediate - (share?.bytes ?? 0) - own);
  return {
    low: bytes,
    high: bytes,
    between: null,
    from: `immediate${less.length === 0 ? '' : ` less ${less.join(' and ')}`}${rest}`,
  };
}
