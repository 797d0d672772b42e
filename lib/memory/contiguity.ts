/**
 * Contiguity of free memory. Two measures: fragmentation, the share of free memory in blocks that the GPU can use; and
 * the gate, the amount of large blocks that a launch of a large model needs.
 */

import { formatBytes, GiB, MiB } from '../base/format.ts';
import type { ContiguityGate, FreeBlocks, HostMemory, Snapshot } from '../types/index.ts';
import { unpinnable } from './cma.ts';
import { headroom, unattributed, unifiedDevice, unknownGpuMemory } from './headroom.ts';
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
  { host }: Pick<Snapshot, 'host'>,
  contiguity: readonly FreeBlocks[],
  blockBytes: number,
): { bytes: number; cma: number } {
  const bytes = bytesInBlocks(contiguity, blockBytes);
  const cma = Math.min(bytes, unpinnable(host).now);
  return { bytes: bytes - cma, cma };
}

/** Fragmentation of the free memory of a unified device's host, in bytes. */
export interface Fragmentation {
  /** Pinnable free memory in blocks of 2 MiB or more. */
  large: number;
  /** Pinnable free memory in blocks of any size. */
  free: number;
  /** Free CMA, which is in neither number. */
  cma: number;
  /** Less than a quarter of the free memory is in large blocks. */
  fragmented: boolean;
  /** Enough memory is free for the measure to mean something. */
  telling: boolean;
}

/**
 * Share of free memory in blocks of 2 MiB below which an allocation stalls or fails. A machine with 118 GiB available
 * and almost no such blocks stalled for 10 minutes (sparkring #173). Above it the kernel creates the missing blocks
 * while it allocates.
 */
const FRAGMENTED_SHARE = 0.25;

/** Share of MemTotal. With less free memory than this, few large blocks are normal: page cache occupies them. */
const ENOUGH_FREE_SHARE = 0.1;

/** null: no GPU here shares the host's memory, or the kernel does not report free blocks. */
export function fragmentation(snapshot: Snapshot): Fragmentation | null {
  const { contiguity } = snapshot;
  if (contiguity === null || unifiedDevice(snapshot) === undefined) return null;
  return hostFragmentation(snapshot.host, contiguity);
}

/** Whether allocations stall for lack of large blocks. */
export function isFragmentedMemory(snapshot: Snapshot): boolean {
  const measure = fragmentation(snapshot);
  return measure?.telling === true && measure.fragmented;
}

export function hostFragmentation(host: HostMemory, contiguity: readonly FreeBlocks[]): Fragmentation {
  const { bytes: large, cma } = pinnableInBlocks({ host }, contiguity, GPU_BLOCK);
  const { bytes: free } = pinnableInBlocks({ host }, contiguity, 0);
  return {
    large,
    free,
    cma,
    fragmented: isFragmented(large, free),
    telling: free >= host.total * ENOUGH_FREE_SHARE,
  };
}

export function isFragmented(largeBytes: number, freeBytes: number): boolean {
  return largeBytes < freeBytes * FRAGMENTED_SHARE;
}

/** If more than this is free, the share of it in large blocks predicts how reclaimed memory is fragmented. */
const PREDICTIVE_FREE_BYTES = 4 * GiB;

/**
 * Bytes that can be allocated in blocks of 2 MiB: free blocks, and clean page cache, which reclaim frees in contiguous
 * runs (112 GiB were allocated with 0.9 GiB free). On a machine with a long uptime the cache is as fragmented as its
 * free memory: with 118 GiB available, drop_caches freed almost no large blocks. null: not known, or not needed.
 */
export function largeBlockHeadroom({
  inLargeBlocks,
  memAvailable,
  memFree,
}: {
  inLargeBlocks: number | null;
  memAvailable: number | null;
  memFree: number | null;
}): number | null {
  if (inLargeBlocks === null || memAvailable === null || memFree === null) return null;
  const share = memFree > PREDICTIVE_FREE_BYTES ? Math.min(1, inLargeBlocks / memFree) : 1;
  return inLargeBlocks + Math.floor(share * Math.max(0, memAvailable - memFree));
}

/**
 * Default gate before a launch: 96 GiB available and 200 free blocks of 32 MiB, for a DGX Spark with 120 GiB (sparkring
 * PR 202/222). A smaller machine has the same shares.
 */
const GATE = { ofTotal: 120 * GiB, available: 96 * GiB, block: 32 * MiB, blocks: 200 };

/** Size of the gate's blocks unless the caller asks for another. */
export const GATE_BLOCK = GATE.block;

/** MemTotal below which the gate does not apply: the models that it is made for do not fit. */
const SMALL_MACHINE = 32 * GiB;

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
   * Bytes that GPU processes hold, or may hold if that is not known, if they are so many that the gate does not apply;
   * else null.
   */
  loaded: number | null;
  /** Most of the available memory is page cache, which may occupy large blocks. */
  cacheInTheWay: boolean;
  /** The machine is too small for the gate. */
  small: boolean;
}

export function readGate(
  snapshot: Snapshot,
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
    small: snapshot.ledger.total < SMALL_MACHINE,
  };
}

/** Whether a large model may be launched: enough memory is available, and enough of it in large blocks. */
export function meetsGate({ available, blocks, needAvailable, needBlocks }: GateReading): boolean {
  return (available === null || available >= needAvailable) && blocks >= needBlocks;
}

/** Bytes of large blocks that are missing for the gate, if all clean page cache turned into large blocks. */
export function missingBlocks({ host }: Snapshot, gate: GateReading): number {
  if (gate.small || gate.loaded !== null) return 0;
  const reclaimable = Math.max(0, (host.available ?? 0) - (host.free ?? 0));
  return Math.max(0, (gate.needBlocks - gate.blocks) * GATE.block - reclaimable);
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
