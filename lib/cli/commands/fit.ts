import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { clean, formatBoth, formatCount, parseSize } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import { defined } from '../../base/objects.ts';
import { flag, path, pick } from '../../base/options.ts';
import { snapshot } from '../../core/snapshot/index.ts';
import { ESTIMATE } from '../../models/estimate/options.ts';
import { fit as fitInto, fitWithEstimate, isYes } from '../../models/fit/index.ts';
import { FIT } from '../../models/fit/options.ts';
import { fitLargestPage, fitPage, fitTablePage, fitTogetherPage } from '../../show/render/text/fit.ts';
import { toHtml } from '../../show/report/index.ts';
import { TOGETHER_PROGRAMS } from '../../types/fit.ts';
import type {
  EstimateOptions,
  EstimateReport,
  FitModel,
  FitOptions,
  FitReport,
  FitTable,
  FitTogether,
  ModelDescription,
  ModelInput,
  Snapshot,
  TogetherProgram,
} from '../../types/index.ts';
import { type Command, type CommandOutcome, type Context, type OptionValues, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { namedFiles } from '../core/files.ts';
import { readFromHub } from '../core/hub-model.ts';
import { isGiven, flag as isOn, text } from '../core/options.ts';
import { DEADLINE, EXACT, memGetInfo } from '../core/reading-options.ts';
import { renderOptionsFor, type Terminal } from '../core/terminal.ts';
import { optionTable, ownOptions, typedOptions } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { quoted } from '../shell/quote.ts';
import { checkSizeAlone, estimateOptions, MODEL_OPTIONS, modelOf } from './estimate.ts';
import { type Reports, reportsOf, writePage } from './reports.ts';

const NAME = 'fit';

/** Half of the library's limit, since a person is waiting: creating a context takes some 100 ms. */
const CHILD_DEADLINE_MS = 5000;

/** The start of a program, where its rules depend on it. */
const PROGRAM = pick(FIT, ['programVersion', 'utilization', 'device']);
export const PROGRAM_OPTIONS = optionTable(PROGRAM);

/** The question. */
const QUESTION = {
  ...pick(FIT, ['bytes', 'solve']),
  table: flag({ help: 'Which precisions fit: of the model, or of 7, 13 and 70 billion parameters' }),
  largest: flag({ help: 'The largest model that fits, for each precision and use' }),
  flags: flag({ help: 'With --for: print the flags and nothing else, if it fits' }),
  rules: flag({ help: 'The rule and the reading of each program, and what the limit is' }),
  ...pick(FIT, ['acceptTight']),
};

const PAGE = { html: path({ help: 'Write the answer as one HTML file that works offline' }) };

const MEMGETINFO = {
  memGetInfo: memGetInfo(
    'needed',
    'As for snapshot; child also tries whether a CUDA program can start on unified memory',
  ),
};

export const fitCommand: Command = {
  name: NAME,
  usage: '<model>… | --params <n> | --bytes <size> [options]',
  description:
    'Compares a model or a size with what this machine can load safely, and says what vLLM, SGLang, TensorRT-LLM, llama.cpp, Ollama, PyTorch and accelerate will decide: ' +
    'each reads another number as free memory and has its own rule. Reads no weights and allocates nothing.\n' +
    'Several models are judged together: in which order to start them, and with which flags.\n' +
    'Exit code: 0 it fits, 1 it does not (tight, after steps, no, or unknown), 3 no GPU was found.',
  options: { ...optionTable(QUESTION, PROGRAM, MEMGETINFO, EXACT, DEADLINE, PAGE), ...MODEL_OPTIONS },
  examples: [
    {
      command: 'umaprobe fit ~/models/Qwen3-8B --for vllm --context 32768',
      means: 'will vLLM start, and with which flags?',
    },
    { command: 'umaprobe fit hf:org/name --for vllm', means: 'before it is downloaded' },
    { command: 'umaprobe fit model.gguf --for llama.cpp --solve context', means: 'the longest context that fits' },
    { command: 'umaprobe fit A B C --for vllm --context 8192', means: 'three models at the same time' },
    { command: 'umaprobe fit --bytes 100GiB', means: 'do 100 GiB fit?' },
    { command: 'umaprobe fit --params 7e9 --for torch --sim gb10-cached', means: 'a machine full of page cache' },
  ],
  arguments: { min: 0, max: LIMITS.models.max, afterDashes: true },
  run,
};

async function run(context: Context): Promise<CommandOutcome> {
  const { json, positionals, rest, values } = context;
  const named = [...positionals, ...rest];
  refuseParted(named);
  checkQuestion(values, named);
  if (named.length > 1) return runTogether(context, named);
  const asked = subjectOf(values, named);
  const options = fitOptionsOf(values);
  const { acceptTight, flags, largest, rules, solve, table } = ownOptions(values, QUESTION, NAME);
  // The page may not replace the model.
  const reports = reportsOf(context, NAME, namedFiles('the model', named));
  const use = estimateOptions(values, NAME);
  const subject = asked === null || 'bytes' in asked ? asked : { model: await readFromHub(asked.model, context) };
  const machine = await readMachine(values);
  if (largest) return largestOutcome(use, options, machine, reports, context);
  if (subject === null || table) {
    const document = await fitInto({ table: true, ...subject, use, snapshot: machine, ...options });
    return tableOutcome(document, machine, reports, context);
  }
  const { estimated, report } = await fitWithEstimate({
    ...('bytes' in subject ? subject : { ...subject, use }),
    snapshot: machine,
    ...options,
    ...(solve === null ? {} : { solve }),
    acceptTight,
  });
  const page = () => toHtml(report, { estimated });
  if (flags && !json) return writePage(reports, page, flagsOnly(report, acceptTight, context), context);
  const view = { title: titleOf(subject, estimated), all: rules };
  const lines = (terminal: Terminal) => fitPage(report, view, renderOptionsFor(terminal, renderOf(values)));
  return writePage(reports, page, { exitCode: exitOf(report, acceptTight), document: report, text: lines }, context);
}

/** Several models on one machine. */
async function runTogether(context: Context, named: readonly string[]): Promise<CommandOutcome> {
  const { json, values } = context;
  const { programVersion, device } = fitOptionsOf(values);
  const program = togetherProgram(values, named);
  const reports = reportsOf(context, NAME, namedFiles('a model', named));
  const { program: _, ...use } = estimateOptions(values, NAME);
  const models: FitModel[] = [];
  for (const name of named) models.push({ model: await readFromHub(modelOf(values, [name], NAME), context), use });
  const report = await fitInto({
    together: models,
    snapshot: await readMachine(values),
    program,
    ...defined({ programVersion, device }),
  });
  const acceptTight = isOn(values, 'accept-tight');
  const page = () => toHtml(report);
  if (isOn(values, 'flags') && !json)
    return writePage(reports, page, flagsTogether(report, named, acceptTight, context), context);
  const outcome = shown(report, fitTogetherPage, exitOf(report, acceptTight), renderOf(values));
  return writePage(reports, page, outcome, context);
}

function togetherProgram(values: OptionValues, named: readonly string[]): TogetherProgram {
  const asked = ['table', 'largest', 'solve', 'bytes', 'params', 'utilization'].find((name) => isGiven(values, name));
  if (asked !== undefined)
    throw new UsageError(`--${asked} is a question about one model, and ${named.length} are named.`);
  const typed = text(values, 'for');
  const program = TOGETHER_PROGRAMS.find((name) => name === typed);
  if (program !== undefined) return program;
  const list = TOGETHER_PROGRAMS.join(', ');
  throw new UsageError(
    typed === undefined
      ? `${named.length} models on one machine need --for with one of ${list}.`
      : `${named.length} models on one machine are judged for ${list}: what ${typed} takes depends on what is free at its start, or grows later.`,
  );
}

/** A line for each model, in the order of the starts: the model and its flags. Ollama has one line for its server. */
function flagsTogether(
  report: FitTogether,
  named: readonly string[],
  acceptTight: boolean,
  { stderr }: Context,
): CommandOutcome {
  const each = report.models.map(({ fit, given }) => ({ name: named[given] ?? '', own: fit.programs[0] }));
  const about = new Set(each.flatMap(({ own }) => own?.aboutFlags ?? []));
  const lines = each.map(({ name, own }) =>
    own?.flags == null ? null : report.program === 'ollama' ? own.flags : `${wordOf(name)} ${own.flags}`,
  );
  const isAnswered = isYes(report, acceptTight) && !lines.includes(null);
  const why = isYes(report, acceptTight) ? ([...about][0] ?? report.summary) : report.summary;
  for (const sentence of isAnswered ? about : [`No flags. ${why}`]) stderr.write(`umaprobe: ${clean(sentence)}\n`);
  if (!isAnswered) return { exitCode: negativeOf(report), document: report, text: () => '' };
  const starts = report.program === 'ollama' ? [...new Set(lines)] : lines;
  return { exitCode: EXIT.success, document: report, text: () => starts.map((line) => line ?? '') };
}

/** A path as one word of a shell. */
function wordOf(name: string): string {
  return /^[\w./:@+=,-]+$/.test(name) ? name : quoted(clean(name));
}

function renderOf(values: OptionValues) {
  return { exact: isOn(values, 'exact'), hostName: hostname() };
}

function tableOutcome(
  document: FitTable,
  machine: Snapshot,
  reports: Reports,
  context: Context,
): Promise<CommandOutcome> {
  const { values } = context;
  const exitCode = exitOfRows(document.rows, machine, (cell) => isYes(cell, isOn(values, 'accept-tight')));
  return writePage(reports, () => toHtml(document), shown(document, fitTablePage, exitCode, renderOf(values)), context);
}

async function largestOutcome(
  { program: _, use: __, ...use }: EstimateOptions,
  { device, program }: FitOptions,
  machine: Snapshot,
  reports: Reports,
  context: Context,
): Promise<CommandOutcome> {
  const document = await fitInto({
    largest: true,
    snapshot: machine,
    use,
    ...defined({ program, device }),
  });
  const exitCode = exitOfRows(document.rows, machine, (cell) => cell !== null && cell.parameters !== null);
  const outcome = shown(document, fitLargestPage, exitCode, renderOf(context.values));
  return writePage(reports, () => toHtml(document), outcome, context);
}

/** Success if one cell of a table fits. */
function exitOfRows<Cell>(
  rows: readonly { cells: readonly Cell[] }[],
  { devices }: Snapshot,
  fits: (cell: Cell) => boolean,
): number {
  if (rows.some(({ cells }) => cells.some(fits))) return EXIT.success;
  return devices.length === 0 ? EXIT.noGpu : EXIT.negative;
}

/** A script pastes stdout: it has the flags, or nothing at all. */
function flagsOnly(report: FitReport, acceptTight: boolean, { stderr }: Context): CommandOutcome {
  const [program] = report.programs;
  const isAccepted = isYes(report, acceptTight);
  const flags = isAccepted ? (program?.flags ?? null) : null;
  const why = isAccepted ? (program?.aboutFlags[0] ?? report.summary) : report.summary;
  for (const sentence of flags === null ? [`No flags. ${why}`] : (program?.aboutFlags ?? []))
    stderr.write(`umaprobe: ${clean(sentence)}\n`);
  if (flags === null) return { exitCode: negativeOf(report), document: report, text: () => '' };
  return { exitCode: EXIT.success, document: report, text: () => [flags] };
}

/** Options that contradict each other. */
function checkQuestion(values: OptionValues, words: readonly string[]): void {
  const onlyFlags = isOn(values, 'flags');
  const other = isGiven(values, 'solve') ? '--solve' : onlyFlags ? '--flags' : null;
  if (isOn(values, 'table') && other !== null)
    throw new UsageError(`--table and ${other} are two questions: give one of them.`);
  const named = isGiven(values, 'bytes') ? '--bytes' : (words[0] ?? (isGiven(values, 'params') ? '--params' : null));
  const second = named !== null ? named : isGiven(values, 'use') ? '--use' : isOn(values, 'table') ? '--table' : other;
  if (isOn(values, 'largest') && second !== null)
    throw new UsageError(`--largest is a question of its own, so it does not go with ${second}.`);
  if (!onlyFlags) return;
  const program = text(values, 'for');
  if (program === undefined) throw new UsageError('--flags needs --for.');
  if (program === 'torch')
    throw new UsageError('--flags needs a program with flags: PyTorch has none, its settings are in your code.');
}

/** Subject of the question. */
type Subject<M = string | ModelDescription> = { bytes: number } | { model: M };

/** "60 GiB" are two models to the parser. */
function refuseParted(named: readonly string[]): void {
  const unit = named.findIndex((word, at) => /^[kmgt]i?b$/i.test(word) && /^[\d.]+$/.test(named[at - 1] ?? ''));
  if (unit > 0)
    throw new UsageError(`A size is one word. Did you mean umaprobe fit --bytes ${named[unit - 1]}${named[unit]}?`);
}

/** null: a table without a model. */
function subjectOf(values: OptionValues, named: readonly string[]): Subject | null {
  const { bytes, largest, table } = ownOptions(values, QUESTION, NAME);
  const hasModel = named.length > 0 || isGiven(values, 'params');
  if (typeof bytes === 'number') {
    const question = table ? '--table' : isGiven(values, 'solve') ? '--solve' : null;
    checkSizeAlone('--bytes', values, named[0] === undefined ? question : `"${named[0]}"`);
    return { bytes };
  }
  const [name = ''] = named;
  if (/[kmgt]i?b$/i.test(name) && parseSize(name) !== null && !existsSync(name))
    throw new UsageError(`There is no model "${name}". Did you mean umaprobe fit --bytes ${name}?`);
  if (hasModel) return { model: modelOf(values, named, NAME) };
  if (table || largest) return null;
  throw new UsageError('What shall fit? Name a model, or give --params 70e9 or --bytes 100GiB.');
}

async function readMachine(values: OptionValues): Promise<Snapshot> {
  const { deadlineMs, memGetInfo: mode } = ownOptions(values, { ...MEMGETINFO, ...DEADLINE }, NAME);
  return snapshot({
    // This process ends soon, and its contexts with it.
    memGetInfo: mode === 'needed' ? 'neededInProcess' : mode,
    deadlineMs,
    childDeadlineMs: CHILD_DEADLINE_MS,
  });
}

function titleOf(subject: Subject<ModelInput>, estimated: EstimateReport | null): string {
  if (estimated === null) return 'bytes' in subject ? formatBoth(subject.bytes) : '';
  const { model, use } = estimated;
  const purpose = use.use === 'inference' ? '' : ` · ${use.use}`;
  const count = use.batch === null ? use.sequences : use.batch;
  const context =
    model.architecture === null ? purpose : ` · ${formatCount(use.context)} tokens × ${formatCount(count)}${purpose}`;
  return `${model.name}${context}`;
}

/** Options of fit(). */
export function fitOptionsOf(values: OptionValues, command = NAME): FitOptions {
  const options = typedOptions(values, { program: ESTIMATE.program, ...PROGRAM }, command);
  const { program, programVersion, utilization } = options;
  if (programVersion !== undefined && program === undefined) throw new UsageError('--program-version needs --for.');
  if (utilization !== undefined && program !== 'vllm' && program !== 'sglang' && program !== 'trtllm')
    throw new UsageError('--utilization needs --for vllm, sglang or trtllm.');
  return options;
}

function exitOf(report: FitReport | FitTogether, acceptTight: boolean): number {
  return isYes(report, acceptTight) ? EXIT.success : negativeOf(report);
}

function negativeOf({ device }: Pick<FitReport, 'device'>): number {
  return device === null ? EXIT.noGpu : EXIT.negative;
}
