/** The questions of fit(), checked. */

import { isDeepStrictEqual } from 'node:util';
import {
  checkDevice,
  checkKeys,
  invalidArgument,
  invalidType,
  invalidValue,
  outOfRange,
} from '../../base/arguments.ts';
import { formatBytes } from '../../base/format.ts';
import { LIMITS, SOME_BYTES } from '../../base/limits.ts';
import {
  bytes,
  checkOptions,
  custom,
  flag,
  group,
  integer,
  needed,
  oneOf,
  pick,
  signal,
  TypedMistake,
} from '../../base/options.ts';
import { checkUtilization } from '../../base/program-arguments.ts';
import { exactly, sumOf } from '../../core/memory/range.ts';
import { FIT_SETTINGS, TOGETHER_PROGRAMS } from '../../types/fit.ts';
import type {
  EstimatedModel,
  EstimatedSettings,
  EstimateOptions,
  EstimateUse,
  FitEstimate,
  FitLargestQuestion,
  FitLlamaOptions,
  FitModel,
  FitNeed,
  FitOptions,
  FitProgram,
  FitQuestion,
  FitRange,
  FitTableQuestion,
  FitTerm,
  FitTogetherQuestion,
  Snapshot,
} from '../../types/index.ts';
import { ESTIMATE } from '../estimate/options.ts';

/** Programs that are started with a share of memory. */
const SHARES: readonly FitProgram[] = ['vllm', 'sglang', 'trtllm'];

/** Checked where it is used, or not at all. */
const anything = custom((_, value) => value, {});

/** The environment for which a need is judged. The public types are in lib/types, beside those of the answers. */
const SETTINGS = {
  programVersion: custom(checkVersion, {
    default: null,
    placeholder: '<version>',
    help: 'With --for: version of the program',
    usually: 'the newest rule',
  }),
  utilization: custom(checkUtilizationOf, {
    default: null,
    form: 'share',
    range: { min: 0, max: 1 },
    help: 'vLLM’s --gpu-memory-utilization, SGLang’s --mem-fraction-static, TensorRT-LLM’s free fraction',
    usually: 'the smallest that holds it',
    read: typedUtilization,
  }),
  device: custom(checkDeviceNumber, {
    default: null,
    form: 'whole',
    range: LIMITS.device,
    help: 'CUDA number of the GPU (default 0)',
  }),
  llama: custom(checkLlama, { default: {} }),
  signal,
};

const MODEL = { model: anything, use: custom(checkUse, { default: {} }), snapshot: anything };

export const FIT = {
  bytes: {
    ...anything,
    ...pick(bytes({ ...SOME_BYTES, help: 'A size to load instead of a model' }), ['form', 'range', 'help']),
  },
  estimate: anything,
  solve: oneOf(FIT_SETTINGS, {
    default: null,
    help: 'The largest context, number of sequences or batch that fits',
  }),
  acceptTight: flag({ help: 'Exit with 0 where the expected size fits now' }),
  ...MODEL,
  program: ESTIMATE.program,
  ...SETTINGS,
};

const TABLE = { table: custom(checkTrue, {}), ...MODEL, program: ESTIMATE.program, ...SETTINGS };

export function checkFit(question: FitQuestion) {
  const checked = checkNeedAsked('fit()', question);
  return { ...checked, machine: checkSnapshot(question.snapshot) };
}

/** The question without its machine. */
export function checkNeedAsked(owner: string, question: FitNeed & FitOptions) {
  const { bytes: size, estimate, model, snapshot, use, ...settings } = checkOptions(owner, question, FIT);
  if (['bytes', 'estimate', 'model'].filter((name) => name in question).length !== 1)
    throw invalidArgument(`${owner} takes exactly one of bytes, model and estimate`);
  const hasModel = 'model' in question;
  if (settings.solve !== null && !hasModel)
    throw invalidArgument('solve needs a model: an estimate and a number of bytes do not change with a setting');
  if ('use' in question && question.use !== undefined && !hasModel)
    throw invalidArgument('use needs a model: an estimate and a number of bytes do not change with it');
  const need = hasModel
    ? withProgram(question, settings.program)
    : 'bytes' in question
      ? needOfBytes(size)
      : checkEstimate(question.estimate);
  return { need, settings };
}

export type FitSettings = ReturnType<typeof checkFit>['settings'];

export function checkFitTable(question: FitTableQuestion) {
  const { model, snapshot, table, use, ...settings } = checkOptions('fit() of a table', question, TABLE);
  return { need: withProgram(question, settings.program), settings, machine: checkSnapshot(question.snapshot) };
}

const LARGEST = { largest: custom(checkTrue, {}), ...pick(TABLE, ['snapshot', 'use', 'program', 'device', 'signal']) };

export function checkFitLargest(question: FitLargestQuestion) {
  const { device, program, signal: ends } = checkOptions('fit() of the largest model', question, LARGEST);
  const settings = { device, program, programVersion: null, utilization: null, llama: {}, signal: ends };
  return { use: withProgram(question, program).use, settings, machine: checkSnapshot(question.snapshot) };
}

