/**
 * Published measurements (measurements.jsonl: logs of llama.cpp, vLLM, SGLang and trainers, each with its source) as
 * requests of `estimate()`, and the parts of the answer that each can be compared with.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bufferTerms } from '../../lib/models/estimate/buffers.ts';
import { inferenceOf } from '../../lib/models/estimate/inference.ts';
import { trainingOf } from '../../lib/models/estimate/training/index.ts';
import type { Use } from '../../lib/models/estimate/use.ts';
import { architectureOfGguf } from '../../lib/models/files/architecture-gguf.ts';
import type { ModelFacts } from '../../lib/models/files/model.ts';
import type { JsonObject } from '../../lib/models/files/model-file.ts';
import { modelOfConfig } from '../../lib/models/files/open-folder.ts';
import { quantizationOf } from '../../lib/models/files/quantization.ts';
import { totalParameters } from '../../lib/models/files/weights.ts';
import type { EstimateRange, EstimateReport, EstimateTerm } from '../../lib/types/index.ts';
import { modelWith, useOf } from './estimates.ts';
import { MISSES } from './measurement-misses.ts';
import { ROOT } from './root.ts';

export interface Measurement {
  id: string;
  model: string;
  format: string;
  software: string;
  architecture: Record<string, unknown>;
  setting: Record<string, unknown>;
  measured: Record<string, number>;
  source: string;
}

export interface Comparison {
  id: string;
  model: string;
  software: string;
  quantity: 'weights' | 'KV cache' | 'state' | 'compute buffer' | 'activations' | 'total' | 'training';
  ours: EstimateRange;
  measured: number;
}

export const MEASUREMENTS = readFileSync(join(ROOT, 'test/support/measurements.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Measurement);

const CONFIGS = JSON.parse(readFileSync(join(ROOT, 'test/support/models/configs.json'), 'utf8')) as Record<
  string,
  JsonObject
>;

/** Published config.json of models that rows name, if the row's own facts do not suffice. */
const llama = (
  layers: number,
  hidden: number,
  heads: number,
  kv: number,
  ffn: number,
  vocab: number,
  more: JsonObject = {},
) => ({
  model_type: 'llama',
  num_hidden_layers: layers,
  hidden_size: hidden,
  num_attention_heads: heads,
  num_key_value_heads: kv,
  intermediate_size: ffn,
  vocab_size: vocab,
  ...more,
});
const qwen3 = (layers: number, hidden: number, heads: number, ffn: number, tied: boolean) => ({
  model_type: 'qwen3',
  num_hidden_layers: layers,
  hidden_size: hidden,
  num_attention_heads: heads,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: ffn,
  vocab_size: 151_936,
  tie_word_embeddings: tied,
});
const KNOWN: Record<string, JsonObject> = {
  ...CONFIGS,
  'Llama-2-7B': llama(32, 4096, 32, 32, 11_008, 32_000),
  'Llama-2-13B': llama(40, 5120, 40, 40, 13_824, 32_000),
  'Llama-2-70B': llama(80, 8192, 64, 8, 28_672, 32_000),
  'CodeLlama-34B': llama(48, 8192, 64, 8, 22_016, 32_000),
  'Llama-3.2-3B': llama(28, 3072, 24, 8, 8192, 128_256, { tie_word_embeddings: true }),
  'Llama-3.1-8B': CONFIGS['Llama 3.1 8B'] as JsonObject,
  'Llama-3.1-70B': llama(80, 8192, 64, 8, 28_672, 128_256),
  'Falcon-40B': {
    model_type: 'falcon',
    num_hidden_layers: 60,
    hidden_size: 8192,
    num_attention_heads: 128,
    num_kv_heads: 8,
    new_decoder_architecture: true,
    multi_query: true,
    vocab_size: 65_024,
  },
  'Yi-6B': llama(32, 4096, 32, 4, 11_008, 64_000),
  'Yi-34B': llama(60, 7168, 56, 8, 20_480, 64_000),
  'Qwen3-0.6B': qwen3(28, 1024, 16, 3072, true),
  'Qwen3-4B': qwen3(36, 2560, 32, 9728, true),
  'Qwen3-8B': qwen3(36, 4096, 32, 12_288, false),
  'Qwen3-14B': qwen3(40, 5120, 40, 17_408, false),
  'Qwen3-32B': qwen3(64, 5120, 64, 25_600, false),
  'Qwen-7B': {
    model_type: 'qwen',
    num_hidden_layers: 32,
    hidden_size: 4096,
    num_attention_heads: 32,
    intermediate_size: 22_016,
    vocab_size: 151_936,
  },
  'Qwen-1.8B': {
    model_type: 'qwen',
    num_hidden_layers: 24,
    hidden_size: 2048,
    num_attention_heads: 16,
    intermediate_size: 11_008,
    vocab_size: 151_936,
  },
  'Qwen-72B': {
    model_type: 'qwen',
    num_hidden_layers: 80,
    hidden_size: 8192,
    num_attention_heads: 64,
    intermediate_size: 49_152,
    vocab_size: 152_064,
  },
  'Qwen2.5-1.5B': CONFIGS['Qwen2.5 1.5B'] as JsonObject,
  'MiniMax-M2': CONFIGS['MiniMax M2.5'] as JsonObject,
  'Qwen3-235B': CONFIGS['Qwen3 235B-A22B'] as JsonObject,
  'Qwen3.6-35B-A3B': CONFIGS['Qwen3.5 35B-A3B'] as JsonObject,
  'Qwen3-Coder-30B-A3B': {
    model_type: 'qwen3_moe',
    num_hidden_layers: 48,
    hidden_size: 2048,
    num_attention_heads: 32,
    num_key_value_heads: 4,
    head_dim: 128,
    moe_intermediate_size: 768,
    num_experts: 128,
    num_experts_per_tok: 8,
    vocab_size: 151_936,
    tie_word_embeddings: false,
  },
  'gpt-oss-20b': CONFIGS['gpt-oss 20B'] as JsonObject,
  'gpt-oss-120b': CONFIGS['gpt-oss 120B'] as JsonObject,
  'Llama-4-Scout': CONFIGS['Llama 4 Scout'] as JsonObject,
  'Gemma-4-26B-A4B': CONFIGS['Gemma 4 26B-A4B'] as JsonObject,
  'Llama-3.1-405B': CONFIGS['Llama 3.1 405B'] as JsonObject,
  'c4ai-command-r7b': CONFIGS['Command R7B'] as JsonObject,
  'Llama-3-70B': llama(80, 8192, 64, 8, 28_672, 128_256),
  'DeepSeek-V4-Flash': CONFIGS['DeepSeek V4 Flash'] as JsonObject,
  'Nemotron-3-Nano-30B': CONFIGS['Nemotron 3 Nano 30B-A3B'] as JsonObject,
};

