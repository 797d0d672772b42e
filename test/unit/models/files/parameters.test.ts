/**
 * Parameters counted from a config.json, and the cache per token, against what model cards and papers say of models that
 * no rule was made for. Parameters are those of the language model, without vision and without layers for further tokens.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cacheOf } from '../../../../lib/models/estimate/cache.ts';
import type { JsonObject } from '../../../../lib/models/files/model-file.ts';
import { readConfig } from '../../../../lib/models/files/read-config.ts';
import { totalParameters } from '../../../../lib/models/files/weights.ts';
import { modelWith, useOf } from '../../../support/estimates.ts';
import { ROOT } from '../../../support/root.ts';

interface Published {
  billions: number;
  /** Bytes in 16 bits of all layers that keep every token; null: some layers have a window. */
  perToken: number | null;
  config: JsonObject;
}

const PUBLISHED = Object.entries(
  JSON.parse(readFileSync(join(ROOT, 'test/support/models/published.json'), 'utf8')) as Record<string, Published>,
);

const countsOf = (config: JsonObject) => {
  const { counts } = readConfig(config, 'config.json');
  return counts === null ? null : totalParameters(counts);
};

const perTokenOf = (config: JsonObject) =>
  cacheOf(modelWith(readConfig(config, 'config.json').architecture, null), useOf({})).bytesPerToken;

describe('published models', () => {
  it.each(PUBLISHED)('%s: parameters within 1 %', (_, { billions, config }) => {
    expect(Math.abs((countsOf(config) ?? 0) / (billions * 1e9) - 1)).toBeLessThan(0.01);
  });

  it.each(PUBLISHED.filter(([, { perToken }]) => perToken !== null))(
    '%s: cache per token',
    (_, { config, perToken }) => {
      expect(perTokenOf(config) ?? 0).toBe(perToken);
    },
  );
});

describe('other models', () => {
  it('Zamba2 keeps the tokens of its shared attention for each layer that uses it', () => {
    const hybrid = [6, 11, 17, 23, 29, 35, 41, 47, 53, 59, 65, 71, 77];
    const config = {
      model_type: 'zamba2',
      hidden_size: 3584,
      num_hidden_layers: 81,
      num_attention_heads: 32,
      num_key_value_heads: 32,
      attention_head_dim: 224,
      intermediate_size: 14336,
      mamba_d_state: 64,
      mamba_ngroups: 2,
      n_mamba_heads: 112,
      mamba_headdim: 64,
      num_mem_blocks: 2,
      adapter_rank: 128,
      layers_block_type: Array.from({ length: 81 }, (_, index) => (hybrid.includes(index) ? 'hybrid' : 'mamba')),
      vocab_size: 32000,
    };
    expect(perTokenOf(config)).toBe(13 * 2 * 32 * 224 * 2);
    expect(readConfig(config, '').architecture.cache.find(({ kind }) => kind === 'state')).toMatchObject({
      layers: 81,
      stateElements: 7168 * 64,
    });
    expect(Math.abs((countsOf(config) ?? 0) / 7.36e9 - 1)).toBeLessThan(0.015);
  });

  it('RWKV has a state and no cache', () => {
    const config = { model_type: 'rwkv7', hidden_size: 2560, num_hidden_layers: 32, head_dim: 64, vocab_size: 65536 };
    expect(readConfig(config, '').architecture.cache).toEqual([
      { kind: 'state', layers: 32, what: 'RWKV', stateElements: 40 * 64 * 64, convElements: 2 * 2560 },
    ]);
  });

  it('Whisper keeps the 1,500 positions of its encoder for each sequence, whatever the context', () => {
    const config = PUBLISHED.find(([name]) => name === 'whisper-large-v3')?.[1].config ?? {};
    const model = modelWith(readConfig(config, '').architecture, null);
    const bytes = (context: number, sequences: number) =>
      cacheOf(model, { ...useOf({ sequences }), context }).terms.find(({ name }) => name === 'kv-cache')?.bytes;
    const position = 32 * 1280 * 2 * 2;
    expect(bytes(448, 1)).toBe(position * (448 + 1500));
    expect(bytes(1, 3)).toBe(3 * position * (1 + 1500));
  });

  it('T5 keeps the input as well as the output', () => {
    const config = PUBLISHED.find(([name]) => name === 'flan-t5-xl')?.[1].config ?? {};
    const model = modelWith(readConfig(config, '').architecture, null);
    const [term] = cacheOf(model, { ...useOf({}), context: 512 }).terms;
    expect(term?.bytes).toBe(24 * 32 * 64 * 2 * 2 * (512 + 512));
    expect(model.architecture?.notes[0]).toContain('The input of the encoder is counted as long as the context');
  });

  it('MiniMax M3 keeps a small key of each token besides, in programs that use it', () => {
    const config = PUBLISHED.find(([name]) => name === 'MiniMax-M3')?.[1].config ?? {};
    const [term] = cacheOf(modelWith(readConfig(config, '').architecture, null), { ...useOf({}), context: 1000 }).terms;
    expect(term).toMatchObject({ bytes: 1000 * 137_472, low: 1000 * 122_880, high: 1000 * 137_472 });
  });

  it('names a type that it does not know', () => {
    const config = {
      model_type: 'nobody_knows',
      hidden_size: 4096,
      num_hidden_layers: 32,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      intermediate_size: 14336,
      vocab_size: 32000,
    };
    expect(readConfig(config, '').unread).toEqual(['model_type "nobody_knows"']);
    expect(readConfig({ ...config, ssm_state_size: 128 }, '').unread).toContain('ssm_state_size');
  });

  it('understands all published models here', () => {
    const unread = PUBLISHED.map(([name, { config }]) => [name, readConfig(config, '').unread] as const);
    expect(unread.filter(([, names]) => names.length > 0)).toEqual([]);
  });

  it('says so where it does not know the encoder of a model', () => {
    const config = {
      model_type: 'led',
      is_encoder_decoder: true,
      d_model: 768,
      num_hidden_layers: 6,
      num_attention_heads: 12,
      vocab_size: 50265,
    };
    expect(countsOf(config)).toBeNull();
    expect(readConfig(config, '').unread).toContain('is_encoder_decoder true');
  });

  it('an encoder keeps nothing, and of an encoder with a decoder the parameters are not guessed', () => {
    expect(
      perTokenOf({ model_type: 'bert', hidden_size: 1024, num_hidden_layers: 24, num_attention_heads: 16 }),
    ).toBeNull();
    expect(
      countsOf({
        model_type: 't5',
        d_model: 4096,
        num_layers: 24,
        num_heads: 64,
        vocab_size: 32128,
        is_encoder_decoder: true,
      }),
    ).toBeNull();
  });
});
