import { existsSync } from 'node:fs';
import { LIMITS } from '../../base/limits.ts';
import { didYouMean } from '../../base/nearest.ts';
import { MOST_PARAMETERS, parseElements } from '../../core/memory/tensors.ts';
import { estimate, estimateTable } from '../../models/estimate/index.ts';
import { CACHE_TYPES, cacheTypeBytes } from '../../models/files/cache-types.ts';
import { WEIGHT_FORMATS } from '../../models/files/weight-formats.ts';
import { estimatePage, tablePage } from '../../show/render/text/estimate.ts';
import { ESTIMATE_USES, LORA_TARGETS, OFFLOADS, OPTIMIZERS, TRAINING_DTYPES } from '../../types/estimate.ts';
import type { EstimateOptions, ModelDescription, Offload } from '../../types/index.ts';
import { MODEL_PROGRAM_NAMES } from '../../types/programs.ts';
import {
  type Command,
  type CommandOutcome,
  type Context,
  type OptionTable,
  type OptionValues,
  shown,
} from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { readFromHub } from '../core/hub-model.ts';
import { choice, count, EXACT, flag, isGiven, positive, text } from '../core/options.ts';
import { UsageError } from '../core/usage.ts';

const NAME = 'estimate';

/** Options of a model and its use, also of every command that asks whether a model fits. */
export const MODEL_OPTIONS: OptionTable = {
  params: { type: 'string', placeholder: '<n>', summary: 'A number of parameters instead of a model, such as 70e9' },
  dtype: {
    type: 'string',
    placeholder: '<type>',
    values: WEIGHT_FORMATS,
    summary:
      'With --params: format of the weights, such as bf16, fp8, nvfp4, q4_k_m (default bf16). Training: bf16, fp16, fp32',
  },
  hidden: { type: 'string', placeholder: '<n>', summary: 'With --params and --method rough: the hidden size' },
  use: {
    type: 'string',
    placeholder: '<use>',
    summary: `${ESTIMATE_USES.join(', ')} (default inference)`,
    values: ESTIMATE_USES,
  },
  for: {
    type: 'string',
    placeholder: '<program>',
    summary: `By the rules of ${MODEL_PROGRAM_NAMES.join(', ')}`,
    values: MODEL_PROGRAM_NAMES,
  },
  context: {
    type: 'string',
    placeholder: '<tokens>',
    summary: 'Tokens of one sequence (default 4096); in training its length',
  },
  sequences: { type: 'string', placeholder: '<n>', summary: 'Sequences at the same time (default 1)' },
  'kv-dtype': {
    type: 'string',
    placeholder: '<type>',
    summary: 'Type of the cache, or of keys and values: fp8, q8_0/q4_0',
  },
  'batch-tokens': {
    type: 'string',
    placeholder: '<n>',
    summary: "Tokens in one step: llama.cpp's -ub, vLLM's --max-num-batched-tokens",
  },
  'tensor-parallel': {
    type: 'string',
    placeholder: '<n>',
    summary: 'Devices that share each layer; the estimate is for one of them',
  },
  'pipeline-parallel': {
    type: 'string',
    placeholder: '<n>',
    summary: 'Devices that have different layers; the estimate is for the one that takes the most',
  },
  'decode-context-parallel': {
    type: 'string',
    placeholder: '<n>',
    summary: 'vLLM, SGLang: devices that divide the tokens of the cache',
  },
  nodes: {
    type: 'string',
    placeholder: '<n>',
    summary: 'Machines with one GPU each that share the model: tensor parallel, unless the options above say how',
  },
  'swa-full': { type: 'boolean', summary: 'Keep every token in layers with a sliding window' },
  'no-flash-attn': { type: 'boolean', summary: 'llama.cpp without flash attention; transformers with eager attention' },
  'no-kv-unified': { type: 'boolean', summary: 'llama.cpp with a cache for each sequence' },
  'no-mla': { type: 'boolean', summary: 'Latent attention with the expanded cache' },
  'no-mmap': { type: 'boolean', summary: 'llama.cpp reads the file instead of mapping it' },
  mtp: { type: 'boolean', summary: 'Load the layers for speculative decoding, too' },
  'language-model-only': { type: 'boolean', summary: 'Leave out the parts for images and sound' },
  method: { type: 'string', placeholder: '<method>', summary: 'Training: breakdown (default) or rough' },
  batch: { type: 'string', placeholder: '<n>', summary: 'Training: sequences in one step (default 1)' },
  'no-checkpointing': { type: 'boolean', summary: 'Training: keep all activations for the backward pass' },
  optimizer: {
    type: 'string',
    placeholder: '<name>',
    summary: `Training: ${OPTIMIZERS.join(', ')} (default adamw)`,
    values: OPTIMIZERS,
  },
  'mixed-precision': { type: 'boolean', summary: 'Training: FP32 weights, products in 16 bits (autocast)' },
  'lora-rank': { type: 'string', placeholder: '<n>', summary: 'Training: rank of the adapters (default 16)' },
  'lora-targets': {
    type: 'string',
    placeholder: '<layers>',
    summary: `Training: ${LORA_TARGETS.join(', ')} (default all-linear)`,
    values: LORA_TARGETS,
  },
  'lora-dropout': { type: 'string', placeholder: '<share>', summary: 'Training: dropout of the adapters (default 0)' },
  'fused-loss': { type: 'boolean', summary: 'Training: a loss that never has all logits at once (Liger)' },
  offload: {
    type: 'string',
    placeholder: '<what>',
    summary: `Training: ${OFFLOADS.join(',')} to host memory, which a unified machine shares`,
  },
  'max-jobs': {
    type: 'string',
    placeholder: '<n>',
    summary: 'vLLM, SGLang: compilers at once in a first start, their MAX_JOBS (default 1)',
  },
  workers: { type: 'string', placeholder: '<n>', summary: 'Training: processes that load data (default 0)' },
  'rollout-utilization': {
    type: 'string',
    placeholder: '<share>',
    summary: 'GRPO, rough: share of memory of the rollout engine (default 0.3)',
  },
};