/** Keys of state-space layers that print_info of these logs has and the rows leave out. */
const SSM_INNER: Record<string, number> = { '2B': 2048, '9B': 4096, '27B': 6144, '122B': 8192, '397B': 8192 };

/** Bytes of a weight in a format of which the row has no file size. */
const FORMAT_QUANT: [pattern: RegExp, config: JsonObject][] = [
  [
    /NF4 double/,
    { quantization_config: { quant_method: 'bitsandbytes', load_in_4bit: true, bnb_4bit_use_double_quant: true } },
  ],
  [/NF4/, { quantization_config: { quant_method: 'bitsandbytes', load_in_4bit: true } }],
  [/AWQ/i, { quantization_config: { quant_method: 'awq', bits: 4, group_size: 128 } }],
  [/GPTQ/, { quantization_config: { quant_method: 'gptq', bits: 4, group_size: 128 } }],
  [/MLX|affine/, { quantization: { bits: 4, group_size: 64 } }],
  [/NVFP4/, { quantization_config: { quant_algo: 'NVFP4' } }],
  [/FP8/, { quantization_config: { quant_method: 'fp8', weight_block_size: [128, 128] } }],
];

function configOf({ model }: Measurement): JsonObject | null {
  const name = Object.keys(KNOWN)
    .filter((known) => model.toLowerCase().startsWith(known.toLowerCase()))
    .sort((a, b) => b.length - a.length)[0];
  return name === undefined ? null : (KNOWN[name] as JsonObject);
}

