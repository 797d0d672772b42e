/** fit() of a model: its estimate against the machine, the largest setting that fits, and a precision that would. */

import { invalidArgument } from '../../base/arguments.ts';
import { formatBytes } from '../../base/format.ts';
import { CONTEXT_STEP } from '../../base/limits.ts';
import type { FitProgram, FitReport, FitSetting, FitSolution } from '../../types/index.ts';
import { MODEL_PROGRAM_NAMES } from '../../types/programs.ts';
import { estimate } from '../estimate/index.ts';
import { compileJobsFor, compileJobsText } from './compile-jobs.ts';
import { nearestOf } from './nearest.ts';
import { ask, type ModelAnswer, type Question } from './question.ts';
import { isYes, largestAccepted } from './search.ts';
import { tableOf } from './table.ts';

/** The verdict, by the estimate for the program that was named; without one, each program has its own estimate. */
export async function answerOf(question: Question): Promise<ModelAnswer> {
  const { solve } = question.options;
  const { answer, asked } =
    solve === null ? { answer: await ask(question), asked: question } : await solved(question, solve);
  const { estimated, report } = answer;
  const programs = question.options.program === null ? await programReports(asked) : report.programs;
  const notes = [...report.notes, ...jobsNote(asked, report), ...(await smallerNote(question, answer))];
  const nearest = await nearestOf(asked, answer);
  return { estimated, report: { ...report, programs, notes, nearest } };
}

/** Note for a start whose question gave no number of compilers. */
function jobsNote({ options, use }: Question, report: FitReport): string[] {
  const isAdvised = use.maxJobs === undefined && report.verdict !== 'no';
  const jobs = isAdvised ? compileJobsFor(report, options.program) : null;
  return jobs === null ? [] : [compileJobsText(jobs)];
}

/** Each by the estimate for it. Training is done by PyTorch alone. */
async function programReports(question: Question): Promise<FitReport['programs']> {
  const isInference = (question.use.use ?? 'inference') === 'inference';
  const useful: readonly FitProgram[] = isInference ? MODEL_PROGRAM_NAMES : ['torch'];
  const each = await Promise.all(useful.map((program) => ask(forProgram(question, program))));
  return each.flatMap(({ report }) => report.programs);
}

function forProgram({ options, use, ...question }: Question, program: FitProgram): Question {
  return { ...question, use: { ...use, program }, options: { ...options, program } };
}

/** The most that is tried where the model has no limit of its own. */
const MOST_CONTEXT = 2 ** 20;
const MOST_COUNT = 4096;

const OPTION = { context: 'context', slots: 'sequences', batch: 'batch' } as const;

/** The answer for the largest value of a setting that fits, and the question with that value; for the smallest if none does. */
async function solved(question: Question, setting: FitSetting): Promise<{ answer: ModelAnswer; asked: Question }> {
  const { options, use } = question;
  if (use.method === 'rough')
    throw invalidArgument(
      `Solving for ${setting} cannot go by a rule of thumb, which leaves out most of what grows: name the model or its config.json, without the method rough.`,
    );
  if (question.model.source === 'parameters')
    throw invalidArgument(
      `Solving for ${setting} needs the model or its config.json: of a number of parameters only the weights are known, and they do not change with it.`,
    );
  const isTraining = (use.use ?? 'inference') !== 'inference';
  if (setting === (isTraining ? 'slots' : 'batch'))
    throw invalidArgument(
      isTraining
        ? 'Solving for slots is a question about inference: of a training solve for batch.'
        : 'Solving for batch is a question about training: name a use that trains, such as lora, or solve for slots.',
    );
  const own = setting === 'context' ? (await estimate(question.model, use)).model.maxContext : null;
  const most = own ?? (setting === 'context' ? MOST_CONTEXT : MOST_COUNT);
  const withValue = (value: number): Question => ({ ...question, use: { ...use, [OPTION[setting]]: value } });
  const { answer, value } = await largestAccepted(
    { most, step: setting === 'context' ? CONTEXT_STEP : 1 },
    (at) => ask(withValue(at)),
    ({ report }) => isYes(report, options.acceptTight),
  );
  const limitedBy: FitSolution['limitedBy'] = value !== most ? 'memory' : own === null ? 'range' : 'model';
  const report = { ...answer.report, solved: { setting, value, limitedBy } };
  return { answer: { ...answer, report }, asked: value === null ? question : withValue(value) };
}

/** Note for a model that does not fit: the largest precision of the table that would. */
async function smallerNote(question: Question, { estimated, report }: ModelAnswer): Promise<string[]> {
  const { parameters, quantization, source } = estimated.model;
  const isPlain =
    parameters !== null && quantization === null && source !== 'gguf' && estimated.use.use === 'inference';
  // A refusal without a comparison has another reason than size.
  if (report.verdict !== 'no' || report.inequality === null || !isPlain) return [];
  const { rows } = await tableOf(question);
  const weights = report.need.terms.find(({ name }) => name === 'weights')?.bytes ?? 0;
  const smaller = rows.flatMap(({ cells }) => cells).filter((cell) => cell.weights < weights);
  const cell = smaller.find(({ verdict }) => verdict === 'fits');
  if (cell === undefined) return smaller.length === 0 ? [] : ['No smaller precision of --table fits either.'];
  return [`In ${cell.dtype} it would fit (at most ${formatBytes(cell.need.high)}): --table has each precision.`];
}
