import { hostname } from 'node:os';
import { formatBoth, formatCount } from '../../base/format.ts';
import { fitTable, fitWithEstimate, isYes } from '../../fit/index.ts';
import { fitPage, fitTablePage } from '../../render/text/fit.ts';
import { toHtml } from '../../report/index.ts';
import { snapshot } from '../../snapshot/index.ts';
import { FIT_SETTINGS } from '../../types/fit.ts';
import type {
  EstimateReport,
  FitOptions,
  FitReport,
  ModelDescription,
  ModelInput,
  Snapshot,
} from '../../types/index.ts';
import { MODEL_PROGRAM_NAMES } from '../../types/programs.ts';
import type { Command, Context, Outcome, Values } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { readFromHub } from '../core/hub-model.ts';
import { choice, count, EXACT, flag, isGiven, size, text } from '../core/options.ts';
import { DEADLINE, deadline, MEMGETINFO } from '../core/reading-options.ts';
import { renderOptionsFor, type Terminal } from '../core/terminal.ts';
import { UsageError } from '../core/usage.ts';
import { estimateOptions, MODEL_OPTIONS, modelOf } from './estimate.ts';
import { reportsOf, writePage } from './reports.ts';

const NAME = 'fit';

/** Half of the library's limit, since a person is waiting: creating a context takes some 100 ms. */
const CHILD_DEADLINE_MS = 5000;

