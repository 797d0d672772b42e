/** fit(): loads the checks of its question and the rules when they are first needed. */

import { abortable } from '../../base/abort.ts';
import { lazy } from '../../base/lazy.ts';
import { defined } from '../../base/objects.ts';
import type {
  EstimateReport,
  FitLargest,
  FitLargestQuestion,
  FitNeed,
  FitOptions,
  FitQuestion,
  FitReport,
  FitTable,
  FitTableQuestion,
  FitTogether,
  FitTogetherQuestion,
} from '../../types/index.ts';
import { openModel } from '../estimate/index.ts';

export { compileJobsFor, compileJobsText } from './compile-jobs.ts';
export { isYes, largestAccepted } from './search.ts';

const load = lazy(() => Promise.all([import('./options.ts'), import('./report.ts'), import('./model.ts')]));
const loadLargest = lazy(() => Promise.all([import('./options.ts'), import('./largest.ts')]));
const loadTogether = lazy(() => Promise.all([import('./options.ts'), import('./together.ts')]));
const loadTable = lazy(() => Promise.all([import('./options.ts'), import('./table.ts')]));

/** Tells which precisions of the weights fit. Throws as for a need; also for a model whose parameters cannot be counted. */
export function fit(question: FitTableQuestion): Promise<FitTable>;
/** Tells which is the largest model that fits, by precision and use. Throws as for a need. */
export function fit(question: FitLargestQuestion): Promise<FitLargest>;
/**
 * Tells whether several models fit at the same time, and in which order they start. Throws as for a need, and for a program
 * whose models may take more later than at their start.
 */
export function fit(question: FitTogetherQuestion): Promise<FitTogether>;
/**
 * Tells whether a need fits into the machine of a snapshot: the limit is memory that can be loaded safely
 * (`allocatable.safe`), and beside it stands each program's decision by its own rule on its own reading. Allocates
 * nothing; reads nothing of the machine, and of a model the headers and the config.
 *
 * @example
 * ```ts
 * import { snapshot } from 'umaprobe';
 * import { fit } from 'umaprobe/models';
 *
 * const { summary, verdict } = await fit({ model: 'Qwen/Qwen3-8B', program: 'vllm', snapshot: await snapshot() });
 * console.log(verdict, summary);
 * ```
 *
 * @param question one of `bytes`, `model` and `estimate`, and the `snapshot`.
 * @throws TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad arguments; for a model also as
 *   `openModel()`. A number that is not known is the verdict `unknown`.
 */
export function fit(question: FitQuestion): Promise<FitReport>;
export async function fit(
  question: FitTableQuestion | FitLargestQuestion | FitTogetherQuestion | FitQuestion,
): Promise<FitTable | FitLargest | FitTogether | FitReport> {
  const isObject = typeof question === 'object' && question !== null;
  if (isObject && 'table' in question) return answerTable(question);
  if (isObject && 'largest' in question) return answerLargest(question);
  if (isObject && 'together' in question) return answerTogether(question);
  return (await fitWithEstimate(question)).report;
}

/** The answer of `fit()` with the estimate that was judged; null: none was made. */
export async function fitWithEstimate(
  question: FitQuestion,
): Promise<{ report: FitReport; estimated: EstimateReport | null }> {
  const [{ checkFit }, { fitReport }, { answerOf }] = await load();
  const { machine, need, settings } = checkFit(question);
  if ('total' in need) return { report: fitReport(need, machine, settings), estimated: null };
  const model = await openModel(need.model, signalOf(settings));
  return answerOf({ model, use: need.use, machine, options: settings });
}

/** Throws what `fit()` would throw for this need, before there is a snapshot; `owner` is the function that was called. */
export async function assertFit(owner: string, question: FitNeed & FitOptions): Promise<void> {
  const [{ checkNeedAsked }] = await load();
  checkNeedAsked(owner, question);
}

function signalOf({ signal }: { signal: AbortSignal | undefined }): { signal?: AbortSignal } {
  return defined({ signal });
}

async function answerTable(question: FitTableQuestion): Promise<FitTable> {
  const [{ checkFitTable }, { tableOf }] = await loadTable();
  const { machine, need, settings } = checkFitTable(question);
  const model = need.model === undefined ? null : await openModel(need.model, signalOf(settings));
  return tableOf({ model, use: need.use, machine, options: settings });
}

async function answerLargest(question: FitLargestQuestion): Promise<FitLargest> {
  const [{ checkFitLargest }, { largestOf }] = await loadLargest();
  const { machine, settings, use } = checkFitLargest(question);
  return abortable(settings.signal, () => largestOf({ use, machine, options: settings }));
}

async function answerTogether(question: FitTogetherQuestion): Promise<FitTogether> {
  const [{ checkFitTogether }, { togetherOf }] = await loadTogether();
  const { machine, models: checked, settings } = checkFitTogether(question);
  const open = async ({ model, use }: (typeof checked)[number]) => ({
    model: await openModel(model, signalOf(settings)),
    use,
  });
  return togetherOf({ models: await Promise.all(checked.map(open)), machine, options: settings });
}
