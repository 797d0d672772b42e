/** Reasons not to start an allocation test on this machine. Pure: the machine is handed in. */

import { UmaError } from '../base/errors.ts';
import { formatBoth, formatBytes, formatPercent, MiB } from '../base/format.ts';
import { STALLED_PERCENT } from '../doctor/check.ts';
import { missingBlocks, readGate } from '../memory/contiguity.ts';
import { DROP_AND_COMPACT } from '../memory/remedies.ts';
import type { AllocatorKind, MemoryModel, ProbeHeader, Snapshot } from '../types/index.ts';

/** What is looked at before anything is allocated. */
export interface Conditions {
  snapshot: Snapshot;
  model: MemoryModel;
  kinds: readonly AllocatorKind[];
  floor: ProbeHeader['floor'];
  /** Bytes a second that moved between memory and swap just now, both ways; null: cannot be read. */
  swapBytesPerSecond: number | null;
  acceptAFrozenMachine: boolean;
}

export interface Danger {
  what: 'floor' | 'pressure' | 'contiguity' | 'swap';
  /** The numbers, and what to do. */
  sentence: string;
}

/** Kinds that take pinned blocks of 2 MiB at once (order 9 of nv_alloc_system_pages), on a device that shares the host's memory. */
export const EAGER: readonly AllocatorKind[] = ['device', 'pinned'];

/** A machine that moves this much to or from swap waits for it; zswap and a desktop at rest move less. */
const SWAPPING_BYTES_PER_SECOND = 16 * MiB;
/** In the best documented wedge swap was full while 38 of 120 GiB were free (blackbox, four wedges). */
const SWAP_FULL = 0.9;
const LITTLE_AVAILABLE = 1 / 3;
/** What the first step and the child itself take. */
const ROOM_TO_BEGIN = 256 * MiB;

/** The first reason not to start, the most urgent before the others; null: none. */
export function danger(conditions: Conditions): Danger | null {
  const { acceptAFrozenMachine, floor } = conditions;
  // Where nothing is taken from the host, nothing can happen to it.
  if (floor === null) return null;
  const below = belowFloor(conditions.snapshot, floor);
  if (below !== null || acceptAFrozenMachine) return below;
  return underPressure(conditions.snapshot) ?? swapping(conditions) ?? fragmented(conditions);
}

function belowFloor({ host }: Snapshot, floor: { bytes: number; from: string }): Danger | null {
  const { available } = host;
  if (available === null)
    return { what: 'floor', sentence: 'MemAvailable cannot be read, so nothing could keep the host from running out' };
  if (available >= floor.bytes + ROOM_TO_BEGIN) return null;
  return {
    what: 'floor',
    sentence:
      `MemAvailable is ${formatBoth(available)} and the floor is ${formatBoth(floor.bytes)} (${floor.from}): there is no room to test in. ` +
      'End what holds the memory (umaprobe snapshot shows it), or set a lower floor',
  };
}

function underPressure({ pressure }: Snapshot): Danger | null {
  const percent = pressure?.full.avg10 ?? 0;
  if (percent < STALLED_PERCENT) return null;
  return {
    what: 'pressure',
    sentence: `nothing could run for want of memory ${formatPercent(percent)} of the last 10 s (PSI full, limit ${STALLED_PERCENT} %): this is how a freeze begins. Stop the largest GPU process, wait until umaprobe doctor passes, and try again`,
  };
}

function swapping({ snapshot, swapBytesPerSecond }: Conditions): Danger | null {
  if (swapBytesPerSecond !== null && swapBytesPerSecond >= SWAPPING_BYTES_PER_SECOND) {
    return {
      what: 'swap',
      sentence: `${formatBytes(swapBytesPerSecond)} a second move between memory and swap (limit ${formatBytes(SWAPPING_BYTES_PER_SECOND)}): this machine is short of memory already. Wait until it has come to rest (umaprobe watch)`,
    };
  }
  const { available, swapFree, swapTotal, total } = snapshot.host;
  if (swapTotal === null || swapFree === null || available === null || swapTotal === 0) return null;
  const used = swapTotal - swapFree;
  if (used < swapTotal * SWAP_FULL || available > total * LITTLE_AVAILABLE) return null;
  return {
    what: 'swap',
    sentence: `${formatBytes(used)} of ${formatBytes(swapTotal)} swap are used and only ${formatBoth(available)} available: nothing more can be moved out of the way. End what was pushed out, or swapoff and swapon when there is room`,
  };
}

function fragmented({ kinds, model, snapshot }: Conditions): Danger | null {
  if (model !== 'unified' || snapshot.contiguity === null) return null;
  const eager = kinds.filter((kind) => EAGER.includes(kind));
  if (eager.length === 0) return null;
  const gate = readGate(snapshot, snapshot.contiguity);
  if (missingBlocks(snapshot, gate) === 0) return null;
  return {
    what: 'contiguity',
    sentence:
      `memory is free but in pieces: ${gate.blocks} × 32 MiB in large blocks where ${gate.needBlocks} are needed, with ${formatBoth(gate.available)} available. ` +
      `${eager.join(' and ')} memory would stall for minutes or fail. ${DROP_AND_COMPACT}; if that does not help, reboot`,
  };
}

/** The refusal as an error: code ERR_UMA_FLOOR whichever the reason, which is in `nativeName`. */
export function refusal(command: string, { sentence, what }: Danger): UmaError {
  return new UmaError('ERR_UMA_FLOOR', {
    source: 'umaprobe',
    call: command,
    status: null,
    name: `REFUSED_${what.toUpperCase()}`,
    message: `not started: ${sentence}`,
  });
}
