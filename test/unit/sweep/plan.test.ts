import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../lib/base/errors.ts';
import type { NativeAllocator } from '../../../lib/native/contract.ts';
import { managedRefusal, planSweep } from '../../../lib/sweep/plan.ts';
import { Eta } from '../../../lib/sweep/progress.ts';
import { GiB } from '../../support/units.ts';

const noSystem: Failure = {
  failed: true,
  source: 'umaprobe',
  call: 'mmap',
  status: null,
  name: 'NOT_SUPPORTED',
  message: 'the GPU cannot reach pageable memory',
};
const kinds: NativeAllocator['kinds'] = {
  device: 'cudaMalloc',
  managed: 'cudaMallocManaged',
  pinned: 'cudaHostAlloc',
  system: noSystem,
};
const facts = { kinds, deviceTotal: 10 * GiB };

describe('the plan', () => {
  it('goes kind by kind, small to large, in the order of the kinds asked for', () => {
    const steps = planSweep({ kinds: ['managed', 'device'], sizes: [3, 1, 2] }, facts);
    expect(steps.map(({ bytes, kind, size }) => [kind, bytes, size])).toEqual([
      ['managed', 1, 1],
      ['managed', 2, 2],
      ['managed', 3, 0],
      ['device', 1, 1],
      ['device', 2, 2],
      ['device', 3, 0],
    ]);
  });

  it('all: the kinds that the device has', () => {
    const steps = planSweep({ kinds: 'all', sizes: [1] }, facts);
    expect(steps.map(({ kind }) => kind)).toEqual(['device', 'managed', 'pinned']);
  });

  it('a kind that is asked for and not there stays, with the device’s reason', () => {
    const [step] = planSweep({ kinds: ['system'], sizes: [1] }, facts);
    expect(step?.refusal).toMatchObject({ state: 'unsupported' });
    expect(step?.refusal?.reason).toContain('the GPU cannot reach pageable memory');
  });

  it('device memory that the device does not have is refused, and only that', () => {
    const sizes = [10 * GiB, 10 * GiB + 1];
    expect(planSweep({ kinds: ['device'], sizes }, facts).map(({ refusal }) => refusal?.reason ?? null)).toEqual([
      null,
      '10.00 GiB (10.74 GB) is more than the device has, 10.00 GiB (10.74 GB)',
    ]);
    const unknown = planSweep({ kinds: ['device'], sizes }, { kinds, deviceTotal: null });
    expect(unknown.every(({ refusal }) => refusal === null)).toBe(true);
    expect(planSweep({ kinds: ['managed', 'pinned'], sizes }, facts).every(({ refusal }) => refusal === null)).toBe(
      true,
    );
  });

  it('loses no size, whatever is asked for', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 2 ** 45 }), { minLength: 1, maxLength: 30 }), (sizes) => {
        const steps = planSweep({ kinds: ['device', 'system'], sizes }, facts);
        for (const kind of ['device', 'system']) {
          const ofKind = steps.filter((step) => step.kind === kind);
          expect(ofKind.map(({ size }) => size).sort((a, b) => a - b)).toEqual([...sizes.keys()]);
          expect(ofKind.every(({ bytes, size }) => sizes[size] === bytes)).toBe(true);
          expect(ofKind.every(({ bytes }, at) => at === 0 || bytes >= (ofKind[at - 1]?.bytes ?? 0))).toBe(true);
        }
      }),
    );
  });
});

describe('managed memory', () => {
  const discrete = {
    memoryModel: 'discrete',
    deviceFree: 10 * GiB,
    memAvailable: 20 * GiB,
    floor: 8 * GiB,
    oversubscribe: false,
  } as const;

  it('does not pass what is free on a device that has its own, unless asked to', () => {
    expect(managedRefusal(10 * GiB, discrete)).toBeNull();
    expect(managedRefusal(10 * GiB + 1, discrete)).toContain('oversubscribe lets it spill');
    expect(managedRefusal(11 * GiB, { ...discrete, oversubscribe: true })).toBeNull();
  });

  it('never takes more than the host can spare above its floor', () => {
    const asked = { ...discrete, oversubscribe: true };
    expect(managedRefusal(22 * GiB, asked)).toBeNull();
    expect(managedRefusal(22 * GiB + 1, asked)).toContain('more than the 12.00 GiB (12.88 GB) that the host can spare');
    expect(managedRefusal(11 * GiB, { ...asked, memAvailable: 4 * GiB })).toContain('0.00 GiB');
    expect(managedRefusal(11 * GiB, { ...asked, memAvailable: null })).toContain('cannot be read');
  });

  it('unknown is no permission', () => {
    expect(managedRefusal(1, { ...discrete, deviceFree: null })).toContain('cannot be read');
  });

  it('on shared memory only the floor decides', () => {
    expect(managedRefusal(100 * GiB, { ...discrete, memoryModel: 'unified' })).toBeNull();
  });
});

describe('the time that is left', () => {
  const step = (kind: 'device' | 'managed', bytes: number, refused = false) => ({
    kind,
    bytes,
    size: 0,
    refusal: refused ? ({ state: 'refused', reason: 'too large' } as const) : null,
  });

  it('is not known before a step was made; a kind not met yet is taken to be as fast as the others', () => {
    let now = 0;
    const eta = new Eta(() => now);
    expect(eta.remainingMs([step('device', 1)])).toBeNull();
    eta.begin();
    now = 10;
    eta.end(step('device', GiB), true);
    expect(eta.remainingMs([step('managed', 2 * GiB)])).toBe(20);
    eta.begin();
    now = 1010;
    eta.end(step('managed', GiB), true);
    expect(eta.remainingMs([step('managed', 2 * GiB), step('device', GiB)])).toBe(2010);
    expect(eta.remainingMs([step('managed', GiB, true)])).toBe(0);
    expect(eta.remainingMs([])).toBe(0);
  });

  it('grows with the bytes that are left, and refused steps teach nothing', () => {
    let now = 0;
    const eta = new Eta(() => now);
    eta.begin();
    now += 7;
    eta.end(step('device', GiB), false);
    expect(eta.remainingMs([step('device', GiB)])).toBeNull();
    eta.begin();
    now += 100;
    eta.end(step('device', GiB), true);
    expect(eta.remainingMs([step('device', 3 * GiB), step('device', GiB)])).toBe(400);
  });
});
