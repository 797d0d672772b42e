/** `fit` of a model: its estimate against the machine, the largest setting that fits, and the precisions that fit. */
import { bisect } from '../../base/bisect.ts';
import { formatBytes } from '../../base/format.ts';
import { estimate, estimateTable } from '../../estimate/index.ts';
import { fit as fitInto } from '../../fit/index.ts';
import type {
  EstimateOptions,
  EstimateReport,
  EstimateTerm,
  FitOptions,
  FitProgram,
  FitReport,
  FitSolution,
  FitTable,
  ModelDescription,
  Snapshot,
} from '../../types/index.ts';
import { UsageError } from '../core/usage.ts';

export interface Question {
  model: string | ModelDescription;
  use: EstimateOptions;
  machine: Snapshot;
  options: FitOptions;
}

export interface Answer {
  report: FitReport;
  estimated: EstimateReport;
}

/** The verdict, by the estimate for the program that was named; without one, each program has its own estimate. */
export async function ask(question: Question, programs: readonly FitProgram[]): Promise<Answer> {
  const answer = await askOnce(question);
  if (question.options.program !== undefined) return answer;
  return { ...answer, report: { ...answer.report, programs: await programReports(question, programs) } };
}

/** Each by the estimate for it. Training is done by PyTorch alone. */
async function programReports(question: Question, programs: readonly FitProgram[]): Promise<FitReport['programs']> {
  const useful = question.use.use === 'inference' ? programs : (['torch'] as const);
  const each = await Promise.all(useful.map((program) => askOnce(forProgram(question, program))));
  return each.flatMap(({ report }) => report.programs);
}

function forProgram({ options, use, ...question }: Question, program: FitProgram): Question {
  return { ...question, use: { ...use, program }, options: { ...options, program } };
}

async function askOnce({ machine, model, options, use }: Question): Promise<Answer> {
  const estimated = await estimate(model, use);
  const report = await fitInto(estimated, machine, options);
  return { estimated, report: { ...report, notes: [...report.notes, ...estimated.notes] } };
}

/** A context grows in steps of this many tokens. */
const CONTEXT_STEP = 256;
/** The most that is tried where the model has no limit of its own. */
const MOST_CONTEXT = 2 ** 20;
const MOST_COUNT = 4096;

/** The largest context, number of sequences or batch that is accepted, and the answer for it; the smallest if none is. */
export async function solve(
  question: Question,
  programs: readonly FitProgram[],
  setting: FitSolution['setting'],
  accepts: (report: FitReport) => boolean,
): Promise<Answer> {
  const answer = await searched(question, setting, accepts);
  if (question.options.program !== undefined) return answer;
  const { report } = answer;
  const value = report.solved?.value ?? null;
  const asked = value === null ? question : { ...question, use: withSetting(question.use, setting, value) };
  return { ...answer, report: { ...report, programs: await programReports(asked, programs) } };
}

async function searched(
  question: Question,
  setting: FitSolution['setting'],
  accepts: (report: FitReport) => boolean,
): Promise<Answer> {
  if (question.use.method === 'rough')
    throw new UsageError(
      `--solve ${setting} cannot go by a rule of thumb, which leaves out most of what grows: name the model or its config.json, without --method rough.`,
      'fit',
    );
  const own = setting === 'context' ? (await estimate(question.model, question.use)).model.maxContext : null;
  const step = setting === 'context' ? Math.min(CONTEXT_STEP, own ?? CONTEXT_STEP) : 1;
  const most = setting === 'context' ? (own ?? MOST_CONTEXT) : MOST_COUNT;
  const steps = Math.max(1, Math.ceil(most / step));
  const at = async (count: number): Promise<Answer & { value: number }> => {
    const value = Math.min(most, count * step);
    return { ...(await askOnce({ ...question, use: withSetting(question.use, setting, value) })), value };
  };
  const smallest = await at(1);
  if (smallest.estimated.model.source === 'parameters')
    throw new UsageError(
      `--solve ${setting} needs the model or its config.json: of a number of parameters only the weights are known, and they do not change with it.`,
      'fit',
    );
  if (!accepts(smallest.report)) return solved(smallest, { setting, value: null, limitedBy: 'memory' });
  const largest = await at(steps);
  if (accepts(largest.report))
    return solved(largest, { setting, value: largest.value, limitedBy: own === null ? 'range' : 'model' });
  const { answer } = await bisect({ at: 1, answer: smallest }, steps, at, ({ report }) => accepts(report));
  return solved(answer, { setting, value: answer.value, limitedBy: 'memory' });
}

