/** Parts that the rules of all programs share: their input, the numbers of a need by its terms, and versions. */

import { formatBytes } from '../../base/format.ts';
import { droppable } from '../../core/memory/droppable.ts';
import { sumOf as sumOfRanges } from '../../core/memory/range.ts';
import { DROP_PAGE_CACHE, RELEASE_HUGE_PAGES } from '../../core/memory/remedies.ts';
import type {
  DeviceSnapshot,
  FitLlamaOptions,
  FitProgramReport,
  FitRange,
  FitRemedy,
  FitTerm,
  Snapshot,
  ViewName,
} from '../../types/index.ts';
import type { Judged } from './judge.ts';
import type { Freed } from './machine.ts';
import type { CheckedNeed } from './options.ts';

export interface ProgramInput {
  need: CheckedNeed;
  snapshot: Snapshot;
  device: DeviceSnapshot;
  /** Bytes that can be loaded safely; null: unknown. */
  limit: number | null;
  /** Memory that steps of the machine have added to the programs' readings. */
  freed: Freed;
  version: string | null;
  utilization: number | null;
  llama: FitLlamaOptions;
  /** null: it is the only one. */
  together: Together | null;
}

/** Several programs on one machine. */
export interface Together {
  /** Number of all models. */
  models: number;
  /** Bytes that the models started before hold. */
  taken: number;
}

export type Rule = (input: ProgramInput) => FitProgramReport;

/** Answer of a program, without the flags and remedies. */
export type ProgramOutcome = Judged & Pick<FitProgramReport, 'inequality' | 'decision' | 'message' | 'numbers'>;

/** A free memory that a program reads. `later`: after `remedy`; null: there is nothing to be done about it. */
export interface FreeReading {
  bytes: number | null;
  from: string;
  later: number | null;
  remedy: FitRemedy | null;
}

/** Free memory that the program of a view reads, and steps that would change it. */
export function readingOf({ device, freed, snapshot }: ProgramInput, view: ViewName): FreeReading {
  const { host } = snapshot;
  const bytes = device.views[view];
  const from = device.from[`views.${view}`] ?? '';
  if (bytes === null) return { bytes, from, later: null, remedy: null };
  if (from.includes('HugePages_Free') && host.available !== null) {
    const huge = (host.hugePagesFree ?? 0) * (host.hugePageSize ?? 0);
    return freed.hugePages
      ? { bytes: host.available + freed.bytes, from, later: null, remedy: null }
      : { bytes, from, ...raised(bytes, host.available + huge + freed.bytes, RELEASE) };
  }
  const now = Math.max(0, bytes + freed.bytes);
  const isFree = device.memoryModel === 'unified' && (bytes === host.free || device.cuda?.free === bytes);
  if (!isFree) return { bytes: now, from, later: null, remedy: null };
  return { bytes: now, from, ...raised(now, now + droppable(host), DROP) };
}

function raised(bytes: number, later: number, remedy: Omit<FitRemedy, 'gains'>): Pick<FreeReading, 'later' | 'remedy'> {
  return later > bytes ? { later, remedy: { ...remedy, gains: later - bytes } } : { later: null, remedy: null };
}

const DROP = { text: 'drop clean page cache, which it counts as used', command: DROP_PAGE_CACHE, needsRoot: true };
const RELEASE = {
  text: 'release reserved huge pages: while there are any it counts nothing else',
  command: RELEASE_HUGE_PAGES,
  needsRoot: true,
};

/** The sum of terms by name. */
export function sumOf(terms: readonly FitTerm[], wanted: (name: string) => boolean): FitRange {
  return sumOfRanges(terms.filter(({ name }) => wanted(name)));
}

const CACHES = new Set(['kv-cache', 'recurrent-state', 'draft-kv-cache', 'draft-recurrent-state']);
const WEIGHTS = new Set(['weights', 'output-copy', 'draft-weights', 'draft-output-copy', 'adapter-slots']);

/** A cache of tokens or states of recurrent layers, also those of a draft model. */
export function isCache(name: string): boolean {
  return CACHES.has(name);
}

/** True for terms that are loaded before a program sizes its cache: weights, a draft model's too, room for adapters. */
export function isWeights(name: string): boolean {
  return WEIGHTS.has(name);
}

/** True if it is known which part is the cache; it is not for a number of bytes or of parameters. */
export function hasKnownCache({ kvBytesPerToken, terms }: CheckedNeed): boolean {
  const has = (wanted: (name: string) => boolean): boolean => terms.some(({ name }) => wanted(name));
  return has(isWeights) && (kvBytesPerToken !== null || has(isCache));
}

/** A number of parameters, or files without a config: room for the cache has to be added, and how much is not known. */
export function isWeightsAlone({ terms }: Pick<CheckedNeed, 'terms'>): boolean {
  return terms.some(({ name }) => isWeights(name)) && terms.every(({ name }) => isWeights(name) || name === 'runtime');
}

/** True if a version is at least another; versions are compared number by number. null: the newest. */
export function isAtLeast(version: string | null, other: string): boolean {
  if (version === null) return true;
  const numbers = (text: string): number[] => text.split(/[^\d]+/, 4).map(Number);
  const [own, wanted] = [numbers(version), numbers(other)];
  for (const [index, number] of wanted.entries()) {
    const difference = (own[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** 0.304 → 0.31: the smallest share of two digits that holds it, to the last byte. */
export function shareUp(bytes: number, total: number): number {
  const hundredths = Math.ceil((bytes / total) * 100 - 1e-9);
  return Math.floor((total * hundredths) / 100) >= bytes ? hundredths / 100 : (hundredths + 1) / 100;
}

/**
 * The smallest share of `whole` that holds the upper end of a need; less where there is less, if that holds the expected
 * size.
 */
export function smallestShare({ bytes, high }: FitRange, whole: number, left: number, most: number): number {
  const wanted = shareUp(high, whole);
  const largest = Math.floor((left / whole) * 100 + 1e-9) / 100;
  return Math.max(0.01, Math.min(largest * whole >= bytes ? Math.min(wanted, largest) : wanted, most));
}

/** The report of a program whose reading is missing. */
export function unreadable(
  program: FitProgramReport['program'],
  versions: string,
  { from }: Pick<FreeReading, 'from'>,
): FitProgramReport {
  return {
    program,
    versions,
    verdict: 'unknown',
    expectedFits: null,
    reads: null,
    from,
    inequality: null,
    decision: `what it reads as free is not known here: ${from}`,
    message: null,
    numbers: {},
    flags: null,
    aboutFlags: ['What it reads as free is not known.'],
    remedies: [],
    notes: [],
  };
}

/** "(at most 20.1 GiB)", or nothing where the size is exact. */
export function rangeText({ bytes, high }: FitRange): string {
  return high > bytes ? `${formatBytes(bytes)} (at most ${formatBytes(high)})` : formatBytes(bytes);
}
