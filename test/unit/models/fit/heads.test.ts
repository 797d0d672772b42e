/** Tensor parallelism that does not divide the heads: the server's refusal, and no size, setting or flag beside it. */
import { describe, expect, it } from 'vitest';
import { openModel } from '../../../../lib/models/estimate/index.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { judge } from '../../../../lib/run/launch/judge.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';
import type { EstimateOptions, FitProgram } from '../../../../lib/types/index.ts';
import { QWEN3_8B } from '../../../support/qwen.ts';
import { snapshotOf } from '../../../support/snapshots.ts';

const machine = snapshotOf();

/** Heads, heads of keys and values, ranks. */
async function ask(
  heads: number,
  keyValue: number,
  ranks: number,
  program: FitProgram = 'vllm',
  more: EstimateOptions = {},
) {
  const config = { ...QWEN3_8B, num_attention_heads: heads, num_key_value_heads: keyValue };
  return fitInto({ model: { config }, use: { tensorParallel: ranks, ...more }, snapshot: machine, program });
}

describe('heads that cannot be divided among the ranks', () => {
  it.each(['vllm', 'sglang', 'trtllm'] as const)('%s refuses them', async (program) => {
    const report = await ask(32, 8, 3, program);
    expect([report.verdict, report.expectedFits, report.nearest]).toEqual(['no', false, null]);
    expect(report.summary).toContain('refuses to start: 32 attention heads cannot be divided among 3 ranks.');
    expect(report.notes.join()).not.toMatch(/would fit|MAX_JOBS/);
    expect(report.programs[0]?.flags).toBeNull();
    expect(report.programs[0]?.message ?? '').toBe(
      program === 'vllm' ? 'Total number of attention heads (32) must be divisible by tensor parallel size (3).' : '',
    );
  });

  it('heads of keys and values are divided, or each is on several ranks', async () => {
    expect((await ask(24, 8, 3)).summary).toContain('8 heads of keys and values cannot be divided among 3 ranks');
    expect((await ask(32, 2, 4)).verdict).toBe('fits');
    expect((await ask(32, 8, 2)).verdict).toBe('fits');
  });

  it('a stage of a pipeline has a layer', async () => {
    const stages = (pipelineParallel: number, program: FitProgram) => ask(32, 8, 1, program, { pipelineParallel });
    for (const program of ['vllm', 'sglang', 'trtllm'] as const)
      expect((await stages(37, program)).summary).toContain('36 layers cannot be divided among 37 stages');
    expect((await stages(36, 'vllm')).verdict).toBe('fits');
  });

  it('tokens are divided among the ranks of one head alone', async () => {
    const dcp = (ranks: number, decodeContextParallel: number) => ask(32, 8, ranks, 'vllm', { decodeContextParallel });
    expect((await dcp(8, 2)).summary).toContain(
      '8 heads of keys and values are each on 1 of 8 ranks, which 2 cannot share',
    );
    expect((await dcp(16, 4)).verdict).toBe('no');
    expect((await dcp(16, 2)).verdict).toBe('fits');
  });

  it('launch names no shorter context for them', async () => {
    const { command } = recognise(['vllm', 'serve', 'model', '-tp', '3'], {});
    const answer = await judge({ kind: 'model', model: await openModel({ config: QWEN3_8B }) }, command, machine);
    expect([answer.fit?.verdict, answer.flags]).toEqual(['no', null]);
  });
});
