/** Plan of a launch, from known facts of its command and its machine. Pure. */

import { formatBoth, formatBytes } from '../../base/format.ts';
import { refusalOf } from '../../core/memory/judge.ts';
import { hasOwnMemory, unguardedText } from '../../core/memory/own-memory.ts';
import type {
  FitReport,
  FitVerdict,
  LaunchPlan,
  LaunchRank,
  LaunchStep,
  RecognisedCommand,
  Snapshot,
} from '../../types/index.ts';
import type { LaunchAnswer } from './judge.ts';

export interface PlanInput extends Pick<LaunchAnswer, 'noFit' | 'fit' | 'expected' | 'flags' | 'room'> {
  machine: Pick<Snapshot, 'devices' | 'judgement' | 'simulated'>;
  command: readonly string[];
  recognised: RecognisedCommand;
  floor: { bytes: number; from: string };
  prepare: boolean;
  anyway: boolean;
  /** The other machines. */
  ranks: LaunchRank[];
  /** Folder of the recording, and why nothing can be recorded there; null: nothing is recorded. */
  record: { folder: string; problem: string | null } | null;
}

export function planOf(input: PlanInput): LaunchPlan {
  const { anyway, command, expected, fit, flags, machine, ranks, recognised } = input;
  const own = verdictFor(input);
  const isOwn = isRefusal(own.verdict, fit);
  const short = ranks.find(({ refuses }) => refuses);
  const { summary, verdict } = isOwn || short === undefined ? own : ofRank(short);
  const prepared = prepareStep(input, own.verdict);
  const makesRoom = prepared.state === 'planned' && needsRoom(own.verdict, fit);
  const rest = [prepared, guardStep(input), recordStep(input)];
  const isRefused = (short !== undefined || (isOwn && !makesRoom)) && !anyway;
  return {
    simulated: machine.simulated,
    command: [...command],
    judgement: machine.judgement,
    recognised,
    verdict,
    summary,
    expected,
    fit,
    flags,
    ranks,
    steps: [
      fitStep(input, own.verdict, makesRoom),
      ...(ranks.length === 0 ? [] : [hostsStep(ranks, anyway)]),
      ...(isRefused ? rest.map(notTaken) : rest),
    ],
  };
}

/** The other machine because of which nothing is started. */
function ofRank({ host, next, summary, verdict }: LaunchRank): { verdict: FitVerdict; summary: string } {
  const todo = next === null ? '' : ` What to do there: ${next}.`;
  return { verdict: verdict ?? 'unknown', summary: `${host}: ${summary}${todo}` };
}

function hostsStep(ranks: readonly LaunchRank[], anyway: boolean): LaunchStep {
  const short = ranks.filter(({ refuses }) => refuses).map(({ host }) => host);
  const names = ranks.map(({ host }) => host).join(', ');
  if (short.length === 0) return { step: 'hosts', state: 'complete', text: `Nothing stands in the way on ${names}.` };
  const end = anyway ? 'It is started all the same.' : 'Nothing is started.';
  return { step: 'hosts', state: 'complete', text: `In the way: ${short.join(', ')}. ${end}` };
}

/**
 * That nothing can be loaded now; else the verdict of fit, as far as it can be believed: a yes only where nothing may
 * take more than was counted, a no only where nothing may take less.
 */
export function verdictFor({
  fit,
  machine,
  noFit,
  recognised: { unread },
}: Pick<PlanInput, 'fit' | 'machine' | 'noFit' | 'recognised'>): { verdict: FitVerdict; summary: string } {
  const refusal = whyRefused(machine);
  if (refusal !== null) return { verdict: 'not-now', summary: refusal };
  const may = (effect: 'more' | 'less'): string[] =>
    unread.filter((part) => part.effect === effect || part.effect === 'either').map(({ text }) => text);
  if (fit === null) {
    const why = [...may('more'), ...(noFit === null ? [] : [noFit])];
    return { verdict: 'unknown', summary: `Whether it fits is not known. ${why.join(' ')}`.trim() };
  }
  if (fit.verdict === 'unknown') return { verdict: 'unknown', summary: fit.summary };
  const doubts = may(fit.verdict === 'no' ? 'less' : 'more');
  if (doubts.length === 0) return { verdict: fit.verdict, summary: fit.summary };
  const without = fit.verdict === 'no' ? 'it would not fit' : 'it would fit';
  return { verdict: 'unknown', summary: `Whether it fits is not known. Without this ${without}: ${doubts.join(' ')}` };
}