/** The model of a row: of print_info's keys, or of a config; its weights of the file's size, where the row has it. */
export function modelOf(row: Measurement): ModelFacts {
  // print_info cuts lists off: without the whole list of heads a cache cannot be counted.
  const gguf = typeof row.architecture.arch === 'string' && row.architecture.arch !== 'deci' ? ggufOf(row) : null;
  return withFile(gguf ?? configModel(row) ?? modelWith(null), row);
}

function configModel(row: Measurement): ModelFacts | null {
  const config = configOf(row);
  if (config === null) return null;
  const quant = FORMAT_QUANT.find(([pattern]) => pattern.test(row.format))?.[1] ?? {};
  const eight = row.model.includes('8-bit') ? { quantization: { bits: 8, group_size: 64 } } : {};
  const document = {
    ...config,
    quantization_config: undefined,
    ...(/MXFP4/.test(row.format) ? { quantization_config: config.quantization_config } : {}),
    ...quant,
    ...eight,
  };
  return modelOfConfig({ document, path: 'config.json', quantization: quantizationOf(document, null) }, row.model);
}

function ggufOf(row: Measurement): ModelFacts {
  const facts = row.architecture;
  const arch = String(facts.arch);
  const keys: Record<string, unknown> = {
    block_count: facts.layers,
    embedding_length: facts.hidden,
    'attention.head_count': facts.heads,
    'attention.head_count_kv': facts.kv_heads,
    'attention.key_length': facts.head_dim_k,
    'attention.value_length': facts.head_dim_v,
    vocab_size: facts.vocab,
    expert_count: facts.experts,
    feed_forward_length: facts.ffn,
    ...(Number(facts.sliding_window) > 0 ? { 'attention.sliding_window': facts.sliding_window } : {}),
    ...(facts.kv_lora_rank === undefined
      ? {}
      : { 'attention.kv_lora_rank': facts.kv_lora_rank, 'rope.dimension_count': 64 }),
    ...(arch === 'glm4moe' ? { nextn_predict_layers: 1 } : {}),
  };
  if (arch.startsWith('qwen35')) {
    const size = /(\d+B)/.exec(row.model)?.[1] ?? '';
    Object.assign(keys, {
      full_attention_interval: 4,
      'ssm.inner_size': SSM_INNER[size],
      'ssm.state_size': 128,
      'ssm.group_count': 16,
      'ssm.conv_kernel': 4,
    });
  }
  if (arch === 'gemma4') {
    const pattern = Array.from({ length: 60 }, (_, layer) => layer % 6 !== 5);
    Object.assign(keys, {
      'attention.sliding_window_pattern': pattern,
      'attention.head_count_kv': pattern.map((slides) => (slides ? 16 : 4)),
      'attention.key_length': 512,
      'attention.value_length': 512,
      'attention.key_length_swa': 256,
      'attention.value_length_swa': 256,
    });
  }
  const entries = Object.entries(keys).map(([key, value]) => [`${arch}.${key}`, value] as const);
  const metadata = new Map([['general.architecture', arch], ...entries]) as never;
  const architecture = architectureOfGguf({ metadata, arrayLengths: new Map() }, row.id);
  return { ...modelWith(architecture), name: row.model, source: 'gguf' };
}

/** Bits of a weight in a GGUF format, for a row without the size of its file. */
const GGUF_BITS: [pattern: RegExp, bits: number][] = [
  [/Q8_0/, 8.5],
  [/Q6_K/, 6.5625],
];

