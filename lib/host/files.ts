/** Texts of kernel files through the binary's seam: read now, kept for a while, or kept for good. */

import type { Fact } from '../base/errors.ts';
import { isFailure, type Provenance, reason } from '../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';

const SETTINGS_AGE_MS = 1000;

type Texts = Fact<string>[];
interface CachedTexts {
  texts: Texts;
  until: number;
}
const cache = new WeakMap<NativeBinding, Map<string, CachedTexts>>();

/** Reads files, or gives what was read before while that still holds. */
export function readCached(binding: NativeBinding, paths: string[], until: (texts: Texts) => number): Texts {
  const mine = cache.get(binding) ?? new Map<string, CachedTexts>();
  cache.set(binding, mine);
  const key = paths.join('\n');
  const before = mine.get(key);
  if (before !== undefined && performance.now() < before.until) return before.texts;
  const texts = binding.readFiles(paths);
  mine.set(key, { texts, until: until(texts) });
  return texts;
}

/** Settings, which change by an administrator's hand: read again when what is known is a second old. */
export function forASecond(): number {
  return performance.now() + SETTINGS_AGE_MS;
}

/** For good once all of them could be read; until then a driver may still be loaded. */
export function untilUnload(texts: Texts): number {
  return texts.some(isFailure) ? forASecond() : Number.POSITIVE_INFINITY;
}

/** Reads files in one call of the binary and hands out their texts; why one is missing goes to the origins. */
export function reader(binding: NativeBinding, origins: Provenance) {
  return <Name extends string>(
    files: Record<Name, string>,
    read = (paths: string[]): Texts => binding.readFiles(paths),
  ) => {
    const names = Object.keys(files) as Name[];
    const texts = read(names.map((name) => files[name]));
    /** Parses one of the files; a text that is not as documented is null too. */
    return <T>(name: Name, path: string, parse: (text: string) => T | null): T | null => {
      const text = texts[names.indexOf(name)];
      if (text === undefined || isFailure(text)) {
        origins.record(path, text === undefined ? `${files[name]}: not read` : reason(text));
        return null;
      }
      const value = parse(text);
      origins.record(path, value === null ? `${files[name]}: not in this kernel’s file` : files[name]);
      return value;
    };
  };
}
