/** profile(): checks the options, and loads the work when it is first needed. */

import { lazy } from '../../base/lazy.ts';
import { type Running, running } from '../../base/running.ts';
import type { ProfileReport } from '../../types/index.ts';
import type { ProfileOptions } from './options.ts';

const load = lazy(() => import('./run.ts'));

/**
 * Finds the largest configuration of a program that is safe on this machine. One parameter is raised at a time, from
 * small to large; each trial runs under `guard()`, its peak is predicted from the trials before, and a trial predicted
 * above the limit is not run. Each trial is on disk before it starts.
 *
 * @example
 * ```ts
 * import { profile } from 'umaprobe/run';
 *
 * const command = ['python', 'train.py', '--batch', '{batch}'];
 * const { safe } = await profile({ command, vary: [{ name: 'batch', values: [1, 2, 4, 8] }] });
 * console.log(safe?.params);
 * ```
 *
 * @returns the trials and the safe configuration. That none is safe is a result, and no error.
 * @throws UmaError `ERR_UMA_CALL_FAILED`: the command cannot be started. `ERR_UMA_JOURNAL`: the journal cannot be used, or
 *   there is nothing in it to resume. `ERR_UMA_BUSY`: another profile, or its command, still runs. TypeError/RangeError
 *   (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad options, an unknown placeholder, and a template outside its folder.
 */
export function profile(options: ProfileOptions): Running<ProfileReport> {
  return running(async (ends) => (await load()).runProfile(options, ends));
}
