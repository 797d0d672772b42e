/** guard(): loads the checks of its options and its work when it is first needed. */

import { lazy } from '../../base/lazy.ts';
import { type Running, running } from '../../base/running.ts';
import type { GuardReport } from '../../types/index.ts';
import type { GuardOptions } from './options.ts';

export { assertWatchable } from './watchable.ts';

const load = lazy(() => import('./start.ts'));

/**
 * Runs a program, or watches one that runs, and stops it before it takes the machine down: by MemAvailable and how fast it
 * falls, with pressure, large blocks and swap as further signs. A native program watches, so it acts while JavaScript is
 * blocked, and goes on when this process dies.
 *
 * @example
 * ```ts
 * import { guard } from 'umaprobe/run';
 *
 * const { outcome, sentence } = await guard({ command: ['python', 'train.py'] });
 * console.log(outcome, sentence);
 * ```
 *
 * @returns what happened, when the program has ended. That the guard stopped it is a result, and no error.
 * @throws UmaError `ERR_UMA_CALL_FAILED`: the program cannot be started (`nativeName` ENOENT: there is none; EACCES: it is
 *   not executable). `ERR_UMA_PATH`: `cwd` is no folder. `ERR_UMA_NOT_FOUND`: there is no such process, cgroup or unit.
 *   `ERR_UMA_PERMISSION`: it is another user's. The signal's reason when it is aborted before the start.
 *   TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad options.
 */
export function guard(options: GuardOptions): Running<GuardReport> {
  return running(async (ends) => (await load()).runGuard(options, ends));
}
