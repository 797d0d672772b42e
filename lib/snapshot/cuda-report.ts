/** The CUDA reading of a snapshot. What does not change while the process lives is converted to JavaScript once. */

import type { NativeBinding, NativeCudaDevice, NativeCudaReport } from '../native/contract.ts';

interface Identities {
  /** The number of their reading. */
  number: number;
  /** Names, ids and attributes, by ordinal. */
  devices: NativeCudaDevice[];
}
const known = new WeakMap<NativeBinding, Identities>();

/** `readCuda` of the binary, with names, ids and attributes from the last reading that had them, while they are valid. */
export async function readCudaReport(
  binding: NativeBinding,
  memGetInfo: 0 | 1 | 2,
  deadlineMs: number,
): Promise<NativeCudaReport> {
  const before = known.get(binding);
  const report = await binding.readCuda(memGetInfo, deadlineMs, before?.number ?? 0);
  if (report.identities === 0) return report;
  if (report.identities === before?.number) {
    const devices = report.devices.map((device, ordinal) => ({ ...before.devices[ordinal], ...device }));
    return { ...report, devices };
  }
  const devices = report.devices.map(({ contextActive: _, memGetInfo: __, ...identity }) => identity);
  known.set(binding, { number: report.identities, devices });
  return report;
}
