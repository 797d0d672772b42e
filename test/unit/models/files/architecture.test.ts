/**
 * What published models keep per token. The configs are the fields of published config.json files; the expected numbers
 * are written out from the papers and model cards, not computed by the code under test.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cacheOf } from '../../../../lib/models/estimate/cache.ts';
import { architectureOfGguf } from '../../../../lib/models/files/architecture-gguf.ts';
import type { JsonObject } from '../../../../lib/models/files/model-file.ts';
import { quantizationOf } from '../../../../lib/models/files/quantization.ts';
import { readConfig } from '../../../../lib/models/files/read-config.ts';
import { modelWith, useOf } from '../../../support/estimates.ts';
import { ROOT } from '../../../support/root.ts';

const CONFIGS = JSON.parse(readFileSync(join(ROOT, 'test/support/models/configs.json'), 'utf8')) as Record<
  string,
  JsonObject
>;

const PUBLISHED_SUPER = JSON.parse(readFileSync(join(ROOT, 'test/support/models/published.json'), 'utf8'))[
  'Nemotron-3-Super-120B-A12B'
].config as JsonObject;

function cacheOfConfig(name: string, options: Parameters<typeof useOf>[0] = {}) {
  const config = CONFIGS[name] ?? {};
  const model = modelWith(readConfig(config, name).architecture, quantizationOf(config, null));
  return cacheOf(model, useOf(options));
}

/** Bytes per token in BF16 (FP8 where the checkpoint asks for it) of all layers that keep every token. */
const PER_TOKEN: [name: string, bytes: number][] = [
  ['Llama 3.1 8B', 32 * 8 * 128 * 4],
  ['Llama 3.1 405B', 126 * 8 * 128 * 4],
  ['Qwen2.5 1.5B', 28 * 2 * 128 * 4],
  ['Qwen3 0.6B', 28 * 8 * 128 * 4],
  ['Qwen3 8B', 147_456], // vLLM's log says so
  ['Qwen3 235B-A22B', 94 * 4 * 128 * 4],
  ['Qwen3-VL 8B', 36 * 8 * 128 * 4],
  ['Qwen3.5 27B', 16 * 4 * 256 * 4],
  ['Qwen3.5 35B-A3B', 10 * 2 * 256 * 4],
  ['Qwen3.5 122B-A10B', 12 * 2 * 256 * 4],
  ['Qwen3.5 397B-A17B', 15 * 2 * 256 * 4],
  ['Mixtral 8x7B', 32 * 8 * 128 * 4],
  ['DeepSeek V3', 61 * (512 + 64) * 2],
  ['DeepSeek V3.2', 61 * ((512 + 64) * 2 + 128 + 4)],
  ['Kimi K2', 61 * (512 + 64) * 2],
  ['Kimi K3', 24 * (512 + 64) * 2],
  ['GLM 5.2 FP8', 78 * (512 + 64) * 2 + 21 * (128 + 4)],
  ['GLM 4.5 Air', 46 * 8 * 128 * 4],
  ['gpt-oss 20B', 12 * 8 * 64 * 4],
  ['gpt-oss 120B', 18 * 8 * 64 * 4],
  ['Llama 4 Scout', 12 * 8 * 128 * 4],
  ['MiniMax M2.5', 62 * 8 * 128 * 4],
  ['MiMo V2 Flash', 9 * 4 * (192 + 128) * 2],
  ['Gemma 2 9B', 21 * 8 * 256 * 4],
  ['Gemma 3 27B', 10 * 16 * 128 * 4],
  ['Gemma 3n E2B', 4 * 2 * 256 * 4], // of 30 layers 20 keep anything, of these every fifth all of it
  ['Gemma 4 26B-A4B', 5 * 2 * 512 * 4],
  ['Gemma 4 31B NVFP4', 10 * 4 * 512 * 2],
  ['Phi 3 mini', 0], // all layers have a window
  ['Command R7B', 8 * 8 * 128 * 4],
  ['Step 3.7 Flash', 12 * 8 * 128 * 4],
  ['Nemotron 3 Nano 30B-A3B', 6 * 2 * 128 * 4],
  ['Nemotron-H 56B', 10 * 8 * 128 * 4],
  ['Nemotron Super 49B', 49 * 8 * 128 * 4],
  ['Jamba 1.5 Mini', 4 * 8 * 128 * 4],
  ['Falcon-H1 7B', 44 * 2 * 128 * 4],
  ['Granite 4.0 H Small', 4 * 8 * 128 * 4],
];

