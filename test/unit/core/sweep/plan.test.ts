import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../../lib/base/errors.ts';
import { byKind } from '../../../../lib/core/memory/kinds.ts';
import type { NativeAllocator } from '../../../../lib/core/native/contract.ts';
import { managedRefusal, planSweep } from '../../../../lib/core/sweep/plan.ts';
import { GiB } from '../../../support/units.ts';

const noSystem: Failure = {
  failed: true,
  source: 'umaprobe',
  call: 'mmap',
  status: null,
  name: 'NOT_SUPPORTED',
  message: 'the GPU cannot reach pageable memory',
};
const kinds: NativeAllocator['kinds'] = {
  ...byKind(() => noSystem),
  device: 'cudaMalloc',
  managed: 'cudaMallocManaged',
  pinned: 'cudaHostAlloc',
};
const facts = { kinds, deviceTotal: 10 * GiB };

describe('the plan', () => {
  it('goes kind by kind, small to large, in the order of the requested kinds', () => {
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

  it('an unsupported kind that was requested stays in the plan, with the device’s reason', () => {
    const [step] = planSweep({ kinds: ['system'], sizes: [1] }, facts);
    expect(step?.refusal).toMatchObject({ state: 'unsupported' });
    expect(step?.refusal?.reason).toContain('the GPU cannot reach pageable memory');
  });

  it('only a size that exceeds the device is refused', () => {
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

  it('contains every size of every kind', () => {
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

  it('may not exceed the free memory of a device with its own, except with oversubscribe', () => {
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

  it('unknown free memory is refused', () => {
    expect(managedRefusal(1, { ...discrete, deviceFree: null })).toContain('cannot be read');
  });

  it('on shared memory only the floor decides', () => {
    expect(managedRefusal(100 * GiB, { ...discrete, memoryModel: 'unified' })).toBeNull();
  });
});
