/** The report of fit(): the machine's limit, each program's decision, and the verdict over both. */

import { capitalized, clean, formatBytes, inGiB } from '../../base/format.ts';
import { exactly } from '../../core/memory/range.ts';
import { isUntried, UNTRIED } from '../../core/memory/untried-context.ts';
import type {
  DeviceSnapshot,
  Finding,
  FitInequality,
  FitLlamaOptions,
  FitProgram,
  FitProgramReport,
  FitRemedy,
  FitReport,
  FitVerdict,
  Snapshot,
} from '../../types/index.ts';
import { MODEL_PROGRAMS } from '../../types/programs.ts';
import { none } from './flags.ts';
import { inequalityOf, isWorse, type Judged, judged, type Uncertain } from './judge.ts';
import { llamaCpp, ollama } from './llama.ts';
import { type FitMachine, type FitStep, machineOf } from './machine.ts';
import { needOn } from './need.ts';
import type { CheckedNeed } from './options.ts';
import { isWeightsAlone, type ProgramInput, type Rule, rangeText, type Together } from './program.ts';
import { refusalBySettings } from './refusals.ts';
import { sglang } from './sglang.ts';
import { accelerate, torch } from './torch.ts';
import { trtllm } from './trtllm.ts';
import { vllm } from './vllm.ts';

const RULES: Readonly<Record<FitProgram, Rule>> = {
  vllm,
  sglang,
  trtllm,
  'llama.cpp': llamaCpp,
  ollama,
  torch,
  accelerate,
};

export interface CheckedOptions {
  program: FitProgram | null;
  programVersion: string | null;
  utilization: number | null;
  device: number | null;
  llama?: FitLlamaOptions;
  /** Default: it is the only one. */
  together?: Together;
}

export function fitReport(whole: CheckedNeed, snapshot: Snapshot, options: CheckedOptions): FitReport {
  const machine = machineOf(snapshot, options.device, options.together?.taken);
  const { device, freed, limit, refusal } = machine;
  const { host, need, terms } = needOn(whole, device);
  const own = machineVerdict(need, machine);
  // A lost GPU leaves nothing to decide.
  const programs =
    device === null || (refusal !== null && limit === null)
      ? []
      : programReports(
          {
            llama: {},
            together: null,
            version: options.programVersion,
            ...options,
            need,
            snapshot,
            device,
            limit,
            freed,
          },
          machine,
          options.program,
        ).map((report) => (own.verdict === 'no' ? { ...report, ...NOT_HERE } : report));
  const chosen = programs.find(({ program }) => program === options.program) ?? null;
  const isMissing = options.program !== null && chosen === null;
  const byProgram = chosen !== null && isWorse(chosen, own);
  const { expectedFits, verdict } = isMissing ? NOT_KNOWN : byProgram ? chosen : own;
  const inequality = byProgram ? chosen.inequality : own.inequality;
  const remedies = remediesFor(verdict, own, chosen);
  const report: Omit<FitReport, 'summary'> = {
    schema: 'umaprobe/fit/1',
    at: snapshot.at,
    simulated: snapshot.simulated,
    verdict,
    expectedFits,
    binding: verdict === 'unknown' ? null : byProgram ? chosen.program : 'machine',
    inequality,
    shortBy: inequality === null ? null : Math.max(0, inequality.left.bytes - inequality.right.bytes),
    headroom: verdict === 'unknown' || limit === null || need.peak.bytes > limit ? null : limit - need.peak.bytes,
    need: { ...need.peak, terms },
    serving: need.total,
    hostNeed: host,
    device: device === null ? null : { index: device.index, name: device.name, memoryModel: device.memoryModel },
    pool: machine.pool,
    limit: { bytes: limit, after: own.after, from: machine.from },
    remedies,
    notes: device === null ? [] : notesOf(device, snapshot, verdict),
    nearest: null,
    solved: null,
    programs,
  };
  const answer = { ...report, summary: summaryOf(report, placeOf(snapshot, device), need, chosen, machine.uncertain) };
  return refusal === null || isTooLarge(need, machine) ? answer : notNow(answer, refusal);
}

/** True if the need exceeds the whole memory, whatever refuses now. */
function isTooLarge({ peak }: CheckedNeed, { pool }: FitMachine): boolean {
  return pool !== null && peak.bytes > pool.total;
}

/** Nothing can be loaded now: no program is told how to start. */
function notNow(report: FitReport, { remedy, summary }: Finding): FitReport {
  return {
    ...report,
    verdict: 'not-now',
    expectedFits: null,
    binding: 'machine',
    inequality: null,
    shortBy: null,
    headroom: null,
    limit: { ...report.limit, bytes: report.limit.bytes === null ? null : 0 },
    remedies: remedy === null ? [] : [remedy],
    programs: report.programs.map((program) => ({ ...program, ...none('Nothing can be loaded now.') })),
    summary,
  };
}

