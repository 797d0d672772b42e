import { existsSync } from 'node:fs';
import { LIMITS } from '../../base/limits.ts';
import { defined } from '../../base/objects.ts';
import { flag, integer, TypedMistake } from '../../base/options.ts';
import { MOST_PARAMETERS, parseElements } from '../../core/memory/tensors.ts';
import { estimate, estimateTable } from '../../models/estimate/index.ts';
import { ESTIMATE } from '../../models/estimate/options.ts';
import { WEIGHT_FORMATS } from '../../models/files/weight-formats.ts';
import { estimatePage, tablePage } from '../../show/render/text/estimate.ts';
import type { EstimateOptions, ModelDescription } from '../../types/index.ts';
import { type Command, type CommandOutcome, type Context, type OptionValues, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { readFromHub } from '../core/hub-model.ts';
import { isGiven } from '../core/options.ts';
import { EXACT } from '../core/reading-options.ts';
import { optionTable, ownOptions, typedOptions, typedText } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';

const NAME = 'estimate';

/** The model, and its use: also the options of every command that asks whether a model fits. */
const MODEL = {
  params: typedText(parametersOf, {
    form: 'number',
    help: 'A number of parameters instead of a model, such as 70e9',
  }),
  dtype: typedText((word) => word, {
    placeholder: '<type>',
    words: WEIGHT_FORMATS,
    help: 'With --params: format of the weights, such as bf16, fp8, nvfp4, q4_k_m (default bf16). Training: bf16, fp16, fp32',
  }),
  hidden: integer({ ...LIMITS.hidden, help: 'With --params and --method rough: the hidden size' }),
  nodes: integer({
    ...LIMITS.devices,
    help: 'Machines with one GPU each that share the model: tensor parallel, unless the options below say how',
  }),
};
const { dtype: TRAINING_TYPE, ...USE } = ESTIMATE;
export const MODEL_OPTIONS = optionTable(MODEL, USE);

/**
 * A size has no use of options of a model, but that of a program, which has a rule for a size, too.
 *
 * @param option of the size. @param other what else was given and does not go with it.
 */
export function checkSizeAlone(option: string, values: OptionValues, other: string | null = null): void {
  const name = Object.keys(MODEL_OPTIONS).find((each) => each !== 'for' && isGiven(values, each));
  const second = other ?? (name === undefined ? null : `--${name}`);
  if (second !== null) throw new UsageError(`${option} is a size without a model, so it does not go with ${second}.`);
}

const OWN = {
  table: flag({ help: 'Weights by precision instead of one estimate' }),
  ...EXACT,
  formulas: flag({ help: 'The formula and the inputs of each term' }),
};

export const estimateCommand: Command = {
  name: NAME,
  usage: '<model> | --params <n> | --table [options]',
  description:
    'Reads the headers of a model and adds up what it takes: weights, cache, buffers, loading; or what training takes. Each term has its formula and a range. ' +
    'Reads no weights and allocates nothing.\n' +
    'A model is a folder of Hugging Face, a .gguf, .safetensors or config.json file, or a name in a model store: org/name, or name:tag of Ollama.\n' +
    'With --table it shows the weights in each precision: of the model, of --params, or of 7, 13 and 70 billion parameters.',
  options: { ...optionTable(OWN), ...MODEL_OPTIONS },
  examples: [
    { command: 'umaprobe estimate ~/models/Qwen3-8B --context 32768', means: 'a folder' },
    { command: 'umaprobe estimate model.gguf --for llama.cpp --context 8192', means: 'by the rules of a program' },
    { command: 'umaprobe estimate hf:org/name', means: 'before it is downloaded' },
    { command: 'umaprobe estimate --params 70e9 --dtype nvfp4', means: 'a typical model of this size' },
    { command: 'umaprobe estimate org/name --use lora --batch 4 --context 2048', means: 'training' },
  ],
  arguments: { min: 0, max: 1, afterDashes: true },
  run,
};

async function run(context: Context): Promise<CommandOutcome> {
  const { positionals, rest, values } = context;
  const { exact, formulas, table } = ownOptions(values, OWN, NAME);
  const named = [...positionals, ...rest];
  if (table) {
    const hasModel = named.length > 0 || isGiven(values, 'params');
    const document = await estimateTable(
      hasModel ? await readFromHub(modelOf(values, named, NAME), context) : undefined,
    );
    return shown(document, tablePage, EXIT.success, { exact });
  }
  const use = estimateOptions(values, NAME);
  const document = await estimate(await readFromHub(modelOf(values, named, NAME), context), use);
  return shown(document, (_, options) => estimatePage(document, formulas, options), EXIT.success, { exact });
}

/** The model that the command names: a path or name, or `--params`. */
export function modelOf(values: OptionValues, named: readonly string[], command: string): string | ModelDescription {
  const [model, second] = named;
  const { dtype, hidden, params } = ownOptions(values, MODEL, command);
  if (second !== undefined) throw new UsageError(`One model is expected; "${second}" is a second.`);
  if (model !== undefined && params !== undefined)
    throw new UsageError(`"${model}" and --params both name a model: give one of them.`);
  if (params !== undefined) return { params, ...defined({ dtype, hidden }) };
  if (hidden !== undefined) throw new UsageError('--hidden needs --params: a model has its own.');
  if (dtype !== undefined && !isTraining(values, command))
    throw new UsageError('--dtype needs --params, or a --use that trains: a model has its own.');
  if (model !== undefined && /^\d+(\.\d+)?[bm]$/i.test(model) && !existsSync(model))
    throw new UsageError(`There is no model "${model}". Did you mean umaprobe ${command} --params ${model}?`);
  if (model === undefined)
    throw new UsageError('A model is expected: a folder, a file, a name in a store, or --params 70e9.');
  return model;
}

/** Parameters of the smallest language models. */
const LEAST_PARAMETERS = 100_000;

/** "70e9", and as names of models have it: "70B", "350M". */
function parametersOf(word: string, name: string): number {
  const [, digits, unit] = /^(\d{1,6}(?:\.\d{1,3})?)([bm])$/i.exec(word) ?? [];
  const number =
    digits === undefined ? parseElements(word) : Math.round(Number(digits) * (unit?.toLowerCase() === 'b' ? 1e9 : 1e6));
  // Whole models have more: a number that is so small has lost its unit.
  if (number !== null && unit === undefined && number < LEAST_PARAMETERS)
    throw new TypedMistake(
      `${name} "${word}" has no unit: expected ${word}B for ${word} billion parameters, or ${word}M for ${word} million.`,
    );
  if (number !== null && number >= 1 && number <= MOST_PARAMETERS) return number;
  throw new TypedMistake(`${name} "${word}" is not a number of parameters, such as 70e9 or 70B, from 1 to 10^15.`);
}

/** True if the use is a training. */
function isTraining(values: OptionValues, command: string): boolean {
  return (typedOptions(values, { use: ESTIMATE.use }, command).use ?? 'inference') !== 'inference';
}

/** Division of a model. Machines with one GPU each have a rank each. */
function parallel(
  { decodeContextParallel: context, pipelineParallel: pipeline, tensorParallel: tensor }: EstimateOptions,
  nodes: number | undefined,
): EstimateOptions {
  const isSaid = tensor !== undefined || pipeline !== undefined;
  const tensorParallel = isSaid ? tensor : nodes;
  const ranks = (tensorParallel ?? 1) * (pipeline ?? 1);
  if (nodes !== undefined && ranks !== nodes)
    throw new UsageError(
      `--nodes ${nodes} has a rank on each machine, and the options divide the model among ${ranks}.`,
    );
  if (context !== undefined && (tensorParallel ?? 1) % context !== 0)
    throw new UsageError(
      `--decode-context-parallel ${context} divides the ranks of --tensor-parallel, which are ${tensorParallel ?? 1}.`,
    );
  return defined({ tensorParallel });
}

const OF_TRAINING =
  `batch no-checkpointing optimizer mixed-precision lora-rank lora-targets lora-dropout fused-loss offload workers
  rollout-utilization`.split(/\s+/);

/** An option of another use changes nothing there: it would look as if it were counted. */
function checkPurpose(values: OptionValues, command: string): void {
  const trains = isTraining(values, command);
  const other = OF_TRAINING.find((name) => isGiven(values, name));
  if (!trains && other !== undefined)
    throw new UsageError(`--${other} is an option of training: name a --use that trains, such as lora.`);
  if (trains && isGiven(values, 'sequences'))
    throw new UsageError('--sequences is an option of inference: a training has --batch.');
}

/** Options of the estimate; an option that was not given is left out. */
export function estimateOptions(values: OptionValues, command: string): EstimateOptions {
  checkPurpose(values, command);
  const use = typedOptions(values, USE, command);
  const { nodes } = ownOptions(values, { nodes: MODEL.nodes }, command);
  // --dtype beside a number of parameters is that of the weights.
  const trains = isTraining(values, command) && !isGiven(values, 'params');
  const { dtype } = trains ? typedOptions(values, { dtype: { ...TRAINING_TYPE, help: '' } }, command) : {};
  return { ...use, ...parallel(use, nodes), ...defined({ dtype }) };
}
