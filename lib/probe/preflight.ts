/** The machine before anything is allocated: read, judged, and refused where it is not safe. */

import { UmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import { formatBoth, formatBytes, formatPercent, MiB } from '../base/format.ts';
import { parseVmstat } from '../host/procfs.ts';
import { missingBlocks, readGate } from '../memory/contiguity.ts';
import { floorFor } from '../memory/floor.ts';
import { STALLED_PERCENT } from '../memory/pressure.ts';
import { DROP_AND_COMPACT } from '../memory/remedies.ts';
import { native } from '../native/binding.ts';
import { takeSnapshot } from '../snapshot/take.ts';
import type {
  AllocatorKind,
  DeviceSnapshot,
  LibraryStatus,
  MemoryModel,
  ProbeHeader,
  Snapshot,
} from '../types/index.ts';
import type { ProbePlan } from './plan.ts';

/** A library that does not answer within this is no ground to test on. */
const SNAPSHOT = { memGetInfo: 'never', deadlineMs: 5_000, childDeadlineMs: 5_000 } as const;
/** What moves in less time than this says little about a rate. */
const SWAP_SAMPLE_MS = 100;

export interface SafeGround {
  snapshot: Snapshot;
  device: DeviceSnapshot;
  floor: ProbeHeader['floor'];
}

/** @throws UmaError `ERR_UMA_FLOOR` where it is not safe to start, or the code for why there is no such device. */
export async function readGround(plan: Pick<ProbePlan<unknown, unknown>, 'command' | 'kinds' | 'options'>) {
  const { command, kinds, options } = plan;
  const swap = swapMeter();
  const [snapshot] = await Promise.all([takeSnapshot(SNAPSHOT), new Promise((r) => setTimeout(r, SWAP_SAMPLE_MS))]);
  const device = deviceOf(snapshot, options.device, command);
  const model = device.memoryModel;
  const floor = floorFor(options.floor, { total: snapshot.host.total, model }, kinds);
  const found = danger({
    snapshot,
    model,
    kinds,
    floor,
    swapBytesPerSecond: swap(),
    acceptAFrozenMachine: options.acceptAFrozenMachine,
  });
  if (found !== null) throw refusal(command, found);
  return { snapshot, device, floor } satisfies SafeGround;
}

/** Bytes a second between memory and swap since it was made; null: the kernel does not say. */
function swapMeter(): () => number | null {
  const binding = native();
  const pages = (): number | null => {
    const [text] = binding.readFiles(['/proc/vmstat']);
    if (text === undefined || isFailure(text)) return null;
    const [moved = null, out = null] = parseVmstat(text, ['pswpin', 'pswpout']);
    return moved === null || out === null ? null : moved + out;
  };
  const before = pages();
  const from = performance.now();
  return () => {
    const after = pages();
    if (before === null || after === null) return null;
    return ((after - before) * binding.pageSize() * 1000) / (performance.now() - from);
  };
}

function deviceOf(snapshot: Snapshot, ordinal: number, command: string): DeviceSnapshot {
  const device = snapshot.devices.find(({ cudaIndex }) => cudaIndex === ordinal);
  if (device !== undefined) return device;
  const { cuda } = snapshot.libraries;
  const facts = { source: 'umaprobe', call: command, status: null, name: 'NO_DEVICE' } as const;
  if (cuda.state === 'loaded') {
    const count = snapshot.devices.filter(({ cudaIndex }) => cudaIndex !== null).length;
    const message = `there is no CUDA device ${ordinal}; this machine has ${count}`;
    throw new UmaError('ERR_UMA_NO_DEVICE', { ...facts, message });
  }
  const message = `no GPU that can be used: ${unusableWords(cuda)}`;
  // What each library that was tried has said is long, and for whoever looks for it: the error's cause.
  throw new UmaError(
    CODES[cuda.state],
    { ...facts, message },
    { cause: new Error(cuda.reason ?? 'no reason was given') },
  );
}

/** One reason, without paths and codes: "CUDA driver version is insufficient for CUDA runtime version". */
export function unusableWords({ reason, state }: Pick<LibraryStatus, 'reason' | 'state'>): string {
  if (state === 'missing') return 'neither the CUDA runtime nor the driver’s libcuda.so.1 is installed';
  if (state === 'timeout') return 'CUDA does not answer';
  const [first = ''] = (reason ?? '').split('; ');
  return first.replace(/^ERR_UMA_\w+: /, '') || 'CUDA gives no reason';
}

const CODES = {
  missing: 'ERR_UMA_LIBRARY_MISSING',
  unusable: 'ERR_UMA_DRIVER_UNUSABLE',
  timeout: 'ERR_UMA_TIMEOUT',
} as const;

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
