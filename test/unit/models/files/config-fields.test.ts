/**
 * Every field of a config is read, or harmless with a reason, or makes the answer unknown with its name. The configs are
 * published ones, and those of the configuration classes of transformers 5.18 with the parameters of their models.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject } from '../../../../lib/base/objects.ts';
import { estimate } from '../../../../lib/models/estimate/index.ts';
import { harmless } from '../../../../lib/models/files/config-fields.ts';
import type { JsonObject } from '../../../../lib/models/files/model-file.ts';
import { readConfig } from '../../../../lib/models/files/read-config.ts';
import { totalParameters } from '../../../../lib/models/files/weights.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { QWEN3_8B } from '../../../support/qwen.ts';
import { ROOT } from '../../../support/root.ts';
import { snapshotOf } from '../../../support/snapshots.ts';

interface Row {
  config: JsonObject;
  parameters?: number;
  towers?: number;
}

const ROWS = Object.entries(
  JSON.parse(readFileSync(join(ROOT, 'test/support/models/fields.json'), 'utf8')) as Record<string, Row>,
);

/** What is not understood: of models that no rule describes, and of parts that no rule counts. */
const NOT_UNDERSTOOD: Record<string, RegExp> = {
  'transformers cohere2_vision': /^alignment_intermediate_size$/,
  'transformers gemma3n': /vision_config.*audio_config/,
  'transformers glm5_next': /model_type "glm5_next".*index_kpool/, // GLM-5.3-Flash
  'transformers qwen4_exp': /model_type "qwen4_exp".*ngram_vocab_size_base/,
  'transformers hy_v4': /model_type "hy_v4"/,
  'transformers axk2': /gated_norm_rank/,
  'transformers zaya': /cca_time0/,
  'transformers laguna': /num_attention_heads_per_layer/,
  'transformers inkling_mm_model': /model_type "inkling_mm_model"/,
  'transformers hrm_text': /H_cycles/,
};

const problemsOf = (config: JsonObject): string[] => {
  const { uncounted, unread } = readConfig(config, 'config.json');
  return [...unread, ...uncounted];
};
const UNDERSTOOD = ROWS.filter(([name]) => NOT_UNDERSTOOD[name] === undefined);

describe('fields of configs', () => {
  it('are those of more than forty architectures', () =>
    expect(new Set(UNDERSTOOD.map(([, { config }]) => config.model_type)).size).toBeGreaterThan(40));

  it.each(UNDERSTOOD)('%s: each is read or harmless', (_, { config }) => expect(problemsOf(config)).toEqual([]));

  it.each(Object.entries(NOT_UNDERSTOOD))('%s is unknown by name', (name, expected) =>
    expect(problemsOf(ROWS.find(([row]) => row === name)?.[1].config ?? {}).join(' ')).toMatch(expected),
  );

  it.each(UNDERSTOOD.filter(([, { parameters }]) => parameters !== undefined))(
    '%s: parameters within 1.5 %',
    (_, { config, parameters = 1, towers }) => {
      const { counts } = readConfig(config, 'config.json');
      if (counts === null) throw new Error('not counted');
      expect(Math.abs(totalParameters(counts) / parameters - 1)).toBeLessThan(0.015);
      if (towers === undefined) return;
      expect(towers / counts.vision).toBeLessThan(1.5);
      expect(towers / counts.vision).toBeGreaterThan(0.45);
    },
  );
});

it('the architectures stand in golden/architectures.md as they are (UPDATE_GOLDEN=1 writes it)', () => {
  const rows = ROWS.map(([name, { config, parameters }]) => {
    const { counts } = readConfig(config, 'config.json');
    const ours = counts === null ? null : totalParameters(counts);
    const billions = (count: number | null | undefined) => (count == null ? '–' : (count / 1e9).toFixed(3));
    const difference =
      ours === null || parameters === undefined
        ? '–'
        : `${(100 * (ours / parameters - 1)).toFixed(1).replace('-0.0', '0.0')} %`;
    const unknown = problemsOf(config);
    const named = unknown.slice(0, 3).join(', ') + (unknown.length > 3 ? ` and ${unknown.length - 3} more` : '');
    return `| ${name} | ${billions(ours)} | ${billions(parameters)} | ${difference} | ${unknown.length === 0 ? '' : `**unknown: ${named}**`} |`;
  });
  const head = '| config | billion parameters | published | difference | answer |\n|---|---|---|---|---|';
  const text = `# Architectures: parameters by their config, without towers\n\n${head}\n${rows.join('\n')}\n`;
  const golden = join(import.meta.dirname, 'golden/architectures.md');
  if (process.env.UPDATE_GOLDEN !== undefined) {
    mkdirSync(join(import.meta.dirname, 'golden'), { recursive: true });
    writeFileSync(golden, text);
  }
  expect(readFileSync(golden, 'utf8')).toBe(text);
});

