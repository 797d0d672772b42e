/** explain() and explainError(): check the arguments, and load the tables when they are first needed. */

import { abortable } from '../base/abort.ts';
import { checkKeys, checkSignal, invalidType, type Keys } from '../base/arguments.ts';
import { lazy } from '../base/lazy.ts';
import { processes } from '../processes/index.ts';
import { snapshot } from '../snapshot/index.ts';
import type {
  ErrorReport,
  ErrorText,
  ExplainErrorOptions,
  ExplainOptions,
  ExplainReport,
  ProcessesReport,
  Snapshot,
} from '../types/index.ts';

const KEYS: Keys<ExplainOptions> = { snapshot: true, processes: true, signal: true };
const loadReport = lazy(() => import('./report.ts'));

/**
 * Why memory is gone, or looks gone: page cache that counts as used, driver pools, memory that nobody holds, GPU programs,
 * huge pages, swap, limits and more, ranked by bytes at stake, each with its numbers, their sources and a remedy. Reads the
 * machine and its processes, unless a snapshot is given. Changes nothing, and creates no CUDA context. A healthy machine
 * has no findings; `unknown` says what could not be judged.
 *
 * @throws the signal's reason when it is aborted. What `snapshot()` and `processes()` throw. TypeError
 *   (`ERR_INVALID_ARG_*`) for bad options.
 */
export async function explain(options: ExplainOptions = {}): Promise<ExplainReport> {
  checkKeys('explain()', options, KEYS);
  const signal = checkSignal(options.signal);
  const given: { snapshot?: unknown; processes?: unknown } = options;
  if (given.snapshot !== undefined && !isSnapshot(given.snapshot))
    throw invalidType('snapshot', 'a snapshot', given.snapshot);
  if (given.processes !== undefined && given.processes !== null && !isProcesses(given.processes))
    throw invalidType('processes', 'the report of processes(), or null', given.processes);
  const reading = signal === undefined ? {} : { signal };
  const { explainReport } = await loadReport();
  const listed = async () => options.processes ?? (options.snapshot === undefined ? processes(reading) : null);
  const [machine, running] = await Promise.all([
    options.snapshot ?? snapshot({ memGetInfo: 'never', ...reading }),
    options.processes === null ? null : listed(),
  ]);
  return explainReport({ snapshot: machine, processes: running });
}

function isProcesses(value: unknown): value is ProcessesReport {
  return typeof value === 'object' && value !== null && 'schema' in value && value.schema === 'umaprobe/processes/1';
}

const ERROR_KEYS: Keys<ExplainErrorOptions> = { snapshot: true, signal: true };

const loadErrors = lazy(() => import('./error-report.ts'));

/**
 * Recognises messages about memory in a log or in a pasted text: which program printed them, their numbers, what they
 * turned out to mean, and what they mean on this machine now. A text without a known message has no `errors`; nothing
 * is guessed. The text may be of any length: it is searched in constant memory.
 *
 * @throws the signal's reason when it is aborted, and what the iterable throws. TypeError (`ERR_INVALID_ARG_TYPE`) for a
 *   text that is neither a string, bytes nor an iterable of them. Not for a machine that cannot be read: the numbers are then compared with nothing.
 */
export async function explainError(text: ErrorText, options: ExplainErrorOptions = {}): Promise<ErrorReport> {
  if (!isText(text)) throw invalidType('text', 'a string, bytes, or an iterable of them', text);
  checkKeys('explainError()', options, ERROR_KEYS);
  const signal = checkSignal(options.signal);
  const given: unknown = options.snapshot;
  if (given !== undefined && given !== null && !isSnapshot(given))
    throw invalidType('snapshot', 'a snapshot, or null to compare with nothing', given);
  return abortable(signal, async () => {
    const { errorReport, scan } = await loadErrors();
    const found = await scan(text, signal);
    return errorReport(found, given === undefined ? await readMachine() : given);
  });
}

/** The machine without a CUDA context; null: it cannot be read. */
async function readMachine(): Promise<Snapshot | null> {
  return snapshot({ memGetInfo: 'never' }).catch(() => null);
}

function isText(value: unknown): value is ErrorText {
  if (typeof value === 'string' || value instanceof Uint8Array) return true;
  return typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}

function isSnapshot(value: unknown): value is Snapshot {
  return typeof value === 'object' && value !== null && 'schema' in value && value.schema === 'umaprobe/snapshot/1';
}
