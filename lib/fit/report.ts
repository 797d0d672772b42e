/** The report of fit(): the machine's limit, each program's decision, and the verdict over both. */

import { clean, formatBytes, inGiB } from '../base/format.ts';
import { isUntried } from '../memory/untried-context.ts';
import type {
  DeviceSnapshot,
  FitInequality,
  FitProgram,
  FitProgramReport,
  FitRange,
  FitRemedy,
  FitReport,
  FitVerdict,
  Snapshot,
} from '../types/index.ts';
import { MODEL_PROGRAMS } from '../types/programs.ts';
import type { CheckedNeed } from './index.ts';
import { inequalityOf, verdictOf, worst } from './judge.ts';
import { llamaCpp, ollama } from './llama.ts';
import { type Machine, machineOf } from './machine.ts';
import { isCache, isWeights, type ProgramInput, type Rule, rangeText } from './program.ts';
import { sglang } from './sglang.ts';
import { accelerate, torch } from './torch.ts';
import { vllm } from './vllm.ts';

const RULES: Readonly<Record<FitProgram, Rule>> = {
  vllm,
  sglang,
  'llama.cpp': llamaCpp,
  ollama,
  torch,
  accelerate,
};

export interface CheckedOptions {
  program: FitProgram | null;
  version: string | null;
  utilization: number | null;
  device: number | null;
}

export function fitReport(need: CheckedNeed, snapshot: Snapshot, options: CheckedOptions): FitReport {
  const machine = machineOf(snapshot, options.device);
  const { device, limit } = machine;
  const own = lacksWeights(need) ? NOT_KNOWN : machineVerdict(need.peak, machine);
  const programs =
    device === null ? [] : programReports({ ...options, need, snapshot, device, limit }, options.program);
  const chosen = programs.find(({ program }) => program === options.program) ?? null;
  const verdict = options.program !== null && chosen === null ? 'unknown' : verdictOverall(own.verdict, chosen);
  const byProgram = chosen !== null && own.verdict !== verdict;
  const inequality = byProgram ? chosen.inequality : own.inequality;
  const remedies = remediesFor(verdict, own, chosen);
  const report: Omit<FitReport, 'summary'> = {
    schema: 'umaprobe/fit/1',
    at: snapshot.at,
    simulated: snapshot.simulated,
    verdict,
    binding: verdict === 'unknown' ? null : byProgram ? chosen.program : 'machine',
    inequality,
    shortBy: inequality === null ? null : Math.max(0, inequality.left.bytes - inequality.right.bytes),
    headroom: limit === null || need.peak.bytes > limit ? null : limit - need.peak.bytes,
    need: { ...need.total, terms: need.terms },
    device: device === null ? null : { index: device.index, name: device.name, memoryModel: device.memoryModel },
    pool: machine.pool,
    limit: { bytes: limit, from: machine.from },
    remedies,
    notes: device === null ? [] : notesOf(device),
    solved: null,
    programs,
  };
  return { ...report, summary: summaryOf(report, need.peak, chosen) };
}

/** What a program refuses now it may accept once the machine's own steps are done: they come first. */
function verdictOverall(own: FitVerdict, chosen: FitProgramReport | null): FitVerdict {
  if (own === 'fits-after' && chosen?.verdict === 'no') return own;
  return worst([own, chosen?.verdict ?? 'fits']);
}

function notesOf(device: DeviceSnapshot): string[] {
  return isUntried(device) ? ['Whether a CUDA program can start was not tried: umaprobe doctor does that.'] : [];
}

function programReports(input: ProgramInput, only: FitProgram | null): FitProgramReport[] {
  return (Object.keys(RULES) as FitProgram[])
    .filter((name) => only === null || name === only)
    .map((name) => RULES[name](input))
    .map((report) => ({ ...report, from: clean(report.from), decision: clean(report.decision) }));
}

/** An estimate of a config that does not tell the number of parameters: its total is the least that there is. */
function lacksWeights({ terms }: CheckedNeed): boolean {
  return !terms.some(({ name }) => isWeights(name)) && terms.some(({ name }) => isCache(name));
}

interface Own {
  verdict: FitVerdict;
  inequality: FitInequality | null;
  remedies: FitRemedy[];
}

const NOT_KNOWN: Own = { verdict: 'unknown', inequality: null, remedies: [] };

/** The machine's own verdict, with the remedies that it takes. */
function machineVerdict(need: FitRange, { limit, remedies }: Machine): Own {
  if (limit === null) return NOT_KNOWN;
  const names = { left: 'need', right: 'can be loaded', rule: 'need ≤ what can be loaded' };
  const inequality = inequalityOf(need, limit, names);
  const enough = remedies.findIndex((step) => need.high <= step.limit);
  const verdict = verdictOf(need, limit, remedies[enough]?.limit ?? null);
  if (verdict === 'fits') return { verdict, inequality, remedies: [] };
  const useful = enough === -1 ? remedies : remedies.slice(0, enough + 1);
  return { verdict, inequality, remedies: useful.map(({ remedy }) => remedy) };
}

function remediesFor(verdict: FitVerdict, own: Own, chosen: FitProgramReport | null): FitRemedy[] {
  if (verdict === 'fits') return [];
  const programs = chosen === null || chosen.verdict === 'fits' ? [] : chosen.remedies;
  const all = [...own.remedies, ...programs];
  return all.filter(
    ({ command, text }, index) =>
      all.findIndex((other) => (command === null ? other.text === text : other.command === command)) === index,
  );
}

function summaryOf(
  { binding, headroom, limit, shortBy, verdict }: Omit<FitReport, 'summary'>,
  need: FitRange,
  chosen: FitProgramReport | null,
): string {
  const size = rangeText(need);
  const decides = binding === chosen?.program && verdict !== 'fits';
  if (verdict === 'unknown') {
    const why =
      limit.bytes === null ? limit.from : chosen?.verdict === 'unknown' ? chosen.from : 'the weights are not known';
    return `It is not known whether ${size} fit: ${why}.`;
  }
  if (decides && chosen !== null) return `${MODEL_PROGRAMS[chosen.program]} ${chosen.decision}.`;
  const loadable = `${inGiB(limit.bytes)} GiB can be loaded`;
  switch (verdict) {
    case 'fits':
      return `${size} fit: ${loadable}, and ${formatBytes(headroom)} stay${chosen === null ? '' : `. ${MODEL_PROGRAMS[chosen.program]} ${chosen.decision}`}.`;
    case 'tight':
      return `${size}: the expected size fits, the upper end does not. ${loadable}; ${formatBytes(shortBy)} may be missing.`;
    case 'fits-after':
      return `${size} fit after the steps below: ${loadable} now, ${formatBytes(shortBy)} too little.`;
    case 'no':
      return `${size} do not fit: ${loadable}, ${formatBytes(shortBy)} too little.`;
  }
}
