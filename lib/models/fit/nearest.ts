/** The nearest settings with which a model would fit that does not, one changed at a time, or else all of them. */

import { formatBytes, formatCount } from '../../base/format.ts';
import { CONTEXT_STEP } from '../../base/limits.ts';
import type { EstimateOptions, FitNearest, FitNearestSetting, FitProgram } from '../../types/index.ts';
import { ask, type ModelAnswer, type Question } from './question.ts';
import { isYes, largestAccepted } from './search.ts';

type Change = FitNearestSetting['change'];

/** Types of a cache that a program has, the larger first. PyTorch computes with that of the model. */
const SMALLER_TYPES: Readonly<Record<FitProgram, readonly string[]>> = {
  vllm: ['fp8'],
  sglang: ['fp8_e4m3'],
  trtllm: ['fp8'],
  'llama.cpp': ['q8_0', 'q4_0'],
  ollama: ['q8_0', 'q4_0'],
  torch: [],
  accelerate: [],
};

interface Search {
  question: Question;
  /** The use of the answer, with its defaults. */
  now: { context: number; count: number; kvDtype: string; isTraining: boolean };
}

/** null: it fits, or what refuses is not its size. */
export async function nearestOf(question: Question, answer: ModelAnswer): Promise<FitNearest | null> {
  const { estimated, report } = answer;
  const isShort =
    ['tight', 'fits-after', 'no'].includes(report.verdict) && !isYes(report, question.options.acceptTight);
  // A refusal without a comparison has another reason than size.
  if (!isShort || report.inequality === null || estimated.method === 'rough') return null;
  const { batch, context, kvDtype, sequences } = estimated.use;
  const search = { question, now: { context, count: batch ?? sequences, kvDtype, isTraining: batch !== null } };
  const single = [await share(search), await fewer(search), await smallerType(search), await shorter(search)];
  const settings = single.filter((setting) => setting !== null);
  if (settings.length > 0) return { settings, none: null };
  return together(search);
}

/** The share that the program needs in place of the given one. */
async function share(search: Search): Promise<FitNearestSetting | null> {
  if (search.question.options.utilization === null) return null;
  const change = { utilization: SMALLEST };
  const answer = await ask(changed(search, change));
  return accepts(search, answer) ? settingOf(change, answer, search) : null;
}

/** Fewer sequences, or a smaller batch. */
async function fewer(search: Search): Promise<FitNearestSetting | null> {
  const { count, isTraining } = search.now;
  if (count === 1) return null;
  const changeTo = (value: number): Change => ({ [isTraining ? 'batch' : 'sequences']: value });
  return largest(search, { most: count - 1, step: 1 }, changeTo);
}

async function smallerType(search: Search): Promise<FitNearestSetting | null> {
  for (const kvDtype of typesOf(search)) {
    const answer = await ask(changed(search, { kvDtype }));
    if (accepts(search, answer)) return settingOf({ kvDtype }, answer, search);
  }
  return null;
}

/** One that is no smaller than what does not fit is not accepted either. */
function typesOf({ now: { isTraining, kvDtype }, question: { options, use } }: Search): readonly string[] {
  if (isTraining || use.flashAttention === false) return [];
  const types = options.program === null ? ['fp8'] : SMALLER_TYPES[options.program];
  return types.filter((type) => type !== kvDtype);
}

async function shorter(search: Search): Promise<FitNearestSetting | null> {
  const { context } = search.now;
  if (context <= CONTEXT_STEP) return null;
  return largest(search, { most: context - 1, step: CONTEXT_STEP }, (value) => ({ context: value }));
}

/** Changes if no single one is enough: one sequence, the smallest cache, and the longest context with them. */
async function together(search: Search): Promise<FitNearest> {
  const { context, count, isTraining } = search.now;
  const one: Change = {
    ...(search.question.options.utilization === null ? {} : { utilization: SMALLEST }),
    ...(count > 1 ? { [isTraining ? 'batch' : 'sequences']: 1 } : {}),
  };
  const least = await withSmallestType(search, one);
  const found = await largest(search, { most: context, step: CONTEXT_STEP }, (value) =>
    value === context ? least : { ...least, context: value },
  );
  if (found !== null) return { settings: [found], none: null };
  const smallest = { ...least, context: Math.min(context, CONTEXT_STEP) };
  const { report } = await ask(changed(search, smallest));
  const { need } = report;
  return {
    settings: [],
    none: `even ${textOf(smallest)} takes ${formatBytes(need.bytes)}, at most ${formatBytes(need.high)}`,
  };
}

async function withSmallestType(search: Search, change: Change): Promise<Change> {
  const kvDtype = typesOf(search).at(-1);
  if (kvDtype === undefined) return change;
  const [own, other] = await Promise.all([change, { ...change, kvDtype }].map((tried) => ask(changed(search, tried))));
  return (other?.report.need.bytes ?? 0) < (own?.report.need.bytes ?? 0) ? { ...change, kvDtype } : change;
}

async function largest(
  search: Search,
  range: { most: number; step: number },
  changeTo: (value: number) => Change,
): Promise<FitNearestSetting | null> {
  const { answer, value } = await largestAccepted(
    range,
    (at) => ask(changed(search, changeTo(at))),
    (tried) => accepts(search, tried),
  );
  return value === null ? null : settingOf(changeTo(value), answer, search);
}

/** Stands for the smallest share that holds the need. */
const SMALLEST = 0;

function changed({ question }: Search, { utilization, ...use }: Change): Question {
  const options = utilization === undefined ? question.options : { ...question.options, utilization: null };
  return { ...question, use: { ...question.use, ...(use as EstimateOptions) }, options };
}

function accepts({ question }: Search, { report }: ModelAnswer): boolean {
  return isYes(report, question.options.acceptTight);
}

function settingOf(tried: Change, { report }: ModelAnswer, { question }: Search): FitNearestSetting {
  const { terms: _, ...need } = report.need;
  const [program] = question.options.program === null ? [] : report.programs;
  const change = tried.utilization === undefined ? tried : { ...tried, utilization: shareIn(program?.numbers ?? {}) };
  return { change, text: textOf(change), need, flags: program?.flags ?? null };
}

/** vLLM's share of the total, SGLang's of free memory, TensorRT-LLM's of free memory after loading. */
function shareIn({ before, free, kvCache, loaded, requested, static: pool, total }: Record<string, number>): number {
  const ofFree = loaded === undefined ? (pool ?? 0) / (before ?? 1) : (kvCache ?? 0) / ((free ?? 0) - loaded);
  return Math.round((requested !== undefined && total !== undefined ? requested / total : ofFree) * 100) / 100;
}

/** "4 sequences and a cache of fp8". */
function textOf({ batch, context, kvDtype, sequences, utilization }: Change): string {
  const parts = [
    ...(batch === undefined ? [] : [`a batch of ${formatCount(batch)}`]),
    ...(sequences === undefined ? [] : [`${formatCount(sequences)} sequence${sequences === 1 ? '' : 's'}`]),
    ...(context === undefined ? [] : [`${formatCount(context)} tokens`]),
    ...(kvDtype === undefined ? [] : [`a cache of ${kvDtype}`]),
    ...(utilization === undefined
      ? []
      : [utilization === SMALLEST ? 'the smallest share' : `a share of ${utilization}`]),
  ];
  const last = parts.pop() ?? '';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}
