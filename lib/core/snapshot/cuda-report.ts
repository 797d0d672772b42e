/** The CUDA reading of a snapshot. Facts that last as long as the process are converted to JavaScript once. */

import type { NativeBinding, NativeCudaDevice, NativeCudaReport } from '../native/contract.ts';

export interface Identities {
  /** The number of their reading. */
  number: number;
  /** Names, ids and attributes, by ordinal. */
  devices: NativeCudaDevice[];
}
const known = new WeakMap<NativeBinding, Identities>();

/** Names, ids and attributes that are known already; undefined: none. The binary takes their number, or 0. */
export function knownIdentities(binding: NativeBinding): Identities | undefined {
  return known.get(binding);
}

/**
 * The report of the binary with names, ids and attributes, also where it left them out because the caller had them.
 *
 * @param before the report that was known when it was asked for.
 */
export function withIdentities(
  binding: NativeBinding,
  report: NativeCudaReport,
  before: Identities | undefined,
): NativeCudaReport {
  if (report.identities === 0) return report;
  if (report.identities === before?.number) {
    const devices = report.devices.map((device, ordinal) => ({ ...before.devices[ordinal], ...device }));
    return { ...report, devices };
  }
  const devices = report.devices.map(({ contextActive: _, memGetInfo: __, ...identity }) => identity);
  known.set(binding, { number: report.identities, devices });
  return report;
}
