/** SGLang: a share of the memory free before loading, for weights and cache together. */

import { formatBytes, formatCount, inGiB } from '../../base/format.ts';
import type { FitProgramReport, FitVerdict } from '../../types/index.ts';
import { flagsFor } from './flags.ts';
import { judged } from './judge.ts';
import {
  hasKnownCache,
  isCache,
  isWeights,
  isWeightsAlone,
  type ProgramInput,
  type ProgramOutcome,
  readingOf,
  smallestShare,
  sumOf,
  unreadable,
} from './program.ts';

/** Facts by which SGLang sizes its pool, in bytes. */
export interface SglangStart {
  /** Free before the weights are loaded: psutil's available on SM 8.7, 11.0 and 12.1, else cudaMemGetInfo's free. */
  before: number;
  /** Free after; `before` less weights and what loading left behind. */
  after: number;
  /** --mem-fraction-static. */
  fraction: number;
  /** Bytes of one token in all layers; null: unknown. */
  kvBytesPerToken: number | null;
  /** Layers with a recurrent state share the pool with the cache. Default false. */
  hybrid?: boolean;
}

/** --mamba-full-memory-ratio: bytes of recurrent states for each byte of cache. */
const STATE_RATIO = 0.9;

/**
 * profile_max_num_token of model_runner_kv_cache_mixin.py (001ccef): `available − before × (1 − mem_fraction_static)`, of
 * which hybrids give 0.9/1.9 to their states. 0 or less: "Not enough memory. Please try to increase
 * --mem-fraction-static".
 */
export function sglangPool({ after, before, fraction, hybrid, kvBytesPerToken }: SglangStart): {
  pool: number;
  kvTokens: number | null;
} {
  const pool = after - before * (1 - fraction);
  const cache = hybrid === true ? pool / (1 + STATE_RATIO) : pool;
  const known = kvBytesPerToken !== null && kvBytesPerToken > 0;
  return { pool, kvTokens: known ? Math.max(0, Math.floor(cache / kvBytesPerToken)) : null };
}

/** Bytes: 0.58 × 107,374,182,400 is 62,277,025,791.99 in floating point. */
const ROUNDING = 1e-3;

/** True for terms of SGLang's static part: weights and cache. A number of bytes does not tell them apart. */
function isStatic(name: string): boolean {
  return isWeights(name) || isCache(name) || name === 'bytes';
}

export function sglang(input: ProgramInput): FitProgramReport {
  const { limit, need } = input;
  const reading = readingOf(input, 'sglang');
  const versions = 'all; quoted from 2026-03';
  if (reading.bytes === null) return unreadable('sglang', versions, reading);
  const before = reading.bytes;
  const outside = sumOf(need.terms, (name) => !isStatic(name));
  const most = Math.min(before, limit ?? before) - outside.high;
  const fraction = input.utilization ?? smallestShare(sumOf(need.terms, isStatic), before, most, 0.99);
  const outcome = outcomeOf(input, before, fraction);
  return {
    program: 'sglang',
    versions,
    reads: before,
    from: reading.from,
    ...outcome,
    ...flagsFor('sglang', input, ['--mem-fraction-static', `${fraction}`]),
    remedies: reading.remedy === null ? [] : [reading.remedy],
    notes: [
      'The fraction is of what is free before loading, not of the total: beside another server it must be larger, not smaller.',
      'CUDA graphs and autotuning are outside of it; on a Spark add --disable-flashinfer-autotune where starts drain the host.',
    ],
  };
}

function outcomeOf(input: ProgramInput, before: number, fraction: number): ProgramOutcome {
  const { kvBytesPerToken, terms } = input.need;
  const isNamed = hasKnownCache(input.need);
  const weights = sumOf(terms, (name) => isWeights(name) || name === 'bytes').bytes;
  const hybrid = terms.some(({ name }) => name === 'recurrent-state');
  const { kvTokens, pool } = sglangPool({ before, after: before - weights, fraction, hybrid, kvBytesPerToken });
  const taken = Math.floor(before * fraction + ROUNDING);
  const refuses = isNamed ? pool <= 0 : taken < weights;
  const tokens = kvTokens === null ? '' : `, ${formatCount(kvTokens)} tokens`;
  const room = isNamed ? `: pool ${formatBytes(Math.floor(pool))}${tokens}` : '';
  const verdict = refuses ? 'no' : verdictFor(input, taken, pool);
  return {
    verdict,
    expectedFits: verdict !== 'no',
    inequality: {
      left: { name: 'weights', bytes: weights },
      relation: weights <= taken ? '<=' : '>',
      right: { name: `free × ${fraction}`, bytes: taken },
      rule: 'free after loading − free before × (1 − fraction) > 0',
    },
    decision: refuses
      ? `refuses to start: ${formatBytes(weights)} do not fit into ${inGiB(taken)} GiB, ${fraction} of what is free`
      : isWeightsAlone(input.need)
        ? `takes more than ${inGiB(taken)} GiB (${fraction} of what is free): its KV cache is not counted`
        : `starts and takes ${inGiB(taken)} GiB (${fraction} of what is free)${room}`,
    message: refuses ? 'Not enough memory. Please try to increase --mem-fraction-static.' : null,
    numbers: {
      before,
      static: taken,
      ...(isNamed ? { pool: Math.floor(pool), ...(kvTokens === null ? {} : { kvTokens }) } : {}),
    },
  };
}

/** Verdict on a start that SGLang does not refuse. */
function verdictFor({ limit, need }: ProgramInput, taken: number, pool: number): FitVerdict {
  const outside = sumOf(need.terms, (name) => !isStatic(name));
  if (limit !== null && taken + outside.bytes > limit) return 'no';
  const cache = sumOf(need.terms, isCache).bytes;
  if (pool < cache / (need.use?.sequences ?? 1)) return 'no';
  return pool >= cache && judged(sumOf(need.terms, isStatic), taken, null).verdict === 'fits' ? 'fits' : 'tight';
}