function checkTrue(name: string, value: unknown): true {
  if (value !== true) throw invalidValue(name, 'true', value);
  return value;
}

const TOGETHER = {
  together: anything,
  program: needed(oneOf(TOGETHER_PROGRAMS, {})),
  ...pick(TABLE, ['snapshot', 'programVersion', 'device', 'signal']),
};

export function checkFitTogether(question: FitTogetherQuestion) {
  const { snapshot, together: _, ...checked } = checkOptions('fit() of several models', question, TOGETHER);
  const { together } = question;
  const { program } = checked;
  const machine = checkSnapshot(question.snapshot);
  if (!Array.isArray(together)) throw invalidType('together', 'an array of objects with model', together);
  const { max, min } = LIMITS.models;
  if (together.length < min || together.length > max)
    throw outOfRange('length of together', `${min} to ${max}`, together.length);
  const models = together.map((need: FitModel, index) => {
    checkKeys<FitModel>(`together[${index}]`, need, { model: true, use: true });
    checkUse('use', need.use ?? {});
    return withProgram(need, program);
  });
  for (const { use } of models) {
    if ((use.use ?? 'inference') !== 'inference') throw invalidValue('use', 'inference: servers do not train', use.use);
    // One server has one context, one number of sequences and one type of the cache.
    if (program === 'ollama' && !isDeepStrictEqual(use, models[0]?.use))
      throw invalidArgument('Ollama has one server with one environment: give all models the same use');
  }
  return { models, machine, settings: { ...checked, utilization: null, llama: {} } };
}

/** The model is checked when it is opened, its use when it is estimated. */
function withProgram<Need extends Partial<FitModel>>({ model, use = {} }: Need, program: FitProgram | null) {
  return { model: model as Need['model'], use: program === null ? use : { ...use, program } };
}

function checkUse(name: string, value: unknown): EstimateOptions {
  if (typeof value !== 'object' || value === null) throw invalidType(name, 'options of estimate()', value);
  return value;
}

function checkSnapshot(value: Snapshot): Snapshot {
  const isSnapshot = typeof value === 'object' && value !== null && 'schema' in value;
  if (!isSnapshot || value.schema !== 'umaprobe/snapshot/1')
    throw invalidType('snapshot', 'what snapshot() returned', value);
  return value;
}

type Given = Readonly<Record<string, unknown>>;

function checkUtilizationOf(name: string, value: unknown, { program }: Given): number {
  const share = checkUtilization(value) as number;
  if (SHARES.some((known) => known === program)) return share;
  throw invalidValue(name, `an option of the programs ${SHARES.join(', ')} only`, value);
}

function typedUtilization(word: string, name: string): number {
  const share = /^(\d+(\.\d+)?|\.\d+)$/.test(word) ? Number(word) : Number.NaN;
  if (share > 0 && share <= 1) return share;
  throw new TypedMistake(`${name} "${word}" is not a share above 0 and up to 1, such as 0.85.`);
}

function checkDeviceNumber(_: string, value: unknown): number {
  checkDevice(value);
  return value;
}

const LLAMA = group({
  fit: flag(),
  targetBytes: custom((name, value) => checkAmount(name, value, 0), {}),
  leastContext: integer(LIMITS.tokens),
  mayShorten: flag(),
  layersAreGiven: flag(),
});

function checkLlama(name: string, value: unknown, given: Given): FitLlamaOptions {
  LLAMA.check(name, value, given);
  if (given.program === 'llama.cpp') return value as FitLlamaOptions;
  throw invalidArgument('llama has options of --fit: name the program llama.cpp, too');
}

function checkVersion(name: string, value: unknown, { program }: Given): string {
  if (typeof value !== 'string') throw invalidType(name, 'a version such as "0.20.1"', value);
  if (program === undefined) throw invalidValue(name, 'the version of a program, so name the program', value);
  if (!/^[vb]?\d{1,6}(\.\d{1,6}){0,3}([.+-]?[a-z][\w.+-]{0,40})?$/i.test(value))
    throw invalidValue(name, 'a version such as "0.20.1"', value);
  return value.replace(/^[vb]/i, '');
}

/** Use for which an estimate was made. */
export interface JudgedUse {
  /** Tokens of one sequence. */
  context: number;
  sequences: number;
  purpose: EstimateUse;
  /** null: not said. */
  settings: EstimatedSettings | null;
}

/** A need as terms: one of unknown kind for a number of bytes. */
export interface CheckedNeed {
  total: FitRange;
  terms: FitTerm[];
  kvBytesPerToken: number | null;
  peak: FitRange;
  use: JudgedUse | null;
  layers: number | null;
  /** Tokens that the model was made for; null: unknown. */
  maxContext: number | null;
  /** The same as SGLang reads it. */
  maxContextSglang: number | null;
  /** Layers that predict later tokens; null: unknown. */
  mtpLayers: number | null;
  /** Attention heads, and those of keys and values; null: unknown. */
  heads: { all: number; keyValue: number | null } | null;
  /** The reason why the total says little, and the least that it takes; null: every part of it is counted. */
  unknown: { why: string; least: number } | null;
}

