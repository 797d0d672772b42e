/** Reads the machine before anything is allocated, and refuses to start on one that is not safe. */

import { abortable } from '../../base/abort.ts';
import { UmaError } from '../../base/errors.ts';
import { capitalized } from '../../base/format.ts';
import { SYNC_LIMIT_MS } from '../../base/limits.ts';
import type { DeviceSnapshot, LibraryStatus, Snapshot } from '../../types/index.ts';
import { SWAP_SAMPLE_MS, swapMeter } from '../host/swap-rate.ts';
import { goneGpus } from '../memory/device-health.ts';
import { answerText, meaningOf } from '../memory/driver-status.ts';
import { checkBelowTotal, probeFloor } from '../memory/floor.ts';
import { unifiedDevice } from '../memory/headroom.ts';
import { liesOnDevice } from '../memory/kinds.ts';
import { floorWithShare, shareFor } from '../memory/others.ts';
import { invisibleDevices, mayHideAll, variableText } from '../memory/visibility.ts';
import { native } from '../native/binding.ts';
import { snapshot as takeSnapshot } from '../snapshot/index.ts';
import { refusalError, unsafeCondition } from './conditions.ts';
import type { Baseline, ProbeSpec } from './spec.ts';

/** A library that needs longer than this is not tested. */
const SNAPSHOT = { memGetInfo: 'never', deadlineMs: 5_000, childDeadlineMs: 5_000 } as const;

/** The part of the baseline that is read from the machine. */
export type PreflightResult = Pick<Baseline, 'snapshot' | 'device' | 'floor' | 'others' | 'share'>;

/** Facts that decide whether a run may start. */
type PlannedRun = Pick<ProbeSpec<unknown, unknown>, 'command' | 'kinds' | 'options' | 'share'>;

/** @throws UmaError `ERR_UMA_FLOOR` if it is not safe to start, or the code why the device cannot be used. */
export async function preflight(spec: PlannedRun): Promise<PreflightResult> {
  const found = await read(spec);
  return (await writeDirtyPages(found, spec.options)) ? read(spec) : found;
}

async function read(spec: PlannedRun): Promise<PreflightResult> {
  const { command, kinds, options } = spec;
  const swapRate = await swapMeter(native());
  const [snapshot] = await Promise.all([takeSnapshot(SNAPSHOT), new Promise((r) => setTimeout(r, SWAP_SAMPLE_MS))]);
  const device = findDevice(snapshot, options.device ?? unifiedDevice(snapshot)?.cudaIndex ?? 0, command);
  const model = device.memoryModel;
  const { others } = device;
  const takesTheirs = model === 'unified' || kinds.some(liesOnDevice);
  const share = spec.share === undefined || !takesTheirs ? null : shareFor(spec.share.requested, others);
  const own = probeFloor(options.floorBytes ?? null, { total: snapshot.host.total, model }, kinds);
  if (own !== null) checkBelowTotal('floorBytes (--floor)', options.floorBytes, snapshot.host.total);
  const floor = own === null || model !== 'unified' ? own : floorWithShare(own, share);
  const unsafe = unsafeCondition({
    facts: { snapshot, swapBytesPerSecond: await swapRate() },
    floor,
    acceptAFrozenMachine: options.acceptAFrozenMachine,
  });
  if (unsafe !== null) throw refusalError(command, unsafe);
  return { snapshot, device, floor, others, share };
}

/**
 * Writes dirty pages before a run that takes host memory, if so many that the allocations would wait for the disk (the
 * row `cache.dirty`): the run would measure that disk, and stop by the pressure of it. An abort ends the wait.
 */
async function writeDirtyPages(
  { floor, snapshot }: PreflightResult,
  { onEvent, signal }: PlannedRun['options'],
): Promise<boolean> {
  const { dirty } = snapshot.host;
  const isDirty = snapshot.judgement.findings.some(({ id }) => id === 'cache.dirty');
  if (floor === null || !isDirty || dirty === null || signal?.aborted === true) return false;
  await onEvent?.({ type: 'writing', dirtyBytes: dirty });
  await abortable(signal ?? undefined, () => native().syncAll(SYNC_LIMIT_MS)).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
  return true;
}

const UNUSABLE_CODES = {
  missing: 'ERR_UMA_LIBRARY_MISSING',
  unusable: 'ERR_UMA_DRIVER_UNUSABLE',
  timeout: 'ERR_UMA_TIMEOUT',
} as const;

function findDevice(snapshot: Snapshot, ordinal: number, command: string): DeviceSnapshot {
  const device = snapshot.devices.find(({ cudaIndex }) => cudaIndex === ordinal);
  const gone = goneGpus(device === undefined ? snapshot : { ...snapshot, devices: [device] });
  if (device !== undefined && gone === null) return device;
  if (gone !== null) {
    const lost = { source: 'umaprobe', call: command, status: null, name: 'DEVICE_LOST' } as const;
    const next = gone.next === null ? '' : ` ${capitalized(gone.next)}`;
    throw new UmaError('ERR_UMA_DEVICE_LOST', { ...lost, message: `not started: ${gone.text}${next}` });
  }
  const { cuda } = snapshot.libraries;
  const facts = { source: 'umaprobe', call: command, status: null, name: 'NO_DEVICE' } as const;
  if (cuda.state === 'loaded') {
    const count = snapshot.devices.filter(({ cudaIndex }) => cudaIndex !== null).length;
    const message = `there is no CUDA device ${ordinal}; ${seenText(snapshot, count)}`;
    throw new UmaError('ERR_UMA_NO_DEVICE', { ...facts, message });
  }
  const variable = mayHideAll(snapshot) ? ` (${variableText(snapshot)} may hide some)` : '';
  const message = `no usable GPU: ${unusableReason(cuda)}${variable}`;
  // The answers of all libraries that were tried are long; they are in the error's cause.
  throw new UmaError(
    UNUSABLE_CODES[cuda.state],
    { ...facts, message },
    { cause: new Error(cuda.reason ?? 'no reason was given') },
  );
}

function seenText(snapshot: Snapshot, count: number): string {
  const invisible = invisibleDevices(snapshot).length;
  if (snapshot.cudaVisibleDevices === null || invisible === 0) return `this machine has ${count}`;
  return `CUDA sees ${count} of the ${snapshot.devices.length} GPUs of this machine: ${variableText(snapshot)}`;
}

/** One reason, without paths and codes, and what to do: "the driver sees no GPU (cuInit answered …, 100). Check …". */
export function unusableReason(library: Pick<LibraryStatus, 'failure' | 'reason' | 'state'>): string {
  const { failure, reason, state } = library;
  if (state === 'missing') return 'neither the CUDA runtime nor the driver’s libcuda.so.1 is installed';
  if (state === 'timeout') return 'CUDA does not answer';
  if (failure !== null) {
    const { cause, remedy } = meaningOf(failure);
    return `${cause} (${answerText(failure)}). ${capitalized(remedy)}`;
  }
  const [first = ''] = (reason ?? '').split('; ');
  return first.replace(/^ERR_UMA_\w+: /, '') || 'CUDA gives no reason';
}
