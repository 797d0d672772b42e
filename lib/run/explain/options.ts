/** The options of explain() and explainError(). */

import { invalidType } from '../../base/arguments.ts';
import { custom, type OptionsOf, signal } from '../../base/options.ts';
import type { ProcessesReport, Snapshot } from '../../types/index.ts';

/** Options of `explain()`. */
export interface ExplainOptions extends OptionsOf<typeof EXPLAIN> {}
/** Options of `explainError()`. */
export interface ExplainErrorOptions extends OptionsOf<typeof EXPLAIN_ERROR> {}

export const EXPLAIN = {
  /** The machine. Default: this one is read, with its processes. */
  snapshot: custom<Snapshot>((name, value) => documentOf(name, value, 'snapshot', 'a snapshot'), {}),
  /** Its processes. Default: they are read with the machine; with a `snapshot`, none: what needs them is not judged. */
  processes: custom<ProcessesReport | null>(
    (name, value) =>
      value === null ? value : documentOf(name, value, 'processes', 'the report of processes(), or null'),
    {},
  ),
  /** Ends the reading. */
  signal,
};

export const EXPLAIN_ERROR = {
  /** The machine that the numbers are compared with. Default: this one is read. null: no machine. */
  snapshot: custom<Snapshot | null>(
    (name, value) =>
      value === null ? value : documentOf(name, value, 'snapshot', 'a snapshot, or null to compare with nothing'),
    {},
  ),
  /** Ends the search. */
  signal,
};

function documentOf<Document>(name: string, value: unknown, schema: string, expected: string): Document {
  if (typeof value === 'object' && value !== null && Reflect.get(value, 'schema') === `umaprobe/${schema}/1`)
    return value as Document;
  throw invalidType(name, expected, value);
}

export function checkErrorText(text: unknown): void {
  if (typeof text === 'string' || text instanceof Uint8Array) return;
  if (typeof text === 'object' && text !== null && (Symbol.asyncIterator in text || Symbol.iterator in text)) return;
  throw invalidType('text', 'a string, bytes, or an iterable of them', text);
}
