/** One rank of several: its layers, and its part of each sequence. */

import { describe, expect, it } from 'vitest';
import { estimate, openModel } from '../../../../lib/models/estimate/index.ts';
import type { EstimateOptions, EstimateReport } from '../../../../lib/types/index.ts';
import { QWEN3_8B } from '../../../support/qwen.ts';

const model = await openModel({ config: QWEN3_8B });
const termOf = ({ terms }: EstimateReport, name: string) =>
  terms.find((term) => term.name === name) ?? { bytes: 0, low: 0, high: 0 };
const bytesOf = (report: EstimateReport, name: string): number => termOf(report, name).bytes;
const ask = (use: EstimateOptions): Promise<EstimateReport> =>
  estimate(model, { program: 'vllm', context: 8192, ...use });

describe('pipeline parallelism', () => {
  it('divides layers and cache; a rank has the embedding or the output layer', async () => {
    const [whole, rank] = await Promise.all([ask({}), ask({ pipelineParallel: 2 })]);
    expect(bytesOf(rank, 'kv-cache')).toBe(bytesOf(whole, 'kv-cache') / 2);
    const outside = 2 * QWEN3_8B.vocab_size * QWEN3_8B.hidden_size * 2;
    const layers = bytesOf(whole, 'weights') - outside;
    expect(bytesOf(rank, 'weights')).toBeCloseTo(layers / 2 + outside / 2, -4);
    // At least its layers; at most both, too.
    const { high, low } = termOf(whole, 'weights');
    const all = layers + outside;
    expect(termOf(rank, 'weights').low).toBeCloseTo((low * layers) / 2 / all, -4);
    expect(termOf(rank, 'weights').high).toBeCloseTo((high * (layers / 2 + outside)) / all, -4);
    expect(bytesOf(rank, 'runtime')).toBe(bytesOf(whole, 'runtime'));
    expect(rank.kvBytesPerToken).toBe((whole.kvBytesPerToken ?? 0) / 2);
  });

  it('the rank with the most layers is counted: 36 among 5 are 8', async () => {
    const [whole, rank] = await Promise.all([ask({}), ask({ pipelineParallel: 5 })]);
    expect(bytesOf(rank, 'kv-cache')).toBeCloseTo((bytesOf(whole, 'kv-cache') * 8) / 36, 0);
  });

  it('the total and its peak are those of the terms', async () => {
    const { loading, terms, total } = await ask({ pipelineParallel: 3, tensorParallel: 2, decodeContextParallel: 2 });
    expect(total.bytes).toBeCloseTo(
      terms.reduce((sum, { bytes }) => sum + bytes, 0),
      0,
    );
    expect(loading.peak.bytes).toBeGreaterThanOrEqual(total.bytes);
  });
});

it('a rank keeps a head where there are fewer heads than ranks', async () => {
  const heads = (tensorParallel: number) => ask({ tensorParallel }).then((rank) => bytesOf(rank, 'kv-cache'));
  const whole = await heads(1);
  expect(QWEN3_8B.num_key_value_heads).toBe(8);
  expect([await heads(8), await heads(16)]).toEqual([whole / 8, whole / 8]);
});

it('decode context parallelism divides the tokens of the cache', async () => {
  const [tensor, context] = await Promise.all([
    ask({ tensorParallel: 2 }),
    ask({ tensorParallel: 2, decodeContextParallel: 2 }),
  ]);
  expect(bytesOf(context, 'kv-cache')).toBe(bytesOf(tensor, 'kv-cache') / 2);
  expect(bytesOf(context, 'weights')).toBe(bytesOf(tensor, 'weights'));
});
