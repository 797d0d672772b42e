/** Pairs the devices of CUDA with those of NVML: the same GPU has the same PCI address in both lists. */

import type { NativeCudaDevice, NativeNvmlDevice } from '../native/contract.ts';

/** A device as CUDA and NVML see it; null: that library does not list it. */
export interface DevicePair {
  cuda: NativeCudaDevice | null;
  nvml: NativeNvmlDevice | null;
  /** `cuda` comes from a process without CUDA_VISIBLE_DEVICES, which hides the device from this one. */
  hidden?: true;
}

/** Whether both describe one GPU, by its PCI address, else by its UUID. */
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
  for (const device of unpaired) pairs.push({ cuda: null, nvml: device });
  return pairs;
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
