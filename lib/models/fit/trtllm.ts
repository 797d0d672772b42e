/** TensorRT-LLM: a share of the memory free after loading, for the KV cache alone. */

import { formatBytes, formatCount, inGiB } from '../../base/format.ts';
import type { FitProgramReport, FitRange } from '../../types/index.ts';
import { flagsFor } from './flags.ts';
import {
  hasKnownCache,
  isCache,
  isWeightsAlone,
  type ProgramInput,
  type ProgramOutcome,
  readingOf,
  shareUp,
  sumOf,
  unreadable,
} from './program.ts';

/** Facts by which it sizes its cache, in bytes. */
interface TrtllmStart {
  /** cudaMemGetInfo's free before it loads: on unified memory page cache counts as used. */
  free: number;
  /** Weights, the peak of its profiling run, and memory in use outside PyTorch. */
  loaded: number;
  /** free_gpu_memory_fraction of kv_cache_config. */
  fraction: number;
}

/** `(total − peak) × fraction`: _cal_max_memory of tensorrt_llm/_torch/pyexecutor/_util.py (0004396, 2026). */
function trtllmCache({ fraction, free, loaded }: TrtllmStart): number {
  return Math.floor((free - loaded) * fraction);
}

/** The most that is looked for: the server's own memory is outside of the share. */
const MOST = 0.95;

export function trtllm(input: ProgramInput): FitProgramReport {
  const { need } = input;
  const reading = readingOf(input, 'torch');
  const versions = '1.0 and newer, PyTorch backend';
  if (reading.bytes === null) return unreadable('trtllm', versions, reading);
  const { bytes: free, later, remedy } = reading;
  const now = outcomeOf(input, free);
  const then = later === null ? null : outcomeOf(input, later);
  const isLater = now.verdict !== 'fits' && then !== null && then.verdict !== 'no';
  const verdict = isLater && then.verdict === 'fits' ? 'fits-after' : isLater ? then.verdict : now.verdict;
  const { fraction } = isLater ? then : now;
  const { expectedFits, decision, inequality, message, numbers } = now;
  return {
    program: 'trtllm',
    versions,
    verdict,
    expectedFits,
    reads: free,
    from: reading.from,
    inequality,
    decision,
    message,
    numbers,
    ...flagsFor('trtllm', input, ['--kv_cache_free_gpu_memory_fraction', `${fraction}`]),
    remedies: remedy === null ? [] : [remedy],
    notes: [
      `Its share is of what is free after loading, which counts page cache as used${isWeightsAlone(need) ? ', and its KV cache is not counted' : ''}.`,
    ],
  };
}

function outcomeOf({ limit, need, utilization }: ProgramInput, free: number): ProgramOutcome & { fraction: number } {
  const cache = sumOf(need.terms, isCache);
  const rest = sumOf(need.terms, (name) => !isCache(name));
  const fraction = utilization ?? smallestFraction(cache, free - rest.high);
  const kvCache = trtllmCache({ free, loaded: rest.bytes, fraction });
  const one = Math.ceil(cache.bytes / (need.use?.sequences ?? 1));
  const taken = rest.bytes + Math.max(0, kvCache);
  const refuses = kvCache <= 0 || kvCache < one;
  const passes = !refuses && (limit === null || taken <= limit);
  const fits = passes && trtllmCache({ free, loaded: rest.high, fraction }) >= cache.high;
  const expected = passes && kvCache >= cache.bytes;
  const { kvBytesPerToken } = need;
  const kvTokens =
    kvBytesPerToken === null || kvBytesPerToken <= 0 ? null : Math.max(0, Math.floor(kvCache / kvBytesPerToken));
  const tokens = kvTokens === null ? '' : `, ${formatCount(kvTokens)} tokens`;
  return {
    verdict: fits ? 'fits' : expected ? 'tight' : 'no',
    expectedFits: expected,
    fraction,
    inequality: {
      left: { name: 'KV cache of one request', bytes: one },
      relation: kvCache >= one ? '<=' : '>',
      right: { name: `free after loading × ${fraction}`, bytes: Math.max(0, kvCache) },
      rule: '(free − weights − peak of a step) × fraction ≥ KV cache of one request',
    },
    decision: refuses
      ? `refuses to start: ${formatBytes(Math.max(0, kvCache))} are left for its KV cache, and one request takes ${formatBytes(one)}`
      : passes
        ? `starts and takes ${inGiB(taken)} GiB: KV cache ${formatBytes(kvCache)} (${fraction} of what is free after loading)${tokens}`
        : `takes ${inGiB(taken)} GiB, and only ${inGiB(limit)} GiB can be loaded safely`,
    message: null,
    numbers: {
      free,
      loaded: rest.bytes,
      taken,
      ...(hasKnownCache(need) ? { kvCache, ...(kvTokens === null ? {} : { kvTokens }) } : {}),
    },
  };
}

/** The smallest share of two digits that holds the upper end of the cache. */
function smallestFraction({ high }: FitRange, left: number): number {
  return left <= 0 ? MOST : Math.min(MOST, Math.max(0.01, shareUp(high, left)));
}
