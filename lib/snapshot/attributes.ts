/** The CUDA attributes of a device, with their sources. */

import { Provenance } from '../base/facts.ts';
import type { NativeCudaDevice } from '../native/contract.ts';
import type { DeviceAttribute, DeviceSnapshot } from '../types/index.ts';

export const DEVICE_ATTRIBUTES = [
  'integrated',
  'managedMemory',
  'concurrentManagedAccess',
  'pageableMemoryAccess',
  'pageableMemoryAccessUsesHostPageTables',
  'directManagedMemAccessFromHost',
  'hostRegisterSupported',
  'hostRegisterReadOnlySupported',
  'canMapHostMemory',
  'unifiedAddressing',
  'memoryPoolsSupported',
  'gpuDirectRdmaSupported',
  'dmaBufSupported',
  'l2CacheSize',
  'multiProcessorCount',
  'globalMemoryBusWidth',
  'memoryClockRateKHz',
  'clockRateKHz',
  'asyncEngineCount',
  'hostNumaId',
  'totalGlobalMem',
] as const satisfies readonly DeviceAttribute[];

type Attributes = NonNullable<NativeCudaDevice['attributes']>;
interface Reading {
  values: DeviceSnapshot['attributes'];
  sources: Record<string, string>;
}
/** Readings by the object that the binary returned: a device's attributes never change, and there are many. */
const readings = new WeakMap<Attributes, Reading>();

/** @param absent why `attributes` is undefined: CUDA did not read them. */
export function deviceAttributes(
  attributes: Attributes | undefined,
  provenance: Provenance,
  absent: string,
): DeviceSnapshot['attributes'] {
  if (attributes === undefined) return readAttributes({}, provenance, absent);
  let reading = readings.get(attributes);
  if (reading === undefined) {
    const own = new Provenance();
    const values = readAttributes(attributes, own, absent);
    // V8 copies an object that grew key by key in 6 µs, and one that was made at once in 1.
    reading = { values, sources: Object.fromEntries(Object.entries(own.sources)) };
    // An attribute that was not read before the deadline is missing, and `absent` says why this time.
    if (DEVICE_ATTRIBUTES.every((name) => attributes[name] !== undefined)) readings.set(attributes, reading);
  }
  Object.assign(provenance.sources, reading.sources);
  return { ...reading.values };
}

function readAttributes(attributes: Attributes, provenance: Provenance, absent: string): DeviceSnapshot['attributes'] {
  const values = DEVICE_ATTRIBUTES.map((name) => [
    name,
    provenance.read(`attributes.${name}`, attributes[name], 'CUDA device attribute', absent),
  ]);
  return Object.fromEntries(values) as DeviceSnapshot['attributes'];
}
