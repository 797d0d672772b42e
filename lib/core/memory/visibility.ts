/** Effect of CUDA_VISIBLE_DEVICES on the machine's GPUs: which it hides, and why a value hides more than was meant. */

import { clean } from '../../base/format.ts';
import type { DeviceSnapshot, Reading } from '../../types/index.ts';

type Visibility = Pick<Reading, 'cudaVisibleDevices' | 'devices' | 'libraries'>;

/** `CUDA_VISIBLE_DEVICES="0,9"`; '' if it is not set. */
export function variableText({ cudaVisibleDevices }: Pick<Reading, 'cudaVisibleDevices'>): string {
  return cudaVisibleDevices === null ? '' : `CUDA_VISIBLE_DEVICES=${clean(JSON.stringify(cudaVisibleDevices))}`;
}

/** Devices that CUDA in this process does not list although it works. */
export function invisibleDevices({ devices }: Pick<Reading, 'devices'>): DeviceSnapshot[] {
  return devices.filter(({ visible }) => visible === false);
}

/** True if the variable hides every GPU of the machine. CUDA then works and answers that there is none. */
export function hidesAll(snapshot: Visibility): boolean {
  const { cudaVisibleDevices, devices, libraries } = snapshot;
  return (
    cudaVisibleDevices !== null &&
    libraries.cuda.state === 'loaded' &&
    devices.length > 0 &&
    invisibleDevices(snapshot).length === devices.length
  );
}

/** No device is known, and CUDA was not asked without the variable, which may hide all of them. */
export function mayHideAll({ cudaVisibleDevices, devices, libraries }: Visibility): boolean {
  return cudaVisibleDevices !== null && devices.length === 0 && /ERR_UMA_NO_DEVICE/.test(libraries.cuda.reason ?? '');
}

/**
 * The first entry that names no device, or one that an earlier entry has named, and what CUDA makes of it. null: every
 * entry names a device, or cannot be judged (MIG), or ends the list on purpose ("-1").
 */
export function misleadingEntry({ cudaVisibleDevices, devices }: Visibility): string | null {
  if (cudaVisibleDevices === null || cudaVisibleDevices.trim() === '') return null;
  const named = new Set<unknown>();
  for (const entry of cudaVisibleDevices.split(',').map((text) => text.trim())) {
    const quoted = clean(JSON.stringify(entry));
    if (entry.startsWith('-') || entry.startsWith('MIG-')) return null;
    const found = devicesNamed(entry, devices);
    const [device] = found;
    if (found.length !== 1) {
      const which = found.length === 0 ? 'no GPU of this machine' : `${found.length} GPUs of this machine`;
      return `${quoted} names ${which}: CUDA ignores it and every entry after it`;
    }
    if (named.has(device)) return `${quoted} names a GPU that the list has already: CUDA then shows none`;
    named.add(device);
  }
  return null;
}

/** Devices by index or the first characters of a UUID. CUDA's order is not known here: an index stands for itself. */
function devicesNamed(entry: string, devices: readonly DeviceSnapshot[]): (number | string | null)[] {
  if (/^\d+$/.test(entry)) return Number(entry) < devices.length ? [Number(entry)] : [];
  if (!entry.startsWith('GPU-')) return [];
  return devices.map(({ uuid }) => uuid).filter((uuid) => uuid?.startsWith(entry));
}