/** Returns why nothing can be loaded now, and the remedy; null: something can. */
function whyRefused({ judgement }: PlanInput['machine']): string | null {
  const refusal = refusalOf(judgement);
  if (refusal === undefined) return null;
  const { cause, remedy, summary } = refusal;
  return [summary, cause, remedy === null ? null : `What to do: ${remedy.text}.`]
    .filter((part) => part !== null)
    .join(' ');
}

type ExpectedFit = Pick<FitReport, 'expectedFits'> | null;

/** True if nothing is started: a no, or the expected size fits only after steps that were not taken. */
export function isRefusal(verdict: FitVerdict, fit: ExpectedFit): boolean {
  return verdict === 'no' || verdict === 'not-now' || needsRoom(verdict, fit);
}

/** True if the expected size fits only once room is made. */
export function needsRoom(verdict: FitVerdict, fit: ExpectedFit): boolean {
  return (verdict === 'fits-after' || verdict === 'tight') && fit?.expectedFits !== true;
}

/** A step of a launch that is not started. */
export function notTaken({ step }: LaunchStep): LaunchStep {
  return { step, state: 'skipped', text: 'Nothing is started.' };
}

function fitStep({ anyway, fit }: PlanInput, verdict: FitVerdict, makesRoom: boolean): LaunchStep {
  const end = anyway ? '. It is started all the same.' : ': it is not started.';
  if (verdict === 'not-now') return { step: 'fit', state: 'complete', text: `Nothing can be loaded now${end}` };
  if (fit === null) return { step: 'fit', state: 'skipped', text: 'There is no size to ask about.' };
  const consequence: Readonly<Record<Exclude<FitVerdict, 'not-now'>, string>> = {
    fits: 'It fits.',
    tight: byExpectedSize(fit, makesRoom, end),
    'fits-after': byExpectedSize(fit, makesRoom, end),
    no: `It does not fit${end}`,
    unknown: 'The answer is not certain: the guard alone protects the machine.',
  };
  return { step: 'fit', state: 'complete', text: consequence[verdict] };
}

function byExpectedSize({ expectedFits, verdict }: FitReport, makesRoom: boolean, end: string): string {
  if (expectedFits === true) return 'It fits by its expected size; the guard watches the rest.';
  const size = verdict === 'tight' ? 'Its expected size fits' : 'It fits';
  return makesRoom
    ? `${size} after room is made; otherwise nothing is started.`
    : `${size} only after steps that launch does not take${end}`;
}

function prepareStep({ fit, prepare, room }: PlanInput, verdict: FitVerdict): LaunchStep {
  const skipped = (text: string): LaunchStep => ({ step: 'prepare', state: 'skipped', text });
  if (verdict === 'not-now') return skipped('Nothing can be loaded now.');
  if (!prepare) return skipped('Not wanted.');
  if (room === null && fit !== null && fit.hostNeed !== null)
    return skipped('The GPU has memory of its own, and none of the host is needed.');
  if (room === null) return skipped('How much room it needs is not known.');
  return {
    step: 'prepare',
    state: 'planned',
    text: `Evict model files, drop caches and compact, as far as needed and allowed, until ${formatBoth(room)} can be taken at once.`,
  };
}

function guardStep({ floor, machine: { devices } }: PlanInput): LaunchStep {
  const own = devices.filter(hasOwnMemory);
  const where = own.length === 0 ? '' : ' of the host’s memory';
  const besides = unguardedText(own);
  return {
    step: 'guard',
    state: 'planned',
    text: `Stop it before less than ${formatBytes(floor.bytes)}${where} are available: ${floor.from}.${besides === null ? '' : ` ${besides}`}`,
  };
}

function recordStep({ record }: PlanInput): LaunchStep {
  if (record === null) return { step: 'record', state: 'skipped', text: 'Not wanted.' };
  const { folder, problem } = record;
  if (problem !== null) return { step: 'record', state: 'failed', text: `Nothing can be recorded: ${problem}.` };
  return { step: 'record', state: 'planned', text: `Record to ${folder}.` };
}
