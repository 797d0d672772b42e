/** fit(): loads the checks of its arguments and the rules when they are first needed. */

import { lazy } from '../base/lazy.ts';
import type { FitNeed, FitOptions, FitReport, Snapshot } from '../types/index.ts';

const load = lazy(() => Promise.all([import('./options.ts'), import('./report.ts')]));

/**
 * Whether a need fits into the machine of a snapshot: the limit is what can be loaded safely (`allocatable.safe`), and
 * beside it stands what each program will decide by its own rule on its own reading. Allocates nothing and reads nothing.
 *
 * @param need bytes, or an estimate: `await estimate(model, { program: 'vllm' })`.
 * @throws TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad arguments. A number that is not known is
 *   the verdict `unknown`.
 */
export async function fit(need: FitNeed, snapshot: Snapshot, options: FitOptions = {}): Promise<FitReport> {
  const [{ checkFit }, { fitReport }] = await load();
  const checked = checkFit(need, snapshot, options);
  return fitReport(checked.need, snapshot, checked.settings);
}
