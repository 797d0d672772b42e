import { lazy } from '../../base/lazy.ts';
import type { SweepReport } from '../../types/index.ts';
import type { SweepOptions } from './options.ts';

const load = lazy(() => import('./run.ts'));

/**
 * Allocates the same sizes kind by kind, small to large, in a child process: measures allocation, first touch, second
 * touch and freeing, and the change of each counter of the machine.
 *
 * Nothing is held between steps. A size that the host or the device cannot hold is a step with state `refused` and a
 * reason. The report's `state` says how the sweep ended; an early end is not an error.
 *
 * @example
 * ```ts
 * import { sweep } from 'umaprobe';
 *
 * const { steps } = await sweep({ sizes: [1e9, 2e9], kinds: ['device', 'managed'] });
 * for (const { allocMs, kind, requestedBytes } of steps) console.log(kind, requestedBytes, allocMs?.median);
 * ```
 *
 * @throws TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for invalid options, also for `oversubscribe`
 *   on a device that shares the host's memory. UmaError `ERR_UMA_NO_DEVICE`, `ERR_UMA_LIBRARY_MISSING` or
 *   `ERR_UMA_DRIVER_UNUSABLE` if there is no usable device; `ERR_UMA_FLOOR` if it is not safe to start;
 *   `ERR_UMA_JOURNAL` if the journal cannot be written.
 */
export async function sweep(options: SweepOptions = {}): Promise<SweepReport> {
  return (await load()).runSweep(options);
}