/** Names of sizes, counts, lists and parts that no model has. */
const shapeLike = fc
  .tuple(
    fc.constantFrom('zeta', 'second', 'hyper', 'engram', 'memory', 'xtra', 'moe_second', 'mlp_second', 'wide'),
    fc.constantFrom(
      ...'size dim layers num_layers layer_types experts heads kv_heads ngram_vocab_size intermediate_size rank table_rows'.split(
        ' ',
      ),
      ...'vocab_size block_types layer_ids tower config towers state_size window window_pattern ratio'.split(' '),
    ),
  )
  .map((words) => words.join('_'));
const shapeLikeValue = fc.oneof(
  fc.integer({ min: 1, max: 1e6 }),
  fc.constant(true),
  fc.constant(2.5),
  fc.constantFrom('hyena', 'both'),
  fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 4 }),
  fc.record({ hidden_size: fc.integer({ min: 1, max: 9999 }) }),
);

/** Of published configs, beyond those of the classes of transformers; and a value of one of them that no rule is for. */
const PUBLISHED: [type: string, fields: JsonObject, odd: JsonObject][] = [
  ['qwen3_5_moe', { mamba_ssm_dtype: 'float32', output_gate_type: 'swish', mtp_use_dedicated_embeddings: false }, {}],
  [
    'lfm2',
    {
      layer_types: Array.from({ length: 32 }, (_, index) => (index % 3 === 0 ? 'full_attention' : 'conv')),
      block_dim: 2560,
      conv_dim: 2560,
      conv_dim_out: 2560,
      block_use_swiglu: true,
      use_pos_enc: true,
    },
    { block_dim: 64 },
  ],
  ['kimi_linear', { mla_use_nope: true, model_max_length: 1_048_576 }, {}],
  ['falcon_h1', { mamba_use_mlp: true, mlp_expansion_factor: 8 }, {}],
  ['granitemoehybrid', { normalization_function: 'rmsnorm' }, {}],
  ['mimo_v2_flash', { swa_num_attention_heads: 64 }, { swa_num_attention_heads: 96 }],
  [
    'cohere2',
    {
      layer_switch: 4,
      sliding_window_pattern: 4,
      order_of_interleaved_layers: 'local_attn_first',
      use_embedding_sharing: true,
      use_gated_activation: true,
      use_parallel_block: true,
    },
    {},
  ],
];

describe('fields of published configs', () => {
  const changed = (type: string, fields: JsonObject): JsonObject => {
    const config = ROWS.find(([name]) => name === `transformers ${type}`)?.[1].config ?? {};
    const inner = config.text_config;
    return isObject(inner) ? { ...config, text_config: { ...inner, ...fields } } : { ...config, ...fields };
  };

  it.each(PUBLISHED)('%s: each is read or harmless', (type, fields, odd) => {
    expect(problemsOf(changed(type, fields))).toEqual([]);
    expect(problemsOf(changed(type, odd))).toEqual(Object.keys(odd));
  });

  it('Cohere 2 without a list of its layers has a window in three of four', () => {
    const { layer_types: _, ...config } = changed('cohere2', PUBLISHED.at(-1)?.[1] ?? {});
    expect(problemsOf(config)).toEqual([]);
    expect(problemsOf({ ...config, order_of_interleaved_layers: 'global_attn_first' }).join()).toContain(
      'order_of_interleaved_layers "global_attn_first"',
    );
  });
});

