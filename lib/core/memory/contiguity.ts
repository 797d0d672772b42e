/**
 * Contiguity of free memory: how much of it comes in blocks that the GPU can use; and the gate of `cache compact`, the amount
 * of large blocks that a launch of a large model needs.
 */

import { formatBytes, GiB, MiB } from '../../base/format.ts';
import type { ContiguityGate, FreeBlocks, HostMemory, Reading } from '../../types/index.ts';
import { reclaimable } from './available.ts';
import { unpinnable } from './cma.ts';
import { headroom, unattributed, unknownGpuMemory } from './headroom.ts';
import { ledgerBytes } from './ledger.ts';

/** Size of the blocks that cudaMalloc takes: 2 MiB, order 9 of 4 KiB pages. */
export const GPU_BLOCK = 2 * MiB;

/** Bytes of free memory in blocks of at least `blockBytes`. */
export function bytesInBlocks(contiguity: readonly FreeBlocks[], blockBytes: number): number {
  return contiguity
    .filter((blocks) => blocks.blockBytes >= blockBytes)
    .reduce((sum, blocks) => sum + blocks.blockBytes * blocks.freeBlocks, 0);
}

/**
 * The same without free CMA, which is counted among the free blocks but cannot hold GPU memory. The kernel does not
 * report the block sizes of free CMA. It comes in whole pageblocks (4,761 of 2 MiB on a Spark with kexec-handover,
 * NV-Kernels PR 590), so the worst case is assumed: all of it is in blocks of at least `blockBytes`.
 */
export function pinnableInBlocks(
  { host }: Pick<Reading, 'host'>,
  contiguity: readonly FreeBlocks[],
  blockBytes: number,
): { bytes: number; cma: number } {
  const bytes = bytesInBlocks(contiguity, blockBytes);
  const cma = Math.min(bytes, unpinnable(host).now);
  return { bytes: bytes - cma, cma };
}

/** The free memory of a host by its use for the GPU, in bytes. CMA is in none of these numbers. */
export interface BlockUse {
  /** Bytes in blocks of 2 MiB or more. */
  large: number;
  /** Bytes in blocks of any size. */
  free: number;
  /** Bytes in smaller blocks that compaction cannot join: unmovable pages lie between them; null: not known. */
  stuck: number | null;
  /** Free CMA. */
  cma: number;
}

export function blockUse(host: HostMemory, contiguity: readonly FreeBlocks[]): BlockUse {
  const { bytes: large, cma } = pinnableInBlocks({ host }, contiguity, GPU_BLOCK);
  const { bytes: free } = pinnableInBlocks({ host }, contiguity, 0);
  const small = contiguity.filter(({ blockBytes }) => blockBytes < GPU_BLOCK);
  const known = small.length > 0 && small.every(({ movableBlocks }) => movableBlocks !== null);
  const movable = small.reduce((sum, { blockBytes, movableBlocks }) => sum + blockBytes * (movableBlocks ?? 0), 0);
  // Only zone Normal tells what moves; free pages of other zones are in MemFree, and count as stuck.
  const stuck = known ? Math.max(0, Math.max(free, (host.free ?? 0) - cma) - large - movable) : null;
  return { large, free, stuck, cma };
}

/**
 * Free memory from which the share in large blocks begins to predict how reclaimed page cache is fragmented; twice as
 * much predicts it fully. The prediction grows in between, so that no single byte changes the answer by gigabytes.
 */
const PREDICTIVE_FREE = 4 * GiB;

/** Bytes that can be allocated in blocks of 2 MiB. */
export interface BlockRoom {
  /** Free blocks, and what clean page cache yields as it is reclaimed. */
  low: number;
  /** The same after compaction: equal to `low` where it is known which pages move. */
  high: number;
}

/**
 * The room in blocks of 2 MiB. Reclaim frees page cache in contiguous runs (112 GiB were allocated with 0.9 GiB free), but on
 * a machine with a long uptime the cache is as fragmented as its free memory: with 118 GiB available, drop_caches freed
 * almost no large blocks (sparkring #173). Compaction joins free pages between which only movable pages lie; which those
 * are, root reads in /proc/pagetypeinfo.
 *
 * @param cache memory that reclaim frees, in bytes.
 */
export function blockRoom({ free, large, stuck }: Omit<BlockUse, 'cma'>, cache: number): BlockRoom {
  if (stuck !== null) {
    const joined = Math.max(large, free + cache - stuck);
    return { low: joined, high: joined };
  }
  const predicts = Math.min(1, Math.max(0, free / PREDICTIVE_FREE - 1));
  const share = predicts === 0 ? 1 : 1 - predicts * (1 - Math.min(1, large / free));
  return { low: large + Math.floor(share * cache), high: free + cache };
}

/** The same for a host. /proc/buddyinfo is counted for zone Normal; free memory of other zones has no large blocks for certain. */
export function hostRoom(host: HostMemory, use: BlockUse): BlockRoom {
  const free = host.free === null ? use.free : Math.max(use.large, host.free - use.cma);
  return blockRoom({ ...use, free }, reclaimable(host) ?? 0);
}

