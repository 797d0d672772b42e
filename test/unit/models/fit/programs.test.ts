/** The rules of programs against start-up logs that were published: their decision, and their numbers within 2 %. */

import { describe, expect, it } from 'vitest';
import { llamaContext, llamaFit } from '../../../../lib/models/fit/llama.ts';
import { isAtLeast } from '../../../../lib/models/fit/program.ts';
import { type SglangStart, sglangPool } from '../../../../lib/models/fit/sglang.ts';
import { accelerateBudget } from '../../../../lib/models/fit/torch.ts';
import { tokensOf, type VllmStart, vllmBudget } from '../../../../lib/models/fit/vllm.ts';
import { GiB, MiB } from '../../../support/units.ts';

/** Whether two numbers differ by at most 2 % of the second. */
function near(ours: number | null, theirs: number): boolean {
  return ours !== null && Math.abs(ours - theirs) <= Math.abs(theirs) * 0.02;
}

function started(values: Partial<VllmStart> & Pick<VllmStart, 'total' | 'free' | 'utilization'>) {
  const nothing = { weights: 0, activations: 0, nonTorch: 0, graphs: 0, kvBytesPerToken: null, version: null };
  return vllmBudget({ ...nothing, ...values });
}

describe('vLLM’s budget', () => {
  // [log, total, utilization, weights, non-torch, activations, "reserved for KV Cache" (GiB), bytes per token, tokens]
  it.each([
    // Phi-4 in 4 bits, 40 layers, 10 heads of 128; 14,815 blocks.
    ['0.8, Phi-4 on 80 GB', 79.15, 0.696, 8.63, 0.09, 1.16, 45.21, 40 * 10 * 128 * 4, 14_815 * 16],
    // 24 layers, 2 heads of 64; 190,100 blocks.
    ['0.8, Qwen2.5-0.5B on 48 GB', 47.5, 0.7828, 0.52, 0.08, 1.78, 34.81, 24 * 2 * 64 * 4, 190_100 * 16],
    ['0.7, LoRA on 24 GB', 23.57, 0.9, 7.63, 0.08, 1.4, 12.1, null, null],
  ] as const)('%s', (_, total, utilization, weights, nonTorch, activations, kv, kvBytesPerToken, tokens) => {
    const budget = started({
      total: total * GiB,
      free: total * GiB,
      utilization,
      weights: weights * GiB,
      nonTorch: nonTorch * GiB,
      activations: activations * GiB,
      graphs: GiB,
      kvBytesPerToken,
      version: '0.8.5',
    });
    expect(budget.starts).toBe(true);
    expect(near(budget.kvCache, kv * GiB)).toBe(true);
    if (tokens !== null) expect(near(budget.kvTokens, tokens)).toBe(true);
  });

  // "Free memory on device (free/total GiB) on startup is less than desired GPU memory utilization (share, GiB)".
  it.each([
    ['GX10, an embedding server beside another', 2.6, 121.63, 0.08, 9.73],
    ['RTX 3090, a desktop', 22.76, 24.0, 0.97, 23.28],
    ['16 GB', 3.27, 15.98, 0.9, 14.39],
    ['24 GB, Ollama still unloads', 3.25, 23.43, 0.96, 22.49],
    ['XPU, a zombie', 0.22, 30.3, 0.7, 21.21],
  ])('refuses to start: %s', (_, free, total, utilization, wanted) => {
    const budget = started({ free: free * GiB, total: total * GiB, utilization });
    expect(budget.starts).toBe(false);
    // Total and share are rounded in the message.
    expect(Math.abs(budget.requested / GiB - wanted)).toBeLessThan(0.02);
  });

  it('takes the graphs from the cache since 0.21', () => {
    const facts = { total: 100 * GiB, free: 100 * GiB, utilization: 0.9, graphs: 2 * GiB };
    expect(started({ ...facts, version: '0.20.1' }).kvCache).toBe(90 * GiB);
    expect(started({ ...facts, version: '0.21.0' }).kvCache).toBe(88 * GiB);
    expect(started(facts).kvCache).toBe(88 * GiB);
  });

  it('knows the longest context that it names when one request is too long', () => {
    // Two Sparks, MiniMax-M2.7: 23.25 GiB are needed for 196,608 tokens, 22.5 GiB are there, "estimated … is 190272".
    expect(near(tokensOf(22.5 * GiB, (23.25 * GiB) / 196_608), 190_272)).toBe(true);
    // RTX 5090, Qwen3-8B: 36 layers, 8 heads of 128; 89,040 tokens.
    expect(near(tokensOf(13_129_482_240, 36 * 8 * 128 * 4), 89_040)).toBe(true);
    expect(tokensOf(-1, 100)).toBe(0);
  });
});

