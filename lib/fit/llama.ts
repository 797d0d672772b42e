/** llama.cpp and Ollama: what they project to use against what a device has free; what does not fit goes to the CPU. */

import { formatBytes, formatCount, MiB } from '../base/format.ts';
import type { FitProgramReport, FitRange } from '../types/index.ts';
import { inequalityOf, type Judged, judged } from './judge.ts';
import { isCache, isWeights, type ProgramInput, type Reading, readingOf, sumOf, unreadable } from './program.ts';

/** --fit-target: memory that --fit leaves free on each device (common/fit.cpp). */
export const FIT_TARGET = 1024 * MiB;

/** --fit-ctx: the shortest context that --fit reduces to. */
const FIT_CONTEXT = 4096;

/** common/fit.cpp rounds a reduced context down to this. */
const CONTEXT_STEP = 256;

export interface LlamaFit {
  /** Whether "no changes needed" is printed. */
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
  { bytesPerToken, context }: { bytesPerToken: number; context: number },
): number | null {
  const least = projected - (context - FIT_CONTEXT) * bytesPerToken;
  const goal = free - target;
  if (context <= FIT_CONTEXT || goal <= least) return null;
  const reduced = FIT_CONTEXT + Math.floor(((context - FIT_CONTEXT) * (goal - least)) / (projected - least));
  return Math.max(FIT_CONTEXT, reduced - (reduced % CONTEXT_STEP));
}

/** Terms that llama.cpp places on the device. Its host buffer and the process itself it does not count. */
function isProjected(name: string): boolean {
  return isWeights(name) || isCache(name) || name === 'compute-buffer' || name === 'bytes';
}

export function llamaCpp(input: ProgramInput): FitProgramReport {
  const { need } = input;
  const reading = readingOf(input, 'llamaCpp');
  const versions = 'with --fit (default since the end of 2025)';
  if (reading.bytes === null) return unreadable('llama.cpp', versions, reading);
  const projected = sumOf(need.terms, isProjected);
  const { reduceBy, unchanged } = llamaFit(projected.bytes, reading.bytes);
  const misread = !unchanged && input.limit !== null && need.total.high <= input.limit;
  return {
    program: 'llama.cpp',
    versions,
    ...offload(projected, reading, FIT_TARGET),
    reads: reading.bytes,
    from: reading.from,
    inequality: inequalityOf(projected, Math.max(0, reading.bytes - FIT_TARGET), {
      left: 'projected use',
      right: 'free − 1 GiB',
      rule: 'model + KV cache + compute buffer ≤ free − --fit-target',
    }),
    decision: unchanged
      ? `loads everything on the GPU: projected to use ${formatBytes(projected.bytes)} of ${formatBytes(reading.bytes)} free`
      : `${reductionText(input, projected.bytes, reading.bytes)}: ${formatBytes(reduceBy)} too much`,
    message: null,
    numbers: {
      projected: projected.bytes,
      target: FIT_TARGET,
      reduceBy,
      ...buffersOf(input),
    },
    flags: flagsOf(input, misread),
    remedies: reading.remedy === null ? [] : [reading.remedy],
    notes: misread ? ['With -fit off it allocates without asking, and the memory is there.'] : [],
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
function offload(projected: FitRange, reading: Reading, reserve: number): Judged {
  const { bytes, later } = reading;
  return judged(projected, (bytes ?? 0) - reserve, later === null ? null : later - reserve);
}

function reductionText({ need }: ProgramInput, projected: number, free: number): string {
  const { kvBytesPerToken, use } = need;
  if (kvBytesPerToken !== null && kvBytesPerToken > 0 && use !== null) {
    const context = llamaContext(
      { projected, free },
      { bytesPerToken: kvBytesPerToken, context: use.context * use.sequences },
    );
    if (context !== null) return `shortens the context to ${formatCount(context)} tokens where -c is not given`;
  }
  return 'keeps layers or experts on the CPU';
}

function flagsOf({ need: { use } }: ProgramInput, misread: boolean): string {
  const context =
    use === null ? [] : [`-c ${use.context * use.sequences}`, ...(use.sequences > 1 ? [`-np ${use.sequences}`] : [])];
  return [...context, '-ngl 999', '--no-mmap', ...(misread ? ['-fit off'] : [])].join(' ');
}

/** Memory that Ollama leaves free on a device besides OLLAMA_GPU_OVERHEAD (2026-08; 512 MiB on Metal). */
const OLLAMA_RESERVE = 457 * MiB;

export function ollama(input: ProgramInput): FitProgramReport {
  const { need } = input;
  const reading = readingOf(input, 'llamaCpp');
  const versions = '2026-08 and newer: it asks llama-server';
  if (reading.bytes === null) return unreadable('ollama', versions, reading);
  const projected = sumOf(need.terms, isProjected);
  const available = Math.max(0, reading.bytes - OLLAMA_RESERVE);
  const fits = projected.bytes <= available;
  const { layers, use } = need;
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
      ? 'loads every layer on the GPU'
      : `keeps layers on the CPU${placed === null ? '' : `: about ${placed} of ${layers} are on the GPU`}`,
    message: null,
    numbers: { projected: projected.bytes, available },
    flags: use === null ? null : `OLLAMA_CONTEXT_LENGTH=${use.context} OLLAMA_NUM_PARALLEL=${use.sequences}`,
    remedies: reading.remedy === null ? [] : [reading.remedy],
    notes: ['It looks at its start: a GPU that was full then is not used until Ollama is started again.'],
  };
}
