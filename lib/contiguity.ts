/** Large free blocks before a launch: the gate that doctor shows and a probe refuses to start without. */

import { headroom, pinnableInBlocks } from './findings.ts';
import { GiB, MiB } from './format.ts';
import { ledgerBytes } from './ledger.ts';
import type { FreeBlocks, Snapshot } from './types.ts';

/**
 * Gate before a launch (sparkring PR 202/222, DGX Spark with 120 GiB): 96 GiB available and 200 blocks of 32 MiB.
 * A smaller machine is measured by the same shares.
 */
const GATE = { ofTotal: 120 * GiB, available: 96 * GiB, block: 32 * MiB, blocks: 200 };
/** Below this nobody loads what the gate was made for. */
const SMALL = 32 * GiB;
/** A large pinned footprint makes few large blocks normal: the gate means something before a launch only. */
const LOADED_SHARE = 0.1;

export interface GateReading {
  /** What reclaim would leave available, and what the gate asks for. */
  available: number | null;
  needAvailable: number;
  /** Free memory in blocks of `blockBytes` and more, counted as so many of 32 MiB, and what the gate asks for. */
  blocks: number;
  needBlocks: number;
  blockBytes: number;
  /** Free CMA that was not counted. */
  cma: number;
  /** GPU processes hold so much that the gate says nothing; null: they do not. */
  loaded: number | null;
  /** The machine is smaller than what the gate is for. */
  small: boolean;
}

export function readGate(snapshot: Snapshot, contiguity: readonly FreeBlocks[]): GateReading {
  const { afterReclaim, total } = headroom(snapshot);
  const shareOfGate = Math.min(1, total / GATE.ofTotal);
  const sizes = contiguity.map(({ blockBytes }) => blockBytes);
  // Kernels whose largest order is below 32 MiB: their largest blocks are counted, as so many 32 MiB.
  const blockBytes = Math.min(GATE.block, Math.max(...sizes));
  const { bytes, cma } = pinnableInBlocks(snapshot, contiguity, blockBytes);
  const held = ledgerBytes(snapshot.ledger, 'gpuProcesses');
  return {
    available: afterReclaim,
    needAvailable: GATE.available * shareOfGate,
    blocks: Math.floor(bytes / GATE.block),
    needBlocks: Math.ceil(GATE.blocks * shareOfGate),
    blockBytes,
    cma,
    loaded: held > total * LOADED_SHARE ? held : null,
    small: snapshot.ledger.total < SMALL,
  };
}

/** Bytes of large blocks that the gate asks for beyond those that are free and those that clean page cache can become. */
export function missingBlocks({ host }: Snapshot, gate: GateReading): number {
  if (gate.small || gate.loaded !== null) return 0;
  const reclaimable = Math.max(0, (host.available ?? 0) - (host.free ?? 0));
  return Math.max(0, (gate.needBlocks - gate.blocks) * GATE.block - reclaimable);
}
