import { describe, expect, it } from 'vitest';
import { type ViewFacts, views } from '../../../../lib/core/memory/views.ts';
import { GiB } from '../../../support/units.ts';
import { hostWith } from '../../../support/unknown-facts.ts';

const spark = hostWith({
  free: 2.77 * GiB,
  available: 52 * GiB,
  swapFree: 16 * GiB,
  hugePagesTotal: 0,
  hugePagesFree: 0,
  hugePageSize: 2 ** 21,
});
const facts = (changes: Partial<ViewFacts>): ViewFacts => ({
  model: 'unified',
  host: spark,
  cuda: null,
  cudaState: 'skipped',
  nvml: null,
  cudaTotal: null,
  whyNoCuda: 'not read',
  whyNoNvml: 'NOT_SUPPORTED',
  environment: {},
  ...changes,
});

describe('views of a unified device', () => {
  it('do not know cudaMemGetInfo from MemFree where CUDA’s total is not MemTotal', () => {
    const { bytes, from } = views(facts({ cudaTotal: 46_477 * 2 ** 20 }));
    expect(bytes).toMatchObject({ cudaMemGetInfo: null, torch: null, vllm: spark.available });
    expect(from.cudaMemGetInfo).toBe('not read');
    expect(views(facts({ cudaTotal: spark.total })).bytes.cudaMemGetInfo).toBe(spark.free);
  });

  it('disagree as they do on a real Spark (llamastash #80: 2.77 and 52 GiB at one instant)', () => {
    const { bytes, from } = views(facts({}));
    expect(bytes).toEqual({
      cudaMemGetInfo: spark.free,
      torch: spark.free,
      vllm: spark.available,
      sglang: spark.available,
      llamaCpp: spark.available,
      nvidiaGuidance: spark.available,
      nvidiaSmi: null,
    });
    expect(from.nvidiaSmi).toBe('NOT_SUPPORTED');
    expect(from.nvidiaGuidance).toContain(String(16 * GiB));
  });

  it('llama.cpp and NVIDIA collapse when huge pages are reserved, the others do not', () => {
    const host = { ...spark, hugePagesTotal: 1024, hugePagesFree: 512 };
    const { bytes } = views(facts({ host }));
    expect(bytes.llamaCpp).toBe(GiB);
    expect(bytes.nvidiaGuidance).toBe(GiB);
    expect(bytes.vllm).toBe(52 * GiB);
  });

  it('llama.cpp falls back to cudaMemGetInfo when no huge page is free; the guidance says 0', () => {
    const host = { ...spark, hugePagesTotal: 1024, hugePagesFree: 0 };
    const { bytes, from } = views(facts({ host }));
    expect(bytes.llamaCpp).toBe(spark.free);
    expect(from.llamaCpp).toContain('fell back to cudaMemGetInfo');
    expect(bytes.nvidiaGuidance).toBe(0);
  });

  it('never adds swap', () => {
    const { bytes } = views(facts({}));
    for (const value of Object.values(bytes)) if (value !== null) expect(value).toBeLessThanOrEqual(52 * GiB);
  });
});

describe('views where cudaMemGetInfo was tried and did not answer', () => {
  const busy = 'ERR_UMA_BUSY: cudaMemGetInfo answered cudaErrorDevicesUnavailable (46)';

  it('failed: null for all that need it first, 0 of 0 for llama.cpp; a rule over meminfo stays', () => {
    const { bytes, from } = views(facts({ cudaState: 'failed', whyNoCuda: busy }));
    expect(bytes).toEqual({
      cudaMemGetInfo: null,
      torch: null,
      vllm: null,
      sglang: null,
      llamaCpp: 0,
      nvidiaGuidance: spark.available,
      nvidiaSmi: null,
    });
    for (const name of ['cudaMemGetInfo', 'torch', 'vllm', 'sglang', 'llamaCpp'] as const)
      expect(from[name]).toContain(busy);
  });

  it.each(['timeout', 'missing'] as const)('%s: null, also for llama.cpp', (cudaState) => {
    const { bytes, from } = views(facts({ cudaState, whyNoCuda: 'ERR_UMA_X' }));
    for (const name of ['cudaMemGetInfo', 'torch', 'vllm', 'sglang', 'llamaCpp'] as const) {
      expect(bytes[name]).toBeNull();
      expect(from[name]).toContain('ERR_UMA_X');
    }
  });

  it('not tried: MemFree, and the reason says that it was not tried', () => {
    const { bytes, from } = views(facts({}));
    expect(bytes.cudaMemGetInfo).toBe(spark.free);
    expect(from.cudaMemGetInfo).toContain('was not tried');
  });
});

describe('views of a discrete device', () => {
  const discrete = facts({
    model: 'discrete',
    cuda: { free: 100 * GiB, total: 140 * GiB },
    nvml: { total: 140 * GiB, free: 101 * GiB, used: 38 * GiB, reserved: GiB },
  });

  it('are of its own memory', () => {
    expect(views(discrete).bytes).toEqual({
      cudaMemGetInfo: 100 * GiB,
      torch: 100 * GiB,
      vllm: 100 * GiB,
      sglang: 100 * GiB,
      llamaCpp: 100 * GiB,
      nvidiaGuidance: null,
      nvidiaSmi: 101 * GiB,
    });
  });

  it('except for llama.cpp under GGML_CUDA_ENABLE_UNIFIED_MEMORY, which misreads the device (llama.cpp #17536)', () => {
    const { bytes, from } = views({ ...discrete, environment: { GGML_CUDA_ENABLE_UNIFIED_MEMORY: '1' } });
    expect(bytes.llamaCpp).toBe(52 * GiB);
    expect(from.llamaCpp).toContain('GGML_CUDA_ENABLE_UNIFIED_MEMORY');
  });

  it('are null with the reason where CUDA was not read', () => {
    const { bytes, from } = views({ ...discrete, cuda: null });
    expect(bytes.torch).toBeNull();
    expect(from.torch).toContain('not read');
  });
});
