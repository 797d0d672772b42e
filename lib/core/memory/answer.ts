/** The answer in a few words: how much a program can load, and on which GPU. */

import { formatBoth } from '../../base/format.ts';
import type { DeviceSnapshot, Reading } from '../../types/index.ts';
import { contextFailure } from './device-health.ts';
import { headroom, type OwnHeadroom, unifiedDevice, visibleHeadrooms } from './headroom.ts';
import { hidesAll } from './visibility.ts';

/**
 * The GPU that an answer about the machine is about: the GPU that shares the host's memory, else the fullest that
 * programs find and on which something can be loaded.
 */
export function answeredDevice(snapshot: Reading): DeviceSnapshot | undefined {
  return unifiedDevice(snapshot) ?? answeredHeadroom(snapshot)?.device ?? snapshot.devices[0];
}

function answeredHeadroom(snapshot: Reading): OwnHeadroom | undefined {
  const gpus = visibleHeadrooms(snapshot);
  return gpus.find(({ device }) => device.allocatable.safe !== 0) ?? gpus[0];
}

/**
 * "60.0 GiB can be loaded on the GPU": the safe amount of the unified device, else on the answered GPU with its own
 * memory; null: unknown.
 */
function room(snapshot: Reading, format: (bytes: number | null) => string): string | null {
  const unified = unifiedDevice(snapshot);
  const shared = unified?.allocatable.safe ?? null;
  if (unified !== undefined && shared !== null)
    return `${format(shared)} can be loaded on ${gpuName(unified, snapshot)}`;
  const answered = answeredHeadroom(snapshot);
  if (answered === undefined) return null;
  const loaded = format(answered.device.allocatable.safe ?? answered.bytes);
  const verb = answered.device.allocatable.safe === null ? 'allocated' : 'loaded';
  return `${loaded} can be ${verb} on ${whichGpus(answered, snapshot, format)}`;
}

/** true: `room` has an answer. */
export function isRoomKnown(snapshot: Reading): boolean {
  return (unifiedDevice(snapshot)?.allocatable.safe ?? null) !== null || answeredHeadroom(snapshot) !== undefined;
}

/** "GPU 1, the fullest of 2", or "each of 2 GPUs" where the numbers look alike. */
function whichGpus(
  { bytes, device }: OwnHeadroom,
  snapshot: Reading,
  format: (bytes: number | null) => string,
): string {
  const gpus = visibleHeadrooms(snapshot);
  const name = gpuName(device, snapshot);
  if (gpus.length === 1) return name;
  const loaded = format(device.allocatable.safe ?? bytes);
  if (gpus.every((gpu) => format(gpu.device.allocatable.safe ?? gpu.bytes) === loaded))
    return `each of ${gpus.length} GPUs`;
  const full = gpus.filter((gpu) => gpu.device.allocatable.safe === 0).map((gpu) => gpu.device.index);
  return `${name}, ${full.length === 0 ? `the fullest of ${gpus.length}` : `nothing more on GPU ${full.join(', ')}`}`;
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
