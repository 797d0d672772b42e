/** Estimates the memory of a model before anything is allocated. Checks arguments; a call imports the work. */

import { abortable } from '../../base/abort.ts';
import { checkKeys, checkSignal, invalidType } from '../../base/arguments.ts';
import { lazy } from '../../base/lazy.ts';
import { Listener } from '../../base/listener.ts';
import type {
  EstimateOptions,
  EstimateReport,
  EstimateTable,
  Model,
  ModelInput,
  ModelProgress,
} from '../../types/index.ts';

export { COMPILE_JOB } from './compile-job.ts';

const loadModels = lazy(() => import('../files/opened.ts'));
const loadTable = lazy(() => Promise.all([loadModels(), import('./table.ts')]));
const load = lazy(() => Promise.all([loadModels(), import('./options.ts'), import('./run.ts')]));

/**
 * Reads the headers and the config of a model, each file once, for several questions about the model. Never reads
 * weights.
 *
 * @example
 * ```ts
 * import { estimate, openModel } from 'umaprobe/models';
 *
 * const model = await openModel('Qwen/Qwen3-8B');
 * for (const context of [4096, 32_768]) console.log((await estimate(model, { context })).total.bytes);
 * ```
 *
 * @param model a model that is open already is returned as it is.
 * @param options `onProgress` is called while a model on the Hub is read. If it throws or rejects, so does the call.
 * @throws UmaError `ERR_UMA_MODEL` for a model that is not there, or whose files are damaged or incomplete;
 *   `ERR_UMA_PERMISSION` if they may not be read; `ERR_UMA_NETWORK` if the Hub does not answer. TypeError/RangeError
 *   (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for invalid arguments. The signal's reason when it is aborted.
 */
export async function openModel(
  model: ModelInput,
  options: { signal?: AbortSignal; onProgress?: (progress: ModelProgress) => void | Promise<void> } = {},
): Promise<Model> {
  checkKeys('openModel()', options, { signal: true, onProgress: true });
  const signal = checkSignal(options.signal);
  const { onProgress } = options;
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw invalidType('onProgress', 'a function', onProgress);
  const { opened } = await loadModels();
  const failed = new AbortController();
  const listener = new Listener(onProgress, (error) => failed.abort(error));
  const ends = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const hear = (progress: ModelProgress): void => listener.hear(progress);
  return abortable(ends, async () => {
    const read = await opened(model, { signal: ends, onProgress: hear });
    await listener.settled();
    return read;
  });
}

/**
 * Estimates the memory of a model: weights, cache, buffers, loading; or what training takes. Every term has its formula,
 * its inputs and a range. Reads headers and configs only, never weights, and allocates nothing.
 *
 * @example
 * ```ts
 * import { estimate } from 'umaprobe/models';
 *
 * const { terms, total } = await estimate('/models/qwen3-8b', { program: 'vllm', context: 32_768 });
 * console.log(total.low, total.high, terms[0]?.formula);
 * ```
 *
 * @throws as `openModel()`, and TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for invalid options.
 */
export async function estimate(model: ModelInput, options: EstimateOptions = {}): Promise<EstimateReport> {
  const [{ opened }, { checkEstimateOptions }, { estimateOf }] = await load();
  const { signal, use } = checkEstimateOptions(options);
  return estimateOf(await abortable(signal, () => opened(model, { signal })), use);
}

/**
 * The weights of a model in each precision; without a model those of 7, 13 and 70 billion parameters.
 *
 * @example
 * ```ts
 * import { estimateTable } from 'umaprobe/models';
 *
 * const { columns, rows } = await estimateTable();
 * console.log(columns, rows[0]?.bytes);
 * ```
 *
 * @throws as `openModel()`; `ERR_INVALID_ARG_VALUE` also for a model whose parameters cannot be counted.
 */
export async function estimateTable(
  model?: ModelInput,
  options: { signal?: AbortSignal } = {},
): Promise<EstimateTable> {
  checkKeys('estimateTable()', options, { signal: true });
  const signal = checkSignal(options.signal);
  return abortable(signal, async () => {
    const [{ opened }, { tableOf }] = await loadTable();
    return tableOf(model === undefined ? null : await opened(model, { signal }));
  });
}
