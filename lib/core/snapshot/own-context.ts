/** cudaMemGetInfo with a context in this process. */

import { isFailure } from '../../base/facts.ts';
import type { NativeBinding, NativeCudaReport } from '../native/contract.ts';
import {
  type Asking,
  type ChildReadings,
  isIntegrated,
  NOT_NEEDED,
  ordinalsToAsk,
  withoutOwnContext,
} from './child-readings.ts';
import { contextLine } from './context-line.ts';

/**
 * Asks one device after the other. A child process would have to initialize CUDA again, and the driver initializes one
 * process at a time: 535 to 660 instead of 349 ms for `umaprobe` on an H200.
 *
 * @returns null: there is no device, or CUDA already hangs.
 */
export async function readWithOwnContext(
  binding: NativeBinding,
  cuda: NativeCudaReport,
  asking: Asking,
  deadlineMs: number,
): Promise<ChildReadings | null> {
  if (cuda.timedOut !== null || typeof cuda.deviceCount !== 'number' || cuda.deviceCount === 0) return null;
  const asked = ordinalsToAsk('needed', cuda, asking);
  const answers: ChildReadings['answers'] = new Map();
  const from = 'cudaMemGetInfo in this process, whose context counts as used';
  for (const device of cuda.devices.filter(({ ordinal }) => asked.includes(ordinal ?? -1))) {
    const ordinal = device.ordinal ?? -1;
    if (isIntegrated(device)) {
      const line = await contextLine(binding, ordinal, deadlineMs);
      answers.set(ordinal, withoutOwnContext(line, cuda, asking.driver, 'in this process'));
    } else {
      const reading = await binding.memGetInfo(ordinal, deadlineMs);
      answers.set(ordinal, isFailure(reading) ? reading : { free: reading[0], total: reading[1], from });
    }
  }
  return { answers, missing: NOT_NEEDED };
}
