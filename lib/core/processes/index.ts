/** processes(): checks the options, and loads the code of a reading when it is first needed. */

import { lazy } from '../../base/lazy.ts';
import { checkOptions } from '../../base/options.ts';
import type { ProcessesReport } from '../../types/index.ts';
import { PROCESSES, type ProcessesOptions } from './options.ts';

const work = lazy(() => import('./read.ts'));

/**
 * Finds the holders of this machine's memory: every process with its anonymous, file and shared memory, swap and GPU
 * memory, in groups (containers, services, trees of processes), largest first. Shared pages count once where the kernel
 * lets this user see them (`/proc/<pid>/smaps_rollup`); `heldFrom` says where not.
 *
 * Reads `/proc/<pid>/status` and `cgroup` of all processes, and the exact figures of those that hold 4 MiB or map 256 MiB. Changes
 * nothing, and creates no CUDA context.
 *
 * @example
 * ```ts
 * import { processes } from 'umaprobe';
 *
 * const { groups } = await processes();
 * console.log(groups[0]?.name, groups[0]?.held);
 * ```
 *
 * @throws the signal's reason when it is aborted. UmaError `ERR_UMA_LIBRARY_MISSING` when the native binary cannot be
 *   loaded, `ERR_UMA_CALL_FAILED` when /proc cannot be listed. TypeError/RangeError (`ERR_INVALID_ARG_*`,
 *   `ERR_OUT_OF_RANGE`) for bad options.
 */
export async function processes(options: ProcessesOptions = {}): Promise<ProcessesReport> {
  const checked = checkOptions('processes()', options, PROCESSES);
  const { readProcesses } = await work();
  return readProcesses(checked);
}
