/** sweep() and layout() on a discrete GPU: every kind, plausible counters, all memory freed. */

import { layout, snapshot, sweep } from 'umaprobe';
import { beforeAll, describe, expect, it } from 'vitest';
import { byKind } from '../../lib/core/memory/kinds.ts';
import type { AllocatorKind, Counter, SweepReport, SweepStep } from '../../lib/types/index.ts';
import { computeProcesses, hasGpu, noGpu } from '../support/gpu.ts';
import { GB, GiB, MiB } from '../support/units.ts';

/** Sizes by kind: `device` up to all free memory, `managed` up to 20 GB of it, the kinds of the host small. */
async function sizes(): Promise<Record<AllocatorKind, number[]>> {
  const { devices, host } = await snapshot();
  const free = (devices[0]?.nvml?.free ?? 0) - 2 * GiB;
  const spare = ((host.available ?? 0) - Math.max(8 * GiB, 0.07 * host.total)) / 2;
  const upTo = (most: number, list: number[]) => list.filter((size) => size <= most);
  return {
    ...byKind(() => []),
    device: [
      ...upTo(
        free,
        [1, 2, 4, 8, 10, 20, 40, 60, 80, 100].map((size) => size * GB),
      ),
      Math.floor(free),
    ],
    managed: upTo(Math.min(free, 20 * GB), [1 * GB, 4 * GB, 10 * GB, 20 * GB]),
    pinned: upTo(spare, [0.25 * GB, GB]),
    system: upTo(spare, [0.25 * GB, GB]),
  };
}

describe.skipIf(!hasGpu)(`sweep on a real GPU${noGpu}`, () => {
  const reports = new Map<AllocatorKind, SweepReport>();
  beforeAll(async () => {
    for (const [kind, list] of Object.entries(await sizes()) as [AllocatorKind, number[]][])
      reports.set(kind, await sweep({ kinds: [kind], sizes: list, repeat: 3, journal: false }));
  }, 600_000);

  const made = (kind: AllocatorKind): SweepStep[] => {
    const report = reports.get(kind);
    expect(report).toMatchObject({ simulated: null, timeScale: null, state: 'complete' });
    return report?.steps ?? [];
  };
  const change = (step: SweepStep, counter: Counter, phase: 'afterAlloc' | 'afterTouch' | 'afterFree') =>
    step.moved?.[counter][phase] ?? Number.NaN;
  /** The default slack covers the driver's granularity and other programs. */
  const near = (bytes: number, expected: number, slack = 256 * MiB) =>
    expect(Math.abs(bytes - expected), `${bytes} against ${expected}`).toBeLessThan(slack);

  it.each(['device', 'managed', 'pinned'] as const)('%s: every size is made, with all its times', (kind) => {
    const steps = made(kind);
    expect(steps.length).toBeGreaterThan(0);
    for (const step of steps) {
      expect(step.state, step.reason ?? '').toBe('ok');
      expect(step.repeats).toBe(3);
      for (const times of [step.allocMs, step.firstTouchMs, step.secondTouchMs, step.freeMs]) {
        expect(times?.min).toBeGreaterThan(0);
        expect(times?.median).toBeGreaterThanOrEqual(times?.min ?? Number.NaN);
        expect(times?.max).toBeGreaterThanOrEqual(times?.median ?? Number.NaN);
      }
      expect(step.gbPerSecond).toBeGreaterThan(1);
    }
  });

  it('device: CUDA’s free and NVML move by the size, the host does not', () => {
    for (const step of made('device')) {
      const size = step.requestedBytes;
      near(change(step, 'cudaFree', 'afterAlloc'), -size);
      near(change(step, 'nvmlDeviceUsed', 'afterAlloc'), size);
      near(change(step, 'cudaFree', 'afterFree'), 0);
      if (step.moved?.nvmlProcess.afterAlloc !== null) near(change(step, 'nvmlProcess', 'afterAlloc'), size);
      near(change(step, 'memAvailable', 'afterTouch'), 0, 0.5 * GiB);
      near(change(step, 'rss', 'afterTouch'), 0, 64 * MiB);
    }
    expect(reports.get('device')?.spills).toEqual([]);
  });

  it('managed: nothing before the touch, then memory of the device', () => {
    for (const step of made('managed')) {
      near(change(step, 'cudaFree', 'afterAlloc'), 0);
      near(change(step, 'cudaFree', 'afterTouch'), -step.requestedBytes);
      near(change(step, 'cudaFree', 'afterFree'), 0);
    }
  });

  it('pinned: memory of the host', () => {
    for (const step of made('pinned')) {
      near(change(step, 'memAvailable', 'afterAlloc'), -step.requestedBytes, 0.5 * GiB);
      near(change(step, 'cudaFree', 'afterTouch'), 0);
    }
  });

  it('system: made where the GPU reaches pageable memory, else unsupported with the reason', async () => {
    const reach = (await snapshot()).devices[0]?.attributes.pageableMemoryAccess === 1;
    for (const step of made('system')) {
      expect(step.state, step.reason ?? '').toBe(reach ? 'ok' : 'unsupported');
      if (!reach) expect(step.reason).toMatch(/\w/);
    }
  });

  it('a size above the free memory is out of memory or refused, and no error', async () => {
    const total = reports.get('device')?.device.total ?? 0;
    const { largest, state, steps } = await sweep({ sizes: [total - MiB, total + GB], journal: false });
    expect(state).toBe('complete');
    expect(steps.map((step) => step.state)).toEqual(['out-of-memory', 'refused']);
    expect(largest.device).toBeNull();
  });

  it('a 13B model’s parts at once: 25.5 GB, little more is consumed, and all of it is freed', async () => {
    const report = await layout('13b', { journal: false });
    expect(report).toMatchObject({ state: 'complete', allocatedBytes: 25.5 * GB, consumedFrom: 'cudaMemGetInfo free' });
    near(report.overheadBytes ?? Number.NaN, 0);
    expect(report.settled.missing).toBeNull();
  });

  it('leaves nothing in NVML’s list', () => {
    expect(computeProcesses()).toBe('');
  });
});
