/** GPUs with memory of their own: which are read, and which of several decides. */
import { describe, expect, it } from 'vitest';
import { fullestFirst, gpuText, ownGpus, unguardedText } from '../../../../lib/core/memory/own-memory.ts';
import type { DeviceSnapshot } from '../../../../lib/types/index.ts';
import { GiB } from '../../../support/units.ts';

const nvml = { total: 140 * GiB, free: 100 * GiB, used: 39 * GiB, reserved: GiB };
const gpu = (more: object): DeviceSnapshot =>
  ({
    index: 0,
    nvmlIndex: 0,
    name: 'H200',
    memoryModel: 'discrete',
    migMode: null,
    nvml,
    visible: true,
    from: {},
    ...more,
  }) as unknown as DeviceSnapshot;

describe('GPUs with memory of their own', () => {
  it('are read without what the driver reserves', () => {
    expect(ownGpus({ devices: [gpu({}), gpu({ index: 1, memoryModel: 'unified' })] })).toEqual({
      gpus: [{ index: 0, nvmlIndex: 0, name: 'H200', visible: true, total: 139 * GiB }],
      unread: [],
    });
  });

  it.each([
    [{ migMode: { current: true, pending: true } }, /MIG mode/],
    [{ nvml: null, from: { nvml: 'NO_PERMISSION' } }, /NO_PERMISSION/],
    [{ nvmlIndex: null }, /does not report/],
  ])('are unknown with a reason: %o', (more, why) => {
    const { gpus, unread } = ownGpus({ devices: [gpu(more)] });
    expect(gpus).toEqual([]);
    expect(unread).toEqual([{ index: 0, name: 'H200', visible: true, why: expect.stringMatching(why) }]);
  });

  it('of several the one with the smallest share left decides, whatever its size', () => {
    const gpus = [
      { name: 'large', left: 20, total: 140 },
      { name: 'small', left: 4, total: 8 },
    ];
    expect(fullestFirst(gpus, (one) => one).map(({ name }) => name)).toEqual(['large', 'small']);
  });

  it('are named', () => {
    expect([gpuText({ index: 1, name: null }), gpuText({ index: 0, name: 'H200' })]).toEqual(['GPU 1', 'GPU 0, H200']);
    expect(unguardedText([])).toBeNull();
    expect(unguardedText([{ index: 0, name: 'H200' }])).toContain('(GPU 0, H200)');
  });
});
