/** The largest model that fits, for each precision and use: by models of a typical shape, one larger than the other. */

import { exactly, plus, sumOf, without } from '../../core/memory/range.ts';
import type {
  EstimateOptions,
  EstimateReport,
  EstimateUse,
  FitLargest,
  FitProgram,
  FitRange,
  FitReport,
  Snapshot,
} from '../../types/index.ts';
import { estimate } from '../estimate/index.ts';
import { checkEstimate, needOfBytes } from './options.ts';
import { type CheckedOptions, fitReport } from './report.ts';
import { largestAccepted } from './search.ts';

export interface LargestQuestion {
  use: EstimateOptions;
  machine: Snapshot;
  options: CheckedOptions;
}

interface Precision {
  dtype: string;
  /** Ways to train with weights of this type. */
  training: readonly EstimateUse[];
  /** Programs that load it. */
  programs: readonly FitProgram[];
}

const SERVERS = ['vllm', 'sglang', 'trtllm'] as const;
const TORCH = ['torch', 'accelerate'] as const;
const LLAMA = ['llama.cpp', 'ollama'] as const;

const PRECISIONS: readonly Precision[] = [
  { dtype: 'bf16', training: ['lora', 'sft'], programs: [...SERVERS, ...LLAMA, ...TORCH] },
  { dtype: 'fp8', training: [], programs: [...SERVERS, ...TORCH] },
  { dtype: 'nvfp4', training: [], programs: SERVERS },
  { dtype: 'q4_k_m', training: [], programs: LLAMA },
  { dtype: 'iq3_k', training: [], programs: LLAMA },
  { dtype: 'nf4', training: ['qlora'], programs: TORCH },
];

/** Uses in the order of the columns. Adapters on NF4 are QLoRA. */
const USES: readonly { use: FitLargest['uses'][number]; is(use: EstimateUse): boolean }[] = [
  { use: 'inference', is: (use) => use === 'inference' },
  { use: 'lora', is: (use) => use === 'lora' || use === 'qlora' },
  { use: 'full', is: (use) => use === 'sft' },
];

export async function largestOf(question: LargestQuestion): Promise<FitLargest> {
  const { machine, options, use } = question;
  const precisions = PRECISIONS.filter(
    ({ programs }) => options.program === null || programs.includes(options.program),
  );
  // Servers do not train.
  const isTrainer = options.program === null || TORCH.some((program) => program === options.program);
  const { bytes: limit } = fitReport(needOfBytes(1), machine, options).limit;
  const rows: FitLargest['rows'] = [];
  for (const precision of precisions) {
    const cells: FitLargest['rows'][number]['cells'] = [];
    for (const column of USES) {
      const way = ['inference' as const, ...(isTrainer ? precision.training : [])].find(column.is);
      cells.push(way === undefined ? null : await cellOf(question, precision, way, limit));
    }
    rows.push({ dtype: precision.dtype, bytesPerWeight: (await weightsOf(MANY, precision.dtype)).bytes / MANY, cells });
  }
  const { context, sequences } = (await estimate({ config: configOf(WIDTH_STEP) }, use)).use;
  return {
    schema: 'umaprobe/fit-largest/1',
    at: machine.at,
    simulated: machine.simulated,
    limit,
    program: options.program,
    context,
    sequences,
    batch: use.batch ?? 1,
    uses: USES.map((column) => column.use),
    rows,
  };
}

/** Steps of the hidden size, and the most: 2.3 % and 3.5 trillion parameters. */
const WIDTH_STEP = 32;
const MOST_WIDTH = 32_768;

async function cellOf(
  question: LargestQuestion,
  precision: Precision,
  use: EstimateUse,
  limit: number | null,
): Promise<FitLargest['rows'][number]['cells'][number]> {
  const asked = new Map<number, Promise<Sized>>();
  const ask = (width: number): Promise<Sized> => {
    const answer = asked.get(width) ?? askOf(question, precision, use, width);
    asked.set(width, answer);
    return answer;
  };
  const range = { most: await mostWidth(precision.dtype, limit), step: WIDTH_STEP };
  const certain = await largestAccepted(range, ask, ({ report }) => report.verdict === 'fits');
  const expected = await largestAccepted(range, ask, ({ report }) => report.expectedFits === true);
  const isKnown = certain.answer.report.verdict !== 'unknown' && certain.answer.report.verdict !== 'not-now';
  const { terms: _, ...need } = certain.answer.report.need;
  return {
    parameters: certain.value === null ? null : certain.answer.parameters,
    expected: expected.value === null ? null : expected.answer.parameters,
    need: certain.value === null ? null : need,
    known: isKnown,
  };
}

/** The first hidden size whose weights alone are too large: a training takes long to estimate. */
async function mostWidth(dtype: string, limit: number | null): Promise<number> {
  if (limit === null) return WIDTH_STEP;
  const ask = async (width: number): Promise<number> => {
    const { model } = await estimate({ config: configOf(width) });
    return (await weightsOf(model.parameters ?? 0, dtype)).bytes;
  };
  const { value } = await largestAccepted({ most: MOST_WIDTH, step: WIDTH_STEP }, ask, (bytes) => bytes <= limit);
  return Math.min(MOST_WIDTH, (value ?? 0) + WIDTH_STEP);
}

interface Sized {
  parameters: number;
  report: FitReport;
}

async function askOf(
  { machine, options, use }: LargestQuestion,
  { dtype }: Precision,
  way: EstimateUse,
  width: number,
): Promise<Sized> {
  const asked = { ...use, use: way, ...(options.program === null ? {} : { program: options.program }) };
  const estimated = await estimate({ config: configOf(width) }, asked);
  const parameters = estimated.model.parameters ?? 0;
  const isCounted = way !== 'inference' || dtype === 'bf16';
  const whole = isCounted ? estimated : withWeights(estimated, await weightsOf(parameters, dtype));
  return { parameters, report: fitReport(checkEstimate(whole), machine, options) };
}

/** The estimate of the same model with weights of another type. */
function withWeights(estimated: EstimateReport, weights: FitRange): EstimateReport {
  const terms = estimated.terms.map((term) => (term.name === 'weights' ? { ...term, ...weights } : term));
  const total = sumOf(terms);
  const peak = plus(without(estimated.loading.peak, estimated.total), total);
  return { ...estimated, terms, total, loading: { ...estimated.loading, peak } };
}

/** Bytes of a number of parameters. */
async function weightsOf(params: number, dtype: string): Promise<FitRange> {
  const { terms } = await estimate({ params, dtype });
  const { bytes, high, low } = terms.find(({ name }) => name === 'weights') ?? exactly(0);
  return { bytes, low, high };
}

/** Parameters whose bytes are counted to get those of one, which are rounded. */
const MANY = 1e6;

/**
 * A dense model of the shape of Llama 3 with a hidden size: a layer for each 128 of it, 8 heads of keys and values. 4096 is
 * 8.0 billion parameters.
 */
function configOf(width: number): Record<string, unknown> {
  const heads = Math.max(1, Math.round(width / 128));
  return {
    model_type: 'llama',
    num_hidden_layers: heads,
    hidden_size: width,
    num_attention_heads: heads,
    num_key_value_heads: Math.min(8, heads),
    head_dim: 128,
    intermediate_size: Math.round(3.5 * width),
    vocab_size: 128_256,
    max_position_embeddings: 131_072,
    tie_word_embeddings: false,
  };
}
