/** Several models on one machine: in which order to start them, what each holds, and whether the last still starts. */

import { formatBytes, formatCount, inGiB } from '../../base/format.ts';
import { CONTEXT_STEP } from '../../base/limits.ts';
import { sumOf } from '../../core/memory/range.ts';
import type {
  EstimateOptions,
  EstimateReport,
  FitRange,
  FitReport,
  FitTogether,
  FitTogetherModel,
  FitTogetherSetting,
  Model,
  Snapshot,
  TogetherProgram,
} from '../../types/index.ts';
import { MODEL_PROGRAMS } from '../../types/programs.ts';
import { estimate } from '../estimate/index.ts';
import { compileJobsFor, compileJobsText } from './compile-jobs.ts';
import { none } from './flags.ts';
import { isWorse } from './judge.ts';
import { type CheckedNeed, checkEstimate, needOfBytes } from './options.ts';
import { isAtLeast, rangeText, sumOf as sumOfTerms } from './program.ts';
import { type CheckedOptions, fitReport } from './report.ts';
import { largestAccepted } from './search.ts';

export interface TogetherQuestion {
  models: readonly { model: Model; use: EstimateOptions }[];
  machine: Snapshot;
  options: CheckedOptions & { program: TogetherProgram };
}

/** One of them, with its estimate. */
interface Sized {
  given: number;
  estimated: EstimateReport;
  need: CheckedNeed;
}

export async function togetherOf(question: TogetherQuestion): Promise<FitTogether> {
  const { options } = question;
  const sized = inOrder(await sizesOf(question), options);
  const report = reportOf(sized, question);
  const isAnswered = report.verdict !== 'unknown' && report.verdict !== 'not-now';
  const jobs = report.models.map(({ fit }) => compileJobsFor(fit, options.program)).filter((count) => count !== null);
  return {
    ...report,
    notes: [
      ...new Set(report.models.flatMap(({ fit }) => fit.notes)),
      ...sized.flatMap(({ estimated }) => estimated.notes.map((note) => `${estimated.model.name}: ${note}`)),
      options.program === 'ollama' ? ANY_ORDER : ONE_BY_ONE,
      ...(jobs.length === 0 || report.verdict === 'no' ? [] : [compileJobsText(Math.min(...jobs))]),
    ],
    nearest: isAnswered && report.verdict !== 'fits' ? await nearestOf(question, sized) : null,
  };
}

const ANY_ORDER =
  'Ollama loads a model when it is asked for it, so each was judged as the last of them. What does not fit then makes it unload another one.';
const ONE_BY_ONE =
  'Start each once the one before it answers: a start measures what is free, and takes more for a while than it keeps.';

async function sizesOf({ models, options: { program } }: TogetherQuestion, change: Change = {}): Promise<Sized[]> {
  const kept = models.map((model, given) => ({ ...model, given })).filter(({ given }) => given !== change.without);
  return Promise.all(
    kept.map(async ({ given, model, use }) => {
      const own = { ...use, program, ...(program === 'ollama' ? { context: use.context ?? OLLAMA_CONTEXT } : {}) };
      const estimated = await estimate(model, own);
      const { context, sequences } = estimated.use;
      const asked = {
        ...own,
        context: Math.min(context, change.context ?? context),
        sequences: Math.min(sequences, change.sequences ?? sequences),
      };
      const isSame = change.context === undefined && change.sequences === undefined;
      const judged = isSame ? estimated : await estimate(model, asked);
      return { given, estimated: judged, need: checkEstimate(judged) };
    }),
  );
}

/** Context of all models of a server, if none is given. */
const OLLAMA_CONTEXT = 4096;

/**
 * Models that take the most besides what they keep go first: all others are there while the last starts. Ollama's order
 * is that of the requests, so the worst one is judged.
 */
function inOrder(models: readonly Sized[], { program }: TogetherQuestion['options']): Sized[] {
  const extra = ({ need }: Sized): number => need.peak.high - need.total.high;
  const sign = program === 'ollama' ? -1 : 1;
  return [...models].sort((a, b) => sign * (extra(b) - extra(a)) || b.need.total.high - a.need.total.high);
}