describe('a field that nobody knows', () => {
  it('is named, wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...UNDERSTOOD),
        shapeLike,
        shapeLikeValue,
        fc.boolean(),
        ([, row], field, value, isInner) => {
          const { config } = row;
          const inner = isObject(config.text_config) ? config.text_config : null;
          const changed =
            isInner && inner !== null
              ? { ...config, text_config: { ...inner, [field]: value } }
              : { ...config, [field]: value };
          expect(problemsOf(changed)).toContain(isInner && inner !== null ? `text_config.${field}` : field);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('never leaves a yes, whatever program is asked', async () => {
    const small = { ...UNDERSTOOD.find(([name]) => name === 'Qwen3-8B')?.[1].config, zeta_layer_types: [1, 2] };
    for (const program of [undefined, 'vllm', 'sglang', 'llama.cpp', 'ollama', 'torch', 'accelerate'] as const) {
      const options = program === undefined ? {} : { program };
      const report = await fitInto({ model: { config: small }, snapshot: snapshotOf(), ...options });
      expect([report.verdict, report.expectedFits]).toEqual(['unknown', null]);
      expect(report.summary).toContain('zeta_layer_types');
      for (const { flags, verdict } of report.programs) expect([verdict, flags]).toEqual(['unknown', null]);
    }
    expect((await estimate({ config: small })).unread).toEqual(['zeta_layer_types']);
  });

  it('does not matter where it is switched off, or cannot change memory', () => {
    const [, { config }] = UNDERSTOOD[0] ?? ['', { config: {} }];
    const others = { zeta_layers: 0, zeta_config: {}, zeta_experts: [], zeta: null, use_zeta: false };
    const harmlessOnes = {
      zeta_dropout: 0.1,
      zeta_token_id: 7,
      zeta_rope_theta: 1e6,
      zeta_norm_eps: 1e-6,
      zeta_bias: true,
    };
    expect(problemsOf({ ...config, ...others, ...harmlessOnes })).toEqual([]);
  });

  it('is never one that counts something', () => {
    for (const name of [
      'num_zetas',
      'zeta_size',
      'zeta_dim',
      'zeta_layers',
      'n_zeta',
      'zeta_heads',
      'ple_layer_ids',
      'expert_ids',
      'width_scale',
      'zeta_config',
    ])
      expect(harmless(name, 2), name).toBeNull();
  });
});

describe('experts', () => {
  const experts = (model_type: string) =>
    readConfig({ ...QWEN3_8B, model_type, num_experts: 8, moe_intermediate_size: 768 }, 'x').unread;

  it('of a family that has none are not counted as if it had', () => {
    for (const type of ['llama', 'qwen3', 'gemma3_text', 'mistral', 'phi3'])
      expect(experts(type)).toContain(`experts of ${type} 8`);
    for (const type of ['qwen3_moe', 'mixtral', 'gpt_oss']) expect(experts(type).join()).not.toContain('experts');
  });
});

describe('values that nobody knows', () => {
  const LLAMA = UNDERSTOOD.find(([name]) => name === 'Llama-3.1-8B')?.[1].config ?? {};
  it.each<[string, JsonObject, string]>([
    ['a model type', { model_type: 'glm4_zeta' }, 'model_type "glm4_zeta"'],
    ['no model type', { model_type: undefined }, 'model_type null'],
    ['a kind of layer', { layer_types: Array(32).fill('psychic') }, 'layer_types "psychic"'],
    ['too few layers', { layer_types: ['full_attention'] }, 'layer_types "1 layers"'],
    ['heads that differ from layer to layer', { num_key_value_heads: [8, 4] }, 'num_key_value_heads [8,4]'],
    ['no heads', { num_attention_heads: undefined }, 'num_attention_heads'],
    ['the first layer by its number', { kv_source_layer_ids: [0] }, 'kv_source_layer_ids'],
    ['an encoder', { is_encoder_decoder: true }, 'is_encoder_decoder true'],
  ])('%s', (_, change, problem) => expect(problemsOf({ ...LLAMA, ...change })).toContain(problem));

  it.each(['bitnet', 'torchao', 'exl3', 'hqq', 'aqlm', 'quark', 'zeta'])('quantised by %s', async (method) => {
    const config = { ...LLAMA, quantization_config: { quant_method: method, bits: 4 } };
    expect((await estimate({ config })).unread).toEqual([`quantization "${method}"`]);
    // Files say what the weights take.
    expect((await estimate({ config, weightBytes: 5e9 })).unread).toEqual([]);
  });

  const group = (num_bits: number, more: JsonObject = {}): JsonObject => ({
    weights: { type: 'float', num_bits, ...more },
  });
  const compressed = (...groups: JsonObject[]): JsonObject => ({
    quant_method: 'compressed-tensors',
    config_groups: Object.fromEntries(groups.map((each, index) => [`group_${index}`, each])),
  });
  it.each([
    [
      'bitsandbytes of no bits',
      { quant_method: 'bitsandbytes', load_in_4bit: false, load_in_8bit: false },
      'bitsandbytes',
    ],
    [
      'GPTQ with other bits in some layers',
      { quant_method: 'gptq', bits: 4, group_size: 128, dynamic: { '-:.*attn.*': {} } },
      'gptq with dynamic',
    ],
    ['NVFP4 beside FP8', compressed(group(4, { group_size: 16 }), group(8)), 'compressed-tensors of several types'],
  ])('%s', async (_, quantization_config, method) => {
    expect((await estimate({ config: { ...LLAMA, quantization_config } })).unread).toEqual([
      `quantization "${method}"`,
    ]);
  });

  it('groups of one type are one quantisation', async () => {
    const config = { ...LLAMA, quantization_config: compressed(group(8), group(8)) };
    expect((await estimate({ config })).unread).toEqual([]);
  });
});