describe('KV cache per token', () => {
  it('is known for more than twenty architectures', () =>
    expect(new Set(PER_TOKEN.map(([name]) => CONFIGS[name]?.model_type)).size).toBeGreaterThan(20));

  it.each(PER_TOKEN)('of %s is %d bytes', (name, bytes) => {
    expect(cacheOfConfig(name).bytesPerToken).toBe(bytes);
  });
});

describe('layers with a window', () => {
  it('keep the window and a batch, rounded up to 256 cells, in llama.cpp', () => {
    const [cache] = cacheOfConfig('Gemma 3 27B', { program: 'llama.cpp', context: 131_072 }).terms;
    expect(cache?.bytes).toBe(16 * 128 * 4 * (10 * 131_072 + 52 * 1536));
  });

  it('keep every token with --swa-full', () => {
    const [cache] = cacheOfConfig('Gemma 3 27B', { program: 'llama.cpp', context: 131_072, swaFull: true }).terms;
    expect(cache?.bytes).toBe(66_571_993_088); // an ik_llama.cpp log: 63488 MiB
  });

  it('keep the window and the tokens of a step in vLLM, in blocks of 16', () => {
    const [cache] = cacheOfConfig('gpt-oss 20B', { program: 'vllm', context: 131_072, batchTokens: 8192 }).terms;
    expect(cache?.bytes).toBe(8 * 64 * 4 * (12 * 131_072 + 12 * (Math.ceil((127 + 8192) / 16) * 16 + 16)));
  });

  it('have a range up to the whole context where no program is named', () => {
    const [cache] = cacheOfConfig('Command R7B', { context: 31_000 }).terms;
    expect([cache?.low, cache?.high]).toEqual([8 * 128 * 4 * (8 * 31_000 + 24 * 4096), 8 * 128 * 4 * 32 * 31_000]);
  });
});

describe('states of recurrent layers', () => {
  // Published llama.cpp logs, "recurrent state" in bytes.
  it.each([
    ['Qwen3.5 27B', 48 * (48 * 128 * 128 * 4 + 3 * (2 * 16 * 128 + 48 * 128) * 4)],
    ['Qwen3.5 397B-A17B', 195_379_200],
    ['Nemotron 3 Nano 30B-A3B', 23 * (64 * 64 * 128 + 3 * (64 * 64 + 2 * 8 * 128)) * 4],
    ['Jamba 1.5 Mini', 28 * (8192 * 16 + 3 * 8192) * 4],
    ['Falcon-H1 7B', 44 * (3072 * 256 + 3 * (3072 + 2 * 256)) * 4],
  ])('of %s are %d bytes in llama.cpp', (name, bytes) => {
    const state = cacheOfConfig(name, { program: 'llama.cpp' }).terms.find((term) => term.name === 'recurrent-state');
    expect(state?.bytes).toBe(bytes);
  });

  it('take whole pages in vLLM, whose blocks grow to hold them', () => {
    // A published start-up log of Qwen3.6-35B-A3B: attention block 1056, 18.44 requests of 131,072 tokens in 47.55 GiB.
    const { terms } = cacheOfConfig('Qwen3.5 35B-A3B', { program: 'vllm', context: 131_072 });
    expect(terms[0]?.inputs.block).toBe(1056);
    const request = terms.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(51_056_423_731 / request).toBeCloseTo(18.44, 2);
  });
});

