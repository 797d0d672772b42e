/** Large free blocks before a launch: the gate that doctor shows, a probe refuses to start without, and `cache compact` judges by. */

import { formatBytes, GiB, MiB } from '../base/format.ts';
import type { ContiguityGate, FreeBlocks, Snapshot } from '../types/index.ts';
import { headroom, pinnableInBlocks, unifiedDevice } from './headroom.ts';
import { ledgerBytes } from './ledger.ts';

/**
 * Gate before a launch (sparkring PR 202/222, DGX Spark with 120 GiB): 96 GiB available and 200 blocks of 32 MiB.
 * A smaller machine is measured by the same shares.
 */
const GATE = { ofTotal: 120 * GiB, available: 96 * GiB, block: 32 * MiB, blocks: 200 };
/** Below this nobody loads what the gate was made for. */
const SMALL = 32 * GiB;
/** A large pinned footprint makes few large blocks normal: the gate means something before a launch only. */
const LOADED_SHARE = 0.1;

/** The gate for a machine of this size, with what the caller wants otherwise. */
export function contiguityGate(total: number, wanted: Partial<ContiguityGate> = {}): ContiguityGate {
  const shareOfGate = Math.min(1, total / GATE.ofTotal);
  return {
    availableBytes: wanted.availableBytes ?? Math.floor(GATE.available * shareOfGate),
    blockBytes: wanted.blockBytes ?? GATE.block,
    blocks: wanted.blocks ?? Math.ceil(GATE.blocks * shareOfGate),
  };
}

/** cudaMalloc takes blocks of 2 MiB (order 9 of 4 KiB pages). */
export const GPU_BLOCK = 2 * MiB;

/**
 * Share of free memory in such blocks. Below it an allocation stalls or fails: a machine with 118 GiB available and next to
 * none stalled for 10 minutes (sparkring #173). Above it the kernel finds the rest while it allocates.
 */
const FRAGMENTED_SHARE = 0.25;

/** Share of MemTotal. With less memory free than this, few large blocks say nothing: page cache lies in them. */
const ENOUGH_FREE_SHARE = 0.1;

/** How the free memory of a unified device's host lies. */
export interface Fragmentation {
  /** Free bytes in blocks of 2 MiB and more that can be pinned, and in blocks of any size. */
  large: number;
  free: number;
  /** Free CMA that was not counted. */
  cma: number;
  /** Less than a quarter of the free memory is in large blocks. */
  fragmented: boolean;
  /** So much is free that this is the machine's state, and not that of a full one. */
  telling: boolean;
}

/** null: no GPU here takes its memory from the host, or the kernel does not say. */
export function fragmentation(snapshot: Snapshot): Fragmentation | null {
  const { contiguity } = snapshot;
  if (contiguity === null || unifiedDevice(snapshot) === undefined) return null;
  const { bytes: large, cma } = pinnableInBlocks(snapshot, contiguity, GPU_BLOCK);
  const { bytes: free } = pinnableInBlocks(snapshot, contiguity, 0);
  return {
    large,
    free,
    cma,
    fragmented: isFragmented(large, free),
    telling: free >= snapshot.host.total * ENOUGH_FREE_SHARE,
  };
}

export function isFragmented(largeBytes: number, freeBytes: number): boolean {
  return largeBytes < freeBytes * FRAGMENTED_SHARE;
}

export interface GateReading {
  /** What reclaim would leave available, and what the gate asks for. */
  available: number | null;
  needAvailable: number;
  /** Free memory in blocks of `blockBytes` and more, counted as so many of the gate's (32 MiB), and what the gate asks for. */
  blocks: number;
  needBlocks: number;
  blockBytes: number;
  /** Free CMA that was not counted. */
  cma: number;
  /** GPU processes hold so much that the gate says nothing; null: they do not. */
  loaded: number | null;
  /** Most of what is available is page cache: large blocks may lie under it. */
  cacheInTheWay: boolean;
  /** The machine is smaller than what the gate is for. */
  small: boolean;
}

export function readGate(
  snapshot: Snapshot,
  contiguity: readonly FreeBlocks[],
  gate: ContiguityGate = contiguityGate(snapshot.host.total),
): GateReading {
  const { afterReclaim, total } = headroom(snapshot);
  const sizes = contiguity.map(({ blockBytes }) => blockBytes);
  // Kernels whose largest order is below the gate's block: their largest blocks are counted, as so many of the gate's.
  const blockBytes = Math.min(gate.blockBytes, Math.max(...sizes));
  const { bytes, cma } = pinnableInBlocks(snapshot, contiguity, blockBytes);
  const held = ledgerBytes(snapshot.ledger, 'gpuProcesses');
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
    small: snapshot.ledger.total < SMALL,
  };
}

/** Whether a large launch may start: enough is available, and enough of it in large blocks. */
export function meetsGate({ available, blocks, needAvailable, needBlocks }: GateReading): boolean {
  return (available === null || available >= needAvailable) && blocks >= needBlocks;
}

/** Bytes of large blocks that the gate asks for beyond those that are free and those that clean page cache can become. */
export function missingBlocks({ host }: Snapshot, gate: GateReading): number {
  if (gate.small || gate.loaded !== null) return 0;
  const reclaimable = Math.max(0, (host.available ?? 0) - (host.free ?? 0));
  return Math.max(0, (gate.needBlocks - gate.blocks) * GATE.block - reclaimable);
}

/** "115.1 GiB available (gate 96.0 GiB); 3600 × 32 MiB in blocks of 32.0 MiB or more (gate 200)". */
export function gateText(reading: GateReading, gateBlock: number = GATE.block): string {
  const { available, blockBytes, blocks, cma, needAvailable, needBlocks } = reading;
  const notCounted = cma === 0 ? '' : `; ${formatBytes(cma)} of free CMA not counted`;
  return (
    `${formatBytes(available)} available (gate ${formatBytes(needAvailable)}); ` +
    `${blocks} × ${formatBlockSize(gateBlock)} in blocks of ${formatBytes(blockBytes)} or more (gate ${needBlocks}${notCounted})`
  );
}

/** "32 MiB": block sizes are powers of two, a decimal would only suggest otherwise. */
export function formatBlockSize(bytes: number): string {
  return formatBytes(bytes).replace('.0 ', ' ');
}
