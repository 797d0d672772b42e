/** launch(): loads the checks of its options and its work when it is first needed. */

import { lazy } from '../../base/lazy.ts';
import { type Running, running } from '../../base/running.ts';
import type { LaunchReport } from '../../types/index.ts';
import type { LaunchOptions } from './options.ts';

const load = lazy(() => import('./run.ts'));

/**
 * Starts a program with everything around it: asks `fit`, makes room with `prepare`, runs it under `guard`, records,
 * and reports its memory at the end. The command line of vLLM, SGLang, llama.cpp and Ollama tells what is loaded; for
 * other programs the options say it, or it is not known: then the guard alone protects the machine.
 *
 * @example
 * ```ts
 * import { launch } from 'umaprobe/run';
 *
 * const { receipt, summary } = await launch({ command: ['vllm', 'serve', 'Qwen/Qwen3-8B'] });
 * console.log(summary, receipt?.took.peak);
 * ```
 *
 * @returns the course, when the program has ended. That `fit` says no, or that the guard stopped it, is a result.
 * @throws as `guard`, `estimate` for a model that the options name, and `prepare`. The signal's reason when it is aborted
 *   before the start.
 */
export function launch(options: LaunchOptions): Running<LaunchReport> {
  return running(async (ends) => (await load()).runLaunch(options, ends));
}
