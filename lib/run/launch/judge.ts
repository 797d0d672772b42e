/** Judges whether a command's load fits: its estimate against the machine, and flags that would fit if it does not. */

import { formatCount } from '../../base/format.ts';
import { CONTEXT_STEP } from '../../base/limits.ts';
import { LONGER_CONTEXT } from '../../core/memory/program-shares.ts';
import { exactly, plus, without } from '../../core/memory/range.ts';
import { estimate, openModel } from '../../models/estimate/index.ts';
import { compileJobsFor, compileJobsText, fit as fitInto, largestAccepted } from '../../models/fit/index.ts';
import type {
  EstimateOptions,
  EstimateRange,
  EstimateReport,
  FitOptions,
  FitReport,
  LaunchExpectation,
  LaunchFlags,
  Model,
  ModelInput,
  RecognisedCommand,
  Snapshot,
  UnreadPart,
} from '../../types/index.ts';
import { type FoundExtra, type WholeEstimate, withExtras } from './extras.ts';

/** Load of a command. */
export type Load =
  | { kind: 'nothing'; why: string }
  | { kind: 'bytes'; bytes: number }
  | { kind: 'model'; model: ModelInput };

export interface LaunchAnswer {
  fit: FitReport | null;
  /** The reason for no answer of fit; null: there is one. */
  noFit: string | null;
  expected: LaunchExpectation | null;
  flags: LaunchFlags | null;
  /** Bytes for which room is to be made; null: not known. */
  room: number | null;
  /** MAX_JOBS for its start: `set` for it, or to be set in its container; null: it has one, or needs none. */
  jobs: { count: number; isSet: boolean } | null;
  /** Facts learned about the command on the way, as of `RecognisedCommand`. */
  assumed: string[];
  unread: UnreadPart[];
}

const NOTHING: LaunchAnswer = {
  fit: null,
  noFit: null,
  expected: null,
  flags: null,
  room: null,
  jobs: null,
  assumed: [],
  unread: [],
};

/**
 * @param found models that are loaded besides the main one.
 * @throws the errors of `openModel` for a model.
 */
export async function judge(
  load: Load,
  command: RecognisedCommand,
  machine: Snapshot,
  found: readonly FoundExtra[] = [],
): Promise<LaunchAnswer> {
  if (load.kind === 'nothing') return { ...NOTHING, noFit: load.why };
  const { program } = command;
  const options = optionsFor(command);
  if (load.kind === 'bytes') {
    const report = await fitInto({ bytes: load.bytes, snapshot: machine, ...options });
    return { ...NOTHING, fit: report, room: roomOf(report, program) };
  }
  const model = await openModel(load.model);
  const { assumed, report: own, whole } = await shortened(model, command, machine, found);
  // A cache of a given size is not the rest of the share.
  const { kvCacheBytes } = command;
  const report =
    kvCacheBytes === null ? own : await fitInto({ estimate: withCache(whole.report, kvCacheBytes), snapshot: machine });
  const jobs = jobsFor(report, command);
  return {
    fit: report,
    noFit: null,
    expected: expectationOf(whole, report),
    flags:
      report.verdict === 'no' && report.inequality !== null && kvCacheBytes === null
        ? await flagsThatFit(model, command, machine, found)
        : null,
    room: roomOf(report, program),
    jobs,
    assumed: [...assumed, ...jobsText(jobs)],
    unread: whole.unread,
  };
}

/** A container does not see the variables of its caller. */
const CONTAINERS = /^(docker|podman|nerdctl|apptainer|singularity)\b/;

function jobsFor(report: FitReport, { program, use, wrappers }: RecognisedCommand): LaunchAnswer['jobs'] {
  if (use.maxJobs !== undefined) return null;
  const count = compileJobsFor(report, program);
  return count === null ? null : { count, isSet: !wrappers.some((name) => CONTAINERS.test(name)) };
}

