/** The machine before anything is allocated: read, judged, and refused where it is not safe. */

import { UmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import { parseVmstat } from '../host/procfs.ts';
import { floorFor } from '../memory/floor.ts';
import { native } from '../native/binding.ts';
import { takeSnapshot } from '../snapshot/take.ts';
import type { DeviceSnapshot, LibraryStatus, ProbeHeader, Snapshot } from '../types/index.ts';
import type { ProbePlan } from './plan.ts';
import { danger, refusal } from './safety.ts';

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
