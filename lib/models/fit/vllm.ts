/** vLLM: a share of the device's total, checked against free memory, and what of it is left for the KV cache. */

import { formatBytes, formatCount, inGiB } from '../../base/format.ts';
import { VLLM_SHARE } from '../../core/memory/program-shares.ts';
import type { DeviceSnapshot, FitInequality, FitProgramReport, FitVerdict, HostMemory } from '../../types/index.ts';
import { flagsFor } from './flags.ts';
import { inequalityOf, judged } from './judge.ts';
import {
  hasKnownCache,
  isAtLeast,
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

/** Facts by which vLLM sizes its cache, in bytes. */
export interface VllmStart {
  /** cudaMemGetInfo's total. */
  total: number;
  /** psutil's available on integrated GPUs (SM 8.7, 11.0, 12.1), else cudaMemGetInfo's free. */
  free: number;
  utilization: number;
  weights: number;
  /** The peak of PyTorch in the profiling run, above the weights. */
  activations: number;
  /** Growth outside PyTorch. */
  nonTorch: number;
  /** Estimated CUDA graphs; subtracted since 0.21. */
  graphs: number;
  /** Bytes of one token in all layers; null: unknown. */
  kvBytesPerToken: number | null;
  /** null: the newest. */
  version: string | null;
}

export interface VllmBudget {
  requested: number;
  /** True if it gets past its first check. */
  starts: boolean;
  /** Bytes left for the KV cache; 0 or less: "No available memory for the cache blocks". */
  kvCache: number;
  /** Tokens in whole blocks; null: unknown. */
  kvTokens: number | null;
}

/** Tokens of a block (--block-size). */
const BLOCK = 16;

/**
 * request_memory of vllm/v1/worker/utils.py (0027b02): `free >= ceil(total × utilization)`. determine_available_memory of
 * gpu_worker.py: requested less weights, peak and growth outside PyTorch; since 0.21 less the estimated CUDA graphs, too
 * (VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS). Blocks: kv_cache_utils.py, available // page size.
 */
export function vllmBudget(start: VllmStart): VllmBudget {
  const { activations, free, kvBytesPerToken, nonTorch, total, utilization, version, weights } = start;
  const requested = Math.ceil(total * utilization);
  const graphs = isAtLeast(version, '0.21') ? start.graphs : 0;
  const kvCache = requested - weights - activations - nonTorch - graphs;
  const kvTokens = kvBytesPerToken === null ? null : tokensOf(kvCache, kvBytesPerToken);
  return { requested, starts: free >= requested, kvCache, kvTokens };
}

/**
 * Tokens in whole blocks: the size of the cache, and the longest context of one request (the "estimated maximum model
 * length" of its error).
 */
export function tokensOf(kvCache: number, kvBytesPerToken: number): number | null {
  return kvBytesPerToken > 0 ? Math.max(0, Math.floor(kvCache / (kvBytesPerToken * BLOCK)) * BLOCK) : null;
}

export function vllm(input: ProgramInput): FitProgramReport {
  const { device, limit, need, snapshot, version } = input;
  const reading = readingOf(input, 'vllm');
  const total = cudaTotal(device, snapshot.host);
  const versions = isAtLeast(version, '0.21') ? '0.21 and newer' : 'before 0.21: CUDA graphs are not in its budget';
  if (reading.bytes === null || total === null) return unreadable('vllm', versions, reading);
  const free = reading.bytes;
  const given = input.utilization;
  const utilization = given ?? smallestShare(need.total, total, Math.min(free, limit ?? free), 1);
  const start = { ...partsOf(input), total, free, version };
  const outcome = outcomeOf(input, { ...start, utilization });
  return {
    program: 'vllm',
    versions,
    reads: free,
    from: reading.from,
    ...outcome,
    ...flagsFor('vllm', input, ['--gpu-memory-utilization', `${utilization}`]),
    remedies: reading.remedy === null ? [] : [reading.remedy],
    notes: given === null ? defaultNotes(input, start) : [],
  };
}

function outcomeOf({ limit, need }: ProgramInput, start: VllmStart): ProgramOutcome {
  const { free, total, utilization } = start;
  const { kvCache, kvTokens, requested, starts } = vllmBudget(start);
  const isNamed = hasKnownCache(need);
  const tokenCount = kvTokens === null ? {} : { kvTokens };
  const numbers = { total, requested, ...(isNamed ? { kvCache, ...tokenCount } : {}) };
  const outcome = (
    verdict: FitVerdict,
    decision: string,
    inequality: FitInequality,
    message: string | null = null,
  ): ProgramOutcome => ({ verdict, expectedFits: verdict !== 'no', decision, inequality, message, numbers });
  const share = { name: `ceil(total × ${utilization})`, bytes: requested };
  const startRule = { left: share, right: { name: 'free', bytes: free }, rule: 'ceil(total × utilization) ≤ free' };
  if (!starts)
    return outcome(
      'no',
      `refuses to start: its share of ${utilization} is ${inGiB(requested)} GiB, and ${inGiB(free)} GiB are free`,
      { ...startRule, relation: '>' },
      `Free memory on device cuda:0 (${inGiB(free)}/${inGiB(total)} GiB) on startup is less than desired GPU memory utilization ` +
        `(${utilization}, ${inGiB(requested)} GiB).`,
    );
  const cache = sumOf(need.terms, isCache).bytes;
  const sequences = need.use?.sequences ?? 1;
  const cacheRule = {
    left: { name: 'KV cache of one request', bytes: Math.ceil(cache / sequences) },
    right: { name: 'left of its share', bytes: kvCache },
    rule: 'share − weights − activations − other growth − CUDA graphs ≥ KV cache of one request',
  };
  if (isNamed && kvCache <= 0)
    return outcome(
      'no',
      `refuses to start: the model leaves nothing of its ${inGiB(requested)} GiB for the KV cache`,
      { ...cacheRule, relation: '>' },
      'No available memory for the cache blocks.',
    );
  if (isNamed && kvCache < cacheRule.left.bytes)
    return outcome(
      'no',
      `refuses to start: one request of ${formatCount(need.use?.context ?? 0)} tokens does not fit into its KV cache`,
      { ...cacheRule, relation: '>' },
      `${inGiB(cacheRule.left.bytes)} GiB KV cache is needed, which is larger than the available KV cache memory (${inGiB(kvCache)} GiB).`,
    );
  const tokens = kvTokens === null ? '' : `, ${formatCount(kvTokens)} tokens`;
  const room = isNamed ? `: KV cache ${formatBytes(kvCache)}${tokens}` : '';
  const decision = isWeightsAlone(need)
    ? `takes more than ${inGiB(requested)} GiB (${utilization}): its KV cache is not counted`
    : `starts and takes ${inGiB(requested)} GiB (${utilization})${room}`;
  // It takes its share, whatever the model needs.
  if (limit !== null && requested > limit)
    return outcome(
      'no',
      `${decision}, but only ${inGiB(limit)} GiB can be loaded safely: ${formatBytes(free - requested)} would stay`,
      {
        left: share,
        relation: '>',
        right: { name: 'can be loaded safely', bytes: limit },
        rule: 'ceil(total × utilization) ≤ what can be loaded',
      },
    );
  const inside = inequalityOf(need.total, requested, {
    left: 'need',
    right: 'its share',
    rule: 'need ≤ ceil(total × utilization) ≤ free',
  });
  const { verdict } = judged(need.total, requested, null);
  if (!isNamed && verdict === 'no')
    return outcome(verdict, `refuses to start: its share of ${utilization} is ${inGiB(requested)} GiB`, inside);
  return outcome(verdict === 'fits' && cache <= kvCache ? 'fits' : 'tight', decision, inside);
}

function cudaTotal({ attributes, cuda, memoryModel }: DeviceSnapshot, host: HostMemory): number | null {
  return attributes.totalGlobalMem ?? cuda?.total ?? (memoryModel === 'unified' ? host.total : null);
}

function partsOf({ need }: ProgramInput): Omit<VllmStart, 'total' | 'free' | 'utilization' | 'version'> {
  const bytes = (wanted: (name: string) => boolean): number => sumOf(need.terms, wanted).bytes;
  return {
    weights: bytes((name) => isWeights(name) || name === 'bytes'),
    activations: bytes((name) => name === 'activations'),
    nonTorch: bytes((name) => name === 'runtime'),
    graphs: bytes((name) => name === 'cuda-graphs'),
    kvBytesPerToken: need.kvBytesPerToken,
  };
}

/** Its decision without the flag. */
function defaultNotes({ limit }: ProgramInput, start: Omit<VllmStart, 'utilization'>): string[] {
  const utilization = isAtLeast(start.version, '0.20') ? VLLM_SHARE.newest : VLLM_SHARE.before020;
  const { requested, starts } = vllmBudget({ ...start, utilization });
  const without = `Without the flag its share is ${utilization}, ${formatBytes(requested)}`;
  if (!starts) return [`${without}: it refuses to start.`];
  if (limit === null || requested <= limit) return [];
  return [`${without}: it starts, and leaves ${formatBytes(start.free - requested)} for the host.`];
}
