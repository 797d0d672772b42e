/** The start of vLLM takes more for a while than serving does, and FITS means that the start fits, too. */
import { describe, expect, it } from 'vitest';
import { GiB } from '../../../../lib/base/format.ts';
import { estimate } from '../../../../lib/models/estimate/index.ts';
import { compileJobsFor, fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { GEMMA_4_26B } from '../../../support/gemma.ts';
import { snapshotOf } from '../../../support/snapshots.ts';

const QWEN = {
  model_type: 'qwen3',
  num_hidden_layers: 36,
  hidden_size: 4096,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 12_288,
  vocab_size: 151_936,
  tie_word_embeddings: false,
};
const machine = snapshotOf({});

describe('the start of vLLM', () => {
  it('with gemma-4-26B-A4B at a share of 0.70 does not fit: it passed its budget by 29 GiB and froze the Spark', async () => {
    const need = { model: { config: GEMMA_4_26B }, use: { context: 8192 } };
    const report = await fitInto({ ...need, snapshot: machine, program: 'vllm', utilization: 0.7 });
    expect(report.verdict).toBe('tight');
    // In use at its peak: 112 GiB, of which 7 GiB are the system's.
    expect(report.need.high).toBeGreaterThan(105 * GiB);
    expect(report.need.high).toBeGreaterThan(report.serving.high);
    const text = { config: GEMMA_4_26B };
    const alone = await estimate(text, { program: 'vllm', context: 8192, languageModelOnly: true });
    expect(alone.loading.terms.map(({ name }) => name)).not.toContain('encoder-profile');
  });

  it('is at least what serving takes, in each number', async () => {
    for (const program of ['vllm', 'sglang', 'llama.cpp', 'torch'] as const) {
      const { loading, total } = await estimate({ config: QWEN }, { program, context: 32_768 });
      for (const key of ['bytes', 'low', 'high'] as const) expect(loading.peak[key]).toBeGreaterThanOrEqual(total[key]);
    }
  });

  it('has a compiler more for each 8 GiB that stay, and one at least', async () => {
    const ask = (params: number) =>
      fitInto({
        model: { config: QWEN, weightBytes: params },
        use: { context: 4096 },
        snapshot: machine,
        program: 'vllm',
      });
    const small = await ask(16 * GiB);
    const jobs = compileJobsFor(small, 'vllm') ?? 0;
    const limit = small.limit.bytes ?? 0;
    expect(small.need.high + (jobs - 1) * 8 * GiB).toBeLessThanOrEqual(limit);
    expect(small.need.high + jobs * 8 * GiB).toBeGreaterThan(limit);
    expect(small.notes.join()).toContain(`MAX_JOBS=${jobs}`);
    expect(compileJobsFor(await ask(100 * GiB), 'vllm')).toBe(1);
    expect(compileJobsFor(small, 'llama.cpp')).toBe(null);
  });

  it('takes what MAX_JOBS says', async () => {
    const { loading } = await estimate({ config: QWEN }, { program: 'vllm', maxJobs: 20 });
    expect(loading.terms.find(({ name }) => name === 'compilation')?.high).toBe(160 * GiB);
    expect(loading.peak.high).toBeGreaterThan(160 * GiB);
  });
});
