/** Reasons not to start a probe on this machine. Pure: readings in, the most urgent reason out. */

import { UmaError } from '../base/errors.ts';
import { capitalized, formatBoth, formatBytes } from '../base/format.ts';
import { unpinnable } from '../memory/cma.ts';
import { formatBlockSize, GATE_BLOCK, missingBlocks, readGate } from '../memory/contiguity.ts';
import { PROGRAM_BYTES, stepMargin } from '../memory/floor.ts';
import { needsLargeBlocks } from '../memory/kinds.ts';
import { judgePressure, STALLED_PERCENT, stalledAtLimitText, stalledPercent } from '../memory/pressure.ts';
import { DROP_AND_COMPACT, STOP_LARGEST } from '../memory/remedies.ts';
import { SWAPPING_BYTES_PER_SECOND, swapExhausted, swapUse } from '../memory/swap.ts';
import type { AllocatorKind, MemoryModel, ProbeHeader, Snapshot } from '../types/index.ts';
import type { Refusal } from './context.ts';

/** The state of the machine before anything is allocated. */
export interface Conditions {
  snapshot: Snapshot;
  model: MemoryModel;
  kinds: readonly AllocatorKind[];
  floor: ProbeHeader['floor'];
  /** Recent swap traffic in both directions, bytes per second; null: cannot be read. */
  swapBytesPerSecond: number | null;
  acceptAFrozenMachine: boolean;
}

/** Why a run is not started. */
export type StartRefusal = Refusal<Refusal['cause'] | 'swap'>;

/** The first reason not to start, the most urgent before the others; null: none. */
export function unsafeCondition(conditions: Conditions): StartRefusal | null {
  const { acceptAFrozenMachine, floor } = conditions;
  // A probe that takes no host memory cannot harm the host.
  if (floor === null) return null;
  const below = belowFloor(conditions.snapshot, floor);
  if (below !== null || acceptAFrozenMachine) return below;
  return underPressure(conditions.snapshot) ?? swapping(conditions) ?? fragmented(conditions);
}

/** The error for an unsafe condition. Its code is always ERR_UMA_FLOOR; `nativeName` names the cause. */
export function refusalError(command: string, { cause, sentence }: StartRefusal): UmaError {
  return new UmaError('ERR_UMA_FLOOR', {
    source: 'umaprobe',
    call: command,
    status: null,
    name: `REFUSED_${cause.toUpperCase()}`,
    message: `not started: ${sentence}`,
  });
}

function belowFloor({ host }: Snapshot, floor: { bytes: number; from: string }): StartRefusal | null {
  const { available } = host;
  if (available === null)
    return {
      cause: 'floor',
      sentence: 'MemAvailable cannot be read, so nothing would keep the host from running out of memory',
    };
  if (available - unpinnable(host).afterReclaim > floor.bytes + stepMargin(floor.bytes) + PROGRAM_BYTES) return null;
  return {
    cause: 'floor',
    sentence:
      `MemAvailable is ${formatBoth(available)} and the floor is ${formatBoth(floor.bytes)} (${floor.from}): too little memory to test with. ` +
      'End the programs that hold the memory (umaprobe snapshot lists them), or set a lower floor',
  };
}

/** A spike is no danger in itself, but a probe that fills memory must not be what makes a stall of it. */
function underPressure(snapshot: Snapshot): StartRefusal | null {
  const percent = stalledPercent(snapshot.pressure);
  if (percent === null) return null;
  const { state, text } = judgePressure(snapshot);
  return {
    cause: 'pressure',
    sentence:
      state === 'stalled'
        ? `${text}. ${capitalized(STOP_LARGEST)}, wait until umaprobe doctor passes, and try again`
        : `${stalledAtLimitText(percent, STALLED_PERCENT)}. Wait until it is over (umaprobe watch), and try again. ${capitalized(STOP_LARGEST)} if it does not end`,
  };
}

function swapping({ snapshot, swapBytesPerSecond }: Conditions): StartRefusal | null {
  if (swapBytesPerSecond !== null && swapBytesPerSecond >= SWAPPING_BYTES_PER_SECOND) {
    return {
      cause: 'swap',
      sentence: `${formatBytes(swapBytesPerSecond)} per second move between memory and swap (limit ${formatBytes(SWAPPING_BYTES_PER_SECOND)}): this machine is already short of memory. Wait until the swap traffic stops (umaprobe watch)`,
    };
  }
  const { available } = snapshot.host;
  const swap = swapUse(snapshot.host);
  if (swap === null || !swapExhausted(snapshot.host)) return null;
  return {
    cause: 'swap',
    sentence: `${formatBytes(swap.used)} of ${formatBytes(swap.total)} swap are used and only ${formatBoth(available)} are available: nothing more can be swapped out. End the programs that were swapped out, or run swapoff and swapon when enough memory is free`,
  };
}

function fragmented({ kinds, model, snapshot }: Conditions): StartRefusal | null {
  if (snapshot.contiguity === null) return null;
  const eager = kinds.filter((kind) => needsLargeBlocks(kind, model));
  if (eager.length === 0) return null;
  const gate = readGate(snapshot, snapshot.contiguity);
  if (missingBlocks(snapshot, gate) === 0) return null;
  return {
    cause: 'contiguity',
    sentence:
      `free memory is fragmented: ${gate.blocks} × ${formatBlockSize(GATE_BLOCK)} in large blocks where ${gate.needBlocks} are needed, with ${formatBoth(gate.available)} available. ` +
      `Allocating ${eager.join(' and ')} memory would stall for minutes or fail. Run: ${DROP_AND_COMPACT}; if that does not help, reboot`,
  };
}