/** Sums of a file of the row's size; the parts that programs treat apart by the model's own counts. */
function withFile(model: ModelFacts, row: Measurement): ModelFacts {
  const bits = GGUF_BITS.find(
    ([pattern]) => row.format.startsWith('GGUF') && !/\+/.test(row.format) && pattern.test(row.format),
  )?.[1];
  const counted = model.counts === null || bits === undefined ? undefined : (totalParameters(model.counts) * bits) / 8;
  const bytes = row.measured.file_bytes ?? row.measured.checkpoint_bytes ?? counted;
  if (bytes === undefined) return model;
  return { ...model, fileBytes: bytes, files: 1, weights: shares(row, model, bytes) };
}

function shares(row: Measurement, model: ModelFacts, bytes: number): ModelFacts['weights'] {
  const { architecture, counts, quantization } = model;
  const of = (part: ModelFacts['weights'][number]['part'], size: number) => ({
    part,
    dtype: 'file',
    tensors: 1,
    bytes: Math.round(size),
    parameters: 0,
  });
  if (architecture === null) return [of('blocks', bytes)];
  // Small Qwen3.5 and Gemma models have no output layer of their own; GLM-4.5 has a layer for further tokens.
  architecture.tied = /Qwen3\.5-2B|Gemma|command-r/i.test(row.model) && row.format.startsWith('GGUF');
  const embedding = architecture.tied
    ? (architecture.vocab ?? 0) * architecture.hidden * (row.format.includes('BF16') ? 2 : 1)
    : 0;
  const mtp = architecture.name === 'glm4moe' ? bytes * mtpShare(CONFIGS['GLM 4.5 Air'] as JsonObject) : 0;
  const experts = counts === null ? 0 : counts.experts * (quantization?.bytesPerWeight ?? 2);
  // Bytes beyond the language model are parts for images or for further tokens.
  const language = counts === null || quantization !== null ? bytes : totalParameters(counts) * 2;
  const vision = row.setting.language_model_only === true ? Math.max(0, bytes - language) : 0;
  const blocks = bytes - embedding - mtp - vision;
  return [
    of('blocks', blocks - Math.min(experts, blocks)),
    of('experts', Math.min(experts, blocks)),
    of('embedding', embedding),
    of('mtp', mtp),
    of('vision', vision),
  ].filter((sum) => sum.bytes > 0);
}

function mtpShare(document: JsonObject): number {
  const { counts } = modelOfConfig({ document, path: '', quantization: null }, '');
  return counts === null ? 0 : counts.mtp / (counts.mtp + totalParameters(counts));
}

const PROGRAMS: [pattern: RegExp, program: NonNullable<Use['program']>][] = [
  [/llama\.cpp/, 'llama.cpp'],
  [/^vLLM/, 'vllm'],
  [/^SGLang/, 'sglang'],
];

/** Tokens of the context; 64 for a row that says nothing: a short answer. */
function tokensOf({ setting }: Measurement): number {
  const names = ['n_ctx', 'max_model_len', 'context', 'seq_len', 'max_seq_length', 'input_tokens'];
  const found = names.map((name) => setting[name]).find((value) => typeof value === 'number');
  const written = typeof setting.output_tokens === 'number' ? setting.output_tokens : 0;
  return ((found as number | undefined) ?? 64) + written;
}