/** Tells why little can be loaded although nearly everything is free, and what helps. */
function piecesOf({ judgement }: Snapshot): string[] {
  const pieces = judgement.findings.find(({ id, severity }) => id === 'fragmentation' && severity === 'warning');
  if (pieces === undefined) return [];
  return [pieces.summary, ...(pieces.remedy === null ? [] : [`${capitalized(pieces.remedy.text)}.`])];
}

function notesOf(device: DeviceSnapshot, snapshot: Snapshot, verdict: FitVerdict): string[] {
  return [...(isUntried(device) ? [UNTRIED] : []), ...(verdict === 'no' ? piecesOf(snapshot) : [])];
}

function programReports(
  input: ProgramInput,
  { steps, uncertain }: FitMachine,
  only: FitProgram | null,
): FitProgramReport[] {
  return (Object.keys(RULES) as FitProgram[])
    .filter((name) => only === null || name === only)
    .map(
      (name) =>
        refusalBySettings(name, input) ??
        ifCertain(afterSteps(RULES[name], input, steps), RULES[name], input, uncertain),
    )
    .map((report) => ({
      ...report,
      from: clean(report.from),
      decision: clean(report.decision),
      ...(report.verdict === 'no' ? NO_ADVICE : {}),
    }));
}

/** A need that does not fit gets no flags, and no steps that are not enough. */
const NO_ADVICE = { ...none('It does not fit.'), remedies: [] };
/** The machine lacks the memory, whatever a program decides by its own reading. */
const NOT_HERE = { verdict: 'no', expectedFits: false, ...NO_ADVICE } as const;

const UNJUDGED = { verdict: 'unknown', expectedFits: null, ...none('It is not known whether it fits.') } as const;

/** A no becomes unknown if memory beyond the certain limit would change it. */
function ifCertain(
  report: FitProgramReport,
  rule: Rule,
  input: ProgramInput,
  uncertain: Uncertain | null,
): FitProgramReport {
  if (report.verdict !== 'no' || uncertain === null) return report;
  const most = rule({ ...input, limit: uncertain.high });
  if (most.verdict === 'no') return report;
  return { ...report, ...UNJUDGED, decision: `may start: ${uncertain.why}` };
}

/** A program's decision on an unknown need says nothing. */
function notJudged(report: FitProgramReport, why: string): FitProgramReport {
  const decision = `cannot be judged: ${why}`;
  return { ...report, ...UNJUDGED, inequality: null, decision, remedies: [] };
}

/** A program's decision now, with its verdict once steps of the machine are done. */
function afterSteps(rule: Rule, input: ProgramInput, steps: readonly FitStep[]): FitProgramReport {
  const now = rule(input);
  const { unknown } = input.need;
  if (unknown !== null && !(now.verdict === 'no' && unknown.least >= input.need.total.bytes))
    return notJudged(now, unknown.why);
  if (now.verdict === 'fits' || now.verdict === 'fits-after' || now.verdict === 'unknown') return now;
  let best = now;
  let taken = 0;
  for (const [index, { freed, limit }] of steps.entries()) {
    const later = rule({ ...input, freed, limit });
    const verdict = later.verdict === 'fits' ? 'fits-after' : later.verdict;
    const step = { ...later, verdict, expectedFits: false };
    if (!isWorse({ ...best, expectedFits: false }, step)) continue;
    best = step;
    taken = index + 1;
  }
  if (taken === 0) return now;
  const remedies = [...steps.slice(0, taken).map(({ remedy }) => remedy), ...best.remedies];
  return { ...now, verdict: best.verdict, remedies };
}

interface Own extends Judged {
  inequality: FitInequality | null;
  remedies: FitRemedy[];
  /** The limit once the remedies are done; null: there are none. */
  after: number | null;
}

const NOT_KNOWN: Own = { verdict: 'unknown', expectedFits: null, inequality: null, remedies: [], after: null };