describe('SGLang’s pool', () => {
  // [log, free before and after loading (GB of the log are GiB), fraction, pool, bytes per token, hybrid, tokens]
  it.each([
    ['DeepSeek-R1-Distill-Qwen-7B, RTX 3090', 22.76, 8.37, 0.88, 5.64, 28 * 4 * 128 * 4, false, 105_531],
    ['Kimi-K2.5, 8 MI355X', 283.56, 209.98, 0.826_040_585_937_5, 160.63, 61 * 576 * 2, false, 2_454_421],
    ['Qwen3.5-4B', 23.09, 14.47, 0.85, 11.07, null, false, null],
    ['Ornith 9B on a Spark, beside another server', 41.29, 24.12, 0.8, 15.86, 8 * 4 * 256 * 4, true, 268_319],
    ['the same in FP8', 43.78, 30.8, 0.8, 22.04, 8 * 4 * 256 * 4, true, 376_048],
  ] as const)('%s', (_, before, after, fraction, pool, kvBytesPerToken, hybrid, tokens) => {
    const start: SglangStart = { before: before * GiB, after: after * GiB, fraction, kvBytesPerToken, hybrid };
    const result = sglangPool(start);
    expect(near(result.pool, pool * GiB)).toBe(true);
    if (tokens !== null) expect(near(result.kvTokens, tokens)).toBe(true);
  });

  it('is negative where the fraction is too small beside another server, and more so the smaller it is', () => {
    const at = (fraction: number) =>
      sglangPool({ before: 41.29 * GiB, after: 24.12 * GiB, fraction, kvBytesPerToken: 1 }).pool;
    expect(at(0.3)).toBeLessThan(0);
    expect(at(0.12)).toBeLessThan(at(0.3));
    expect(at(0.8)).toBeGreaterThan(0);
  });
});

describe('llama.cpp’s --fit', () => {
  it('says by how much it must reduce', () => {
    // Qwen2.5-32B on 20 GB: projected 27091 of 20252 MiB, "need to reduce device memory by 7863 MiB".
    expect(llamaFit(27_091 * MiB, 20_252 * MiB)).toEqual({ unchanged: false, reduceBy: 7863 * MiB });
    // Phi-4-mini: 3185 of 6339 MiB, "no changes needed".
    expect(llamaFit(3185 * MiB, 6339 * MiB)).toEqual({ unchanged: true, reduceBy: 0 });
  });

  it('shortens the context where that is enough, in steps of 256', () => {
    const model = { bytesPerToken: 256 * 1024, context: 32_768 };
    // 7252 MiB are in the 28,672 tokens above 4096: not enough for 7863.
    expect(llamaContext({ projected: 27_091 * MiB, free: 20_252 * MiB }, model)).toBeNull();
    const context = llamaContext({ projected: 27_091 * MiB, free: 24_000 * MiB }, model) ?? 0;
    expect(context % 256).toBe(0);
    expect(27_091 * MiB - (32_768 - context) * model.bytesPerToken).toBeLessThanOrEqual(22_976 * MiB);
    expect(27_091 * MiB - (32_768 - context - 256) * model.bytesPerToken).toBeGreaterThan(22_976 * MiB);
  });
});

it('accelerate takes nine tenths of what it reads', () => {
  expect(accelerateBudget(10 * GiB)).toBe(9 * GiB);
});

it.each([
  ['0.21.0', '0.21', true],
  ['0.20.1.dev0', '0.21', false],
  ['0.21.0rc1', '0.21', true],
  ['1.0', '0.21', true],
  ['0.9.2', '0.21', false],
  [null, '0.21', true],
] as const)('version %s is at least %s: %s', (version, other, answer) => {
  expect(isAtLeast(version, other)).toBe(answer);
});