/** Each beside those before it, of which each holds the expected size or the upper end of its range. */
function chainOf(
  models: readonly Sized[],
  { machine, options }: TogetherQuestion,
  end: 'bytes' | 'high',
): FitTogetherModel[] {
  let beside = 0;
  return models.map(({ estimated, given, need }) => {
    const together = { models: models.length, taken: beside };
    const fit = fitReport(need, machine, { ...options, together });
    const model = { name: estimated.model.name, given, beside, holds: heldBy(need, fit, options), fit };
    beside += model.holds[end];
    return model;
  });
}

/** vLLM takes its share, whatever the model needs; before 0.21 its CUDA graphs besides. */
function heldBy(
  { terms }: CheckedNeed,
  { programs, serving, verdict }: FitReport,
  { programVersion }: CheckedOptions,
): FitRange {
  // The share of a model that does not fit is not known.
  const requested = verdict === 'no' ? 0 : (programs[0]?.numbers.requested ?? 0);
  const graphs = isAtLeast(programVersion, '0.21') ? 0 : sumOfTerms(terms, (name) => name === 'cuda-graphs').high;
  const least = requested === 0 ? 0 : requested + graphs;
  const { bytes, high, low } = serving;
  return { bytes: Math.max(least, bytes), low: Math.max(least, low), high: Math.max(least, high) };
}

function worstOf(models: readonly FitTogetherModel[]): FitTogetherModel {
  const [first, ...others] = models;
  if (first === undefined) throw new Error('no model was judged');
  return others.reduce((worst, model) => (isWorse(model.fit, worst.fit) ? model : worst), first);
}

type TogetherAnswer = Omit<FitTogether, 'notes' | 'nearest'>;

function reportOf(sized: readonly Sized[], question: TogetherQuestion): TogetherAnswer {
  const { machine, options } = question;
  const most = chainOf(sized, question, 'high');
  const expected = chainOf(sized, question, 'bytes');
  const isCertain = ['fits', 'fits-after'].includes(worstOf(most).fit.verdict);
  const models = isCertain ? most : expected;
  const worst = worstOf(models);
  const isPossible = ['fits', 'fits-after', 'tight'].includes(worst.fit.verdict);
  const verdict = !isCertain && isPossible ? 'tight' : worst.fit.verdict;
  const answers = expected.map(({ fit }) => fit.expectedFits);
  const expectedFits = answers.includes(null) ? null : !answers.includes(false);
  const { device, limit, pool } = fitReport(needOfBytes(1), machine, { ...options, program: null });
  const last =
    verdict === 'no' || expectedFits === false
      ? missing(expected, limit.bytes, 'bytes')
      : missing(most, limit.bytes, 'high');
  const need = {
    ...sumOf(models.map(({ holds }) => holds)),
    terms: models.map(({ holds, name }) => ({ name, ...holds })),
  };
  const isKnown = verdict !== 'unknown' && verdict !== 'not-now' && limit.bytes !== null;
  const report: Omit<TogetherAnswer, 'summary'> = {
    schema: 'umaprobe/fit-together/1',
    at: machine.at,
    simulated: machine.simulated,
    program: options.program,
    verdict,
    expectedFits,
    shortBy: isKnown ? last : null,
    headroom: isKnown && limit.bytes !== null && need.bytes <= limit.bytes ? limit.bytes - need.bytes : null,
    device,
    pool,
    limit,
    need,
    models: verdict === 'no' ? models.map(withoutFlags) : models,
    remedies: verdict === 'no' ? [] : worst.fit.remedies,
  };
  return { ...report, summary: summaryOf(report, worst) };
}

/** Bytes that are too little where the most is missing. */
function missing(models: readonly FitTogetherModel[], limit: number | null, end: 'bytes' | 'high'): number {
  const each = models.map(({ beside, fit }) => Math.max(fit.shortBy ?? 0, beside + fit.need[end] - (limit ?? 0)));
  return Math.max(0, ...each);
}

function withoutFlags({ fit, ...model }: FitTogetherModel): FitTogetherModel {
  const programs = fit.programs.map((program) => ({ ...program, ...none('They do not fit together.') }));
  return { ...model, fit: { ...fit, programs } };
}

