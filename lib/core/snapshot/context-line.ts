/** cudaMemGetInfo of one device with a context in this process, and how much memory that context is. */

import { isFailure } from '../../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { ChildLine } from './mem-get-info-child.ts';

export async function contextLine(binding: NativeBinding, ordinal: number, deadlineMs: number): Promise<ChildLine> {
  const before = await ownBytes(binding, deadlineMs);
  const reading = await binding.memGetInfo(ordinal, deadlineMs);
  if (isFailure(reading)) return { ordinal, failure: reading };
  const after = await ownBytes(binding, deadlineMs);
  return { ordinal, free: reading[0], total: reading[1], ownBytes: after === null ? null : after - (before ?? 0) };
}

/** Memory of this process on all devices by NVML; null: another PID namespace, or not reported. */
async function ownBytes(binding: NativeBinding, deadlineMs: number): Promise<number | null> {
  const { devices } = await binding.readNvml(Math.min(deadlineMs, 1000));
  const entries = devices
    .flatMap(({ processes }) => (processes === undefined || isFailure(processes) ? [] : processes))
    .filter(({ pid, gpuBytes }) => pid === process.pid && gpuBytes !== null);
  return entries.length === 0 ? null : entries.reduce((sum, { gpuBytes }) => sum + (gpuBytes ?? 0), 0);
}
