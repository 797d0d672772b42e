/**
 * Pairs the devices of CUDA with those of NVML: the same GPU has the same PCI address in both lists. A lost GPU may
 * have none in one of them; then it is the device that is left over.
 */

import { isFailure } from '../../base/facts.ts';
import type { NativeCudaDevice, NativeNvmlDevice } from '../native/contract.ts';

/** A device as CUDA and NVML see it; null: that library does not list it. */
export interface DevicePair {
  cuda: NativeCudaDevice | null;
  nvml: NativeNvmlDevice | null;
  /** `cuda` comes from a process without CUDA_VISIBLE_DEVICES, which hides the device from this one. */
  hidden?: true;
  /** Set when neither PCI address nor UUID paired the two: where the NVML index comes from. */
  pairedBy?: string;
}

/** True if both describe one GPU, by its PCI address, else by its UUID. */
export function isSameGpu(
  a: NativeCudaDevice | NativeNvmlDevice,
  b: NativeCudaDevice | NativeNvmlDevice | null,
): boolean {
  if (b === null) return false;
  const address = addressOf(a);
  if (address !== null && addressOf(b) !== null) return address === addressOf(b);
  return typeof a.uuid === 'string' && a.uuid === b.uuid;
}

/** Devices that CUDA sees come first, in CUDA's order; then those that only NVML sees. */
export function pairDevices(cuda: NativeCudaDevice[], nvml: NativeNvmlDevice[]): DevicePair[] {
  const unpaired = new Set(nvml);
  const pairs: DevicePair[] = cuda.map((device) => {
    const address = addressOf(device);
    // A MIG GPU is one NVML device and several CUDA devices: each slice is paired with its GPU.
    const twin =
      nvml.find((candidate) => address !== null && addressOf(candidate) === address) ??
      nvml.find((candidate) => typeof candidate.uuid === 'string' && candidate.uuid === device.uuid);
    if (twin) unpaired.delete(twin);
    return { cuda: device, nvml: twin ?? null };
  });
  pairByElimination(pairs, unpaired);
  for (const device of unpaired) pairs.push({ cuda: null, nvml: device });
  return pairs;
}

/**
 * A GPU whose identity one library cannot read is the GPU that is left over in the other list. Nothing tells several of
 * them apart; that makes no difference if all gave the same answer: the number of GPUs is right, and the index is left
 * out.
 */
function pairByElimination(pairs: DevicePair[], unpaired: Set<NativeNvmlDevice>): void {
  const alone = pairs.filter((pair) => pair.nvml === null);
  const nameless = alone.filter(({ cuda }) => cuda !== null && isNameless(cuda));
  // A CUDA device with an address is none of the NVML devices that have another one.
  const left = nameless.length === 0 ? [...unpaired].filter(isNameless) : [...unpaired];
  const [first] = left;
  if (first === undefined || alone.length === 0 || left.length < alone.length) return;
  const certain = left.length === 1;
  const sameInNvml = left.every((device) => isNameless(device) && answerOf(device) === answerOf(first));
  const sameInCuda = nameless.length === left.length && new Set(nameless.map(({ cuda }) => answerOf(cuda))).size === 1;
  if (!certain && !sameInNvml && !sameInCuda) return;
  for (const [at, pair] of alone.entries()) {
    const twin = left[at] ?? first;
    unpaired.delete(twin);
    pair.nvml = certain || !sameInNvml ? twin : without(twin, 'index');
    if (!certain && !sameInNvml && pair.cuda !== null) pair.cuda = without(pair.cuda, 'ordinal');
    pair.pairedBy = certain
      ? 'by elimination: the only GPU that is left over in both lists'
      : 'not known which: several GPUs cannot be identified, and the answer for each is the same';
  }
}

function without<T extends object, K extends keyof T>(object: T, key: K): Omit<T, K> {
  const { [key]: _, ...rest } = object;
  return rest;
}

/**
 * True if neither address nor UUID could be read in time. A device whose address was read and is not found elsewhere is
 * another one.
 */
function isNameless({ pciBusId, uuid }: NativeCudaDevice | NativeNvmlDevice): boolean {
  return typeof pciBusId !== 'string' && typeof uuid !== 'string';
}

function answerOf(device: NativeCudaDevice | NativeNvmlDevice | null): string {
  const pciBusId = device?.pciBusId;
  return isFailure(pciBusId) ? `${pciBusId.call} ${pciBusId.status} ${pciBusId.name}` : '';
}

function addressOf({ pciBusId }: NativeCudaDevice | NativeNvmlDevice): string | null {
  return typeof pciBusId === 'string' ? normalPciBusId(pciBusId) : null;
}

/** "000F:01:00.0", from NVML's "0000000F:01:00.0" and CUDA's "000f:01:00.0". */
export function normalPciBusId(id: string): string {
  const match = /^([0-9a-f]+):([0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])$/i.exec(id.trim());
  if (match === null) return id;
  return `${(match[1] as string).replace(/^0+/, '').padStart(4, '0')}:${match[2]}`.toUpperCase();
}
