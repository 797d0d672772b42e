import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../lib/base/errors.ts';
import { normalPciBusId, pairDevices } from '../../../lib/snapshot/pairs.ts';
import { nvmlFailure } from '../../support/failures.ts';

const cudaDevice = { ordinal: 0, uuid: 'GPU-1', pciBusId: '000f:01:00.0' };
const nvmlDevice = { index: 0, uuid: 'GPU-1', pciBusId: '0000000F:01:00.0' };

describe('pairDevices', () => {
  it('normalizes CUDA’s and NVML’s spelling of an address', () => {
    expect(normalPciBusId('0000000F:01:00.0')).toBe('000F:01:00.0');
    expect(normalPciBusId('000f:01:00.0')).toBe('000F:01:00.0');
    expect(normalPciBusId('00000000:00:06.0')).toBe('0000:00:06.0');
    expect(normalPciBusId('odd')).toBe('odd');
    expect(pairDevices([cudaDevice], [nvmlDevice])).toEqual([{ cuda: cudaDevice, nvml: nvmlDevice }]);
  });

  it('CUDA’s order first, NVML’s others after it', () => {
    const nvml = ['0000:01:00.0', '0000:02:00.0', '0000:03:00.0'].map((pciBusId, index) => ({ index, pciBusId }));
    const cuda = ['0000:03:00.0', '0000:01:00.0'].map((pciBusId, ordinal) => ({ ordinal, pciBusId }));
    expect(pairDevices(cuda, nvml).map((pair) => [pair.cuda?.ordinal ?? null, pair.nvml?.index])).toEqual([
      [0, 2],
      [1, 0],
      [null, 1],
    ]);
  });

  it('two MIG slices are both paired with the GPU they are slices of', () => {
    const slices = [0, 1].map((ordinal) => ({ ordinal, pciBusId: '0000:01:00.0' }));
    expect(pairDevices(slices, [{ index: 0, pciBusId: '00000000:01:00.0' }]).map((pair) => pair.nvml?.index)).toEqual([
      0, 0,
    ]);
  });

  it('pairs a device without an address by its uuid, or leaves it alone', () => {
    const lost: Failure = nvmlFailure('GPU_IS_LOST', 15);
    expect(pairDevices([{ ...cudaDevice, pciBusId: lost }], [nvmlDevice])[0]?.nvml).toBe(nvmlDevice);
    expect(pairDevices([{ ordinal: 0, pciBusId: lost }], [{ index: 0, pciBusId: lost }])).toHaveLength(2);
  });
});
