/** The options of estimate(), with every default filled in. The public type is in lib/types: documents have it, too. */

import { checkChoice, invalidType, invalidValue, outOfRange } from '../../base/arguments.ts';
import { LIMITS } from '../../base/limits.ts';
import { didYouMean } from '../../base/nearest.ts';
import {
  type CheckedOf,
  checkOptions,
  custom,
  flag,
  integer,
  type OptionRow,
  oneOf,
  signal,
  TypedMistake,
} from '../../base/options.ts';
import { ESTIMATE_USES, LORA_TARGETS, OFFLOADS, OPTIMIZERS, TRAINING_DTYPES } from '../../types/estimate.ts';
import type { EstimateOptions, Offload } from '../../types/index.ts';
import { MODEL_PROGRAM_NAMES } from '../../types/programs.ts';
import { CACHE_TYPES, cacheTypeBytes } from '../files/cache-types.ts';

export const ESTIMATE = {
  use: oneOf(ESTIMATE_USES, { default: 'inference', placeholder: '<use>', help: ESTIMATE_USES.join(', ') }),
  program: oneOf(MODEL_PROGRAM_NAMES, {
    default: null,
    flag: 'for',
    placeholder: '<program>',
    help: `By the rules of ${MODEL_PROGRAM_NAMES.join(', ')}`,
  }),
  context: integer({
    ...LIMITS.tokens,
    default: null,
    placeholder: '<tokens>',
    help: 'Tokens of one sequence',
    usually: '4096',
    note: '; in training its length',
  }),
  sequences: integer({ ...LIMITS.sequences, default: 1, help: 'Sequences at the same time' }),
  kvDtype: custom(checkKvDtype, {
    default: null,
    placeholder: '<type>',
    help: 'Type of the cache, or of keys and values: fp8, q8_0/q4_0',
    read: typedKvDtype,
  }),
  batchTokens: integer({
    ...LIMITS.tokens,
    default: null,
    help: "Tokens in one step: llama.cpp's -ub, vLLM's --max-num-batched-tokens",
  }),
  tensorParallel: integer({
    ...LIMITS.devices,
    default: 1,
    help: 'Devices that share each layer; the estimate is for one of them',
  }),
  pipelineParallel: integer({
    ...LIMITS.devices,
    default: 1,
    help: 'Devices that have different layers; the estimate is for the one that takes the most',
  }),
  decodeContextParallel: integer({
    ...LIMITS.devices,
    default: 1,
    help: 'vLLM, SGLang: devices that divide the tokens of the cache',
  }),
  swaFull: flag({ help: 'Keep every token in layers with a sliding window' }),
  flashAttention: flag({
    default: true,
    flag: 'no-flash-attn', // The flag of llama.cpp.
    help: 'llama.cpp without flash attention; transformers with eager attention',
  }),
  kvUnified: flag({ default: true, flag: 'no-kv-unified', help: 'llama.cpp with a cache for each sequence' }),
  mla: { ...flag({ flag: 'no-mla', help: 'Latent attention with the expanded cache' }), default: null } as OptionRow<
    boolean,
    boolean | null
  >,
  mmap: flag({ default: true, flag: 'no-mmap', help: 'llama.cpp reads the file instead of mapping it' }),
  mtp: flag({ help: 'Load the layers for speculative decoding, too' }),
  languageModelOnly: flag({ help: 'Leave out the parts for images and sound' }),
  method: oneOf(['breakdown', 'rough'], {
    default: 'breakdown',
    placeholder: '<method>',
    help: 'Training: breakdown or rough',
  }),
  batch: integer({ ...LIMITS.sequences, default: 1, help: 'Training: sequences in one step' }),
  checkpointing: flag({
    default: true,
    flag: 'no-checkpointing',
    help: 'Training: keep all activations for the backward pass',
  }),
  optimizer: oneOf(OPTIMIZERS, { default: 'adamw', placeholder: '<name>', help: `Training: ${OPTIMIZERS.join(', ')}` }),
  dtype: oneOf(TRAINING_DTYPES, { default: null }),
  mixedPrecision: flag({ help: 'Training: FP32 weights, products in 16 bits (autocast)' }),
  loraRank: integer({ min: 1, max: 65_536, default: 16, help: 'Training: rank of the adapters' }),
  loraTargets: oneOf(LORA_TARGETS, {
    default: 'all-linear',
    placeholder: '<layers>',
    help: `Training: ${LORA_TARGETS.join(', ')}`,
  }),
  loraDropout: custom<number, number>(checkShare, {
    form: 'share',
    range: { min: 0, max: 1 },
    default: 0,
    help: 'Training: dropout of the adapters',
    read: (word) => (word === '0' ? 0 : undefined),
  }),
  fusedLoss: flag({ help: 'Training: a loss that never has all logits at once (Liger)' }),
  offload: custom<readonly Offload[], readonly Offload[]>(checkOffload, {
    default: [],
    placeholder: '<what>',
    help: `Training: ${OFFLOADS.join(',')} to host memory, which a unified machine shares`,
    read: typedOffload,
  }),
  maxJobs: integer({
    ...LIMITS.workers,
    default: 1,
    help: 'vLLM, SGLang: compilers at once in a first start, their MAX_JOBS',
  }),
  workers: integer({ ...LIMITS.workers, default: 0, help: 'Training: processes that load data' }),
  rolloutUtilization: custom<number, number>(checkShare, {
    form: 'share',
    range: { min: 0, max: 1 },
    default: 0.3,
    help: 'GRPO, rough: share of memory of the rollout engine',
  }),
  signal,
};

