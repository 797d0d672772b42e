/** cluster() and clusterCheck(): the memory of several machines, and whether something fits into all of them. */

import { abortable } from '../../base/abort.ts';
import { invalidArgument } from '../../base/arguments.ts';
import { lazy } from '../../base/lazy.ts';
import { LIMITS } from '../../base/limits.ts';
import type { ClusterCheck, ClusterMachine, ClusterReport, RecordReport } from '../../types/index.ts';
import type { ClusterCheckOptions, ClusterOptions, Question } from './options.ts';
import type { AskedRecording } from './recording.ts';

const load = lazy(() => Promise.all([import('./options.ts'), import('./read.ts'), import('./answers.ts')]));
const loadReport = lazy(() => import('./report.ts'));
const loadCheck = lazy(() => import('./check.ts'));
const loadRecording = lazy(() => import('./recording.ts'));

/**
 * Reads the answer of each of several machines, in the order of the hosts or of the answers. A machine that does not
 * answer is a row with its reason, and no error.
 *
 * @throws TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad options; UmaError `ERR_UMA_PATH` for a file to
 *   copy that cannot be read; the signal's reason when it is aborted.
 */
export async function readMachines(options: ClusterOptions): Promise<ClusterMachine[]> {
  const [{ checkCluster }] = await load();
  return readAll(checkCluster(options));
}

async function readAll(question: Question): Promise<ClusterMachine[]> {
  const [, { askHosts }, { readAnswers }] = await load();
  if ('hosts' in question) return askHosts(question.hosts, question.asking);
  const { answers, expect, signal } = question;
  const machines = await abortable(signal, () => readAnswers(answers, expect));
  if (machines.length <= LIMITS.hosts.max) return machines;
  throw invalidArgument(`answers has more than ${LIMITS.hosts.max} answers, the most machines at a time`);
}

/**
 * The memory of several machines, the weakest first: asked by the user's own ssh, all at the same time, or read from a
 * pipe. Each machine judges itself what it can load; nothing is started there.
 *
 * @example
 * ```ts
 * import { cluster } from 'umaprobe/run';
 *
 * const { machines, safe } = await cluster({ hosts: ['spark-1', 'spark-2'] });
 * console.log(safe, machines[0]?.host);
 * ```
 *
 * @throws as `readMachines`.
 */
export async function cluster(options: ClusterOptions): Promise<ClusterReport> {
  const [{ checkCluster }] = await load();
  const question = checkCluster(options);
  const started = performance.now();
  const machines = await readAll(question);
  return (await loadReport()).clusterReport(machines, performance.now() - started);
}

/**
 * Tells whether a need fits into each of several machines, one rank on each: `fit()` on the snapshot of each, and the
 * weakest decides. A machine without a usable answer is never a yes.
 *
 * @example
 * ```ts
 * import { clusterCheck } from 'umaprobe/run';
 *
 * const { limiting, verdict } = await clusterCheck({ hosts: ['spark-1', 'spark-2'], bytes: 60e9 });
 * console.log(verdict, limiting);
 * ```
 *
 * @param options those of `cluster()`, and the question of `fit()` without its snapshot.
 * @throws as `cluster()` and `fit()`; also if there are more ranks than hosts.
 */
export async function clusterCheck(options: ClusterCheckOptions): Promise<ClusterCheck> {
  const [{ checkCluster }] = await load();
  const { checkOf, ranksOf, splitOptions, withOpenModel } = await loadCheck();
  const started = performance.now();
  const { asked, fitting } = splitOptions(options);
  const question = checkCluster(asked, 'clusterCheck()');
  const opened = await withOpenModel(fitting);
  const ranks = ranksOf(fitting);
  if ('hosts' in question && ranks > question.hosts.length)
    throw invalidArgument(
      `the model is divided among ${ranks} ranks, one on each machine: name ${ranks} hosts, not ${question.hosts.length}`,
    );
  const machines = await readAll('hosts' in question ? question : { ...question, expect: question.expect ?? ranks });
  return checkOf({ asked: opened, machines, started });
}

/**
 * Reads the recording of a host by the user's own ssh; or returns the host as a row with the reason why that failed.
 *
 * @param host as `cluster()` takes it.
 * @throws the signal's reason when it is aborted.
 */
export async function readRecordingOf(
  host: string,
  asked: AskedRecording,
  signal?: AbortSignal,
): Promise<RecordReport | ClusterMachine> {
  return (await loadRecording()).askRecording(host, asked, signal);
}