/** The row's settings as a use. ik_llama.cpp does not shorten the cache of sliding windows. */
export function settingOf(row: Measurement): Use & { context: number } {
  const { setting, software } = row;
  const number = (name: string): number | undefined =>
    typeof setting[name] === 'number' ? (setting[name] as number) : undefined;
  const parallel = number('n_parallel') ?? 1;
  return useOf({
    program: PROGRAMS.find(([pattern]) => pattern.test(software))?.[1] ?? 'torch',
    context: tokensOf(row) / parallel,
    sequences: parallel,
    batch: number('batch') ?? 1,
    kvDtype: typeof setting.kv_dtype === 'string' ? setting.kv_dtype : null,
    batchTokens: number('n_ubatch') ?? number('max_num_batched_tokens') ?? null,
    flashAttention: setting.flash_attn !== '0' && setting.flash_attn !== 0,
    swaFull: setting.swa_full === true || software.startsWith('ik_llama'),
    mla: typeof setting.mla === 'string' ? setting.mla !== '0' : null,
    tensorParallel: number('tensor_parallel') ?? Number(/\((\d+)x A100, per GPU\)/.exec(row.model)?.[1] ?? 1),
    optimizer: /torchtune/.test(row.software) && /full/.test(row.model) ? 'adamw-8bit' : 'adamw',
    languageModelOnly: setting.language_model_only === true,
    // The memory per sequence of open-instruct's runs is that of runs without checkpointing.
    checkpointing: setting.grad_checkpointing !== false && !/open-instruct/.test(row.software),
    // DeepSpeed and open-instruct keep FP32 weights; peft's defaults, LitGPT and torchtune adapt queries and values.
    mixedPrecision: /full, sequence/.test(row.model) || /open-instruct/.test(row.software),
    loraTargets: /PEFT|LitGPT|torchtune/.test(row.software) ? 'queries-values' : 'all-linear',
  });
}

export function comparisonsOf(row: Measurement): Comparison[] {
  if (/train|finetune|fine-tuning|full, sequence|LoRA|DoRA|SFT|DPO/i.test(row.model)) return trainingComparison(row);
  const model = modelOf(row);
  const use = settingOf(row);
  const report = inferenceOf(model, use);
  const found: Comparison[] = [];
  const add = (quantity: Comparison['quantity'], ours: EstimateRange | null, measured: number | undefined): void => {
    if (ours === null || measured === undefined) return;
    found.push({ id: row.id, model: row.model, software: row.software, quantity, ours, measured });
  };
  add('weights', weightsIn(report), row.measured.weights_bytes);
  for (const comparison of cacheComparisons(row, report, model, use)) found.push(comparison);
  add('state', term(report, 'recurrent-state'), row.measured.recurrent_state_bytes);
  if (use.program === 'llama.cpp' && row.measured.compute_buffer_bytes !== undefined)
    add('compute buffer', term(report, 'compute-buffer'), row.measured.compute_buffer_bytes);
  if (row.measured.activation_peak_bytes !== undefined)
    add(
      'activations',
      term({ ...report, terms: bufferTerms(model, use) }, 'activations'),
      row.measured.activation_peak_bytes,
    );
  // Counters of torch and llama.cpp know nothing of the process itself.
  const counted = report.terms.filter(({ name }) => name !== 'runtime');
  const total = { bytes: sum(counted, 'bytes'), low: sum(counted, 'low'), high: sum(counted, 'high') };
  if (use.program !== 'vllm') add('total', total, row.measured.total_bytes);
  return found;
}

function sum(terms: readonly EstimateTerm[], key: 'bytes' | 'low' | 'high'): number {
  return terms.reduce((all, entry) => all + entry[key], 0);
}

function term({ terms }: EstimateReport, name: string): EstimateRange | null {
  return terms.find((entry) => entry.name === name) ?? null;
}

function weightsIn({ terms }: EstimateReport): EstimateRange | null {
  const parts = terms.filter(({ name }) => name === 'weights' || name === 'output-copy');
  return parts.length === 0 ? null : { bytes: sum(parts, 'bytes'), low: sum(parts, 'low'), high: sum(parts, 'high') };
}

/** A log of an engine gives its pool and the tokens in it: bytes per token is what can be compared. */
function cacheComparisons(
  row: Measurement,
  report: EstimateReport,
  model: ModelFacts,
  use: Use & { context: number },
): Comparison[] {
  const { kv_bytes: bytes, kv_tokens: tokens, max_concurrency: requests } = row.measured;
  if (bytes === undefined) return [];
  const base = { id: row.id, model: row.model, software: row.software, quantity: 'KV cache' as const };
  const cache = term(report, 'kv-cache');
  if (cache === null) return [];
  if (use.program === 'llama.cpp') return [{ ...base, ours: cache, measured: bytes }];
  if (requests !== undefined) {
    const parts = report.terms.filter(({ name }) => name === 'kv-cache' || name === 'recurrent-state');
    const ours = { bytes: sum(parts, 'bytes'), low: sum(parts, 'low'), high: sum(parts, 'high') };
    return [{ ...base, ours, measured: Math.round(bytes / requests) }];
  }
  if (tokens === undefined) return [];
  const whole = inferenceOf(model, { ...use, context: tokens }).terms.find(
    ({ name }) => name === 'kv-cache',
  ) as EstimateRange;
  return [{ ...base, ours: whole, measured: bytes }];
}

