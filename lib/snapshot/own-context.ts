/** cudaMemGetInfo of GPUs with memory of their own, with a context in this process. */

import { isFailure } from '../base/facts.ts';
import type { NativeBinding, NativeCudaReport } from '../native/contract.ts';
import { type ChildReadings, NOT_NEEDED, ordinalsToAsk } from './child-readings.ts';

/**
 * Asks one device after the other. A child process would have to initialize CUDA again, and the driver initializes one
 * process at a time: 535 to 660 instead of 349 ms for `umaprobe` on an H200.
 *
 * @returns null: there is no device, or CUDA already hangs.
 */
export async function readWithOwnContext(
  binding: NativeBinding,
  cuda: NativeCudaReport,
  hostTotal: number,
  deadlineMs: number,
): Promise<ChildReadings | null> {
  if (cuda.timedOut !== null || typeof cuda.deviceCount !== 'number' || cuda.deviceCount === 0) return null;
  const answers: ChildReadings['answers'] = new Map();
  for (const ordinal of ordinalsToAsk('needed', cuda, hostTotal)) {
    const reading = await binding.memGetInfo(ordinal, deadlineMs);
    if (isFailure(reading)) answers.set(ordinal, reading);
    else answers.set(ordinal, { free: reading[0], total: reading[1], from: 'cudaMemGetInfo in this process' });
  }
  return { answers, missing: NOT_NEEDED };
}
