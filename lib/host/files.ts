/**
 * Reading of files in /proc and /sys through the binary: each time, once a second, or once until the driver changes.
 */

import type { Fact } from '../base/errors.ts';
import { isFailure, type Provenance, reason } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';

/** Settings are changed by an administrator, if at all: a value of the last second is recent enough. */
const SETTINGS_AGE_MS = 1000;

type Texts = Fact<string>[];
interface CachedTexts {
  texts: Texts;
  /** Time of performance.now() at which the files are read again. */
  validUntil: number;
}
const cache = new WeakMap<NativeBinding, Map<string, CachedTexts>>();

/** Reads files, or returns their cached texts while these are valid. */
export function readCached(binding: NativeBinding, paths: string[], validUntil: (texts: Texts) => number): Texts {
  const entries = cache.get(binding) ?? new Map<string, CachedTexts>();
  cache.set(binding, entries);
  const key = paths.join('\n');
  const cached = entries.get(key);
  if (cached !== undefined && performance.now() < cached.validUntil) return cached.texts;
  const texts = binding.readFiles(paths);
  entries.set(key, { texts, validUntil: validUntil(texts) });
  return texts;
}

/** Validity of settings: one second. */
export function forASecond(): number {
  return performance.now() + SETTINGS_AGE_MS;
}

/**
 * Validity of a driver's facts: for ever if all could be read; one second otherwise, as the driver may still be loaded.
 */
export function untilUnload(texts: Texts): number {
  return texts.some(isFailure) ? forASecond() : Number.POSITIVE_INFINITY;
}

/** Reads a set of files in one native call, and returns a function that parses one of them and records its source. */
export function reader(binding: NativeBinding, provenance: Provenance) {
  return <Name extends string>(
    files: Record<Name, string>,
    read = (paths: string[]): Texts => binding.readFiles(paths),
  ) => {
    const names = Object.keys(files) as Name[];
    const texts = read(names.map((name) => files[name]));
    /** null: the file could not be read, or is not in the documented format; the reason is recorded under `path`. */
    return <T>(name: Name, path: string, parse: (text: string) => T | null): T | null => {
      const text = texts[names.indexOf(name)];
      if (text === undefined || isFailure(text)) {
        provenance.record(path, text === undefined ? `${files[name]}: not read` : reason(text));
        return null;
      }
      const value = parse(text);
      provenance.record(path, value === null ? `${files[name]}: the text is not in the kernel’s format` : files[name]);
      return value;
    };
  };
}