describe('latent attention', () => {
  it('can be switched off, which costs many times as much', () => {
    expect(cacheOfConfig('DeepSeek V3', { mla: false }).bytesPerToken).toBe(61 * 128 * (192 + 128) * 2);
  });
});

describe('a config', () => {
  it.each([
    [{ num_hidden_layers: -1, hidden_size: 4096 }, 'num_hidden_layers is -1; expected a whole number from 1 to 2^31'],
    [{ num_hidden_layers: 1e6, hidden_size: 4096 }, 'it has 1,000,000 layers; expected at most 10,000'],
    [{ num_hidden_layers: 2, hidden_size: 1e300 }, 'hidden_size is 1e+300; expected'],
    [{ num_hidden_layers: 2, hidden_size: 64, num_key_value_heads: 1.5 }, 'num_key_value_heads is 1.5; expected'],
    [{ hidden_size: 64 }, 'it has no num_hidden_layers'],
    [{ num_hidden_layers: 2, hidden_size: {} }, 'hidden_size is {}; expected'],
  ])('%j is refused', (config, message) => {
    expect(() => readConfig(config, 'config.json').architecture).toThrow(message);
  });
});

describe('a GGUF header', () => {
  const architecture = (name: string, keys: Record<string, unknown>) => {
    const entries = Object.entries(keys).map(([key, value]) => [`${name}.${key}`, value] as const);
    const metadata = new Map([['general.architecture', name], ...entries]) as never;
    return architectureOfGguf({ metadata, arrayLengths: new Map() }, `${name}.gguf`);
  };

  it('of Kimi Linear, whose layers without heads for keys have a state', () => {
    const found = architecture('kimi-linear', {
      block_count: 4,
      embedding_length: 2304,
      'attention.head_count': 32,
      'attention.head_count_kv': [0, 0, 0, 1],
      'attention.kv_lora_rank': 512,
      'kda.head_dim': 128,
      'ssm.conv_kernel': 4,
    });
    expect(found?.cache).toMatchObject([
      { kind: 'state', layers: 3, stateElements: 32 * 128 * 128, convElements: 3 * 3 * 32 * 128 },
      { kind: 'latent', layers: 1, rank: 512 },
    ]);
  });

  it('of RWKV, which has a state, and of the encoder of T5, which keeps nothing', () => {
    const rwkv = { block_count: 32, embedding_length: 2560, 'wkv.head_size': 64, token_shift_count: 2 };
    expect(architecture('rwkv7', rwkv)?.cache).toEqual([
      { kind: 'state', layers: 32, what: 'RWKV', stateElements: 2560 * 64, convElements: 2 * 2560 },
    ]);
    const t5 = { block_count: 24, embedding_length: 4096, 'attention.head_count': 64, 'attention.key_length': 64 };
    expect(architecture('t5encoder', t5)?.cache).toEqual([]);
  });

  it('of Llama, with a head size by division', () => {
    const found = architecture('llama', {
      block_count: 32,
      embedding_length: 4096,
      'attention.head_count': 32,
      'attention.head_count_kv': 8,
    });
    expect(found?.cache).toEqual([
      { kind: 'attention', layers: 32, kvHeads: 8, keyDim: 128, valueDim: 128, window: null, windowKind: null },
    ]);
  });

  it('of an encoder keeps nothing', () => {
    const keys = { block_count: 24, embedding_length: 1024, 'attention.head_count': 16, 'attention.causal': false };
    expect(architecture('bert', keys)?.cache).toEqual([]);
  });

  it('of gpt-oss has windows in every other layer, though it does not say so', () => {
    const found = architecture('gpt-oss', {
      block_count: 36,
      embedding_length: 2880,
      'attention.head_count': 64,
      'attention.head_count_kv': 8,
      'attention.key_length': 64,
      'attention.value_length': 64,
      'attention.sliding_window': 128,
    });
    expect(found?.cache.map(({ layers }) => layers)).toEqual([18, 18]);
  });

  it('of Qwen3.5 has attention in every fourth layer, and none of its layers for later tokens counts', () => {
    const found = architecture('qwen35', {
      block_count: 65,
      nextn_predict_layers: 1,
      embedding_length: 5120,
      full_attention_interval: 4,
      'attention.head_count': 24,
      'attention.head_count_kv': 4,
      'attention.key_length': 256,
      'attention.value_length': 256,
      'ssm.inner_size': 6144,
      'ssm.state_size': 128,
      'ssm.group_count': 16,
      'ssm.conv_kernel': 4,
    });
    const state = found?.cache.find(({ kind }) => kind === 'state');
    expect(found?.layers).toBe(64);
    expect(found?.cache.find(({ kind }) => kind === 'attention')?.layers).toBe(16);
    expect(state).toMatchObject({ layers: 48, stateElements: 6144 * 128, convElements: 3 * (6144 + 2 * 16 * 128) });
    expect(found?.mtpCache).toMatchObject({ kind: 'attention', layers: 1, kvHeads: 4 });
  });

  it('of DeepSeek tells whether its cache is compressed', () => {
    const shape = {
      block_count: 61,
      embedding_length: 7168,
      'attention.head_count': 128,
      'attention.kv_lora_rank': 512,
      'rope.dimension_count': 64,
    };
    const older = architecture('deepseek2', {
      ...shape,
      'attention.head_count_kv': 128,
      'attention.key_length': 192,
      'attention.value_length': 128,
    });
    const newer = architecture('deepseek2', {
      ...shape,
      'attention.head_count_kv': 1,
      'attention.key_length': 576,
      'attention.key_length_mla': 192,
      'attention.value_length_mla': 128,
    });
    expect(older?.cache[0]).toMatchObject({ kind: 'latent', rank: 512, expandedByDefault: true });
    expect(newer?.cache[0]).toMatchObject({
      kind: 'latent',
      rank: 512,
      expandedByDefault: false,
      expanded: { kvHeads: 128, keyDim: 192, valueDim: 128 },
    });
  });

  it('takes heads by layer (searched architectures), and layers without any', () => {
    const found = architecture('deci', {
      block_count: 3,
      embedding_length: 1024,
      'attention.head_count': [8, 0, 8],
      'attention.head_count_kv': [2, 0, 4],
    });
    expect(found?.cache).toMatchObject([
      { layers: 1, kvHeads: 2 },
      { layers: 1, kvHeads: 4 },
    ]);
  });

  it.each([
    [{ block_count: -5 }, 'llama.block_count is -5; expected'],
    [{ block_count: 2 ** 40 }, 'llama.block_count is 1099511627776; expected'],
    [{ block_count: 20_000 }, 'it has 20,000 layers; expected at most 10,000'],
  ])('%j is refused', (keys, message) => {
    expect(() => architecture('llama', keys)).toThrow(message);
  });
});

