/** explain() and explainError(): load the checks of their options and their tables when they are first needed. */

import { abortable } from '../../base/abort.ts';
import { lazy } from '../../base/lazy.ts';
import { defined } from '../../base/objects.ts';
import { processes } from '../../core/processes/index.ts';
import { snapshot } from '../../core/snapshot/index.ts';
import type { ErrorReport, ErrorText, ExplainReport, Snapshot } from '../../types/index.ts';
import type { ExplainErrorOptions, ExplainOptions } from './options.ts';

const loadChecks = lazy(() => Promise.all([import('../../base/options.ts'), import('./options.ts')]));
const loadReport = lazy(() => import('./report.ts'));
const loadErrors = lazy(() => import('./error-report.ts'));

/**
 * Explains why memory is gone, or looks gone: page cache that counts as used, driver pools, memory that nobody holds,
 * GPU programs, huge pages, swap, limits and more, ranked by bytes at stake, each with its numbers, their sources and a
 * remedy. Reads the machine and its processes, unless a snapshot is given. Changes nothing, and creates no CUDA
 * context. A healthy machine has no findings; `unknown` says what could not be judged.
 *
 * @example
 * ```ts
 * import { explain } from 'umaprobe/run';
 *
 * const { answer, findings } = await explain();
 * console.log(answer, findings[0]?.remedy?.text);
 * ```
 *
 * @throws the signal's reason when it is aborted. The errors of `snapshot()` and `processes()`. TypeError
 *   (`ERR_INVALID_ARG_*`) for bad options.
 */
export async function explain(options: ExplainOptions = {}): Promise<ExplainReport> {
  const [{ checkOptions }, { EXPLAIN }] = await loadChecks();
  const { signal } = checkOptions('explain()', options, EXPLAIN);
  const { explainReport } = await loadReport();
  const reading = defined({ signal });
  const listed = async () => options.processes ?? (options.snapshot === undefined ? processes(reading) : null);
  const [machine, running] = await Promise.all([
    options.snapshot ?? snapshot({ memGetInfo: 'never', ...reading }),
    options.processes === null ? null : listed(),
  ]);
  return explainReport({ snapshot: machine, processes: running });
}

/**
 * Recognises messages about memory in a log or in a pasted text: which program printed them, their numbers, their usual
 * meaning, and their meaning on this machine now. A text without a known message has no `errors`; nothing is guessed.
 * The text may be of any length: it is searched in constant memory.
 *
 * @example
 * ```ts
 * import { explainError } from 'umaprobe/run';
 *
 * const { errors } = await explainError(process.stdin);
 * for (const { meaning, remedies } of errors) console.log(meaning, remedies[0]?.text);
 * ```
 *
 * @throws the signal's reason when it is aborted, and what the iterable throws. TypeError (`ERR_INVALID_ARG_TYPE`) for
 *   a text that is neither a string, bytes nor an iterable of them. A machine that cannot be read is no error.
 */
export async function explainError(text: ErrorText, options: ExplainErrorOptions = {}): Promise<ErrorReport> {
  const [{ checkOptions }, { checkErrorText, EXPLAIN_ERROR }] = await loadChecks();
  checkErrorText(text);
  const { signal } = checkOptions('explainError()', options, EXPLAIN_ERROR);
  const { errorReport, scan } = await loadErrors();
  return abortable(signal, async () => {
    const found = await scan(text, signal);
    return errorReport(found, options.snapshot === undefined ? await readMachine() : options.snapshot);
  });
}

/** The machine without a CUDA context; null: it cannot be read. */
async function readMachine(): Promise<Snapshot | null> {
  return snapshot({ memGetInfo: 'never' }).catch(() => null);
}
