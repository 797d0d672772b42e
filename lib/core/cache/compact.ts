/** Compaction, with the contiguity gate before and after. */

import { abortable } from '../../base/abort.ts';
import { UmaError } from '../../base/errors.ts';
import { formatBytes } from '../../base/format.ts';
import { type CheckedOf, checkOptions } from '../../base/options.ts';
import type { BlocksByOrder, CompactReport, ContiguityGate, FreeBlocks, Snapshot } from '../../types/index.ts';
import { contiguityGate, type GateReading, gateText, meetsGate, readGate } from '../memory/contiguity.ts';
import { refusalOf } from '../memory/judge.ts';
import { COMPACT, type CompactOptions } from './options.ts';
import { receipt, snapshotCounters } from './receipt.ts';
import type { Sysctl } from './sysctl.ts';
import { assertMayWrite, type SysctlWrite, writeSysctl } from './sysctl-write.ts';
import type { System } from './system.ts';

const SYSCTL: Sysctl = { name: 'compact_memory' };

export async function compactMemory(system: System, given: CompactOptions): Promise<CompactReport> {
  const options = checkOptions('compact()', given, COMPACT);
  return abortable(options.signal, () => compactNow(system, options));
}

async function compactNow(
  system: System,
  { gate: requestedGate, always, sudo, signal }: CheckedOf<typeof COMPACT>,
): Promise<CompactReport> {
  const started = performance.now();
  const before = await system.takeSnapshot('needed');
  const gate = contiguityGate(before.host.total, requestedGate);
  const gateBefore = readGate(before, freeBlocks(before), gate);
  const isMet = meetsGate(gateBefore);
  const metBefore = isMet && obstacle(before, requestedGate) === null;
  // A finding that refuses beside enough blocks is nothing that compaction changes.
  const wouldNotHelp = isMet && refusalOf(before.judgement) !== undefined;
  let write: SysctlWrite | null = null;
  let after = before;
  if ((!metBefore && !wouldNotHelp) || always) {
    await assertMayWrite(system, SYSCTL, sudo);
    signal?.throwIfAborted();
    write = await writeSysctl(system, SYSCTL, sudo);
    after = await system.takeSnapshot('needed');
  }
  const gateAfter = readGate(after, freeBlocks(after), gate);
  return {
    schema: 'umaprobe/cache-compact/1',
    at: before.at,
    simulated: system.simulated,
    ...verdict(metBefore, gateAfter, gate, obstacle(after, requestedGate)),
    by: write?.by ?? null,
    gate,
    orders: blocksByOrder(freeBlocks(before), freeBlocks(after)),
    before: { available: gateBefore.available, blocks: gateBefore.blocks },
    after: { available: gateAfter.available, blocks: gateAfter.blocks },
    compactMs: write?.durationMs ?? null,
    receipt: receipt(snapshotCounters(before), snapshotCounters(after)),
    durationMs: performance.now() - started,
  };
}

/**
 * The judgement's objection to a large launch although the gate is met; null: none. A gate of the caller's own replaces
 * the finding `fragmentation`.
 */
function obstacle({ judgement }: Snapshot, requested: Partial<ContiguityGate>): string | null {
  const isOwn = Object.values(requested).some((value) => value !== undefined);
  const fragmented = isOwn ? undefined : judgement.findings.find(({ id }) => id === 'fragmentation');
  return (refusalOf(judgement) ?? fragmented)?.summary ?? null;
}

/**
 * `reboot-required` is only for memory that is free and idle but still fragmented after compaction (a public launcher's
 * gate on Sparks). Blocks of page cache and of programs can be freed without a reboot.
 */
export function verdict(
  metBefore: boolean,
  now: GateReading,
  gate: ContiguityGate,
  obstructed: string | null,
): Pick<CompactReport, 'verdict' | 'reason'> {
  const numbers = gateText(now, gate.blockBytes);
  if (obstructed !== null && meetsGate(now))
    return { verdict: 'not-ready', reason: `${obstructed.replace(/\.$/, '')}; ${numbers}` };
  if (meetsGate(now))
    return metBefore
      ? { verdict: 'ok', reason: `already ready for a large launch: ${numbers}` }
      : { verdict: 'compacted', reason: `ready for a large launch now: ${numbers}` };
  if (now.loaded !== null)
    return {
      verdict: 'not-ready',
      reason: `GPU processes hold ${formatBytes(now.loaded)}, and the gate is for an idle machine: ${numbers}`,
    };
  if (now.available !== null && now.available < now.needAvailable)
    return { verdict: 'not-ready', reason: `programs hold the memory, which compaction cannot change: ${numbers}` };
  if (now.cacheInTheWay)
    return {
      verdict: 'not-ready',
      reason: `most of the available memory is page cache: drop it first (umaprobe cache drop), then compact again; ${numbers}`,
    };
  return {
    verdict: 'reboot-required',
    reason: `the memory is free but still fragmented after compaction; only a reboot helps: ${numbers}`,
  };
}

function freeBlocks({ contiguity, from }: Snapshot): FreeBlocks[] {
  if (contiguity !== null && contiguity.length > 0) return contiguity;
  throw new UmaError('ERR_UMA_NOT_SUPPORTED', {
    source: 'kernel',
    call: 'read /proc/buddyinfo',
    status: null,
    name: 'UNKNOWN',
    message: `the result of a compaction shows only in the free blocks, and they cannot be read: ${from.contiguity ?? 'not readable'}`,
  });
}

function blocksByOrder(before: readonly FreeBlocks[], after: readonly FreeBlocks[]): BlocksByOrder[] {
  return before.map(({ order, blockBytes, freeBlocks: blocksBefore }) => ({
    order,
    blockBytes,
    before: blocksBefore,
    after: after.find((blocks) => blocks.order === order)?.freeBlocks ?? 0,
  }));
}
