/** memGetInfo() and memGetInfoSync(): cudaMemGetInfo in this process. */

import { abortable } from '../../base/abort.ts';
import { checkDevice } from '../../base/arguments.ts';
import { toUmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import { checkOptions } from '../../base/options.ts';
import type { MemGetInfo } from '../../types/index.ts';
import { native } from '../native/binding.ts';
import { MEM_GET_INFO, type MemGetInfoOptions } from './options.ts';

/**
 * `cudaMemGetInfo` of one device, unchanged. Creates a CUDA context in this process if it has none, which takes memory
 * (527 MiB on an H200) and time. Runs on a separate thread.
 *
 * If the GPU shares the host's memory, `free` is MemFree: page cache counts as used. `snapshot()` reports how much can
 * be allocated.
 *
 * @example
 * ```ts
 * import { memGetInfo } from 'umaprobe';
 *
 * const { free, total } = await memGetInfo(0, { deadlineMs: 5000 });
 * console.log(free, total);
 * ```
 *
 * @param device CUDA ordinal, 0 to 255. Default 0.
 * @throws the signal's reason when it is aborted. UmaError `ERR_UMA_TIMEOUT`, `_LIBRARY_MISSING`, `_DRIVER_UNUSABLE`, `_NO_DEVICE`, `_OUT_OF_MEMORY` (the
 *   context did not fit), `_CALL_FAILED`. RangeError for a device or deadline out of range.
 */
export async function memGetInfo(device = 0, options: MemGetInfoOptions = {}): Promise<MemGetInfo> {
  checkDevice(device);
  const { deadlineMs, signal } = checkOptions('memGetInfo()', options, MEM_GET_INFO);
  const caller = new Error();
  const fact = await abortable(signal, () => native().memGetInfo(device, deadlineMs));
  if (isFailure(fact)) throw toUmaError(fact, caller);
  return { free: fact[0], total: fact[1] };
}

const slots = new Float64Array(2);

/**
 * The same on the calling thread: the fastest form, and like `hostMemorySync()` without a deadline. It fails at once while
 * another call of this process hangs in CUDA.
 *
 * @example
 * ```ts
 * import { memGetInfoSync } from 'umaprobe';
 *
 * console.log(memGetInfoSync(0).free);
 * ```
 *
 * @param device CUDA ordinal, 0 to 255. Default 0.
 * @throws as `memGetInfo()`.
 */
export function memGetInfoSync(device = 0): MemGetInfo {
  checkDevice(device);
  const failure = native().memGetInfoSync(device, slots);
  if (failure !== null) throw toUmaError(failure);
  return { free: slots[0] as number, total: slots[1] as number };
}
