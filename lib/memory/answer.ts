/** The answer in a few words: how much a program can load, and on which GPU. */

import { formatBoth } from '../base/format.ts';
import type { DeviceSnapshot, Reading } from '../types/index.ts';
import { contextFailure } from './device-health.ts';
import { headroom, type OwnHeadroom, unifiedDevice, visibleHeadrooms } from './headroom.ts';
import { hidesAll } from './visibility.ts';

/**
 * The GPU that an answer about the machine is about: the one that shares the host's memory, else the fullest that programs
 * find and on which something can be loaded.
 */
export function answeredDevice(snapshot: Reading): DeviceSnapshot | undefined {
  return unifiedDevice(snapshot) ?? answeredHeadroom(snapshot)?.device ?? snapshot.devices[0];
}

function answeredHeadroom(snapshot: Reading): OwnHeadroom | undefined {
  const gpus = visibleHeadrooms(snapshot);
  return gpus.find(({ device }) => device.allocatable.safe !== 0) ?? gpus[0];
}

/**
 * "60.0 GiB can be loaded on the GPU": what is safe on the unified device, else on the answered GPU with its own memory;
 * null: unknown.
 */
export function room(snapshot: Reading, format: (bytes: number | null) => string): string | null {
  const unified = unifiedDevice(snapshot);
  const shared = unified?.allocatable.safe ?? null;
  if (unified !== undefined && shared !== null)
    return `${format(shared)} can be loaded on ${gpuName(unified, snapshot)}`;
  const answered = answeredHeadroom(snapshot);
  if (answered === undefined) return null;
  const gpus = visibleHeadrooms(snapshot);
  const { device } = answered;
  const gpu = gpuName(device, snapshot);
  const full = gpus.filter(({ device: { allocatable } }) => allocatable.safe === 0).map((other) => other.device.index);
  const rest = full.length === 0 ? `, the fullest of ${gpus.length}` : `, nothing more on GPU ${full.join(', ')}`;
  const { safe } = device.allocatable;
  return `${format(safe ?? answered.bytes)} can be ${safe === null ? 'allocated' : 'loaded'} on ${gpu}${gpus.length > 1 ? rest : ''}`;
}

/** "the GPU" where there is one, else "GPU 1". */
function gpuName({ index }: DeviceSnapshot, { devices }: Reading): string {
  return devices.length === 1 && index === 0 ? 'the GPU' : `GPU ${index}`;
}

/** The first line of a picture: "103.88 GiB (111.54 GB) can be loaded on the GPU". */
export function answer(snapshot: Reading, format: (bytes: number | null) => string = formatBoth): string {
  if (snapshot.devices.length === 0)
    return `${format(headroom(snapshot).afterReclaim)} of this machine's memory can be used`;
  if (hidesAll(snapshot)) return 'No program that is started here can load anything on the GPU';
  const answered = answeredDevice(snapshot);
  if (answered?.allocatable.safe === 0) {
    const where = answered.memoryModel === 'unified' ? gpuName(answered, snapshot) : 'the GPU';
    return `Nothing more should be loaded on ${where}`;
  }
  // A number that is not safe is no answer: CUDA may fail, or it may be the host's memory.
  const safe = snapshot.devices.filter(({ allocatable }) => allocatable.safe !== null);
  const known = safe.length === 0 ? null : room({ ...snapshot, devices: safe }, format);
  if (known !== null) return known;
  const refused = snapshot.devices.every((device) => contextFailure(device) !== undefined);
  return refused ? 'No program can load anything on the GPU now' : 'How much can be loaded on the GPU is not known';
}
