/** What a model takes, before anything is allocated. Checks arguments; a call imports the work. */

import { lazy } from '../base/lazy.ts';
import type { EstimateOptions, EstimateReport, EstimateTable, ModelDescription } from '../types/index.ts';

const loadTable = lazy(() => Promise.all([import('./options.ts'), import('./table.ts')]));
const load = lazy(() => Promise.all([import('./options.ts'), import('./run.ts')]));

/**
 * Estimates the memory of a model: weights, cache, buffers, loading; or what training takes. Every term has its formula,
 * its inputs and a range. Reads headers and configs only, never weights, and allocates nothing.
 *
 * @param model a folder, a .gguf, .safetensors or config.json file, a name in a model store ("org/name", Ollama's
 *   "name:tag"), or a description: a number of parameters, or the content of a config.json.
 * @throws UmaError `ERR_UMA_MODEL` for a model whose files are damaged or incomplete. TypeError/RangeError
 *   (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for a model that is not there and for invalid arguments.
 */
export async function estimate(
  model: string | ModelDescription,
  options: EstimateOptions = {},
): Promise<EstimateReport> {
  const [{ checkEstimateOptions, checkModel }, { runEstimate }] = await load();
  return runEstimate(checkModel(model), checkEstimateOptions(options));
}

/**
 * The weights of a model in each precision; without a model those of 7, 13 and 70 billion parameters.
 *
 * @throws as `estimate`; `ERR_INVALID_ARG_VALUE` also for a model whose parameters cannot be counted.
 */
export async function estimateTable(model?: string | ModelDescription): Promise<EstimateTable> {
  const [{ checkModel }, { tableOf }] = await loadTable();
  return tableOf(model === undefined ? null : checkModel(model));
}
