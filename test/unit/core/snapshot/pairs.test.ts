import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../../lib/base/errors.ts';
import type { NativeCudaDevice, NativeNvmlDevice } from '../../../../lib/core/native/contract.ts';
import { normalPciBusId, pairDevices } from '../../../../lib/core/snapshot/pairs.ts';
import { cudaFailure, nvmlFailure } from '../../../support/failures.ts';

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

  it('pairs a device without an address by its uuid', () => {
    const lost: Failure = nvmlFailure('GPU_IS_LOST', 15);
    expect(pairDevices([{ ...cudaDevice, pciBusId: lost }], [nvmlDevice])[0]?.nvml).toBe(nvmlDevice);
  });

  describe('a lost GPU without an identity', () => {
    const lost: Failure = nvmlFailure('GPU_IS_LOST', 15, 'nvmlDeviceGetHandleByIndex_v2');
    const nameless = (index: number, failure = lost) => ({ index, name: failure, uuid: failure, pciBusId: failure });
    const cuda = ['0000:01:00.0', '0000:02:00.0', '0000:03:00.0'].map((pciBusId, ordinal) => ({ ordinal, pciBusId }));
    const nvml = cuda.map(({ pciBusId }, index) => ({ index, pciBusId: `0000${pciBusId}` }));
    const indexes = (...lists: Parameters<typeof pairDevices>) =>
      pairDevices(...lists).map((pair) => [
        pair.cuda?.ordinal ?? null,
        pair.nvml?.index ?? null,
        pair.pairedBy !== undefined,
      ]);

    it('is the one left over: two GPUs stay two', () => {
      const [first, second] = nvml as [NativeNvmlDevice, NativeNvmlDevice];
      expect(indexes(cuda.slice(0, 2), [first, nameless(1)])).toEqual([
        [0, 0, false],
        [1, 1, true],
      ]);
      expect(indexes(cuda.slice(0, 2), [nameless(0), second])).toEqual([
        [0, 0, true],
        [1, 1, false],
      ]);
    });

    it('is the one left over in CUDA, too, and in a reading that was cut short', () => {
      const [first] = cuda as [NativeCudaDevice];
      const broken = { ordinal: 1, uuid: lost, pciBusId: lost };
      expect(indexes([first, broken], nvml.slice(0, 2))).toEqual([
        [0, 0, false],
        [1, 1, true],
      ]);
      expect(indexes([first, { ordinal: 1 }], nvml.slice(0, 2))).toHaveLength(2);
      expect(indexes(cuda.slice(0, 2), [nvml[0] as NativeNvmlDevice, { index: 1 }])).toHaveLength(2);
    });

    it('cannot be a GPU that has another address: one that CUDA_VISIBLE_DEVICES hides stays alone', () => {
      const [first, second] = [cuda[0], nvml[1]] as [NativeCudaDevice, NativeNvmlDevice];
      expect(indexes([first], [nameless(0), second])).toEqual([
        [0, 0, true],
        [null, 1, false],
      ]);
    });

    it('several with the same answer: the number is right, the index is not known', () => {
      expect(indexes(cuda, [nvml[0] as NativeNvmlDevice, nameless(1), nameless(2)])).toEqual([
        [0, 0, false],
        [1, null, true],
        [2, null, true],
      ]);
    });

    it('several that CUDA cannot identify, with the same answer: the ordinal is not known', () => {
      const failure = cudaFailure('CUDA_ERROR_INVALID_DEVICE', 101, 'cuDeviceGet');
      const broken = [0, 1].map((ordinal) => ({ ordinal, uuid: failure, pciBusId: failure }));
      expect(indexes(broken, nvml.slice(0, 2))).toEqual([
        [null, 0, true],
        [null, 1, true],
      ]);
    });

    it('several with different answers stay apart, because nothing says which is which', () => {
      const reset = nvmlFailure('RESET_REQUIRED', 16, 'nvmlDeviceGetHandleByIndex_v2');
      expect(indexes(cuda.slice(0, 2), [nameless(0), nameless(1, reset)])).toHaveLength(4);
    });

    it('is not paired with a GPU that NVML does not list', () => {
      expect(indexes(cuda.slice(0, 1), [])).toEqual([[0, null, false]]);
      expect(indexes([], [nameless(0)])).toEqual([[null, 0, false]]);
    });
  });
});
