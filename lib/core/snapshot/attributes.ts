/** The CUDA attributes of a device, with their sources. */

import type { Provenance } from '../../base/facts.ts';
import { DEVICE_ATTRIBUTES } from '../../types/device.ts';
import type { DeviceSnapshot } from '../../types/index.ts';
import type { NativeCudaDevice } from '../native/contract.ts';

/** @param absent why `attributes` is undefined, or lacks one: CUDA did not read it. */
export function deviceAttributes(
  attributes: NativeCudaDevice['attributes'],
  provenance: Provenance,
  absent: string,
): DeviceSnapshot['attributes'] {
  const values = DEVICE_ATTRIBUTES.map((name) => [
    name,
    provenance.read(`attributes.${name}`, attributes?.[name], 'CUDA device attribute', absent),
  ]);
  return Object.fromEntries(values) as DeviceSnapshot['attributes'];
}