/** Parts that counters of torch do not count. */
const PROCESS = new Set(['cuda-context', 'host-process', 'data-workers']);

function trainingComparison(row: Measurement): Comparison[] {
  const model = configModel({ ...row, format: row.format.replace('BF16 base', 'BF16') });
  if (model === null || row.measured.total_bytes === undefined) return [];
  const use = settingOf(row);
  if (row.setting.seq_len === undefined && row.setting.max_seq_length === undefined)
    use.context = /torchtune/.test(row.software) ? 4096 : 1024;
  // LitGPT's LoRA on one GPU keeps all activations.
  if (/LitGPT/.test(row.software)) use.checkpointing = false;
  const kind = /Q-?LoRA|NF4/i.test(`${row.model} ${row.format}`)
    ? 'qlora'
    : /LoRA|DoRA/i.test(row.model)
      ? 'lora'
      : /DPO/.test(row.model)
        ? 'dpo'
        : 'sft';
  const batch = Number(/micro-batch (\d+)/.exec(row.model)?.[1] ?? use.batch);
  const report = trainingOf(
    { ...model, quantization: kind === 'qlora' && /NF4/.test(row.format) ? null : model.quantization },
    { ...use, use: kind, program: null, batch, loraRank: Number(/r(\d+)$/.exec(row.model)?.[1] ?? 64) },
  );
  // Counters of torch know nothing of the process; a reading of the whole machine does, and of the idle system.
  const whole = row.setting.machine === 'DGX Spark GB10';
  const counted = report.terms.filter(({ name }) => whole || !PROCESS.has(name));
  const ours = { bytes: sum(counted, 'bytes'), low: sum(counted, 'low'), high: sum(counted, 'high') };
  return [
    {
      id: row.id,
      model: row.model,
      software: row.software,
      quantity: 'training',
      ours,
      measured: row.measured.total_bytes,
    },
  ];
}

/** True if a comparison keeps its promise: exact quantities within 1 %, all others within the range. */
export function keeps({ measured, ours, quantity }: Comparison): boolean {
  if (quantity === 'weights' || quantity === 'KV cache' || quantity === 'state')
    return Math.abs(ours.bytes / measured - 1) <= 0.01;
  // Published with three digits.
  return measured >= ours.low * 0.995 && measured <= ours.high * 1.005;
}

/** The comparison as a table: one line for each published row. */
export function comparisonTable(): string[] {
  const rows = MEASUREMENTS.map((row) => comparisonsOf(row))
    .filter((comparisons) => comparisons.length > 0)
    .map((comparisons) => {
      const [{ id, model, software } = { id: '', model: '', software: '' }] = comparisons;
      const quantities = comparisons.map(comparedText).join(' · ');
      return `| ${id} | ${model.replaceAll('|', '/')} | ${software.split(' (')[0]} | ${quantities} |`;
    });
  return ['| row | model | program | estimate / measured, GB |', '|---|---|---|---|', ...rows];
}

function comparedText({ id, measured, ours, quantity }: Comparison): string {
  const difference = ((ours.bytes / measured - 1) * 100).toFixed(1).replace(/^-0\.0$/, '0.0');
  const miss = MISSES[`${id} ${quantity}`];
  return `${quantity} ${gb(ours.bytes)} / ${gb(measured)}, ${difference} %${miss === undefined ? '' : ` **${miss}**`}`;
}

function gb(bytes: number): string {
  return (bytes / 1e9).toPrecision(4);
}
