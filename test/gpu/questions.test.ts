/** processes(), explain(), estimate() and fit() on a real GPU, beside a program that holds memory of it. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { memGetInfo, processes, snapshot } from 'umaprobe';
import { estimate, fit as umaprobeFit } from 'umaprobe/models';
import { explain } from 'umaprobe/run';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stdoutMatching } from '../support/cli.ts';
import { compileWithCudart, hasGpu, noGpu } from '../support/gpu.ts';
import { ROOT } from '../support/root.ts';
import { GiB, MiB } from '../support/units.ts';

const GPU_MIB = 8 * 1024;
const HOST_MIB = 1024;

describe.skipIf(!hasGpu)(`questions on a real GPU${noGpu}`, () => {
  let holder: ChildProcessWithoutNullStreams;

  beforeAll(async () => {
    holder = spawn(compileWithCudart(join(ROOT, 'test/gpu/hold_memory.c')), [`${GPU_MIB}`, `${HOST_MIB}`]);
    await stdoutMatching(holder, /held/);
  }, 60_000);

  afterAll(async () => {
    holder.stdin.end();
    await once(holder, 'exit');
  });

  it('processes() attributes host memory of the program, and GPU memory where NVML lists it', async () => {
    const report = await processes();
    const found = report.processes.find(({ pid }) => pid === holder.pid);
    // A CUDA context takes a few hundred MiB of anonymous memory besides.
    expect(found?.anonymous).toBeGreaterThanOrEqual(HOST_MIB * MiB);
    expect(found?.anonymous).toBeLessThan(HOST_MIB * MiB + GiB);
    expect(found?.heldFrom).toBe('pss');
    // In a PID namespace NVML lists processes of other namespaces or none: then it is not known, and never 0.
    if (found?.gpuBytes === null) expect(report.limits.join(' ')).toMatch(/GPU/);
    else {
      expect(found?.gpuBytes).toBeGreaterThanOrEqual(GPU_MIB * MiB);
      expect(found?.gpuBytes).toBeLessThan(GPU_MIB * MiB + 2 * GiB);
    }
    // GPU memory of a discrete GPU is no host memory.
    expect(report.memoryModel).toBe('discrete');
    expect(found?.held).toBeLessThan(HOST_MIB * MiB + GiB);
  });

  it('explain() proves each finding with numbers', async () => {
    const { findings } = await explain({ snapshot: await snapshot(), processes: await processes() });
    for (const finding of findings) {
      expect(finding.evidence.length, finding.id).toBeGreaterThan(0);
      for (const { value, from } of finding.evidence) {
        expect(typeof value === 'string' || Number.isFinite(value), finding.id).toBe(true);
        expect(from, finding.id).not.toBe('');
      }
    }
    expect(findings.map(({ id }) => id)).not.toContain('memory.unattributed');
  });

  it('fit() takes what is left beside the program as the limit', async () => {
    // With a context in this process the snapshot has cudaMemGetInfo, which vLLM reads.
    await memGetInfo();
    const taken = await snapshot();
    const device = taken.devices[0];
    const free = device?.nvml?.free as number;
    const total = device?.nvml?.total as number;
    expect(total - free).toBeGreaterThanOrEqual(GPU_MIB * MiB);
    const small = await umaprobeFit({ bytes: GiB, snapshot: taken });
    expect(small.verdict).toBe('fits');
    expect(small.limit.bytes).toBeLessThanOrEqual(free);
    expect((await umaprobeFit({ bytes: total, snapshot: taken })).verdict).toBe('no');
    // 0.99 of the total is never free beside the program: it has to end first.
    const vllm = (await umaprobeFit({ bytes: GiB, snapshot: taken, program: 'vllm', utilization: 0.99 })).programs[0];
    expect(vllm?.verdict).toBe('fits-after');
    expect(vllm?.reads).toBeLessThanOrEqual(free);
  });

  it('fit() of an estimate divides the pool of the GPU', async () => {
    const taken = await snapshot();
    const estimated = await estimate({ params: 7e9, dtype: 'bf16' }, { context: 4096 });
    const report = await umaprobeFit({ estimate: estimated, snapshot: taken });
    expect(report.verdict).toBe('fits');
    const { limit, pool } = report;
    expect(pool).not.toBeNull();
    expect((pool?.used ?? 0) + (pool?.kept ?? 0) + (pool?.fragmented ?? 0) + (limit.bytes ?? 0)).toBe(pool?.total);
    expect(pool?.used).toBeGreaterThanOrEqual(GPU_MIB * MiB);
  });
});