/**
 * Difference of the two ends from which it matters which pages move. A smaller one is no reason to read
 * /proc/pagetypeinfo: the kernel walks its free lists for it, with a lock held.
 */
const WORTH_KNOWING = GiB;

/** True if the amount that can be loaded depends on which pages move. */
export function needsMovable(host: HostMemory, contiguity: readonly FreeBlocks[]): boolean {
  const { high, low } = hostRoom(host, { ...blockUse(host, contiguity), stuck: null });
  return high - low >= WORTH_KNOWING;
}

/**
 * Default gate before a launch: 96 GiB available and 200 free blocks of 32 MiB, for a DGX Spark with 120 GiB (sparkring
 * PR 202/222). A smaller machine has the same shares.
 */
const GATE = { ofTotal: 120 * GiB, available: 96 * GiB, block: 32 * MiB, blocks: 200 };

export const DEFAULT_GATE_TEXT = `${GATE.available / GiB} GiB available and ${GATE.blocks} free blocks of ${GATE.block / MiB} MiB on a machine of ${GATE.ofTotal / GiB} GiB, and the same shares on a smaller one`;

/**
 * Share of MemTotal. If GPU processes hold more, few large blocks are normal: the gate applies before a launch only.
 */
const LOADED_SHARE = 0.1;

/** The gate for a machine with `total` bytes, with the caller's numbers in place of the defaults. */
export function contiguityGate(total: number, requested: Partial<ContiguityGate> = {}): ContiguityGate {
  const shareOfGate = Math.min(1, total / GATE.ofTotal);
  return {
    availableBytes: requested.availableBytes ?? Math.floor(GATE.available * shareOfGate),
    blockBytes: requested.blockBytes ?? GATE.block,
    blocks: requested.blocks ?? Math.ceil(GATE.blocks * shareOfGate),
  };
}

export interface GateReading {
  /** Memory available after reclaim, and the gate's minimum, in bytes. */
  available: number | null;
  needAvailable: number;
  /**
   * Pinnable free memory in blocks of at least `blockBytes`, as a number of the gate's blocks (32 MiB), and the gate's
   * minimum.
   */
  blocks: number;
  needBlocks: number;
  /** Size of the smallest counted block, in bytes. */
  blockBytes: number;
  /** Free CMA, which is not counted. */
  cma: number;
  /**
   * Bytes that GPU processes hold, or may hold if that is not known, if they are too many for the gate to apply; else
   * null.
   */
  loaded: number | null;
  /** Most of the available memory is page cache, which may occupy large blocks. */
  cacheInTheWay: boolean;
}

export function readGate(
  snapshot: Reading,
  contiguity: readonly FreeBlocks[],
  gate: ContiguityGate = contiguityGate(snapshot.host.total),
): GateReading {
  const { afterReclaim, total } = headroom(snapshot);
  const sizes = contiguity.map(({ blockBytes }) => blockBytes);
  // If the kernel's largest order is smaller than the gate's block size, count its largest blocks and convert.
  const blockBytes = Math.min(gate.blockBytes, Math.max(...sizes));
  const { bytes, cma } = pinnableInBlocks(snapshot, contiguity, blockBytes);
  const gpu = ledgerBytes(snapshot.ledger, 'gpuProcesses');
  const held = unknownGpuMemory(snapshot) === null ? gpu : gpu + Math.max(0, unattributed(snapshot));
  const { free } = snapshot.host;
  return {
    available: afterReclaim,
    needAvailable: gate.availableBytes,
    blocks: Math.floor(bytes / gate.blockBytes),
    needBlocks: gate.blocks,
    blockBytes,
    cma,
    loaded: held > total * LOADED_SHARE ? held : null,
    cacheInTheWay: free !== null && afterReclaim !== null && free < afterReclaim * 0.5,
  };
}

/** True if a large model may be launched: enough memory is available, and enough of it in large blocks. */
export function meetsGate({ available, blocks, needAvailable, needBlocks }: GateReading): boolean {
  return (available === null || available >= needAvailable) && blocks >= needBlocks;
}

/** "115.1 GiB available (gate 96.0 GiB); 3600 × 32 MiB in blocks of 32.0 MiB or more (gate 200)". */
export function gateText(reading: GateReading, gateBlock: number = GATE.block): string {
  const { available, blockBytes, blocks, cma, needAvailable, needBlocks } = reading;
  const excluded = cma === 0 ? '' : `; ${formatBytes(cma)} of free CMA not counted`;
  return (
    `${formatBytes(available)} available (gate ${formatBytes(needAvailable)}); ` +
    `${blocks} × ${formatBlockSize(gateBlock)} in blocks of ${formatBytes(blockBytes)} or more (gate ${needBlocks}${excluded})`
  );
}

/** "32 MiB": without decimals, as block sizes are powers of two. */
export function formatBlockSize(bytes: number): string {
  return formatBytes(bytes).replace('.0 ', ' ');
}