describe('in vLLM', () => {
  const vllm = { program: 'vllm', context: 16_384 } as const;
  const bytesOfTerm = (name: string, options: Parameters<typeof useOf>[0], term: string) =>
    cacheOfConfig(name, options).terms.find((entry) => entry.name === term)?.bytes ?? 0;

  it('DeepSeek V4 keeps the tokens of a step besides its window of 128', () => {
    const step = bytesOfTerm('DeepSeek V4 Flash', { ...vllm, batchTokens: 8192 }, 'kv-cache');
    const short = bytesOfTerm('DeepSeek V4 Flash', { ...vllm, batchTokens: 2048 }, 'kv-cache');
    expect(step - short).toBe(43 * 6144 * 512 * 2);
  });

  it('the layers of Nemotron 3 for further tokens have pages of the same size, and states for each drafted token', () => {
    const config = PUBLISHED_SUPER;
    const model = modelWith(readConfig(config, '').architecture, null);
    const of = (mtp: boolean, name: string) =>
      cacheOf(model, useOf({ ...vllm, mtp })).terms.find((entry) => entry.name === name)?.bytes ?? 0;
    const layers = model.architecture?.cache.find(({ kind }) => kind === 'attention')?.layers ?? 0;
    expect(of(true, 'kv-cache') / of(false, 'kv-cache')).toBeCloseTo((layers + 1) / layers, 5);
    expect(of(true, 'recurrent-state')).toBe(2 * of(false, 'recurrent-state'));
  });
});

