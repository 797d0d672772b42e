/** Arguments of `estimate()`, checked, with every default filled in. */

import {
  checkBoolean,
  checkChoice,
  checkInteger,
  checkKeys,
  checkSignal,
  invalidType,
  invalidValue,
  type Keys,
  outOfRange,
} from '../../base/arguments.ts';
import { LIMITS, type Range } from '../../base/limits.ts';
import { ESTIMATE_USES, LORA_TARGETS, OFFLOADS, OPTIMIZERS, TRAINING_DTYPES } from '../../types/estimate.ts';
import type { EstimateOptions, Offload } from '../../types/index.ts';
import { MODEL_PROGRAM_NAMES } from '../../types/programs.ts';
import { CACHE_TYPES, cacheTypeBytes } from '../files/cache-types.ts';
import type { Use } from './use.ts';

const KEYS: Keys<EstimateOptions> = {
  use: true,
  program: true,
  context: true,
  sequences: true,
  kvDtype: true,
  batchTokens: true,
  flashAttention: true,
  swaFull: true,
  kvUnified: true,
  mla: true,
  tensorParallel: true,
  pipelineParallel: true,
  decodeContextParallel: true,
  mtp: true,
  languageModelOnly: true,
  mmap: true,
  method: true,
  batch: true,
  checkpointing: true,
  optimizer: true,
  dtype: true,
  mixedPrecision: true,
  loraRank: true,
  loraTargets: true,
  loraDropout: true,
  fusedLoss: true,
  offload: true,
  maxJobs: true,
  workers: true,
  rolloutUtilization: true,
  signal: true,
};

export function checkEstimateOptions(options: EstimateOptions): { use: Use; signal: AbortSignal | undefined } {
  checkKeys('estimate()', options, KEYS);
  return { use: checkUse(options), signal: checkSignal(options.signal) };
}

function checkUse(options: EstimateOptions): Use {
  const whole = (name: keyof EstimateOptions, limits: Range): number | null =>
    options[name] === undefined ? null : checkInteger(name, options[name], limits);
  const on = (name: keyof EstimateOptions): boolean =>
    options[name] === undefined ? true : checkBoolean(name, options[name]);
  const off = (name: keyof EstimateOptions): boolean => checkBoolean(name, options[name]);
  return {
    use: options.use === undefined ? 'inference' : checkChoice('use', ESTIMATE_USES, options.use),
    program: options.program === undefined ? null : checkChoice('program', MODEL_PROGRAM_NAMES, options.program),
    context: whole('context', LIMITS.tokens),
    sequences: whole('sequences', LIMITS.sequences) ?? 1,
    kvDtype: options.kvDtype === undefined ? null : checkKvDtype(options.kvDtype),
    batchTokens: whole('batchTokens', LIMITS.tokens),
    flashAttention: on('flashAttention'),
    swaFull: off('swaFull'),
    kvUnified: on('kvUnified'),
    mla: options.mla === undefined ? null : checkBoolean('mla', options.mla),
    tensorParallel: whole('tensorParallel', LIMITS.devices) ?? 1,
    pipelineParallel: whole('pipelineParallel', LIMITS.devices) ?? 1,
    decodeContextParallel: whole('decodeContextParallel', LIMITS.devices) ?? 1,
    mtp: off('mtp'),
    languageModelOnly: off('languageModelOnly'),
    mmap: on('mmap'),
    method:
      options.method === undefined
        ? 'breakdown'
        : checkChoice('method', ['breakdown', 'rough'] as const, options.method),
    batch: whole('batch', LIMITS.sequences) ?? 1,
    checkpointing: on('checkpointing'),
    optimizer: options.optimizer === undefined ? 'adamw' : checkChoice('optimizer', OPTIMIZERS, options.optimizer),
    dtype: options.dtype === undefined ? null : checkChoice('dtype', TRAINING_DTYPES, options.dtype),
    mixedPrecision: off('mixedPrecision'),
    loraRank: whole('loraRank', LIMITS.loraRank) ?? 16,
    loraTargets:
      options.loraTargets === undefined ? 'all-linear' : checkChoice('loraTargets', LORA_TARGETS, options.loraTargets),
    loraDropout: checkShare('loraDropout', options.loraDropout ?? 0),
    fusedLoss: off('fusedLoss'),
    offload: checkOffload(options.offload ?? []),
    maxJobs: whole('maxJobs', LIMITS.workers) ?? 1,
    workers: whole('workers', LIMITS.workers) ?? 0,
    rolloutUtilization: checkShare('rolloutUtilization', options.rolloutUtilization ?? 0.3),
  };
}

function checkOffload(value: unknown): Offload[] {
  if (!Array.isArray(value)) throw invalidType('offload', `an array of ${OFFLOADS.join(', ')}`, value);
  return value.map((name: unknown) => checkChoice('offload', OFFLOADS, name));
}

function checkShare(name: string, value: unknown): number {
  if (typeof value !== 'number') throw invalidType(name, 'a number from 0 to 1', value);
  if (!(value >= 0 && value <= 1)) throw outOfRange(name, '0 to 1', value);
  return value;
}

function checkKvDtype(value: unknown): string {
  if (typeof value !== 'string') throw invalidType('kvDtype', 'the name of a data type', value);
  const names = value.toLowerCase().split('/');
  if (names.length > 2 || names.some((name) => cacheTypeBytes(name) === null))
    throw invalidValue('kvDtype', `one of ${CACHE_TYPES.join(', ')}, or two of them as q8_0/q4_0`, value);
  return names.join('/');
}
