/** llama.cpp and Ollama: projected use against free memory of a device; layers that do not fit go to the CPU. */

import { formatBytes, formatCount, MiB } from '../../base/format.ts';
import { CONTEXT_STEP } from '../../base/limits.ts';
import { defined } from '../../base/objects.ts';
import type { FitProgramReport, FitRange } from '../../types/index.ts';
import { flagsFor } from './flags.ts';
import { ifExpected, inequalityOf, type Judged, judged } from './judge.ts';
import {
  type FreeReading,
  isCache,
  isWeights,
  type ProgramInput,
  readingOf,
  sumOf,
  type Together,
  unreadable,
} from './program.ts';

/** --fit-target: memory that --fit leaves free on each device (common/fit.cpp). */
const FIT_TARGET = 1024 * MiB;

/** --fit-ctx: the shortest context that --fit reduces to. */
const FIT_CONTEXT = 4096;

export interface LlamaFit {
  /** True if "no changes needed" is printed. */
  unchanged: boolean;
  /** "need to reduce device memory by": bytes. */
  reduceBy: number;
}

/** common_params_fit_impl of common/fit.cpp (08033df), one device: projected use ≤ free − target. */
export function llamaFit(projected: number, free: number, target = FIT_TARGET): LlamaFit {
  const surplus = free - projected - target;
  return { unchanged: surplus >= 0, reduceBy: Math.max(0, -surplus) };
}

/** The context that --fit reduces to where -c is not given; null: even the shortest is too long. */
export function llamaContext(
  { free, projected, target = FIT_TARGET }: { free: number; projected: number; target?: number },
  {
    bytesPerToken,
    context,
    leastContext = FIT_CONTEXT,
  }: { bytesPerToken: number; context: number; leastContext?: number },
): number | null {
  const least = projected - (context - leastContext) * bytesPerToken;
  const goal = free - target;
  if (context <= leastContext || goal <= least) return null;
  const reduced = leastContext + Math.floor(((context - leastContext) * (goal - least)) / (projected - least));
  return Math.max(leastContext, reduced - (reduced % CONTEXT_STEP));
}

/**
 * The terms that it counts for the device: also those of a draft model (common/fit.cpp, `common_fit_extra_model`) and
 * of a projector, which the server adds to the target instead. Its host buffer, itself and adapters are out.
 */
const PROJECTED = new Set(['compute-buffer', 'draft-compute-buffer', 'projector', 'bytes']);

function isProjected(name: string): boolean {
  return isWeights(name) || isCache(name) || PROJECTED.has(name);
}

export function llamaCpp(input: ProgramInput): FitProgramReport {
  const { llama, need } = input;
  const reading = readingOf(input, 'llamaCpp');
  const versions = 'with --fit (default since the end of 2025)';
  const projected = sumOf(need.terms, isProjected);
  if (llama.fit === false) return unasked(input, reading, projected.bytes);
  if (reading.bytes === null) return unreadable('llama.cpp', versions, reading);
  const { targetBytes: target = FIT_TARGET } = llama;
  const { reduceBy, unchanged } = llamaFit(projected.bytes, reading.bytes, target);
  const shortened = unchanged ? null : shortenedContext(input, projected.bytes, reading.bytes);
  // It may change nothing any more: it allocates what it was told, and the machine alone decides.
  const isTold = llama.layersAreGiven === true && shortened === null;
  const misread = !unchanged && input.limit !== null && need.total.high <= input.limit;
  return {
    program: 'llama.cpp',
    versions,
    ...(isTold ? MACHINE_DECIDES : offload(projected, reading, target)),
    reads: reading.bytes,
    from: reading.from,
    inequality: inequalityOf(projected, Math.max(0, reading.bytes - target), {
      left: 'projected use',
      right: `free − ${formatBytes(target).replace('.0 ', ' ')}`,
      rule: 'model + KV cache + compute buffer ≤ free − --fit-target',
    }),
    decision: unchanged
      ? `loads everything on the GPU${ifExpected(projected, reading.bytes - target)}: projected to use ${formatBytes(projected.bytes)} of ${formatBytes(reading.bytes)} free`
      : `${reductionText(input, shortened)}: ${formatBytes(reduceBy)} too much`,
    message: null,
    numbers: {
      projected: projected.bytes,
      target,
      reduceBy,
      ...(unchanged ? {} : contextOf(input, shortened)),
      ...buffersOf(input),
    },
    ...flagsFor('llama.cpp', input, [...(misread ? UNASKED : ON_GPU), ...(input.together === null ? [] : NO_PROMPTS)]),
    remedies: reading.remedy === null ? [] : [reading.remedy],
    notes: [
      ...(misread ? ['With -fit off it allocates without asking, and the memory is there.'] : []),
      ...(input.together === null ? [`${PROMPTS}: --cache-ram 0 switches it off.`] : []),
    ],
  };
}

/** The program accepts whatever it is told. */
const MACHINE_DECIDES: Judged = { verdict: 'fits', expectedFits: true };