function jobsText(jobs: LaunchAnswer['jobs']): string[] {
  if (jobs === null) return [];
  const what = jobs.isSet ? 'It is set.' : `The container needs it: -e MAX_JOBS=${jobs.count}.`;
  return [`${compileJobsText(jobs.count)} ${what}`];
}

function optionsFor({ llama, program, utilization }: RecognisedCommand): FitOptions {
  return {
    ...(program === null ? {} : { program }),
    ...(utilization === null ? {} : { utilization }),
    ...(llama === null || program !== 'llama.cpp' ? {} : { llama }),
  };
}

/** The answer of fit, with the context that llama.cpp reduces to where the longest does not fit. */
async function shortened(
  model: Model,
  command: RecognisedCommand,
  machine: Snapshot,
  found: readonly FoundExtra[],
): Promise<{ whole: WholeEstimate; report: FitReport; assumed: string[] }> {
  const { contextIsGiven, llama } = command;
  const options = optionsFor(command);
  const whole = await estimateOf(model, command, found);
  const report = await fitInto({ estimate: whole.report, snapshot: machine, ...options });
  const all = { whole, report, assumed: [] };
  if (llama === null || llama.fit === false || llama.mayShorten !== true || contextIsGiven) return all;
  const [numbers] = report.programs.map((program) => program.numbers);
  const { context, sequences } = whole.report.use;
  const tokens = numbers?.context;
  if (tokens === undefined || tokens >= context * sequences) return all;
  const shorter = await estimateOf(model, { ...command, context: tokens, contextIsShared: true }, found);
  return {
    whole: shorter,
    report: await fitInto({
      estimate: shorter.report,
      snapshot: machine,
      ...options,
      llama: { ...llama, mayShorten: false },
    }),
    assumed: [
      `--fit shortens the context from ${formatCount(context * sequences)} to ${formatCount(tokens)} tokens, by what llama.cpp finds free.`,
    ],
  };
}

async function estimateOf(
  model: Model,
  command: RecognisedCommand,
  found: readonly FoundExtra[],
): Promise<WholeEstimate> {
  const { contextIsGiven, contextIsShared, program, sequences } = command;
  const use: EstimateOptions = { ...command.use, ...(program === null ? {} : { program }) };
  const isDescribed = model.path === null;
  const known = isDescribed ? null : (await estimate(model, use)).model;
  const longest = (program === 'sglang' ? known?.maxContextSglang : known?.maxContext) ?? null;
  const wanted = command.context ?? longest;
  const tokens = contextIsGiven ? wanted : atMost(wanted, longest);
  const context = tokens === null || !contextIsShared ? tokens : Math.max(1, Math.floor(tokens / sequences));
  const report = await estimate(model, { ...use, sequences, ...(context === null ? {} : { context }) });
  return withExtras(withLongerContext(report, command), model, command, found);
}

/** A server takes a context of any length with its variable. */
function withLongerContext(report: EstimateReport, { program, understood }: RecognisedCommand): EstimateReport {
  const variable = program === null ? undefined : LONGER_CONTEXT[program];
  const isAllowed = understood.some(({ option }) => option === variable);
  return isAllowed ? { ...report, model: { ...report.model, maxContext: null, maxContextSglang: null } } : report;
}

function atMost(value: number | null, most: number | null): number | null {
  return value === null || most === null ? (value ?? most) : Math.min(value, most);
}

function withCache(estimated: EstimateReport, bytes: number): EstimateReport {
  const exact = exactly(bytes);
  const terms = estimated.terms.map((term) => (term.name === 'kv-cache' ? { ...term, ...exact } : term));
  const cache = estimated.terms.find(({ name }) => name === 'kv-cache') ?? exactly(0);
  const moved = (sum: EstimateRange) => plus(without(sum, cache), exact);
  const loading = { ...estimated.loading, peak: moved(estimated.loading.peak) };
  return { ...estimated, terms, total: moved(estimated.total), loading };
}

function isWeights(name: string): boolean {
  return name === 'weights' || name === 'output-copy';
}

