/** The answer: how much a program can load, in a few words. */

import { formatBoth } from '../base/format.ts';
import type { Snapshot } from '../types/index.ts';
import { contextFailure } from './device-health.ts';
import { headroom, ownHeadrooms, unifiedDevice } from './headroom.ts';

/**
 * "60.0 GiB can be loaded on the GPU": what is safe on the unified device, else on the fullest GPU with its own memory;
 * null: unknown.
 */
export function room(snapshot: Snapshot, format: (bytes: number | null) => string): string | null {
  const shared = unifiedDevice(snapshot)?.allocatable.safe ?? null;
  if (shared !== null) return `${format(shared)} can be loaded on the GPU`;
  const gpus = ownHeadrooms(snapshot);
  const [fullest] = gpus;
  if (fullest === undefined) return null;
  const gpu = snapshot.devices.length === 1 && fullest.device.index === 0 ? 'the GPU' : `GPU ${fullest.device.index}`;
  const others = gpus.length > 1 ? `, the fullest of ${gpus.length}` : '';
  const { safe } = fullest.device.allocatable;
  return `${format(safe ?? fullest.bytes)} can be ${safe === null ? 'allocated' : 'loaded'} on ${gpu}${others}`;
}

/** What can be loaded on the unified device, else on the fullest GPU with its own memory, in bytes; null: unknown. */
export function safeBytes(snapshot: Snapshot): number | null {
  const device = unifiedDevice(snapshot) ?? ownHeadrooms(snapshot)[0]?.device;
  return device?.allocatable.safe ?? null;
}

/** The first line of a picture: "103.88 GiB (111.54 GB) can be loaded on the GPU". */
export function answer(snapshot: Snapshot, format: (bytes: number | null) => string = formatBoth): string {
  if (snapshot.devices.length === 0)
    return `${format(headroom(snapshot).afterReclaim)} of this machine's memory can be used`;
  if (headroom(snapshot).safe === 0) return 'Nothing more should be loaded on the GPU';
  // A number that is not safe is no answer: CUDA may fail, or it may be the host's memory.
  const safe = snapshot.devices.filter(({ allocatable }) => allocatable.safe !== null);
  const known = safe.length === 0 ? null : room({ ...snapshot, devices: safe }, format);
  if (known !== null) return known;
  const refused = snapshot.devices.every((device) => contextFailure(device) !== undefined);
  return refused ? 'No program can load anything on the GPU now' : 'How much can be loaded on the GPU is not known';
}
