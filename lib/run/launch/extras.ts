/** Models that a command loads besides its main one: found on this machine, and counted as terms of the estimate. */

import { UmaError } from '../../base/errors.ts';
import { MiB } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import { defined } from '../../base/objects.ts';
import { exactly, plus, sumOf } from '../../core/memory/range.ts';
import { estimate, openModel } from '../../models/estimate/index.ts';
import { readGguf } from '../../models/files/gguf.ts';
import { withFile } from '../../models/files/model-file.ts';
import { bytesOf } from '../../models/files/weights.ts';
import type {
  EstimateReport,
  EstimateTerm,
  ExtraModel,
  LaunchExtra,
  Model,
  ModelInput,
  RecognisedCommand,
  UnreadPart,
} from '../../types/index.ts';
import { locate, locateProjector } from './locate.ts';

/** An extra that can be read. */
export interface FoundExtra {
  extra: ExtraModel;
  model: ModelInput;
  /** Its weights, bytes; of a draft model they are part of its estimate. */
  weights: number;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Ends the reading of models. */
interface Cancellable {
  signal?: AbortSignal;
}

interface Places {
  stores: Readonly<Record<string, string>>;
  env: Variables;
  reading: Cancellable;
}

/** Finds the extras that can be read; the others are unclear, each with the reason. */
export async function findExtras(
  command: RecognisedCommand,
  stores: Readonly<Record<string, string>>,
  env: Variables,
  reading: Cancellable = {},
): Promise<{ found: FoundExtra[]; unread: UnreadPart[] }> {
  const found: FoundExtra[] = [];
  const unread: UnreadPart[] = [];
  for (const extra of command.extras) {
    const answer = await find(extra, command, { stores, env, reading });
    if (typeof answer === 'string')
      unread.push({ text: `${extra.option} ${extra.model} ${answer}.`, part: 'option', effect: 'more' });
    else if (answer !== null) found.push(answer);
  }
  return { found, unread };
}

/** A reason why it is not counted; null: there is nothing to be loaded. */
async function find(
  extra: ExtraModel,
  { program }: RecognisedCommand,
  { env, reading, stores }: Places,
): Promise<FoundExtra | string | null> {
  try {
    if (extra.kind === 'draft') return await findDraft(extra, program, { env, reading, stores });
    if (extra.option === '--hf-repo') {
      const path = await locateProjector(extra.model, stores, env);
      return path === null ? null : { extra, model: path, weights: await ggufBytes(path, reading) };
    }
    if (program === 'llama.cpp') return { extra, model: extra.model, weights: await ggufBytes(extra.model, reading) };
    const model = (await locate({ ...extra, program }, stores, env)) ?? extra.model;
    return { extra, model, weights: weightsOf(await estimate(model, reading)) };
  } catch (error) {
    return whyNot(error);
  }
}

async function findDraft(
  extra: ExtraModel,
  program: RecognisedCommand['program'],
  { env, reading, stores }: Places,
): Promise<FoundExtra | string> {
  const located = await locate({ ...extra, program }, stores, env);
  if (located === null) return NOT_HERE;
  const model = await openModel(located, reading);
  const report = await estimate(model);
  if (report.kvBytesPerToken === null) return 'is of a kind that is not known: its cache cannot be counted';
  const weights = weightsOf(report);
  return weights === 0 ? 'has no weights on this machine' : { extra, model, weights };
}

const NOT_HERE = 'is not on this machine, so what it takes is not counted';

function whyNot(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  const { code } = error as NodeJS.ErrnoException;
  const missing = error instanceof UmaError ? error.nativeName : code;
  if (code === 'ERR_INVALID_ARG_VALUE' || missing === 'ENOENT' || missing === 'ENOTDIR') return NOT_HERE;
  if (code === 'ERR_UMA_MODEL' || code === 'ERR_UMA_PERMISSION') return `is not counted: ${error.message}`;
  if (code !== undefined && /^E[A-Z]+$/.test(code)) return `cannot be read (${code}), and is not counted`;
  throw error;
}

/** The tensors of a file without a language model. */
async function ggufBytes(path: string, { signal }: Cancellable): Promise<number> {
  return bytesOf((await withFile(path, (file) => readGguf(file), signal)).sums.all());
}

function weightsOf({ terms }: EstimateReport): number {
  return terms.find(({ name }) => name === 'weights')?.bytes ?? 0;
}

/** An estimate with all that is loaded besides the model. */
export interface WholeEstimate {
  report: EstimateReport;
  extras: LaunchExtra[];
  unread: UnreadPart[];
}

/** @param model as the report is of it. */
export async function withExtras(
  report: EstimateReport,
  model: Model,
  command: RecognisedCommand,
  found: readonly FoundExtra[],
): Promise<WholeEstimate> {
  const { context, sequences } = report.use;
  let whole = report;
  const extras: LaunchExtra[] = [];
  for (const each of found) {
    const { kvBytesPerToken, terms } = await termsOf(each, command, context, sequences);
    whole = grown(whole, terms, kvBytesPerToken);
    extras.push({ option: each.extra.option, name: each.extra.model, ...sumOf(terms) });
  }
  const slots = await slotTerm(report, model, command);
  if (slots === null) return { report: whole, extras, unread: [] };
  if (typeof slots === 'string')
    return { report: whole, extras, unread: [{ text: slots, part: 'option', effect: 'more' }] };
  const name = `${command.adapterSlots?.adapters} × rank ${command.adapterSlots?.rank}`;
  extras.push({ option: '--enable-lora', name, ...sumOf([slots]) });
  return { report: grown(whole, [slots], 0), extras, unread: [] };
}

/**
 * llama.cpp's buffer for one image besides the weights of a projector: 195 MiB for sound, 248 MiB for images of 1472 pixels
 * (published logs of LFM2.5-Audio and Qwen3.6, 2026), 1.1 GiB for Gemma 3 without flash attention.
 */
const IMAGE = { bytes: 248 * MiB, high: 1200 * MiB };

async function termsOf(
  { extra, model, weights }: FoundExtra,
  command: RecognisedCommand,
  context: number,
  sequences: number,
): Promise<{ terms: EstimateTerm[]; kvBytesPerToken: number }> {
  const inputs = { weights };
  const ofFiles = { ...exactly(weights), formula: 'weights of the files', inputs };
  const alone = (term: EstimateTerm) => ({ terms: [term], kvBytesPerToken: 0 });
  switch (extra.kind) {
    case 'draft':
      return draftTerms({ extra, model, weights }, command, context, sequences);
    case 'projector':
      return alone({
        name: 'projector',
        bytes: weights + IMAGE.bytes,
        low: weights,
        high: weights + IMAGE.high,
        formula: 'weights + image',
        inputs: { ...inputs, image: IMAGE.bytes },
      });
    case 'adapter':
      // vLLM keeps a copy of those that it uses in memory of the host, beside its slots.
      return alone({ name: 'adapters', ...ofFiles, low: command.program === 'vllm' ? 0 : weights });
    case 'control-vector':
      return alone({ name: 'control-vector', ...ofFiles });
  }
}

/** Terms of a draft model that are not there a second time: it runs in the process of the model. */
const SHARED = new Set(['runtime', 'cuda-graphs']);

async function draftTerms(
  { extra, model }: FoundExtra,
  { program, use }: RecognisedCommand,
  context: number,
  sequences: number,
): Promise<{ terms: EstimateTerm[]; kvBytesPerToken: number }> {
  const { batchTokens, flashAttention, kvDtype: mainDtype, kvUnified, swaFull, tensorParallel } = use;
  // vLLM has one type for all caches, llama.cpp one for each model.
  const kvDtype = extra.use.kvDtype ?? (program === 'llama.cpp' ? undefined : mainDtype);
  const given = { batchTokens, flashAttention, kvDtype, kvUnified, swaFull, tensorParallel };
  const report = await estimate(model, {
    ...(program === null ? {} : { program }),
    ...defined(given),
    context: extra.use.context ?? context,
    sequences,
  });
  const terms = report.terms
    .filter(({ name }) => !SHARED.has(name))
    .map((term) => {
      const named = { ...term, name: `draft-${term.name}` };
      // A step of the draft model and one of the model are not at the same time.
      return term.name === 'activations' ? { ...named, bytes: 0, low: 0 } : named;
    });
  return { terms, kvBytesPerToken: report.kvBytesPerToken ?? 0 };
}

/** Bytes of a weight in 16 bits, the type of adapters by default. */
const ADAPTER_BYTES = 2;

/**
 * vLLM keeps room for adapters of the largest rank on every linear layer, whatever the adapters have. A reason where it cannot be
 * counted; null: there are none.
 */
async function slotTerm(
  report: EstimateReport,
  model: Model,
  { adapterSlots: slots }: RecognisedCommand,
): Promise<EstimateTerm | string | null> {
  if (slots === null) return null;
  const { adapters, rank } = slots;
  const hasExperts = report.terms.some(({ inputs, name }) => name === 'weights' && Number(inputs.experts ?? 0) > 0);
  if (hasExperts) return '--enable-lora keeps room for adapters on experts, which is not counted.';
  if (rank > LIMITS.loraRank.max) return `--max-lora-rank ${rank} is more than can be counted here.`;
  const training = await estimate(model, { use: 'lora', loraRank: rank });
  const trained = training.terms.find(({ name }) => name === 'adapters')?.inputs.trained;
  if (typeof trained !== 'number') return '--enable-lora keeps room for adapters, which cannot be counted.';
  const bytes = adapters * trained * ADAPTER_BYTES;
  return {
    name: 'adapter-slots',
    bytes,
    // Fewer layers take adapters in some models, in others also the embedding.
    low: Math.round(bytes / 2),
    high: bytes * 2,
    formula: 'adapters × parameters × 2',
    inputs: { adapters, rank, parameters: trained },
  };
}

function grown(report: EstimateReport, terms: readonly EstimateTerm[], kvBytesPerToken: number): EstimateReport {
  const sum = sumOf(terms);
  return {
    ...report,
    terms: terms.reduce(merged, report.terms),
    total: plus(report.total, sum),
    loading: { ...report.loading, peak: plus(report.loading.peak, sum) },
    kvBytesPerToken:
      report.kvBytesPerToken === null && kvBytesPerToken === 0 ? null : (report.kvBytesPerToken ?? 0) + kvBytesPerToken,
  };
}

/** Several adapters are one term. */
function merged(terms: readonly EstimateTerm[], term: EstimateTerm): EstimateTerm[] {
  const same = terms.find(({ name }) => name === term.name);
  if (same === undefined) return [...terms, term];
  return terms.map((each) => (each === same ? { ...each, ...plus(each, term) } : each));
}
