/** fit() and fitTable(): load the checks of their arguments and the rules when they are first needed. */

import { lazy } from '../../base/lazy.ts';
import type {
  EstimateReport,
  FitLargest,
  FitLargestOptions,
  FitModel,
  FitNeed,
  FitOptions,
  FitReport,
  FitTable,
  FitTogether,
  FitTogetherOptions,
  Snapshot,
} from '../../types/index.ts';
import { openModel } from '../estimate/index.ts';

export { compileJobsFor, compileJobsText } from './compile-jobs.ts';
export { isYes, largestAccepted } from './search.ts';

const load = lazy(() => Promise.all([import('./options.ts'), import('./report.ts'), import('./model.ts')]));
const loadLargest = lazy(() => Promise.all([import('./options.ts'), import('./largest.ts')]));
const loadTogether = lazy(() => Promise.all([import('./options.ts'), import('./together.ts')]));
const loadTable = lazy(() => Promise.all([import('./options.ts'), import('./table.ts')]));

/**
 * Tells whether a need fits into the machine of a snapshot: the limit is memory that can be loaded safely
 * (`allocatable.safe`), and beside it stands each program's decision by its own rule on its own reading. Allocates
 * nothing; reads nothing of the machine, and of a model the headers and the config.
 *
 * @param need bytes, a model, or an estimate: `await estimate(model, { program: 'vllm' })`. A model is estimated for
 *   each program; an estimate is used for all.
 * @throws TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad arguments; for a model also as
 *   `openModel()`. A number that is not known is the verdict `unknown`.
 */
export async function fit(need: FitNeed, snapshot: Snapshot, options: FitOptions = {}): Promise<FitReport> {
  return (await fitWithEstimate(need, snapshot, options)).report;
}

/** The same with the estimate that was judged; null: none was made. */
export async function fitWithEstimate(
  need: FitNeed,
  snapshot: Snapshot,
  options: FitOptions = {},
): Promise<{ report: FitReport; estimated: EstimateReport | null }> {
  const [{ checkFit }, { fitReport }, { answerOf }] = await load();
  const { need: checked, settings } = checkFit(need, snapshot, options);
  if ('total' in checked) return { report: fitReport(checked, snapshot, settings), estimated: null };
  const model = await openModel(checked.model, signalOf(settings));
  return answerOf({ model, use: checked.use, machine: snapshot, options: settings });
}

/** Throws what `fit()` would throw for these arguments, before there is a snapshot. */
export async function assertFit(need: FitNeed, options: FitOptions): Promise<void> {
  const [{ checkFit }] = await load();
  checkFit(need, { schema: 'umaprobe/snapshot/1' }, options);
}

function signalOf({ signal }: { signal: AbortSignal | undefined }): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/**
 * The verdict for each precision of the weights: of a model, or of 7, 13 and 70 billion parameters.
 *
 * @throws as `fit()`; `ERR_INVALID_ARG_VALUE` also for a model whose parameters cannot be counted.
 */
export async function fitTable(
  need: Partial<FitModel>,
  snapshot: Snapshot,
  options: Omit<FitOptions, 'solve' | 'acceptTight'> = {},
): Promise<FitTable> {
  const [{ checkFitTable }, { tableOf }] = await loadTable();
  const { need: checked, settings } = checkFitTable(need, snapshot, options);
  const model = checked.model === undefined ? null : await openModel(checked.model, signalOf(settings));
  return tableOf({ model, use: checked.use, machine: snapshot, options: settings });
}

/**
 * The largest model that fits, for each precision of the weights and for inference, adapters and full fine-tuning.
 *
 * @throws as `fit()`.
 */
export async function fitLargest(snapshot: Snapshot, options: FitLargestOptions = {}): Promise<FitLargest> {
  const [{ checkFitLargest }, { largestOf }] = await loadLargest();
  const { settings, use } = checkFitLargest(snapshot, options);
  return largestOf({ use, machine: snapshot, options: settings });
}

/**
 * Tells whether several models fit at the same time, in which order to start them, and with which share, cache and
 * context each, so that the last still starts. Each is judged as by `fit()`, beside the memory of those before it.
 *
 * @param models 2 to 16.
 * @throws as `fit()`; also for a program whose models may take more later than at their start.
 */
export async function fitTogether(
  models: readonly FitModel[],
  snapshot: Snapshot,
  options: FitTogetherOptions,
): Promise<FitTogether> {
  const [{ checkFitTogether }, { togetherOf }] = await loadTogether();
  const { models: checked, settings } = checkFitTogether(models, snapshot, options);
  const open = async ({ model, use }: (typeof checked)[number]) => ({
    model: await openModel(model, signalOf(settings)),
    use,
  });
  return togetherOf({ models: await Promise.all(checked.map(open)), machine: snapshot, options: settings });
}
