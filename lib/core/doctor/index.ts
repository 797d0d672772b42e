import { lazy } from '../../base/lazy.ts';
import type { DoctorReport } from '../../types/index.ts';
import type { DoctorOptions } from './options.ts';

const load = lazy(() => import('./report.ts'));

/**
 * Every row of the table of findings: passed, applies, or could not be judged and why. Reads more than `snapshot()`:
 * tries a CUDA context in a child process, and looks at the files that this process may open, the programs that run and
 * the rate of swapping. Takes at most about 3 s, longer on a busy machine.
 *
 * @example
 * ```ts
 * import { doctor } from 'umaprobe';
 *
 * const { checks } = await doctor();
 * for (const { status, summary } of checks) if (status === 'fail') console.log(summary);
 * ```
 *
 * @throws the signal's reason when it is aborted. The errors of `snapshot()`. TypeError/RangeError
 *   (`ERR_INVALID_ARG_*`) for a pattern that matches no row.
 */
export async function doctor(options: DoctorOptions = {}): Promise<DoctorReport> {
  return (await load()).runDoctor(options);
}