/**
 * A size has no use of options of a model, but that of a program, which has a rule for a size, too.
 *
 * @param option of the size. @param other what else was given and does not go with it.
 */
export function checkSizeAlone(
  option: string,
  values: OptionValues,
  command: string,
  other: string | null = null,
): void {
  const name = Object.keys(MODEL_OPTIONS).find((each) => each !== 'for' && isGiven(values, each));
  const second = other ?? (name === undefined ? null : `--${name}`);
  if (second !== null)
    throw new UsageError(`${option} is a size without a model, so it does not go with ${second}.`, command);
}

export const estimateCommand: Command = {
  name: NAME,
  usage: '<model> | --params <n> | --table [options]',
  description:
    'Reads the headers of a model and adds up what it takes: weights, cache, buffers, loading; or what training takes. Each term has its formula and a range. ' +
    'Reads no weights and allocates nothing.\n' +
    'A model is a folder of Hugging Face, a .gguf, .safetensors or config.json file, or a name in a model store: org/name, or name:tag of Ollama.\n' +
    'With --table it shows the weights in each precision: of the model, of --params, or of 7, 13 and 70 billion parameters.',
  options: {
    table: { type: 'boolean', summary: 'Weights by precision instead of one estimate' },
    exact: EXACT,
    formulas: { type: 'boolean', summary: 'The formula and the inputs of each term' },
    ...MODEL_OPTIONS,
  },
  examples: [
    { command: 'umaprobe estimate ~/models/Qwen3-8B --context 32768', means: 'a folder' },
    { command: 'umaprobe estimate model.gguf --for llama.cpp --context 8192', means: 'by the rules of a program' },
    { command: 'umaprobe estimate hf:org/name', means: 'before it is downloaded' },
    { command: 'umaprobe estimate --params 70e9 --dtype nvfp4', means: 'a typical model of this size' },
    { command: 'umaprobe estimate org/name --use lora --batch 4 --context 2048', means: 'training' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 1, afterDashes: true },
  run,
};

async function run(context: Context): Promise<CommandOutcome> {
  const { positionals, rest, values } = context;
  const exact = flag(values, 'exact');
  const named = [...positionals, ...rest];
  if (flag(values, 'table')) {
    const hasModel = named.length > 0 || text(values, 'params') !== undefined;
    const document = await estimateTable(
      hasModel ? await readFromHub(modelOf(values, named, NAME), context) : undefined,
    );
    return shown(document, tablePage, EXIT.success, { exact });
  }
  const use = estimateOptions(values, NAME);
  const document = await estimate(await readFromHub(modelOf(values, named, NAME), context), use);
  const formulas = flag(values, 'formulas');
  return shown(document, (_, options) => estimatePage(document, formulas, options), EXIT.success, { exact });
}

/** The model that the command names: a path or name, or `--params`. */
export function modelOf(values: OptionValues, named: readonly string[], command: string): string | ModelDescription {
  const [model, second] = named;
  const params = parameters(values, command);
  if (second !== undefined) throw new UsageError(`One model is expected; "${second}" is a second.`, command);
  if (model !== undefined && params !== undefined)
    throw new UsageError(`"${model}" and --params both name a model: give one of them.`, command);
  const dtype = text(values, 'dtype');
  const hidden = count(values, 'hidden', LIMITS.hidden, command);
  if (params !== undefined)
    return { params, ...(dtype === undefined ? {} : { dtype }), ...(hidden === undefined ? {} : { hidden }) };
  if (hidden !== undefined) throw new UsageError('--hidden needs --params: a model has its own.', command);
  if (dtype !== undefined && choice(values, 'use', ESTIMATE_USES, 'inference', command) === 'inference')
    throw new UsageError('--dtype needs --params, or a --use that trains: a model has its own.', command);
  if (model !== undefined && /^\d+(\.\d+)?[bm]$/i.test(model) && !existsSync(model))
    throw new UsageError(`There is no model "${model}". Did you mean --params ${model}?`, command);
  if (model === undefined)
    throw new UsageError('A model is expected: a folder, a file, a name in a store, or --params 70e9.', command);
  return model;
}

/** Parameters of the smallest language models. */
const LEAST_PARAMETERS = 100_000;

/** "70e9", and as names of models have it: "70B", "350M". */
function parameters(values: OptionValues, command: string): number | undefined {
  const word = text(values, 'params');
  if (word === undefined) return undefined;
  const [, digits, unit] = /^(\d{1,6}(?:\.\d{1,3})?)([bm])$/i.exec(word) ?? [];
  const number =
    digits === undefined ? parseElements(word) : Math.round(Number(digits) * (unit?.toLowerCase() === 'b' ? 1e9 : 1e6));
  // Whole models have more: a number that is so small has lost its unit.
  if (number !== null && unit === undefined && number < LEAST_PARAMETERS)
    throw new UsageError(
      `--params "${word}" has no unit: expected ${word}B for ${word} billion parameters, or ${word}M for ${word} million.`,
      command,
    );
  if (number !== null && number >= 1 && number <= MOST_PARAMETERS) return number;
  throw new UsageError(
    `--params "${word}" is not a number of parameters, such as 70e9 or 70B, from 1 to 10^15.`,
    command,
  );
}

/** "fp8", "q8_0/q4_0". */
function cacheType(values: OptionValues, command: string): string | undefined {
  const value = text(values, 'kv-dtype');
  const wrong = value?.split('/').find((name) => cacheTypeBytes(name) === null);
  if (wrong === undefined) return value;
  throw new UsageError(
    `--kv-dtype "${wrong}" is not one of ${CACHE_TYPES.join(', ')}, or two of them as q8_0/q4_0.${didYouMean(wrong, CACHE_TYPES)}`,
    command,
  );
}

/** --dtype is that of the weights with --params. */
function trainingDtype(values: OptionValues, command: string): EstimateOptions['dtype'] {
  const isTraining = choice(values, 'use', ESTIMATE_USES, 'inference', command) !== 'inference';
  if (!isTraining || text(values, 'dtype') === undefined || text(values, 'params') !== undefined) return undefined;
  return choice(values, 'dtype', TRAINING_DTYPES, 'bf16', command);
}

/** 0 is a share, too. */
function share(values: OptionValues, name: string, command: string): number | undefined {
  return text(values, name) === '0' ? 0 : positive(values, name, 1, command);
}

/** "optimizer,activations". */
function offload(values: OptionValues, command: string): Offload[] | undefined {
  const names = text(values, 'offload')?.split(',');
  return names?.map((name) => {
    const found = OFFLOADS.find((known) => known === name.trim());
    if (found !== undefined) return found;
    throw new UsageError(`--offload "${name}" is not one of ${OFFLOADS.join(', ')}.`, command);
  });
}

/** Division of a model. Machines with one GPU each have a rank each. */
function parallel(values: OptionValues, command: string): Partial<EstimateOptions> {
  const of = (option: string) => count(values, option, LIMITS.devices, command);
  const [tensor, pipeline, context, nodes] = [
    'tensor-parallel',
    'pipeline-parallel',
    'decode-context-parallel',
    'nodes',
  ].map(of);
  const isSaid = tensor !== undefined || pipeline !== undefined;
  const tensorParallel = isSaid ? tensor : nodes;
  const ranks = (tensorParallel ?? 1) * (pipeline ?? 1);
  if (nodes !== undefined && ranks !== nodes)
    throw new UsageError(
      `--nodes ${nodes} has a rank on each machine, and the options divide the model among ${ranks}.`,
      command,
    );
  if (context !== undefined && (tensorParallel ?? 1) % context !== 0)
    throw new UsageError(
      `--decode-context-parallel ${context} divides the ranks of --tensor-parallel, which are ${tensorParallel ?? 1}.`,
      command,
    );
  const given = { tensorParallel, pipelineParallel: pipeline, decodeContextParallel: context };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const OF_TRAINING =
  `batch no-checkpointing optimizer mixed-precision lora-rank lora-targets lora-dropout fused-loss offload workers
  rollout-utilization`.split(/\s+/);

/** An option of another use changes nothing there: it would look as if it were counted. */
function checkPurpose(values: OptionValues, command: string): void {
  const isTraining = choice(values, 'use', ESTIMATE_USES, 'inference', command) !== 'inference';
  const other = OF_TRAINING.find((name) => isGiven(values, name));
  if (!isTraining && other !== undefined)
    throw new UsageError(`--${other} is an option of training: name a --use that trains, such as lora.`, command);
  if (isTraining && isGiven(values, 'sequences'))
    throw new UsageError('--sequences is an option of inference: a training has --batch.', command);
}

/** Options of the estimate; an option that was not given is left out. */
export function estimateOptions(values: OptionValues, command: string): EstimateOptions {
  checkPurpose(values, command);
  const kvDtype = cacheType(values, command);
  const given = {
    context: count(values, 'context', LIMITS.tokens, command),
    sequences: count(values, 'sequences', LIMITS.sequences, command),
    batchTokens: count(values, 'batch-tokens', LIMITS.tokens, command),
    ...parallel(values, command),
    batch: count(values, 'batch', LIMITS.sequences, command),
    loraRank: count(values, 'lora-rank', LIMITS.loraRank, command),
    workers: count(values, 'workers', LIMITS.workers, command),
    maxJobs: count(values, 'max-jobs', LIMITS.workers, command),
    rolloutUtilization: positive(values, 'rollout-utilization', 1, command),
    loraDropout: share(values, 'lora-dropout', command),
    dtype: trainingDtype(values, command),
    offload: offload(values, command),
    kvDtype,
    program:
      text(values, 'for') === undefined ? undefined : choice(values, 'for', MODEL_PROGRAM_NAMES, 'vllm', command),
    mla: flag(values, 'no-mla') ? false : undefined,
  };
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    use: choice(values, 'use', ESTIMATE_USES, 'inference', command),
    method: choice(values, 'method', ['breakdown', 'rough'] as const, 'breakdown', command),
    loraTargets: choice(values, 'lora-targets', LORA_TARGETS, 'all-linear', command),
    optimizer: choice(values, 'optimizer', OPTIMIZERS, 'adamw', command),
    swaFull: flag(values, 'swa-full'),
    flashAttention: !flag(values, 'no-flash-attn'),
    kvUnified: !flag(values, 'no-kv-unified'),
    mmap: !flag(values, 'no-mmap'),
    mtp: flag(values, 'mtp'),
    languageModelOnly: flag(values, 'language-model-only'),
    checkpointing: !flag(values, 'no-checkpointing'),
    mixedPrecision: flag(values, 'mixed-precision'),
    fusedLoss: flag(values, 'fused-loss'),
  };
}