export const fitCommand: Command = {
  name: NAME,
  usage: '<model> | --params <n> | --bytes <size> | --table [options]',
  description:
    'Compares a model or a size with what this machine can load safely, and says what vLLM, SGLang, llama.cpp, Ollama, PyTorch and accelerate will decide: ' +
    'each reads another free memory and has a rule of its own. Reads no weights and allocates nothing.\n' +
    'Exit code: 0 it fits, 1 it does not (tight, after steps, no, or unknown), 3 no GPU was found.',
  options: {
    bytes: { type: 'string', placeholder: '<size>', summary: 'A size to load instead of a model' },
    solve: {
      type: 'string',
      placeholder: `<${FIT_SETTINGS.join('|')}>`,
      summary: 'The largest context, number of sequences or batch that fits',
    },
    table: { type: 'boolean', summary: 'Which precisions fit: of the model, or of 7, 13 and 70 billion parameters' },
    flags: { type: 'boolean', summary: 'With --for: print the flags and nothing else, if it fits' },
    rules: { type: 'boolean', summary: 'The rule and the reading of each program' },
    'accept-tight': { type: 'boolean', summary: 'Exit with 0 where the expected size fits now' },
    'program-version': {
      type: 'string',
      placeholder: '<version>',
      summary: 'With --for: version of the program (default: the newest rule)',
    },
    utilization: {
      type: 'string',
      placeholder: '<share>',
      summary: 'vLLM’s --gpu-memory-utilization, SGLang’s --mem-fraction-static (default: the smallest that holds it)',
    },
    device: { type: 'string', placeholder: '<n>', summary: 'CUDA number of the GPU (default 0)' },
    memgetinfo: {
      type: 'string',
      placeholder: '<needed|child|auto|never>',
      summary: 'As of snapshot; child also tries whether a CUDA program can start on unified memory',
    },
    exact: EXACT,
    deadline: DEADLINE,
    html: { type: 'string', placeholder: '<file>', summary: 'Write the answer as one HTML file that works offline' },
    ...MODEL_OPTIONS,
  },
  examples: [
    {
      command: 'umaprobe fit ~/models/Qwen3-8B --for vllm --context 32768',
      means: 'will vLLM start, and with which flags?',
    },
    { command: 'umaprobe fit hf:org/name --for vllm', means: 'before it is downloaded' },
    { command: 'umaprobe fit model.gguf --for llama.cpp --solve context', means: 'the longest context that fits' },
    { command: 'umaprobe fit --bytes 100GiB', means: 'do 100 GiB fit?' },
    { command: 'umaprobe fit --params 7e9 --for torch --sim gb10-cached', means: 'a machine full of page cache' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 1, afterDashes: true },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { json, positionals, rest, values } = context;
  const named = [...positionals, ...rest];
  const asked = subjectOf(values, named);
  const options = optionsOf(values);
  const solve = isGiven(values, 'solve') ? choice(values, 'solve', FIT_SETTINGS, 'context', NAME) : undefined;
  const onlyFlags = flag(values, 'flags');
  if (onlyFlags && options.program === undefined) throw new UsageError('--flags needs --for.', NAME);
  const acceptTight = flag(values, 'accept-tight');
  // The page may not replace the model.
  const reports = reportsOf(
    values,
    json,
    NAME,
    named.map((path) => ({ what: 'the model', path })),
  );
  const use = estimateOptions(values, NAME);
  const subject = asked === null || 'bytes' in asked ? asked : { model: await readFromHub(asked.model, context) };
  const machine = await readMachine(values);
  const render = { exact: flag(values, 'exact'), hostName: hostname() };
  if (subject === null || flag(values, 'table')) {
    const document = await fitTable({ ...subject, use }, machine, options);
    const fits = document.rows.some(({ cells }) => cells.some((cell) => isYes(cell, acceptTight)));
    const exitCode = fits ? EXIT.success : machine.devices.length === 0 ? EXIT.noGpu : EXIT.negative;
    const page = () => toHtml(document);
    const lines = (terminal: Terminal) => fitTablePage(document, renderOptionsFor(terminal, render));
    return writePage(reports, page, { exitCode, document, text: lines }, context);
  }
  const { estimated, report } = await fitWithEstimate('bytes' in subject ? subject : { ...subject, use }, machine, {
    ...options,
    ...(solve === undefined ? {} : { solve }),
    acceptTight,
  });
  const exitCode = exitOf(report, acceptTight);
  const view = { title: titleOf(subject, estimated), all: flag(values, 'rules') };
  const lines = (terminal: Terminal) => {
    if (onlyFlags) return exitCode === EXIT.success ? [report.programs[0]?.flags ?? ''] : [];
    return fitPage(report, view, renderOptionsFor(terminal, render));
  };
  const page = () => toHtml(report, { estimated });
  return writePage(reports, page, { exitCode, document: report, text: lines }, context);
}

/** What is asked about. */
type Subject<M = string | ModelDescription> = { bytes: number } | { model: M };

/** null: a table without a model. */
function subjectOf(values: Values, named: readonly string[]): Subject | null {
  const bytes = size(values, 'bytes', NAME);
  const hasModel = named.length > 0 || isGiven(values, 'params');
  const table = flag(values, 'table');
  if (table && isGiven(values, 'solve'))
    throw new UsageError('--table and --solve are two questions: give one of them.', NAME);
  if (bytes !== undefined) {
    const other = hasModel
      ? `"${named[0] ?? '--params'}"`
      : table
        ? '--table'
        : isGiven(values, 'solve')
          ? '--solve'
          : null;
    if (other !== null)
      throw new UsageError(`--bytes is a size without a model, so it does not go with ${other}.`, NAME);
    return { bytes };
  }
  if (hasModel) return { model: modelOf(values, named, NAME) };
  if (table) return null;
  throw new UsageError('What shall fit? Name a model, or give --params 70e9 or --bytes 100GiB.', NAME);
}

async function readMachine(values: Values): Promise<Snapshot> {
  const memGetInfo = choice(values, 'memgetinfo', MEMGETINFO, 'needed', NAME);
  return snapshot({
    // This process ends soon, and its contexts with it.
    memGetInfo: memGetInfo === 'needed' ? 'neededInProcess' : memGetInfo,
    deadlineMs: deadline(values, NAME),
    childDeadlineMs: CHILD_DEADLINE_MS,
  });
}

function titleOf(subject: Subject<ModelInput>, estimated: EstimateReport | null): string {
  if (estimated === null) return `DOES IT FIT? ${'bytes' in subject ? formatBoth(subject.bytes) : ''}`;
  const { model, use } = estimated;
  const purpose = use.use === 'inference' ? '' : ` · ${use.use}`;
  const count = use.batch === null ? use.sequences : use.batch;
  const context =
    model.architecture === null ? purpose : ` · ${formatCount(use.context)} tokens × ${formatCount(count)}${purpose}`;
  return `DOES IT FIT? ${model.name}${context}`;
}

function optionsOf(values: Values): FitOptions {
  const program = isGiven(values, 'for') ? choice(values, 'for', MODEL_PROGRAM_NAMES, 'vllm', NAME) : undefined;
  const programVersion = text(values, 'program-version');
  if (programVersion !== undefined && program === undefined)
    throw new UsageError('--program-version needs --for.', NAME);
  const utilization = utilizationOf(values);
  if (utilization !== undefined && program !== 'vllm' && program !== 'sglang')
    throw new UsageError('--utilization needs --for vllm or --for sglang.', NAME);
  const device = count(values, 'device', { min: 0, max: 255 }, NAME);
  return {
    ...(program === undefined ? {} : { program }),
    ...(programVersion === undefined ? {} : { programVersion }),
    ...(utilization === undefined ? {} : { utilization }),
    ...(device === undefined ? {} : { device }),
  };
}

function utilizationOf(values: Values): number | undefined {
  const word = text(values, 'utilization');
  if (word === undefined) return undefined;
  const share = /^(\d+(\.\d+)?|\.\d+)$/.test(word) ? Number(word) : Number.NaN;
  if (share > 0 && share <= 1) return share;
  throw new UsageError(`--utilization "${word}" is not a share above 0 and up to 1, such as 0.85.`, NAME);
}

function exitOf(report: FitReport, acceptTight: boolean): number {
  if (isYes(report, acceptTight)) return EXIT.success;
  return report.device === null ? EXIT.noGpu : EXIT.negative;
}
