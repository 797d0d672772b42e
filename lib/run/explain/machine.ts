/** The machine that a message's numbers are compared with, in sentences. */

import { clean, formatBytes } from '../../base/format.ts';
import { outcomeOf } from '../../core/memory/findings/index.ts';
import { headroom, unifiedDevice } from '../../core/memory/headroom.ts';
import { refusalOf } from '../../core/memory/judge.ts';
import { judgePressure } from '../../core/memory/pressure.ts';
import type { DeviceSnapshot, GpuProcess, Snapshot } from '../../types/index.ts';

export interface ExplainMachine {
  snapshot: Snapshot;
  /** The GPU that shares the host's memory, if there is one. */
  unified: DeviceSnapshot | undefined;
  /** The GPU that is compared: the unified one, else the first. */
  device: DeviceSnapshot | undefined;
  /** Memory that the GPU can use, in bytes: MemTotal on a unified machine. null: no GPU, or unknown. */
  gpuTotal: number | null;
  immediate: number | null;
  afterReclaim: number | null;
  /** Bytes that a program can load and leave the host its floor; null: not known, or the GPU has memory of its own. */
  safe: number | null;
}

export function machineOf(snapshot: Snapshot): ExplainMachine {
  const unified = unifiedDevice(snapshot);
  const device = unified ?? snapshot.devices[0];
  const host = headroom(snapshot);
  const room = unified !== undefined || device === undefined ? host : device.allocatable;
  const own = device?.attributes.totalGlobalMem ?? device?.cuda?.total ?? device?.nvml?.total ?? null;
  return {
    snapshot,
    unified,
    device,
    gpuTotal: unified !== undefined ? snapshot.host.total : own,
    immediate: room.immediate,
    afterReclaim: room.afterReclaim ?? room.immediate,
    safe: unified === undefined ? null : host.safe,
  };
}

/** Share by which totals of one machine differ: the display's part, CUDA's own part, rounding to two decimals. */
const SAME_SHARE = 0.03;

/** True if a total in a message may be that of this machine's GPU; null: not known. */
export function isThisGpu(total: number | null | undefined, { gpuTotal }: ExplainMachine): boolean | null {
  if (total === null || total === undefined || gpuTotal === null) return null;
  return Math.abs(total - gpuTotal) <= gpuTotal * SAME_SHARE;
}

/** "The message is from a GPU with 24.0 GiB; the one here has 121.7 GiB."; null: it may be this one. */
export function otherGpu(total: number | null | undefined, machine: ExplainMachine): string | null {
  if (isThisGpu(total, machine) !== false) return null;
  return `The message is from a GPU with ${formatBytes(total ?? null)}, and the one here has ${formatBytes(machine.gpuTotal)}: its numbers are not compared.`;
}

/** "60.0 GiB can be allocated here at once, and 110.3 GiB once …". */
export function roomText({ afterReclaim, immediate, unified }: ExplainMachine): string {
  if (afterReclaim === null) return 'how much can be allocated here is not known';
  if (unified === undefined || immediate === null || afterReclaim - immediate < 0.01 * afterReclaim)
    return `${formatBytes(afterReclaim)} can be allocated here now`;
  return `${formatBytes(immediate)} can be allocated here at once, and ${formatBytes(afterReclaim)} once the kernel gives back page cache`;
}

/** Says if `bytes` would fit now, or else how much is missing and who holds the memory. `what` begins the sentence. */
export function fitText(what: string, bytes: number, machine: ExplainMachine): string {
  const { afterReclaim, immediate } = machine;
  if (afterReclaim === null) return `${what}; how much can be allocated here is not known.`;
  if (bytes > afterReclaim)
    return `${what}; ${roomText(machine)}: ${formatBytes(bytes - afterReclaim)} too little.${holdersText(machine)}`;
  const refusal = refusalOf(machine.snapshot.judgement);
  if (refusal !== undefined)
    return `${what}; ${roomText(machine)}, but nothing should be loaded now. ${refusal.summary}`;
  const { safe } = machine;
  if (safe !== null && bytes > safe)
    return `${what}; ${roomText(machine)}, but no more than ${formatBytes(safe)} is safe to load.`;
  const reclaim = immediate !== null && bytes > immediate;
  return `${what}; ${roomText(machine)}: it fits${reclaim ? ' only then' : ' now'}.`;
}

/** " vllm (7) holds 60.0 GiB.": the largest GPU process; '' if none is known. */
export function holdersText({ device }: ExplainMachine): string {
  const largest = (device?.processes ?? []).reduce(
    (most: GpuProcess | null, process) => ((process.gpuBytes ?? 0) > (most?.gpuBytes ?? 0) ? process : most),
    null,
  );
  if (largest === null) return '';
  return ` ${clean(largest.name ?? 'A process')} (${largest.pid}) holds ${formatBytes(largest.gpuBytes)}.`;
}

/** The kernel's present signs of shortage: pressure and large blocks. */
export function conditionText({ snapshot }: ExplainMachine): string {
  const { state, text } = judgePressure(snapshot);
  const blocks = outcomeOf('fragmentation', { snapshot });
  const fragmented = blocks.state === 'applies' ? `. ${blocks.finding.summary.replace(/\.$/, '')}` : '';
  return `${state === 'none' ? 'no task waits for memory' : text}${fragmented}`;
}
