/** The arguments of explain() and explainError(), checked. */

import { checkKeys, checkSignal, invalidType, type Keys } from '../../base/arguments.ts';
import type { ErrorText, ExplainErrorOptions, ExplainOptions, ProcessesReport, Snapshot } from '../../types/index.ts';

const KEYS: Keys<ExplainOptions> = { snapshot: true, processes: true, signal: true };
const ERROR_KEYS: Keys<ExplainErrorOptions> = { snapshot: true, signal: true };

export function checkExplainOptions(options: ExplainOptions): AbortSignal | undefined {
  checkKeys('explain()', options, KEYS);
  const signal = checkSignal(options.signal);
  const given: { snapshot?: unknown; processes?: unknown } = options;
  if (given.snapshot !== undefined && !isSnapshot(given.snapshot))
    throw invalidType('snapshot', 'a snapshot', given.snapshot);
  if (given.processes !== undefined && given.processes !== null && !isProcesses(given.processes))
    throw invalidType('processes', 'the report of processes(), or null', given.processes);
  return signal;
}

export function checkErrorOptions(text: unknown, options: ExplainErrorOptions): AbortSignal | undefined {
  if (!isText(text)) throw invalidType('text', 'a string, bytes, or an iterable of them', text);
  checkKeys('explainError()', options, ERROR_KEYS);
  const signal = checkSignal(options.signal);
  const given: unknown = options.snapshot;
  if (given !== undefined && given !== null && !isSnapshot(given))
    throw invalidType('snapshot', 'a snapshot, or null to compare with nothing', given);
  return signal;
}

function isProcesses(value: unknown): value is ProcessesReport {
  return typeof value === 'object' && value !== null && 'schema' in value && value.schema === 'umaprobe/processes/1';
}

function isText(value: unknown): value is ErrorText {
  if (typeof value === 'string' || value instanceof Uint8Array) return true;
  return typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}

function isSnapshot(value: unknown): value is Snapshot {
  return typeof value === 'object' && value !== null && 'schema' in value && value.schema === 'umaprobe/snapshot/1';
}
