/** estimate(): the tables of the lab, the rough formulas on their own examples, ranges, and the page. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { estimate, estimateTable } from '../../../../lib/models/estimate/index.ts';
import { PLANS } from '../../../../lib/models/estimate/training/optimizers.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { estimatePage, tablePage } from '../../../../lib/show/render/text/estimate.ts';
import type { EstimateOptions, EstimateReport } from '../../../../lib/types/index.ts';
import { ROOT } from '../../../support/root.ts';
import { parseDocument } from '../../../support/schemas.ts';

const QWEN3_06B = {
  model_type: 'qwen3',
  num_hidden_layers: 28,
  hidden_size: 1024,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 3072,
  vocab_size: 151_936,
  tie_word_embeddings: true,
};
const options = { width: 80, paint: createPaint(0), unicode: true, exact: false, hostName: 'test', cut: 80 };
const gigabytes = (bytes: number) => bytes / 1e9;

describe('the tables of the lab', () => {
  it('model size by precision, in GB', async () => {
    const { columns, rows } = await estimateTable();
    expect(columns).toEqual(['fp32', 'fp16', 'int8', 'int4']);
    expect(rows.map(({ bytes, name }) => [name, ...bytes.map(gigabytes)])).toEqual([
      ['7B', 28, 14, 7, 3.5],
      ['13B', 52, 26, 13, 6.5],
      ['70B', 280, 140, 70, 35],
    ]);
  });

  it.each([
    ['fp16', 140],
    ['int8', 70],
    ['int4', 35],
    ['fp32', 280],
    ['nvfp4', 39.375], // 0.5625 bytes with the scales
    ['mxfp4', 37.1875], // 0.53125
    ['nf4', 39.375],
    ['q4_k_m', 42.826],
    ['iq3_k', 30.078125],
  ])('70 billion parameters in %s are %d GB', async (dtype, expected) => {
    const { terms } = await estimate({ params: 70e9, dtype });
    expect(terms[0]).toMatchObject({ name: 'weights', bytes: expected * 1e9 });
  });

  it('a number of parameters has the cache and the buffers of a typical model, whose range holds those of real ones', async () => {
    const context = 32_768;
    for (const [parameters, layers, kvHeads] of [
      [8.03e9, 32, 8], // Llama 3.1 8B
      [70.6e9, 80, 8],
      [6.74e9, 32, 32], // Llama 2 7B: as many heads of keys as of queries
      [0.6e9, 28, 8], // Qwen3 0.6B
    ] as const) {
      const { kvBytesPerToken, terms, total } = await estimate({ params: parameters }, { context, program: 'vllm' });
      const cache = terms.find(({ name }) => name === 'kv-cache') ?? { low: 0, high: 0 };
      const real = layers * kvHeads * 128 * 4 * context;
      expect(cache.low).toBeLessThan(real);
      expect(cache.high).toBeGreaterThanOrEqual(real * 0.99);
      expect(terms.map(({ name }) => name)).toEqual(['weights', 'kv-cache', 'activations', 'cuda-graphs', 'runtime']);
      expect(total.bytes).toBeGreaterThan(parameters * 2);
      expect(kvBytesPerToken).toBeGreaterThan(0);
    }
  });

  it('of a model has its own parameters', async () => {
    const { rows } = await estimateTable(join(ROOT, 'test/support/models/sharded'));
    expect(rows).toEqual([{ name: 'sharded', parameters: 24_672, bytes: [98_688, 49_344, 24_672, 12_336] }]);
  });

  it('is a page and a document', async () => {
    const table = await estimateTable();
    expect(tablePage(table, options).join('\n')).toMatch(/7B +28 +26\.08 +14 +13\.04 +7 +6\.52 +3\.5 +3\.26/);
    expect(parseDocument(JSON.stringify(table))).toEqual(table);
  });
});

describe('the rough formulas, on the examples of the method', () => {
  const rough = async (given: EstimateOptions) => {
    const report = await estimate({ params: 0.6e9, hidden: 1024 }, { method: 'rough', context: 1024, ...given });
    return gigabytes(report.total.bytes);
  };

  it.each([2, 4, 8, 16])('SFT with a batch of %d: 6 × 0.6 + batch × 1024 × 1024 × 4 / 1e9', async (batch) => {
    expect(await rough({ use: 'sft', batch })).toBeCloseTo(3.6 + (batch * 1024 * 1024 * 4) / 1e9, 8);
  });

  it('DPO is 1.8 times as much, GRPO adds the share of 119 GB', async () => {
    const sft = await rough({ use: 'sft', batch: 4 });
    expect(await rough({ use: 'dpo', batch: 4 })).toBeCloseTo(1.8 * sft, 8);
    expect(await rough({ use: 'grpo', batch: 4, rolloutUtilization: 0.5 })).toBeCloseTo(sft + 59.5, 8);
  });

  it('take the hidden size of a config', async () => {
    const report = await estimate({ config: QWEN3_06B }, { use: 'sft', method: 'rough', batch: 2, context: 1024 });
    expect(gigabytes(report.total.bytes)).toBeCloseTo(6 * 0.596 + (2 * 1024 * 1024 * 4) / 1e9, 3);
  });

  it('say what is missing', async () => {
    await expect(estimate({ params: 1e9 }, { use: 'sft', method: 'rough' })).rejects.toThrow('needs the hidden size');
    await expect(estimate({ params: 1e9, hidden: 64 }, { use: 'lora', method: 'rough' })).rejects.toThrow(
      'There is no rough formula for lora',
    );
  });
});

describe('a model whose config says FP32', () => {
  const ask = (program: 'vllm' | 'sglang' | 'torch', more = {}) =>
    estimate({ config: { ...QWEN3_06B, torch_dtype: 'float32', ...more } }, { program, context: 1024 });
  const weightsOf = async (report: ReturnType<typeof ask>) =>
    (await report).terms.find(({ name }) => name === 'weights')?.bytes ?? 0;

  it('is loaded in 16 bits by vLLM and SGLang, cache and all, and says so', async () => {
    const plain = await estimate({ config: QWEN3_06B }, { program: 'vllm', context: 1024 });
    for (const program of ['vllm', 'sglang'] as const) {
      expect(await weightsOf(ask(program))).toBe(plain.terms.find(({ name }) => name === 'weights')?.bytes);
      expect((await ask(program)).kvBytesPerToken).toBe(plain.kvBytesPerToken);
      expect((await ask(program)).notes.join()).toContain('loaded in 16 bits');
    }
    expect(await weightsOf(ask('torch'))).toBe(2 * (await weightsOf(ask('vllm'))));
  });
});

describe('training on a Spark', () => {
  // Measured peaks of the whole machine, GB: Qwen3-0.6B, sequences of 1024, FP32 weights (open-instruct).
  it.each([
    ['sft', 2, 21.1],
    ['sft', 4, 29.0],
    ['sft', 8, 46.8],
    ['sft', 16, 80.9],
    ['dpo', 2, 23.8],
    ['dpo', 8, 62.2],
  ] as const)('%s with a batch of %d took %d GB, within the range', async (use, batch, measured) => {
    const given = { use, batch, context: 1024, mixedPrecision: true, checkpointing: false };
    const { total } = await estimate({ config: QWEN3_06B }, given);
    expect(gigabytes(total.low)).toBeLessThan(measured);
    expect(gigabytes(total.high)).toBeGreaterThan(measured);
  });

  it('dpo with a batch of 4 took 27.2 GB, which does not lie between those of 2 and 8: less than the range', async () => {
    const given = { use: 'dpo', batch: 4, context: 1024, mixedPrecision: true, checkpointing: false } as const;
    expect(gigabytes((await estimate({ config: QWEN3_06B }, given)).total.low)).toBeGreaterThan(27.2);
  });
});

describe('a training', () => {
  const ask = (given: EstimateOptions, config = QWEN3_06B) => estimate({ config }, { context: 1024, ...given });
  const bytesOf = ({ terms }: EstimateReport) => new Map(terms.map(({ bytes, name }) => [name, bytes]));

  // PyTorch keeps moments in the type of the weights, bitsandbytes in FP32, or in bytes with an FP32 scale for 256 of
  // them; torchao has a scale for 128. Adafactor has an FP32 row and column of a matrix of 1024 × 1024.
  it.each([
    ['adamw', 2 * 2],
    ['adamw-fused', 2 * 2],
    ['adamw-single', 2 * 2],
    ['paged-adamw', 2 * 4],
    ['adamw-8bit', 2 * (1 + 4 / 256)],
    ['paged-adamw-8bit', 2 * (1 + 4 / 256)],
    ['adamw-4bit', 2 * (0.5 + 4 / 128)],
    ['adafactor', (2 * 4) / 1024],
    ['lion', 2],
    ['sgd', 0],
  ] as const)('with %s keeps %d bytes for each weight of 16 bits', (optimizer, expected) => {
    const sizes = PLANS[optimizer].state(1024 * 1024, 2);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0) / 1024 ** 2).toBe(expected);
  });

  it.each([
    ['sft', 0],
    ['dpo', 1],
    ['grpo', 1],
    ['lora-dpo', 0], // without its adapters the model is the one to compare with
  ] as const)('%s has %d copies of the weights to compare with', async (use, copies) => {
    const bytes = bytesOf(await ask({ use }));
    expect(bytes.get('reference-model') ?? 0).toBe(copies * (bytes.get('weights') ?? -1));
  });

  it('grpo has an engine with a cache for each answer', async () => {
    for (const batch of [1, 4]) {
      const { terms } = await ask({ use: 'grpo', batch });
      const engine = terms.find(({ name }) => name === 'rollout-engine');
      expect(engine?.inputs.cache).toBe(batch * 1024 * 28 * 8 * 128 * 4);
    }
  });

  it.each([
    ['its weights in 16 bits', 2 * 0.596, { use: 'sft' }, {}],
    ['its weights in FP32', 4 * 0.596, { use: 'sft', mixedPrecision: true }, {}],
    ['adapters in FP32', (4 * 28 * 16 * (2 * 3072 + 2 * 2048 + 3 * 4096)) / 1e9, { use: 'lora' }, {}],
    [
      'a shard, where there are several',
      50,
      { use: 'sft' },
      { num_hidden_layers: 80, hidden_size: 8192, num_attention_heads: 64, intermediate_size: 28_672 },
    ],
  ] as const)('writes a checkpoint from a copy of %s: %d GB beside the total', async (_, expected, given, more) => {
    const { loading, total } = await ask(given, { ...QWEN3_06B, ...more });
    const copy = loading.terms.find(({ name }) => name === 'checkpoint-copy')?.bytes ?? 0;
    expect(gigabytes(copy)).toBeCloseTo(expected, 3);
    expect(loading.peak.bytes).toBe(total.bytes + copy);
  });

  it.each([
    ['parameters', 'weights', 2],
    ['activations', 'activations', 2],
    ['optimizer', 'optimizer', 0],
  ] as const)(
    'that offloads its %s has all %s on the host, and those of %d layers on the GPU',
    async (part, name, layers) => {
      const given = { use: 'sft', batch: 8 } as const; // with less the most is allocated in the optimizer's step
      const whole = bytesOf(await ask(given)).get(name) ?? 0;
      const bytes = bytesOf(await ask({ ...given, offload: [part] }));
      expect(bytes.get(`offloaded-${part}`)).toBe(whole);
      expect(bytes.get(name) ?? 0).toBe(Math.round(whole * (layers / 28)));
    },
  );
});

describe('an estimate', () => {
  const uses = ['inference', 'sft', 'lora', 'qlora', 'dpo', 'lora-dpo', 'grpo'] as const;
  const programs = [undefined, 'vllm', 'sglang', 'llama.cpp', 'ollama', 'torch', 'accelerate'] as const;
  const all = uses.flatMap((use) =>
    programs.map((program) => ({ use, ...(program === undefined ? {} : { program }) })),
  );

  it.each(all)('%j is a valid document whose terms add up, low ≤ bytes ≤ high', async (given) => {
    const report = await estimate(join(ROOT, 'test/support/models/sharded'), given);
    parseDocument(JSON.stringify(report));
    for (const key of ['bytes', 'low', 'high'] as const)
      expect(report.total[key]).toBe(report.terms.reduce((sum, term) => sum + term[key], 0));
    for (const { bytes, high, low } of [...report.terms, report.total, report.loading.peak]) {
      expect(low).toBeLessThanOrEqual(bytes);
      expect(bytes).toBeLessThanOrEqual(high);
    }
    expect(estimatePage(report, true, options).every((line) => line.length <= 80)).toBe(true);
  });

  it('grows with the context by the bytes per token', async () => {
    const at = async (context: number) =>
      (await estimate({ config: QWEN3_06B }, { context, program: 'torch' })).terms.find(
        ({ name }) => name === 'kv-cache',
      );
    const [short, long] = [await at(1000), await at(3000)];
    expect(((long?.bytes ?? 0) - (short?.bytes ?? 0)) / 2000).toBe(28 * 8 * 128 * 4);
  });

  it('counts one cache of 65,536 tokens for four slots of 16,384 in llama.cpp', async () => {
    const cache = async (kvUnified: boolean) =>
      (
        await estimate({ config: QWEN3_06B }, { program: 'llama.cpp', context: 16_384, sequences: 4, kvUnified })
      ).terms.find(({ name }) => name === 'kv-cache')?.bytes;
    expect(await cache(true)).toBe(28 * 8 * 128 * 4 * 65_536);
    expect(await cache(false)).toBe(28 * 8 * 128 * 4 * 65_536);
  });

  it('says when the context is longer than the model was made for', async () => {
    const { notes } = await estimate(join(ROOT, 'test/support/models/sharded'), { context: 100_000 });
    expect(notes).toContain('The context of 100,000 tokens is longer than the 512 that the model was made for.');
  });

  it('of a config without a vocabulary says that its weights are not known', async () => {
    const { notes, terms } = await estimate({ config: { num_hidden_layers: 2, hidden_size: 64 } });
    expect(terms.some(({ name }) => name === 'weights')).toBe(false);
    expect(notes.join()).toContain('The weights are not known');
  });

  it('takes the weights that the caller knows', async () => {
    const { terms } = await estimate({ config: QWEN3_06B, weightBytes: 12_345 });
    expect(terms[0]).toMatchObject({ name: 'weights', bytes: 12_345 });
  });
});

describe('devices that share a model', () => {
  it('have a share of the tensors of real files, too', async () => {
    const folder = join(ROOT, 'test/support/models/sharded');
    const weights = async (tensorParallel: number) =>
      (await estimate(folder, { program: 'vllm', tensorParallel })).terms[0] ?? { bytes: 0, low: 0, high: 0 };
    const [one, two] = [await weights(1), await weights(2)];
    expect(two.bytes).toBe(Math.round(one.bytes / 2));
    expect(two.high).toBeGreaterThan(two.bytes);
    expect(two.high).toBeLessThan(one.bytes);
  });
});

describe('a model that uses its embedding as its output layer', () => {
  it('has it twice in llama.cpp, also where only the config is known', async () => {
    const copy = async (program: 'llama.cpp' | 'vllm') =>
      (await estimate({ config: QWEN3_06B }, { program })).terms.find(({ name }) => name === 'output-copy')?.bytes;
    expect(await copy('llama.cpp')).toBe(151_936 * 1024 * 2);
    expect(await copy('vllm')).toBeUndefined();
    const untied = { ...QWEN3_06B, tie_word_embeddings: false };
    const { terms } = await estimate({ config: untied }, { program: 'llama.cpp' });
    expect(terms.some(({ name }) => name === 'output-copy')).toBe(false);
  });
});

describe('a long context', () => {
  it('of a small model takes no logits of every token, which no program makes', async () => {
    const { total } = await estimate({ config: QWEN3_06B }, { context: 131_072 });
    expect(total.high).toBeLessThan(40 * 2 ** 30);
  });
});

describe('a step of a server', () => {
  it('has 8,192 tokens unless the caller says', async () => {
    const tokens = async (use: EstimateOptions) =>
      (await estimate({ config: QWEN3_06B }, use)).terms.find(({ name }) => name === 'activations')?.inputs.tokens;
    expect(await tokens({ program: 'vllm' })).toBe(8192);
    expect(await tokens({ program: 'vllm', batchTokens: 2048 })).toBe(2048);
  });
});