describe('models of other kinds', () => {
  const FIELDS = JSON.parse(readFileSync(join(ROOT, 'test/support/models/fields.json'), 'utf8')) as Record<
    string,
    { config: JsonObject }
  >;
  const kept = (name: string) => readConfig(FIELDS[name]?.config ?? {}, name).architecture.cache;

  it('RecurrentGemma has a window in each layer with attention', () => {
    expect(kept('recurrentgemma-2b')).toEqual([
      { kind: 'state', layers: 18, what: 'short convolution', stateElements: 2560, convElements: 3 * 2560 },
      expect.objectContaining({ kind: 'attention', layers: 8, kvHeads: 1, keyDim: 256, window: 2048 }),
    ]);
  });

  it('Phi-4-mini-flash keeps every token in one layer of 32', () => {
    expect(kept('Phi-4-mini-flash').map(({ kind, layers }) => [kind, layers])).toEqual([
      ['state', 9],
      ['attention', 8],
      ['attention', 1],
    ]);
    const [, sliding, full] = kept('Phi-4-mini-flash');
    expect(sliding).toMatchObject({ window: 512, kvHeads: 20, keyDim: 64 });
    expect(full).toMatchObject({ window: null });
  });

  it('xLSTM has a matrix, a vector and a number for each head', () => {
    // 8 heads of 256 × 512, in each of 32 layers.
    expect(kept('transformers xlstm')).toEqual([
      { kind: 'state', layers: 32, what: 'mLSTM', stateElements: 8 * 256 * 512 + 8 * 256 + 8, convElements: 0 },
    ]);
  });

  it('Gemma 4 has heads of another size in its layers with full attention', () => {
    const [sliding, full] = kept('transformers gemma4');
    expect(sliding).toMatchObject({ layers: 25, keyDim: 256, window: 512 });
    expect(full).toMatchObject({ layers: 5, keyDim: 512, window: null });
  });

  it('DeepSeek V4 is the same in the config of transformers 5', () => {
    const layers = kept('transformers deepseek_v4');
    expect(layers.map(({ kind }) => kind)).toEqual(['compressed', 'compressed']);
    expect(layers.reduce((sum, group) => sum + group.layers, 0)).toBe(43);
  });

  it('a key of a GGUF file that may change its cache is named where no rule reads it', () => {
    const header = (more: [string, unknown][]) => ({
      metadata: new Map<string, never>([
        ['general.architecture', 'qwen3'],
        ['qwen3.block_count', 2],
        ['qwen3.embedding_length', 64],
        ['qwen3.attention.head_count', 4],
        ['qwen3.attention.head_count_kv', 2],
        ['qwen3.attention.layer_norm_rms_epsilon', 1e-6],
        ['qwen3.rope.freq_base', 1e6],
        ...more,
      ] as [string, never][]),
      arrayLengths: new Map<string, number>(),
    });
    expect(architectureOfGguf(header([]), 'm.gguf')?.unread).toEqual([]);
    const odd = header([
      ['qwen3.attention.compress_ratios', [0, 4]],
      ['qwen3.zeta_window', 7],
      ['qwen3.zeta_state_size', 0],
    ]);
    expect(architectureOfGguf(odd, 'm.gguf')?.unread).toEqual(['qwen3.attention.compress_ratios', 'qwen3.zeta_window']);
  });
});
