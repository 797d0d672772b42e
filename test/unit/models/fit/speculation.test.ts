/** Speculation by layers that the model does not have: the program refuses it, and no flag stands beside the refusal. */
import { describe, expect, it } from 'vitest';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import type { FitProgram } from '../../../../lib/types/index.ts';
import { QWEN3_8B } from '../../../support/qwen.ts';
import { snapshotOf } from '../../../support/snapshots.ts';

function ask(program: FitProgram, more: Record<string, unknown> = {}) {
  return fitInto({ model: { config: { ...QWEN3_8B, ...more } }, use: { mtp: true }, snapshot: snapshotOf(), program });
}

describe('speculation by layers of the model', () => {
  it.each(['vllm', 'sglang', 'llama.cpp'] as const)('%s refuses a model that has none', async (program) => {
    const report = await ask(program);
    expect([report.verdict, report.expectedFits, report.programs[0]?.flags]).toEqual(['no', false, null]);
    expect(report.summary).toContain('refuses to start: the model has no layers that predict further tokens');
  });

  it('starts with them, and where nobody knows whether there are any', async () => {
    const own = await ask('vllm', { num_nextn_predict_layers: 1 });
    expect([own.verdict, own.programs[0]?.flags]).toEqual(['fits', expect.stringContaining('mtp')]);
    // vLLM takes one of them where the config of Qwen3-Next does not say.
    const next = { full_attention_interval: 4, linear_num_value_heads: 32, linear_num_key_heads: 16 };
    const heads = { linear_key_head_dim: 128, linear_value_head_dim: 128 };
    expect((await ask('vllm', { model_type: 'qwen3_next', ...next, ...heads })).verdict).toBe('fits');
    const unknown = { total: { bytes: 1, low: 1, high: 1 }, terms: [{ name: 'weights', bytes: 1, low: 1, high: 1 }] };
    expect((await fitInto({ estimate: unknown, snapshot: snapshotOf(), program: 'vllm' })).verdict).not.toBe('no');
  });
});