/** The compiler refuses a table that lacks an option of the public type. */
type Complete<Rows extends Readonly<Record<keyof EstimateOptions, unknown>>> = Rows;

/** A use with every default filled in, as the parts of an estimate read it. */
export type Use = Omit<CheckedOf<Complete<typeof ESTIMATE>>, 'signal'>;

export function checkEstimateOptions(options: EstimateOptions): { use: Use; signal: AbortSignal | undefined } {
  const { signal: ends, ...use } = checkOptions('estimate()', options, ESTIMATE);
  return { use, signal: ends };
}

function checkOffload(name: string, value: unknown): Offload[] {
  if (!Array.isArray(value)) throw invalidType(name, `an array of ${OFFLOADS.join(', ')}`, value);
  return value.map((entry: unknown) => checkChoice(name, OFFLOADS, entry));
}

/** "optimizer,activations". */
function typedOffload(words: string, name: string): Offload[] {
  return words.split(',').map((word) => {
    const found = OFFLOADS.find((known) => known === word.trim());
    if (found !== undefined) return found;
    throw new TypedMistake(`${name} "${word}" is not one of ${OFFLOADS.join(', ')}.`);
  });
}

function checkShare(name: string, value: unknown): number {
  if (typeof value !== 'number') throw invalidType(name, 'a number from 0 to 1', value);
  if (!(value >= 0 && value <= 1)) throw outOfRange(name, '0 to 1', value);
  return value;
}

function checkKvDtype(name: string, value: unknown): string {
  if (typeof value !== 'string') throw invalidType(name, 'the name of a data type', value);
  const names = value.toLowerCase().split('/');
  if (names.length > 2 || names.some((each) => cacheTypeBytes(each) === null))
    throw invalidValue(name, `one of ${CACHE_TYPES.join(', ')}, or two of them as q8_0/q4_0`, value);
  return names.join('/');
}

/** "fp8", "q8_0/q4_0". */
function typedKvDtype(value: string, name: string): string {
  const wrong = value.split('/').find((each) => cacheTypeBytes(each) === null);
  if (wrong === undefined) return value;
  throw new TypedMistake(
    `${name} "${wrong}" is not one of ${CACHE_TYPES.join(', ')}, or two of them as q8_0/q4_0.${didYouMean(wrong, CACHE_TYPES)}`,
  );
}