function withSetting(use: EstimateOptions, setting: FitSolution['setting'], value: number): EstimateOptions {
  switch (setting) {
    case 'context':
      return { ...use, context: value };
    case 'slots':
      return { ...use, sequences: value };
    case 'batch':
      return { ...use, batch: value };
  }
}

function solved({ estimated, report }: Answer, solution: FitSolution): Answer {
  return { estimated, report: { ...report, solved: solution } };
}

/** Scales and layers that stay in 16 bits: published quantised models are up to this much larger than their bits. */
const QUANTISED_MORE = 1.2;

/**
 * The verdict for each precision of the weights. Without a model for 7, 13 and 70 billion parameters, of which only the
 * weights are known.
 */
export async function precisions(question: Omit<Question, 'model'> & { model?: Question['model'] }): Promise<FitTable> {
  const { machine, model, options, use } = question;
  const table = await estimateTable(model);
  const rest = model === undefined ? [] : (await estimate(model, use)).terms.filter(({ name }) => name !== 'weights');
  const cellOf = async (dtype: string, bytes: number) => {
    const isQuantised = dtype === 'int8' || dtype === 'int4';
    const high = Math.ceil(bytes * (isQuantised && model !== undefined ? QUANTISED_MORE : 1));
    const terms = [{ name: 'weights', bytes, low: bytes, high }, ...rest.map(rangeOf)];
    const { expectedFits, headroom, need, verdict } = await fitInto({ total: totalOf(terms), terms }, machine, options);
    const { bytes: expected, high: most, low } = need;
    return { dtype, weights: bytes, need: { bytes: expected, low, high: most }, verdict, expectedFits, headroom };
  };
  const rows = await Promise.all(
    table.rows.map(async ({ bytes, name, parameters }) => ({
      name,
      parameters,
      cells: await Promise.all(table.columns.map((dtype, index) => cellOf(dtype, bytes[index] ?? 0))),
    })),
  );
  const { limit, simulated } = await fitInto({ bytes: 1 }, machine, options);
  return {
    schema: 'umaprobe/fit-table/1',
    at: machine.at,
    simulated,
    limit: limit.bytes,
    program: options.program ?? null,
    rows,
  };
}

/** Of a model that does not fit: the largest precision of the table that would, as a note. */
export async function smallerNote(question: Question, { estimated, report }: Answer): Promise<string[]> {
  const { parameters, quantization, source } = estimated.model;
  const isPlain =
    parameters !== null && quantization === null && source !== 'gguf' && estimated.use.use === 'inference';
  if (report.verdict !== 'no' || !isPlain) return [];
  const { rows } = await precisions(question);
  const weights = report.need.terms.find(({ name }) => name === 'weights')?.bytes ?? 0;
  const smaller = rows.flatMap(({ cells }) => cells).filter((cell) => cell.weights < weights);
  const cell = smaller.find(({ verdict }) => verdict === 'fits');
  if (cell === undefined) return smaller.length === 0 ? [] : ['No smaller precision of --table fits either.'];
  return [`In ${cell.dtype} it would fit (at most ${formatBytes(cell.need.high)}): --table has each precision.`];
}

function rangeOf({ bytes, high, low, name }: EstimateTerm) {
  return { name, bytes, low, high };
}

function totalOf(terms: readonly ReturnType<typeof rangeOf>[]) {
  return terms.reduce(
    (sum, { bytes, high, low }) => ({ bytes: sum.bytes + bytes, low: sum.low + low, high: sum.high + high }),
    { bytes: 0, low: 0, high: 0 },
  );
}
