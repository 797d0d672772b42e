/** `--for llama.cpp`: the buffers that llama.cpp prints in published logs, from the config alone. */

import { describe, expect, it } from 'vitest';
import { estimate } from '../../../../lib/models/estimate/index.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import type { EstimateOptions } from '../../../../lib/types/index.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { MiB } from '../../../support/units.ts';

const QWEN3_CODER_30B = {
  model_type: 'qwen3_moe',
  num_hidden_layers: 48,
  hidden_size: 2048,
  num_attention_heads: 32,
  num_key_value_heads: 4,
  head_dim: 128,
  intermediate_size: 5472,
  moe_intermediate_size: 768,
  num_experts: 128,
  num_experts_per_tok: 8,
  vocab_size: 151_936,
  max_position_embeddings: 262_144,
};

const LLAMA3_70B = {
  model_type: 'llama',
  num_hidden_layers: 80,
  hidden_size: 8192,
  num_attention_heads: 64,
  num_key_value_heads: 8,
  intermediate_size: 28_672,
  vocab_size: 128_256,
  max_position_embeddings: 8192,
};

const QWEN3_32B = {
  model_type: 'qwen3',
  num_hidden_layers: 64,
  hidden_size: 5120,
  num_attention_heads: 64,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 25_600,
  vocab_size: 151_936,
  max_position_embeddings: 40_960,
};

describe('llama.cpp’s buffers', () => {
  // [log, config, options, "KV buffer size" and "compute buffer size" in MiB; null: not one GPU]
  it.each([
    ['Qwen3-Coder-30B-A3B, b7342, -c 65536', QWEN3_CODER_30B, { context: 65_536 }, 6144, 300.75],
    ['Llama-3-70B without flash attention', LLAMA3_70B, { context: 8192, flashAttention: false }, 2560, 1108.5],
    ['Qwen3-32B, 40K', QWEN3_32B, { context: 40_960 }, 10_240, null],
  ] as const)('%s', async (_, config, options: EstimateOptions, kv, compute) => {
    const program = 'llama.cpp';
    const estimated = await estimate({ config }, { ...options, program });
    const { programs } = await fitInto({ estimate: estimated, snapshot: snapshotOf(), program });
    const { kvCache = 0, compute: buffer = 0 } = programs[0]?.numbers ?? {};
    expect(kvCache / MiB).toBeCloseTo(kv, 2);
    if (compute !== null) expect(Math.abs(buffer / MiB / compute - 1)).toBeLessThan(0.02);
  });
});

describe('the step of a server', () => {
  const stepOf = async (program: 'vllm' | 'sglang', sequences: number): Promise<number> => {
    const { terms } = await estimate({ config: QWEN3_32B }, { program, sequences });
    return terms.find(({ name }) => name === 'activations')?.bytes ?? 0;
  };

  it('has the logits of as many sequences as it may serve, and of 256 at least', async () => {
    for (const program of ['vllm', 'sglang'] as const) {
      expect(await stepOf(program, 1)).toBe(await stepOf(program, 256));
      const more = (await stepOf(program, 1024)) - (await stepOf(program, 256));
      expect(more).toBe((1024 - 256) * QWEN3_32B.vocab_size * 4 * 4);
    }
  });

  it('is refused by vLLM where it has fewer tokens than sequences', async () => {
    const ask = (batchTokens: number) =>
      fitInto({
        model: { config: QWEN3_32B },
        use: { batchTokens, sequences: 16 },
        snapshot: snapshotOf(),
        program: 'vllm',
      });
    expect((await ask(16)).programs[0]?.flags).toContain('--max-num-batched-tokens 16');
    const { programs, summary, verdict } = await ask(15);
    expect([verdict, programs[0]?.flags]).toEqual(['no', null]);
    expect(summary).toContain('refuses to start: a step of 15 tokens is too short for 16 sequences');
  });
});
