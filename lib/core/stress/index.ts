import { lazy } from '../../base/lazy.ts';
import type { StressReport } from '../../types/index.ts';
import type { StressOptions } from './options.ts';

const load = lazy(() => import('./run.ts'));

/**
 * Finds the most memory that can be allocated without freezing the host. It runs in a child process that can be killed;
 * each step is predicted and checked before it is made; a native thread stops it without JavaScript; and a journal on
 * disk names the step if the machine goes down. The report's `state` says how the search ended; an early end is not an
 * error.
 *
 * @example
 * ```ts
 * import { stress } from 'umaprobe';
 *
 * const { boundBy, maxBytes } = await stress({ maxBytes: 20e9, verify: true });
 * console.log(maxBytes, boundBy);
 * ```
 *
 * @throws UmaError `ERR_UMA_FLOOR`: it is not safe to start (below the floor, under pressure, fragmented, swapping),
 *   and nothing was allocated. `ERR_UMA_JOURNAL`: the journal cannot be written. `ERR_UMA_BUSY`: another test is
 *   running. `ERR_UMA_NO_DEVICE`, `ERR_UMA_LIBRARY_MISSING`, `ERR_UMA_DRIVER_UNUSABLE`: there is no usable device.
 *   `ERR_UMA_NOT_SUPPORTED`: the device does not support the kind, or verification. TypeError/RangeError for invalid
 *   options.
 */
export async function stress(options: StressOptions = {}): Promise<StressReport> {
  return (await load()).runStress(options);
}
