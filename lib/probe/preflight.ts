/** The machine before anything is allocated: read, judged, and refused where it is not safe. */

import { UmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import { formatBoth, formatBytes, MiB } from '../base/format.ts';
import { parseVmstat } from '../host/procfs.ts';
import { missingBlocks, readGate } from '../memory/contiguity.ts';
import { floorFor } from '../memory/floor.ts';
import { needsLargeBlocks } from '../memory/kinds.ts';
import { FREEZE_BEGINS, STALLED_PERCENT, stalledPercent, stalledText } from '../memory/pressure.ts';
import { DROP_AND_COMPACT } from '../memory/remedies.ts';
import { SWAPPING_BYTES_PER_SECOND, swapUse } from '../memory/swap.ts';
import { native } from '../native/binding.ts';
import { snapshot as takeSnapshot } from '../snapshot/index.ts';
import type {
  AllocatorKind,
  DeviceSnapshot,
  LibraryStatus,
  MemoryModel,
  ProbeHeader,
  Snapshot,
} from '../types/index.ts';
import type { ProbeSpec } from './spec.ts';

/** A library that does not answer within this is no ground to test on. */
const SNAPSHOT = { memGetInfo: 'never', deadlineMs: 5_000, childDeadlineMs: 5_000 } as const;
/** What moves in less time than this says little about a rate. */
const SWAP_SAMPLE_MS = 100;

export interface SafeBaseline {
  snapshot: Snapshot;
  device: DeviceSnapshot;
  floor: ProbeHeader['floor'];
}

/** @throws UmaError `ERR_UMA_FLOOR` where it is not safe to start, or the code for why there is no such device. */
export async function preflight(plan: Pick<ProbeSpec<unknown, unknown>, 'command' | 'kinds' | 'options'>) {
  const { command, kinds, options } = plan;
  const swap = swapMeter();
  const [snapshot] = await Promise.all([takeSnapshot(SNAPSHOT), new Promise((r) => setTimeout(r, SWAP_SAMPLE_MS))]);
  const device = deviceOf(snapshot, options.device, command);
  const model = device.memoryModel;
  const floor = floorFor(options.floor, { total: snapshot.host.total, model }, kinds);
  const found = unsafeCondition({
    snapshot,
    model,
    kinds,
    floor,
    swapBytesPerSecond: swap(),
    acceptAFrozenMachine: options.acceptAFrozenMachine,
  });
  if (found !== null) throw refusal(command, found);
  return { snapshot, device, floor } satisfies SafeBaseline;
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

export interface UnsafeCondition {
  what: 'floor' | 'pressure' | 'contiguity' | 'swap';
  /** The numbers, and what to do. */
  sentence: string;
}

/** Share of MemTotal. With more than this available, full swap is the trace of an earlier shortage. */
const LITTLE_AVAILABLE = 1 / 3;

/** What the first step and the child itself take. */
const ROOM_TO_BEGIN = 256 * MiB;

/** The first reason not to start, the most urgent before the others; null: none. */
export function unsafeCondition(conditions: Conditions): UnsafeCondition | null {
  const { acceptAFrozenMachine, floor } = conditions;
  // Where nothing is taken from the host, nothing can happen to it.
  if (floor === null) return null;
  const below = belowFloor(conditions.snapshot, floor);
  if (below !== null || acceptAFrozenMachine) return below;
  return underPressure(conditions.snapshot) ?? swapping(conditions) ?? fragmented(conditions);
}

function belowFloor({ host }: Snapshot, floor: { bytes: number; from: string }): UnsafeCondition | null {
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

function underPressure({ pressure }: Snapshot): UnsafeCondition | null {
  const percent = stalledPercent(pressure);
  if (percent === null) return null;
  return {
    what: 'pressure',
    sentence: `${stalledText(percent)} (PSI full, limit ${STALLED_PERCENT} %): ${FREEZE_BEGINS}. Stop the largest GPU process, wait until umaprobe doctor passes, and try again`,
  };
}

function swapping({ snapshot, swapBytesPerSecond }: Conditions): UnsafeCondition | null {
  if (swapBytesPerSecond !== null && swapBytesPerSecond >= SWAPPING_BYTES_PER_SECOND) {
    return {
      what: 'swap',
      sentence: `${formatBytes(swapBytesPerSecond)} a second move between memory and swap (limit ${formatBytes(SWAPPING_BYTES_PER_SECOND)}): this machine is short of memory already. Wait until it has come to rest (umaprobe watch)`,
    };
  }
  const { available, total } = snapshot.host;
  const swap = swapUse(snapshot.host);
  if (swap === null || available === null || !swap.full || available > total * LITTLE_AVAILABLE) return null;
  return {
    what: 'swap',
    sentence: `${formatBytes(swap.used)} of ${formatBytes(swap.total)} swap are used and only ${formatBoth(available)} available: nothing more can be moved out of the way. End what was pushed out, or swapoff and swapon when there is room`,
  };
}

function fragmented({ kinds, model, snapshot }: Conditions): UnsafeCondition | null {
  if (snapshot.contiguity === null) return null;
  const eager = kinds.filter((kind) => needsLargeBlocks(kind, model));
  if (eager.length === 0) return null;
  const gate = readGate(snapshot, snapshot.contiguity);
  if (missingBlocks(snapshot, gate) === 0) return null;
  return {
    what: 'contiguity',
    sentence:
      `free memory is fragmented: ${gate.blocks} × 32 MiB in large blocks where ${gate.needBlocks} are needed, with ${formatBoth(gate.available)} available. ` +
      `${eager.join(' and ')} memory would stall for minutes or fail. ${DROP_AND_COMPACT}; if that does not help, reboot`,
  };
}

/** The refusal as an error: code ERR_UMA_FLOOR whichever the reason, which is in `nativeName`. */
export function refusal(command: string, { sentence, what }: UnsafeCondition): UmaError {
  return new UmaError('ERR_UMA_FLOOR', {
    source: 'umaprobe',
    call: command,
    status: null,
    name: `REFUSED_${what.toUpperCase()}`,
    message: `not started: ${sentence}`,
  });
}