/** The expected memory is that of fit's verdict. */
function expectationOf({ extras, report }: WholeEstimate, { hostNeed, need }: FitReport): LaunchExpectation {
  const { kvBytesPerToken, model, terms, use } = report;
  const { bytes, high, low } = need;
  return {
    model: model.name,
    weights: terms.filter(({ name }) => isWeights(name)).reduce((sum, { bytes }) => sum + bytes, 0),
    total: { bytes, low, high },
    host: hostNeed,
    kvBytesPerToken,
    context: use.context,
    sequences: use.sequences,
    extras,
  };
}

/**
 * Room in the host's memory: a share whole, whatever the model needs; otherwise the most at any time. The limit is what
 * can be loaded.
 */
function roomOf({ hostNeed, limit, need, programs }: FitReport, own: RecognisedCommand['program']): number | null {
  if (hostNeed !== null) return hostNeed.bytes >= 1 ? Math.ceil(hostNeed.bytes) : null;
  const { requested, static: pool, taken } = programs.find(({ program }) => program === own)?.numbers ?? {};
  const wanted = Math.ceil(Math.max(need.bytes, requested ?? pool ?? taken ?? 0));
  return limit.bytes === null || limit.bytes < 1 ? wanted : Math.min(wanted, Math.floor(limit.bytes));
}

/** Flags with which fit says yes: the smallest share that holds the model, or the longest context. */
async function flagsThatFit(
  model: Model,
  command: RecognisedCommand,
  machine: Snapshot,
  found: readonly FoundExtra[],
): Promise<LaunchFlags | null> {
  const { program } = command;
  if (program === null || program === 'torch' || program === 'accelerate') return null;
  const whole = (await estimateOf(model, command, found)).report.use.context;
  const ask = async (context: number): Promise<Attempt> => {
    const given = { ...command, context, contextIsShared: false, contextIsGiven: true };
    const { report } = await estimateOf(model, given, found);
    const { utilization: _, ...options } = optionsFor(command);
    return { context, report: await fitInto({ estimate: report, snapshot: machine, ...options }) };
  };
  const { answer, value } = await largestAccepted(
    { most: whole, step: CONTEXT_STEP },
    ask,
    ({ report }) => report.expectedFits === true,
  );
  if (value === null) return { safe: null, from: 'No context is short enough: the model alone is too large.' };
  return flagsOf(answer, command, value === whole ? null : value);
}

interface Attempt {
  context: number;
  report: FitReport;
}

/** @param shorter the context to be named; null: that of the command fits. */
function flagsOf(
  { context, report }: Attempt,
  { program, sequences }: RecognisedCommand,
  shorter: number | null,
): LaunchFlags {
  const { before, free, kvCache, loaded, requested, static: pool, total } = report.programs[0]?.numbers ?? {};
  const tokens = formatCount(context);
  const longest = `${tokens} tokens are the longest context that fits`;
  const ofShare = (flag: string, share: number, contextFlag: string): LaunchFlags => {
    const safe = `${flag} ${Math.round(share * 100) / 100}`;
    if (shorter === null) return { safe, from: `The smallest share that holds it with ${tokens} tokens.` };
    return { safe: `${safe} ${contextFlag} ${shorter}`, from: `${longest}.` };
  };
  if (program === 'vllm' && requested !== undefined && total !== undefined)
    return ofShare('--gpu-memory-utilization', requested / total, '--max-model-len');
  if (program === 'sglang' && pool !== undefined && before !== undefined)
    return ofShare('--mem-fraction-static', pool / before, '--context-length');
  if (program === 'trtllm' && free !== undefined && loaded !== undefined && kvCache !== undefined)
    return ofShare('--kv_cache_free_gpu_memory_fraction', kvCache / (free - loaded), '--max_seq_len');
  const flags = program === 'ollama' ? `OLLAMA_CONTEXT_LENGTH=${context}` : `-c ${context * sequences}`;
  return { safe: flags, from: `${longest}${sequences > 1 ? ` for each of ${sequences} slots` : ''}.` };
}
