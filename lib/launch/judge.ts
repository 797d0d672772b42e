/** Whether what a command starts fits: its estimate against the machine, and flags that would fit where it does not. */

import { bisect } from '../base/bisect.ts';
import { formatCount } from '../base/format.ts';
import { estimate } from '../estimate/index.ts';
import { fit as fitInto } from '../fit/index.ts';
import type {
  EstimateOptions,
  EstimateReport,
  FitOptions,
  FitReport,
  LaunchExpectation,
  LaunchFlags,
  ModelDescription,
  RecognisedCommand,
  Snapshot,
} from '../types/index.ts';

/** What a command loads. */
export type Load =
  | { kind: 'nothing'; why: string }
  | { kind: 'bytes'; bytes: number }
  | { kind: 'model'; model: string | ModelDescription };

export interface Judgement {
  fit: FitReport | null;
  /** Why there is no answer of fit; null: there is one. */
  noFit: string | null;
  expected: LaunchExpectation | null;
  flags: LaunchFlags | null;
  /** Bytes for which room is to be made; null: not known. */
  room: number | null;
}

const NOTHING: Judgement = { fit: null, noFit: null, expected: null, flags: null, room: null };

/** @throws what `estimate` throws for a model. */
export async function judge(load: Load, command: RecognisedCommand, machine: Snapshot): Promise<Judgement> {
  if (load.kind === 'nothing') return { ...NOTHING, noFit: load.why };
  const { program, utilization } = command;
  const options: FitOptions = {
    ...(program === null ? {} : { program }),
    ...(utilization === null ? {} : { utilization }),
  };
  if (load.kind === 'bytes') {
    const report = await fitInto({ bytes: load.bytes }, machine, options);
    return { ...NOTHING, fit: report, room: roomOf(report, load.bytes, program) };
  }
  const estimated = await estimateOf(load.model, command);
  // A cache of a given size is not what is left of the share.
  const { kvCacheBytes } = command;
  const report =
    kvCacheBytes === null
      ? await fitInto(estimated, machine, options)
      : await fitInto(withCache(estimated, kvCacheBytes), machine, {});
  return {
    fit: report,
    noFit: null,
    expected: expectationOf(estimated),
    flags: report.verdict === 'no' && kvCacheBytes === null ? await flagsThatFit(load.model, command, machine) : null,
    room: roomOf(report, estimated.loading.peak.bytes, program),
  };
}

async function estimateOf(model: string | ModelDescription, command: RecognisedCommand): Promise<EstimateReport> {
  const { contextIsGiven, contextIsShared, program, sequences } = command;
  const use: EstimateOptions = { ...command.use, ...(program === null ? {} : { program }) };
  const isDescribed = typeof model !== 'string';
  const longest = isDescribed ? null : (await estimate(model, use)).model.maxContext;
  const wanted = command.context ?? longest;
  const tokens = contextIsGiven ? wanted : atMost(wanted, longest);
  const context = tokens === null || !contextIsShared ? tokens : Math.max(1, Math.floor(tokens / sequences));
  return estimate(model, { ...use, sequences, ...(context === null ? {} : { context }) });
}

function atMost(value: number | null, most: number | null): number | null {
  return value === null || most === null ? (value ?? most) : Math.min(value, most);
}

function withCache(estimated: EstimateReport, bytes: number): EstimateReport {
  const exact = { bytes, low: bytes, high: bytes };
  const terms = estimated.terms.map((term) => (term.name === 'kv-cache' ? { ...term, ...exact } : term));
  const cache = estimated.terms.find(({ name }) => name === 'kv-cache') ?? { bytes: 0, low: 0, high: 0 };
  const moved = ({ bytes: expected, high, low }: { bytes: number; low: number; high: number }) => ({
    bytes: expected - cache.bytes + bytes,
    low: low - cache.low + bytes,
    high: high - cache.high + bytes,
  });
  const loading = { ...estimated.loading, peak: moved(estimated.loading.peak) };
  return { ...estimated, terms, total: moved(estimated.total), loading };
}

function isWeights(name: string): boolean {
  return name === 'weights' || name === 'output-copy';
}

function expectationOf({ kvBytesPerToken, model, terms, total, use }: EstimateReport): LaunchExpectation {
  return {
    model: model.name,
    weights: terms.filter(({ name }) => isWeights(name)).reduce((sum, { bytes }) => sum + bytes, 0),
    total,
    kvBytesPerToken,
    context: use.context,
    sequences: use.sequences,
  };
}

/** A share is taken whole, whatever the model needs; otherwise the most at any time. At most what can be loaded. */
function roomOf({ limit, programs }: FitReport, need: number, own: RecognisedCommand['program']): number | null {
  const { requested, static: pool } = programs.find(({ program }) => program === own)?.numbers ?? {};
  const wanted = Math.ceil(Math.max(need, requested ?? pool ?? 0));
  return limit.bytes === null ? wanted : Math.min(wanted, Math.floor(limit.bytes));
}

/** A context shrinks in steps of this many tokens. */
const CONTEXT_STEP = 256;

/** Flags with which fit says yes: the smallest share that holds the model, or the longest context. */
async function flagsThatFit(
  model: string | ModelDescription,
  command: RecognisedCommand,
  machine: Snapshot,
): Promise<LaunchFlags | null> {
  const { program } = command;
  if (program === null || program === 'torch' || program === 'accelerate') return null;
  const whole = (await estimateOf(model, command)).use.context;
  const ask = async (steps: number): Promise<Attempt> => {
    const context = Math.min(whole, steps * CONTEXT_STEP);
    const estimated = await estimateOf(model, { ...command, context, contextIsShared: false, contextIsGiven: true });
    return { context, report: await fitInto(estimated, machine, { program }) };
  };
  const accepts = ({ report: { expectedFits } }: Attempt): boolean => expectedFits === true;
  const steps = Math.ceil(whole / CONTEXT_STEP);
  const all = await ask(steps);
  if (accepts(all)) return flagsOf(all, command, null);
  const least = await ask(1);
  if (!accepts(least)) return { safe: null, from: 'No context is short enough: the model alone is too large.' };
  const { answer } = await bisect({ at: 1, answer: least }, steps, ask, accepts);
  return flagsOf(answer, command, answer.context);
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
  const { before, requested, static: pool, total } = report.programs[0]?.numbers ?? {};
  const hundredth = (share: number): number => Math.round(share * 100) / 100;
  const tokens = formatCount(context);
  const longest = `${tokens} tokens are the longest context that fits`;
  if (program === 'vllm' && requested !== undefined && total !== undefined) {
    const share = `--gpu-memory-utilization ${hundredth(requested / total)}`;
    if (shorter === null) return { safe: share, from: `The smallest share that holds it with ${tokens} tokens.` };
    return { safe: `${share} --max-model-len ${shorter}`, from: `${longest}.` };
  }
  if (program === 'sglang' && pool !== undefined && before !== undefined) {
    const share = `--mem-fraction-static ${hundredth(pool / before)}`;
    if (shorter === null) return { safe: share, from: `The smallest share that holds it with ${tokens} tokens.` };
    return { safe: `${share} --context-length ${shorter}`, from: `${longest}.` };
  }
  const flags = program === 'ollama' ? `OLLAMA_CONTEXT_LENGTH=${context}` : `-c ${context * sequences}`;
  return { safe: flags, from: `${longest}${sequences > 1 ? ` for each of ${sequences} slots` : ''}.` };
}
