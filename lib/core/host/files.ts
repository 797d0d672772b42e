/**
 * Facts in files of /proc and /sys, as tables: a row names the file, the property that it gives, and its parser. A table
 * is read each time, once a second, or once until the driver changes.
 *
 * Files are read on threads of the addon and within a limit: any of them may be served by FUSE (lxcfs serves
 * /proc/meminfo of a container), and then it may never answer.
 */

import type { Fact } from '../../base/errors.ts';
import { isFailure, Provenance, reason } from '../../base/facts.ts';
import type { NativeBinding } from '../native/contract.ts';

/**
 * Least time for a file. Kernel files answer within microseconds, but on a machine that is busy to the limit the thread
 * that reads them may wait so long for its turn.
 */
const LEAST_MS = 1_000;
/** Least time for a file that is read late, after others: when one of those hangs, its thread needs a turn as well. */
const LEAST_FOLLOWING_MS = 500;

/** The files of one reading of the kernel. They share a limit, and each fails alone: a TIMEOUT. */
export interface KernelFiles {
  binding: NativeBinding;
  /** The limit of the whole reading, in milliseconds. */
  limitMs: number;
  /** Texts, each at most 1 MiB. */
  read(paths: readonly string[]): Promise<Fact<string>[]>;
  /** The same for files that every reading needs: they stay open. `bytes` limits each text. */
  reread(paths: readonly string[], bytes: readonly number[]): Promise<Fact<string>[]>;
  /** Names in a directory. */
  list(path: string): Promise<Fact<string[]>>;
}

/** Equals the default time for which `snapshot()` waits for CUDA and NVML. */
const LIMIT_MS = 2_000;

/** @param wantedMs from now on; a second where it is shorter. */
export function kernelFiles(binding: NativeBinding, wantedMs = LIMIT_MS): KernelFiles {
  const limitMs = Math.max(wantedMs, LEAST_MS);
  const until = performance.now() + limitMs;
  const left = () => Math.max(LEAST_FOLLOWING_MS, Math.round(until - performance.now()));
  return {
    binding,
    limitMs,
    read: async (paths) => (paths.length === 0 ? [] : binding.readFilesWithin([...paths], left())),
    reread: (paths, bytes) => binding.rereadFilesWithin([...paths], [...bytes], left()),
    list: async (path) => (await binding.listDirectoryWithin(path, left()))[0],
  };
}

/** A fact in a file, of which the text is read, or what the binary has found in it. */
export interface FileFact<T, Found extends string | number = string> {
  file: string;
  /** Path of the property in `from`, such as "kernel.minFree". */
  path: string;
  /** null: the text is not in the documented format. */
  parse(found: Found): T | null;
}

type FactTable = Record<string, FileFact<unknown>>;
/** null: the file could not be read, or is not in the documented format. */
type FactValues<Rows extends FactTable> = { [Name in keyof Rows]: ReturnType<Rows[Name]['parse']> };

/** Reads the files of a table in one native call, and records the source or the reason of each value. */
export async function readTable<Rows extends FactTable>(
  files: KernelFiles,
  rows: Rows,
  provenance: Provenance,
): Promise<FactValues<Rows>> {
  const facts = Object.entries(rows);
  const texts = await files.read(facts.map(([, { file }]) => file));
  const values = facts.map(([name, fact], index) => [name, parseFact(fact, texts[index], provenance)]);
  return Object.fromEntries(values) as FactValues<Rows>;
}

/** The reason for unknown facts of a file whose text has another form. */
export const unparsed = (file: string): string => `${file}: the text is not in the kernel’s format`;

/** The value of a row from the text of its file; the source, or the reason for null, is recorded. */
export function parseFact<T, Found extends string | number>(
  { file, path, parse }: FileFact<T, Found>,
  found: Fact<Found> | undefined,
  provenance: Provenance,
): T | null {
  if (found === undefined || isFailure(found)) {
    provenance.record(path, found === undefined ? `${file}: not read` : reason(found));
    return null;
  }
  const value = parse(found);
  provenance.record(path, value === null ? unparsed(file) : file);
  return value;
}

/** Settings are changed by an administrator, if at all: a value of the last second is recent enough. */
const SETTINGS_AGE_MS = 1000;

/** Facts with their sources, and the time of performance.now() at which they are read again. */
interface Kept<T> {
  values: T;
  sources: Record<string, string>;
  validUntil: number;
}
const kept = new WeakMap<NativeBinding, Map<unknown, Kept<unknown>>>();

/**
 * The facts that `read` returned and recorded last, while they are valid: one second, or `forever` if every one of them
 * could be read. A driver that is not loaded yet may be loaded later.
 *
 * @param key one for each `read`: an object or a text.
 */
export async function readSeldom<T extends object>(
  { binding }: KernelFiles,
  key: unknown,
  validity: 'a second' | 'forever',
  read: (provenance: Provenance) => Promise<T>,
): Promise<Kept<T>> {
  const entries = kept.get(binding) ?? new Map<unknown, Kept<unknown>>();
  kept.set(binding, entries);
  const entry = entries.get(key) as Kept<T> | undefined;
  if (entry !== undefined && performance.now() < entry.validUntil) return entry;
  const own = new Provenance();
  const values = await read(own);
  const isConstant = validity === 'forever' && Object.values(values).every((value) => value !== null);
  const validUntil = isConstant ? Number.POSITIVE_INFINITY : performance.now() + SETTINGS_AGE_MS;
  const made = { values, sources: own.sources, validUntil };
  entries.set(key, made);
  return made;
}