export function needOfBytes(value: unknown): CheckedNeed {
  const total = exactly(checkAmount('bytes', value, 1));
  return checkEstimate({ total, terms: [{ name: 'bytes', ...total }] });
}

export function checkEstimate(estimate: FitEstimate | undefined): CheckedNeed {
  if (typeof estimate !== 'object' || estimate === null)
    throw invalidType('estimate', 'what estimate() returned, or an object with total and terms', estimate);
  const { kvBytesPerToken, loading, method, model, terms, unread, use } = estimate;
  const total = checkRange('total', estimate.total);
  if (!Array.isArray(terms)) throw invalidType('terms', 'the terms of an estimate', terms);
  const peak = loading === undefined ? total : checkRange('loading.peak', loading.peak);
  return {
    total,
    terms: terms.map((term: FitTerm, index) => ({
      name: checkName(`terms[${index}].name`, term?.name),
      ...checkRange(`terms[${index}]`, term),
    })),
    kvBytesPerToken: kvBytesPerToken == null ? null : checkAmount('kvBytesPerToken', kvBytesPerToken, 0),
    peak: { bytes: Math.max(peak.bytes, total.bytes), low: peak.low, high: Math.max(peak.high, total.high) },
    // No context is known for a number of parameters.
    use:
      use === undefined || use.context === 0
        ? null
        : {
            context: checkAmount('use.context', use.context, 0),
            sequences: checkAmount('use.sequences', use.sequences, 1),
            purpose: use.use ?? 'inference',
            settings: use.settings ?? null,
          },
    layers: model?.layers ?? null,
    maxContext: model?.maxContext ?? null,
    maxContextSglang: model?.maxContextSglang ?? model?.maxContext ?? null,
    mtpLayers: model?.mtpLayers ?? null,
    heads: model?.heads == null ? null : { all: model.heads, keyValue: model.kvHeads ?? null },
    unknown: unreadFields(unread ?? [], terms, model) ?? leastBecause(total.bytes, terms, method, use?.use),
  };
}

/** Fields of a config that no rule understands: of all terms only the tensors of files are certain. */
function unreadFields(
  unread: readonly string[],
  terms: readonly FitTerm[],
  model: { source?: EstimatedModel['source'] } | undefined,
): CheckedNeed['unknown'] {
  if (!Array.isArray(unread)) throw invalidType('unread', 'names of fields', unread);
  if (unread.length === 0) return null;
  const [first, ...others] = unread.map(String);
  const more = others.length === 0 ? '' : others.length === 1 ? ` and ${others[0]}` : ` and ${others.length} more`;
  const isRead = model?.source === 'safetensors' || model?.source === 'gguf';
  const weights = terms.filter(({ name }) => isRead && name === 'weights');
  return {
    why: `its config has ${first}${more}, which umaprobe does not understand and which may change its memory`,
    least: sumOf(weights).low,
  };
}

/** An estimate that leaves out what it cannot know must not become a yes. */
function leastBecause(
  bytes: number,
  terms: readonly FitTerm[],
  method: unknown,
  use: string | undefined,
): CheckedNeed['unknown'] {
  const has = (...names: string[]): boolean => terms.some(({ name }) => names.includes(name));
  const because = (why: string) => ({ why: `${formatBytes(bytes)} is the least: ${why}`, least: bytes });
  if (method === 'rough') return because('it is a rule of thumb, and measured runs took 6 to 22 times as much');
  // The file of a vocabulary has no weights, and nothing that they are read for.
  if (!has('weights', 'output-copy') && has('kv-cache', 'recurrent-state', 'runtime'))
    return because('the weights are not known');
  // The most of a training that was replayed may be in the optimizer's step, where no activations are left.
  if (use !== undefined && use !== 'inference' && !has('activations', 'allocator-slack'))
    return because('the activations and the logits of training are not known');
  return null;
}

function checkName(name: string, value: unknown): string {
  if (typeof value !== 'string') throw invalidType(name, 'a string', value);
  return value;
}

function checkRange(name: string, value: unknown): FitRange {
  if (typeof value !== 'object' || value === null) throw invalidType(name, 'an object with bytes, low and high', value);
  const { bytes, high, low } = value as Record<string, unknown>;
  const range = {
    bytes: checkAmount(`${name}.bytes`, bytes, 0),
    low: checkAmount(`${name}.low`, low, 0),
    high: checkAmount(`${name}.high`, high, 0),
  };
  if (range.low > range.bytes || range.bytes > range.high)
    throw invalidValue(name, 'low ≤ bytes ≤ high', `${range.low}, ${range.bytes}, ${range.high}`);
  return range;
}

function checkAmount(name: string, value: unknown, min: number): number {
  if (typeof value !== 'number') throw invalidType(name, 'a number', value);
  if (!(value >= min && value <= Number.MAX_SAFE_INTEGER)) throw outOfRange(name, `${min} to 2^53 − 1`, value);
  return value;
}