function summaryOf(
  { expectedFits, headroom, limit, models, need, program, shortBy, verdict }: Omit<TogetherAnswer, 'summary'>,
  { fit, name }: FitTogetherModel,
): string {
  const all = `${models.length} models`;
  const size = rangeText(need);
  const loadable = `${inGiB(limit.bytes)} GiB can be loaded`;
  const why = `${name}: ${MODEL_PROGRAMS[program]} ${fit.programs[0]?.decision}.`;
  switch (verdict) {
    case 'fits':
      return `${all} fit together: they keep ${size}, ${loadable}, and ${formatBytes(headroom)} stay.`;
    case 'tight':
      return `${all} keep ${size}: the expected sizes fit together${expectedFits === true ? '' : ' after the steps below'}, the upper ends do not. ${loadable}; ${formatBytes(shortBy)} may be missing.`;
    case 'fits-after': {
      const now = fit.binding === program ? why : `${loadable} now, ${formatBytes(shortBy)} too little.`;
      return `${all} fit together after the steps below: they keep ${size}. ${now}`;
    }
    case 'no': {
      const more = fit.binding === program ? ` ${why}` : '';
      // A refusal may be for something else than a size.
      const short =
        shortBy === 0 ? '.' : `: they would keep ${size}, and ${loadable}: ${formatBytes(shortBy)} too little.`;
      return `${all} do not fit together${short}${more}`;
    }
    case 'not-now':
    case 'unknown':
      return `${name}: ${fit.summary}`;
  }
}

type Change = FitTogetherSetting['change'];

interface Tried {
  fits: boolean;
  models: FitTogetherModel[];
}

/** Shorter contexts, fewer sequences, or one model less; each as one change. */
async function nearestOf(question: TogetherQuestion, sized: readonly Sized[]): Promise<FitTogether['nearest']> {
  const ask = async (change: Change): Promise<Tried> => {
    const models = chainOf(inOrder(await sizesOf(question, change), question.options), question, 'high');
    return { fits: worstOf(models).fit.verdict === 'fits', models };
  };
  const mostOf = (key: 'context' | 'sequences'): number =>
    Math.max(...sized.map(({ estimated }) => estimated.use[key]));
  const settings: FitTogetherSetting[] = [];
  const search = async (key: 'context' | 'sequences', step: number, fixed: Change = {}): Promise<void> => {
    const most = mostOf(key) - 1;
    if (most < step) return;
    const changeTo = (value: number): Change => ({ ...fixed, [key]: value });
    const { answer, value } = await largestAccepted(
      { most, step },
      (at) => ask(changeTo(at)),
      ({ fits }) => fits,
    );
    if (value !== null) settings.push(settingOf(changeTo(value), answer.models, sized));
  };
  await search('sequences', 1);
  await search('context', CONTEXT_STEP);
  if (settings.length === 0 && mostOf('sequences') > 1) await search('context', CONTEXT_STEP, { sequences: 1 });
  const smallestFirst = [...sized].sort((a, b) => a.need.total.bytes - b.need.total.bytes);
  for (const { given } of smallestFirst) {
    const { fits, models } = await ask({ without: given });
    if (!fits) continue;
    settings.push(settingOf({ without: given }, models, sized));
    break;
  }
  if (settings.length > 0) return { settings, none: null };
  const { models } = await ask({ context: CONTEXT_STEP, sequences: 1 });
  const least = sumOf(models.map(({ holds }) => holds));
  return { settings, none: `even ${textOf({ context: CONTEXT_STEP, sequences: 1 }, sized)} takes ${rangeText(least)}` };
}

function settingOf(change: Change, models: readonly FitTogetherModel[], sized: readonly Sized[]): FitTogetherSetting {
  return {
    change,
    text: textOf(change, sized),
    need: sumOf(models.map(({ holds }) => holds)),
    flags: models.map(({ fit }) => fit.programs[0]?.flags ?? null),
  };
}

function textOf({ context, sequences, without }: Change, sized: readonly Sized[]): string {
  const left = sized.find(({ given }) => given === without);
  if (left !== undefined) return `all but ${left.estimated.model.name}`;
  const count = sequences === undefined ? null : `${formatCount(sequences)} sequence${sequences === 1 ? '' : 's'}`;
  const tokens = context === undefined ? null : `${formatCount(context)} tokens`;
  return `at most ${[count, tokens].filter((part) => part !== null).join(' of ')} each`;
}
