/** Compaction with the gate before and after. */

import { UmaError } from '../base/errors.ts';
import { formatBytes } from '../base/format.ts';
import { contiguityGate, type GateReading, gateText, meetsGate, readGate } from '../memory/contiguity.ts';
import type {
  BlocksByOrder,
  CompactOptions,
  CompactReport,
  ContiguityGate,
  FreeBlocks,
  Snapshot,
} from '../types/index.ts';
import { countedOf, receipt } from './receipt.ts';
import { mustBeAllowed, type SysctlWrite, writeSysctl } from './sysctl.ts';
import type { System } from './system.ts';

const KNOB = { name: 'compact_memory' } as const;

export async function compactMemory(
  machine: System,
  { gate: wanted = {}, always = false, sudo = false }: CompactOptions,
): Promise<CompactReport> {
  const started = performance.now();
  const before = await machine.takeSnapshot();
  const gate = contiguityGate(before.host.total, wanted);
  const then = readGate(before, blocksOf(before), gate);
  const met = meetsGate(then);
  let turned: SysctlWrite | null = null;
  let after = before;
  if (!met || always) {
    await mustBeAllowed(machine, KNOB, sudo);
    turned = await writeSysctl(machine, KNOB, sudo);
    after = await machine.takeSnapshot();
  }
  const now = readGate(after, blocksOf(after), gate);
  return {
    schema: 'umaprobe/cache-compact/1',
    at: before.at,
    simulated: machine.simulated,
    ...verdict(met, now, gate),
    by: turned?.by ?? null,
    gate,
    orders: byOrder(blocksOf(before), blocksOf(after)),
    before: { available: then.available, blocks: then.blocks },
    after: { available: now.available, blocks: now.blocks },
    compactMs: turned?.durationMs ?? null,
    receipt: receipt(countedOf(before), countedOf(after)),
    durationMs: performance.now() - started,
  };
}

function blocksOf({ contiguity, from }: Snapshot): FreeBlocks[] {
  if (contiguity !== null && contiguity.length > 0) return contiguity;
  throw new UmaError('ERR_UMA_NOT_SUPPORTED', {
    source: 'kernel',
    call: 'read /proc/buddyinfo',
    status: null,
    name: 'UNKNOWN',
    message: `without the free blocks there is no telling what compaction did: ${from.contiguity ?? 'not readable'}`,
  });
}

/**
 * A reboot is the word only for memory that is free and idle, and still in pieces after compaction (a public launcher's
 * gate on Sparks). Page cache and programs hold blocks, too, and can give them back.
 */
export function verdict(
  met: boolean,
  now: GateReading,
  gate: ContiguityGate,
): Pick<CompactReport, 'verdict' | 'reason'> {
  const words = gateText(now, gate.blockBytes);
  if (meetsGate(now))
    return met
      ? { verdict: 'ok', reason: `ready for a large launch before anything was done: ${words}` }
      : { verdict: 'compacted', reason: `ready for a large launch now: ${words}` };
  if (now.loaded !== null)
    return {
      verdict: 'not-ready',
      reason: `GPU processes hold ${formatBytes(now.loaded)}, and the gate is for an idle machine: ${words}`,
    };
  if (now.available !== null && now.available < now.needAvailable)
    return { verdict: 'not-ready', reason: `programs hold the memory, which compaction cannot change: ${words}` };
  if (now.cacheInTheWay)
    return {
      verdict: 'not-ready',
      reason: `most of what is available is page cache: drop it first (umaprobe cache drop), then compact again; ${words}`,
    };
  return {
    verdict: 'reboot-required',
    reason: `the memory is free, and compaction could not put its pieces together; only a reboot does: ${words}`,
  };
}

function byOrder(before: readonly FreeBlocks[], after: readonly FreeBlocks[]): BlocksByOrder[] {
  return before.map(({ order, blockBytes, freeBlocks }) => ({
    order,
    blockBytes,
    before: freeBlocks,
    after: after.find((blocks) => blocks.order === order)?.freeBlocks ?? 0,
  }));
}
