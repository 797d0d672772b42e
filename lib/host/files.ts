/**
 * Facts in files of /proc and /sys, as tables: a row names the file, the property that it gives, and its parser. A table
 * is read each time, once a second, or once until the driver changes.
 */

import type { Fact } from '../base/errors.ts';
import { isFailure, Provenance, reason } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';

/** A fact in a file. */
export interface FileFact<T> {
  file: string;
  /** Path of the property in `from`, such as "kernel.minFree". */
  path: string;
  /** null: the text is not in the documented format. */
  parse(text: string): T | null;
}

type Table = Record<string, FileFact<unknown>>;
/** null: the file could not be read, or is not in the documented format. */
type Values<Rows extends Table> = { [Name in keyof Rows]: ReturnType<Rows[Name]['parse']> };

/** Reads the files of a table in one native call, and records the source or the reason of each value. */
export function readTable<Rows extends Table>(
  binding: NativeBinding,
  rows: Rows,
  provenance: Provenance,
): Values<Rows> {
  const facts = Object.entries(rows);
  const texts = binding.readFiles(facts.map(([, { file }]) => file));
  const values = facts.map(([name, fact], index) => [name, parseFact(fact, texts[index], provenance)]);
  return Object.fromEntries(values) as Values<Rows>;
}

/** The value of a row from the text of its file; the source, or the reason for null, is recorded. */
export function parseFact<T>(
  { file, path, parse }: FileFact<T>,
  text: Fact<string> | undefined,
  provenance: Provenance,
): T | null {
  if (text === undefined || isFailure(text)) {
    provenance.record(path, text === undefined ? `${file}: not read` : reason(text));
    return null;
  }
  const value = parse(text);
  provenance.record(path, value === null ? `${file}: the text is not in the kernel’s format` : file);
  return value;
}

/** Settings are changed by an administrator, if at all: a value of the last second is recent enough. */
const SETTINGS_AGE_MS = 1000;

interface Kept {
  values: unknown;
  sources: Record<string, string>;
  /** Time of performance.now() at which the facts are read again. */
  validUntil: number;
}
const kept = new WeakMap<NativeBinding, Map<unknown, Kept>>();

/**
 * The facts that `read` returned and recorded last, while they are valid: one second, or `forever` if every one of them
 * could be read.
 *
 * @param key one for each `read`: an object or a text.
 */
export function readSeldom<T>(
  binding: NativeBinding,
  key: unknown,
  provenance: Provenance,
  validity: 'a second' | 'forever',
  read: (provenance: Provenance) => T,
): T {
  const entries = kept.get(binding) ?? new Map<unknown, Kept>();
  kept.set(binding, entries);
  let entry = entries.get(key);
  if (entry === undefined || performance.now() >= entry.validUntil) {
    const own = new Provenance();
    const values = read(own);
    const constant = validity === 'forever' && isComplete(values);
    entry = {
      values,
      sources: own.sources,
      validUntil: constant ? Number.POSITIVE_INFINITY : performance.now() + SETTINGS_AGE_MS,
    };
    entries.set(key, entry);
  }
  Object.assign(provenance.sources, entry.sources);
  return entry.values as T;
}

/** A driver that is not loaded yet may be loaded later: facts with a null are not kept. */
function isComplete(values: unknown): boolean {
  return Object.values(values as object).every((value) => value !== null);
}