/** -fit off: it asks nobody, so that the machine alone decides. */
function unasked(input: ProgramInput, { bytes, from }: FreeReading, projected: number): FitProgramReport {
  return {
    program: 'llama.cpp',
    versions: 'with -fit off, and before the end of 2025',
    ...MACHINE_DECIDES,
    reads: bytes,
    from,
    inequality: null,
    decision: `allocates without asking: projected to use ${formatBytes(projected)}`,
    message: null,
    numbers: { projected, ...buffersOf(input) },
    ...flagsFor('llama.cpp', input, UNASKED),
    remedies: [],
    notes: [],
  };
}

/** The buffers that it prints while it loads. */
function buffersOf({ need }: ProgramInput): Record<string, number> {
  const names = { model: isWeights, kvCache: isCache, compute: (name: string) => name === 'compute-buffer' };
  return Object.fromEntries(
    Object.entries(names)
      .map(([name, wanted]) => [name, sumOf(need.terms, wanted).bytes] as const)
      .filter(([, bytes]) => bytes > 0),
  );
}

/** Fits now, fits after the remedy of the reading, or does not. */
function offload(projected: FitRange, reading: FreeReading, reserve: number): Judged {
  const { bytes, later } = reading;
  return judged(projected, (bytes ?? 0) - reserve, later === null ? null : later - reserve);
}

/** The context that it reduces to, of all sequences together; null: it may not, or that is not enough. */
function shortenedContext({ llama, need }: ProgramInput, projected: number, free: number): number | null {
  const { kvBytesPerToken, use } = need;
  if (llama.mayShorten === false || kvBytesPerToken === null || kvBytesPerToken <= 0 || use === null) return null;
  const { leastContext, targetBytes: target } = llama;
  return llamaContext(
    { projected, free, ...defined({ target }) },
    {
      bytesPerToken: kvBytesPerToken,
      context: use.context * use.sequences,
      ...defined({ leastContext }),
    },
  );
}

/** The context that it ends with where it may reduce it: at least the shortest, though that is not enough either. */
function contextOf({ llama, need: { use } }: ProgramInput, shortened: number | null): { context?: number } {
  if (shortened !== null) return { context: shortened };
  if (llama.mayShorten !== true || use === null) return {};
  return { context: Math.min(llama.leastContext ?? FIT_CONTEXT, use.context * use.sequences) };
}

function reductionText({ llama }: ProgramInput, shortened: number | null): string {
  if (shortened !== null)
    return `shortens the context to ${formatCount(shortened)} tokens${llama.mayShorten === true ? '' : ' where -c is not given'}`;
  if (llama.layersAreGiven === true) return 'allocates what it was told, because -ngl is given';
  return 'keeps layers or experts on the CPU';
}

/** Puts every layer on the GPU, without asking for free memory. */
const ON_GPU = ['-ngl', '999'];
const UNASKED = [...ON_GPU, '-fit', 'off'];

/**
 * llama-server keeps the caches of earlier prompts in the host's memory, up to --cache-ram, 8192 MiB by default (PR 16391,
 * 2025-10). Ollama's runners do so as well, and pass on a variable (ollama PR 18265, 2026-09).
 */
const PROMPTS = 'While it serves it keeps earlier prompts, up to 8 GiB, which are not counted';
const NO_PROMPTS = ['--cache-ram', '0'];

/** Memory that Ollama leaves free on a device besides OLLAMA_GPU_OVERHEAD (2026-08; 512 MiB on Metal). */
const OLLAMA_RESERVE = 457 * MiB;

export function ollama(input: ProgramInput): FitProgramReport {
  const { need, together } = input;
  const reading = readingOf(input, 'llamaCpp');
  const versions = '2026-08 and newer: it asks llama-server';
  if (reading.bytes === null) return unreadable('ollama', versions, reading);
  const projected = sumOf(need.terms, isProjected);
  const available = Math.max(0, reading.bytes - OLLAMA_RESERVE);
  const fits = projected.bytes <= available;
  const { layers } = need;
  const placed = layers === null ? null : Math.max(0, Math.floor((layers * available) / projected.bytes));
  return {
    program: 'ollama',
    versions,
    ...offload(projected, reading, OLLAMA_RESERVE),
    reads: reading.bytes,
    from: reading.from,
    inequality: inequalityOf(projected, available, {
      left: 'projected use',
      right: 'free − 457 MiB',
      rule: 'model + KV cache + compute buffer ≤ free − OLLAMA_GPU_OVERHEAD − 457 MiB',
    }),
    decision: fits
      ? `loads every layer on the GPU${ifExpected(projected, available)}`
      : `keeps layers on the CPU${placed === null ? '' : `: about ${placed} of ${layers} are on the GPU`}`,
    message: null,
    numbers: { projected: projected.bytes, available },
    ...flagsFor('ollama', input, together === null ? [] : besideOthers(together)),
    remedies: reading.remedy === null ? [] : [reading.remedy],
    notes: [
      'It looks at its start: a GPU that was full then is not used until Ollama is started again.',
      ...(together === null ? [`${PROMPTS}: LLAMA_ARG_CACHE_RAM=0 switches it off.`] : []),
    ],
  };
}

/** Variables of one server for all models: without the first it unloads one for another, as if there were no room. */
function besideOthers({ models }: Together): string[] {
  return [`OLLAMA_MAX_LOADED_MODELS=${models}`, 'LLAMA_ARG_CACHE_RAM=0'];
}
