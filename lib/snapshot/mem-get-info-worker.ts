/** The child of `snapshot({ memGetInfo: 'child' })`: prints a line of JSON for each device and ends. */

import { isFailure, reason } from '../base/facts.ts';
import { native } from '../native/binding.ts';
import type { ChildLine } from './mem-get-info-child.ts';

// The other end of standard input is the parent's: it closes when the parent is gone, however it went. The readings
// run on a thread of the addon's, so this works in the middle of a call that hangs.
process.stdin.on('close', () => process.exit(1)).resume();

const deadlineMs = Number(process.argv[2]);
const binding = native();
const { deviceCount, timedOut } = await binding.readCuda(0, deadlineMs);
if (typeof deviceCount === 'number') {
  for (let ordinal = 0; ordinal < deviceCount; ordinal++) {
    process.stdout.write(`${JSON.stringify(await line(ordinal))}\n`);
  }
  process.exit(0);
}
const failure = deviceCount ?? timedOut;
process.stderr.write(`${isFailure(failure) ? reason(failure) : 'CUDA did not say how many devices there are'}\n`);
process.exit(1);

async function line(ordinal: number): Promise<ChildLine> {
  const before = await ownBytes();
  const reading = await binding.memGetInfo(ordinal, deadlineMs);
  if (isFailure(reading)) return { ordinal, failure: reason(reading) };
  const after = await ownBytes();
  return { ordinal, free: reading[0], total: reading[1], ownBytes: after === null ? null : after - (before ?? 0) };
}

/** What NVML attributes to this process on all devices; null in another PID namespace, or where NVML cannot tell. */
async function ownBytes(): Promise<number | null> {
  const { devices } = await binding.readNvml(Math.min(deadlineMs, 1000));
  const mine = devices
    .flatMap(({ processes }) => (processes === undefined || isFailure(processes) ? [] : processes))
    .filter(({ pid, gpuBytes }) => pid === process.pid && gpuBytes !== null);
  return mine.length === 0 ? null : mine.reduce((sum, { gpuBytes }) => sum + (gpuBytes ?? 0), 0);
}