/** The machine's own verdict, with the remedies that it takes. */
function machineVerdict({ unknown, peak }: CheckedNeed, { limit, steps, uncertain }: FitMachine): Own {
  if (limit === null) return NOT_KNOWN;
  const need = unknown === null ? peak : exactly(unknown.least);
  const names = { left: 'need', right: 'can be loaded', rule: 'need ≤ what can be loaded' };
  const inequality = inequalityOf(need, limit, names);
  const answer = judged(need, limit, steps.at(-1)?.limit ?? null, uncertain);
  if (unknown !== null && answer.verdict !== 'no') return NOT_KNOWN;
  if (answer.verdict === 'fits') return { ...answer, inequality, remedies: [], after: null };
  const enough = steps.findIndex((step) => need.high <= step.limit);
  const useful = enough === -1 ? steps : steps.slice(0, enough + 1);
  return {
    ...answer,
    inequality,
    remedies: useful.map(({ remedy }) => remedy),
    after: useful.at(-1)?.limit ?? null,
  };
}

function remediesFor(verdict: FitVerdict, own: Own, chosen: FitProgramReport | null): FitRemedy[] {
  if (verdict === 'fits' || verdict === 'no') return [];
  const programs = chosen === null || chosen.verdict === 'fits' ? [] : chosen.remedies;
  const all = [...own.remedies, ...programs];
  return all.filter(
    ({ command, text }, index) =>
      all.findIndex((other) => (command === null ? other.text === text : other.command === command)) === index,
  );
}

function summaryOf(
  { binding, expectedFits, headroom, limit, shortBy, verdict }: Omit<FitReport, 'summary'>,
  /** " on GPU 1" where there are several; else nothing. */
  where: string,
  { unknown, peak, ...need }: CheckedNeed,
  chosen: FitProgramReport | null,
  uncertain: Uncertain | null,
): string {
  const size = `${rangeText(peak)}${isWeightsAlone(need) ? ' without cache and buffers' : ''}`;
  const byProgram = binding === chosen?.program && verdict !== 'fits';
  if (verdict === 'unknown') return unknownSummary(limit, { size, unknown, peak }, chosen, uncertain);
  if (byProgram && chosen !== null) return `${MODEL_PROGRAMS[chosen.program]} ${chosen.decision}.`;
  const loadable = `${inGiB(limit.bytes)} GiB can be loaded${where}`;
  switch (verdict) {
    case 'fits':
      return `${size} fit: ${loadable}, and ${formatBytes(headroom)} stay${chosen === null ? '' : `. ${MODEL_PROGRAMS[chosen.program]} ${chosen.decision}`}.`;
    case 'tight':
      return expectedFits === true
        ? `${size}: the expected size fits, the upper end does not. ${loadable}${after(limit)}; ${formatBytes(shortBy)} may be missing.`
        : `${size}: the expected size fits after the steps below, the upper end not even then. ${loadable} now, ${formatBytes(shortBy)} too little${after(limit)}.`;
    case 'fits-after':
      return expectedFits === true
        ? `${size}: the expected size fits now, the upper end after the steps below. ${loadable}${after(limit)}; ${formatBytes(shortBy)} may be missing.`
        : `${size} fit after the steps below: ${loadable} now, ${formatBytes(shortBy)} too little${after(limit)}.`;
    case 'not-now':
    case 'no':
      return `${size} do not fit: ${loadable}, ${formatBytes(shortBy)} too little${atMost(limit)}.`;
  }
}

function placeOf({ devices }: Snapshot, device: DeviceSnapshot | null): string {
  return device !== null && devices.length > 1 ? ` on GPU ${device.index}` : '';
}

function unknownSummary(
  limit: FitReport['limit'],
  { unknown, peak, size }: Pick<CheckedNeed, 'unknown' | 'peak'> & { size: string },
  chosen: FitProgramReport | null,
  uncertain: Uncertain | null,
): string {
  if (limit.bytes !== null && unknown !== null) return `It is not known whether it fits: ${unknown.why}.`;
  const between = limit.bytes !== null && uncertain !== null && peak.bytes > limit.bytes;
  if (between && peak.bytes <= uncertain.high)
    return `It is not known whether ${size} fit: ${inGiB(limit.bytes)} GiB can be loaded for certain, up to ${inGiB(uncertain.high)} GiB may be; ${uncertain.why}.`;
  const why = limit.bytes === null || chosen === null ? limit.from : chosen.from;
  return `It is not known whether ${size} fit: ${why.replace(/\.$/, '')}.`;
}

/** ", and 103.88 GiB after the steps", or nothing where there are none that help. */
function after(limit: FitReport['limit']): string {
  return helps(limit) ? `, and ${inGiB(limit.after)} GiB after the steps` : '';
}

/** The same where they do not suffice, and are not advised. */
function atMost(limit: FitReport['limit']): string {
  return helps(limit) ? `, and at most ${inGiB(limit.after)} GiB whatever is stopped or given back` : '';
}

function helps({ after: bytes, bytes: limit }: FitReport['limit']): boolean {
  return bytes !== null && limit !== null && bytes > limit;
}
