/** The CUDA attributes of a device, with their sources. */

import type { Provenance } from '../../base/facts.ts';
import { DEVICE_ATTRIBUTES } from '../../types/device.ts';
import type { DeviceAttribute, DeviceSnapshot } from '../../types/index.ts';
import type { NativeCudaDevice } from '../native/contract.ts';

/** @param absent why `attributes` is undefined, or lacks one: CUDA did not read it. */
export function deviceAttributes(
  attributes: NativeCudaDevice['attributes'],
  provenance: Provenance,
  absent: string,
): DeviceSnapshot['attributes'] {
  const values: DeviceSnapshot['attributes'] = { ...NOTHING };
  for (const [name, path] of PATHS)
    values[name] = provenance.read(path, attributes?.[name], 'CUDA device attribute', absent);
  return values;
}

const PATHS = DEVICE_ATTRIBUTES.map((name) => [name, `attributes.${name}`] as const);
const NOTHING = Object.fromEntries(DEVICE_ATTRIBUTES.map((name) => [name, null])) as Record<DeviceAttribute, null>;
