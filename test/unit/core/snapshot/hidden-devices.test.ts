import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Failure } from '../../../../lib/base/errors.ts';
import type { NativeCudaDevice, NativeCudaReport } from '../../../../lib/core/native/contract.ts';
import { hidesEveryDevice, readHidden, visibility, withHidden } from '../../../../lib/core/snapshot/hidden-devices.ts';
import type { DevicePair } from '../../../../lib/core/snapshot/pairs.ts';

const device = (ordinal: number, bus: number): NativeCudaDevice => ({
  ordinal,
  uuid: `GPU-${bus}`,
  pciBusId: `0000:0${bus}:00.0`,
});
const report = (devices: NativeCudaDevice[]): NativeCudaReport => ({
  runtime: {},
  driver: {},
  identities: 1,
  deviceCount: devices.length,
  devices,
  timedOut: null,
});
const nvmlOnly = (bus: number): DevicePair => ({ cuda: null, nvml: { index: bus, pciBusId: `00000000:0${bus}:00.0` } });
const NO_DEVICE: Failure = {
  failed: true,
  source: 'cuda',
  call: 'cuInit',
  status: 100,
  name: 'CUDA_ERROR_NO_DEVICE',
  message: '',
};
const nothing: NativeCudaReport = { ...report([]), deviceCount: NO_DEVICE };
const nvml = { library: {}, deviceCount: 2, devices: [], timedOut: null };

afterEach(() => vi.unstubAllEnvs());

describe('hidden devices', () => {
  it('get CUDA’s facts from the process without the variable, and keep no ordinal of it', () => {
    vi.stubEnv('CUDA_VISIBLE_DEVICES', '1');
    const seen: DevicePair = { cuda: device(0, 2), nvml: { index: 1, pciBusId: '00000000:02:00.0' } };
    const hidden = report([device(0, 1), device(1, 2), device(2, 3)]);
    const pairs = withHidden([seen, nvmlOnly(1)], hidden);
    expect(pairs).toEqual([
      seen,
      { cuda: device(0, 1), nvml: nvmlOnly(1).nvml, hidden: true },
      { cuda: device(2, 3), nvml: null, hidden: true },
    ]);
    expect(pairs.map((pair) => visibility(pair, report([device(0, 2)]), hidden).visible)).toEqual([true, false, false]);
  });

  it('are all of them if CUDA works, shows none, and another source knows some', () => {
    vi.stubEnv('CUDA_VISIBLE_DEVICES', '');
    expect(hidesEveryDevice(nothing, null, [nvmlOnly(1)])).toBe(true);
    expect(hidesEveryDevice(nothing, null, [])).toBe(false);
    expect(hidesEveryDevice(nothing, nothing, [nvmlOnly(1)])).toBe(false); // without the variable, too
    expect(hidesEveryDevice(report([device(0, 1)]), null, [])).toBe(false);
  });

  it('are not asked for in the normal case', async () => {
    vi.stubEnv('CUDA_VISIBLE_DEVICES', undefined);
    expect(await readHidden(nothing, nvml, [nvmlOnly(1)], 1)).toBeNull();
    vi.stubEnv('CUDA_VISIBLE_DEVICES', '0,1');
    expect(await readHidden(report([device(0, 1)]), nvml, [{ cuda: device(0, 1), nvml: null }], 1)).toBeNull();
    expect(await readHidden({ ...nothing, timedOut: NO_DEVICE }, nvml, [nvmlOnly(1)], 1)).toBeNull();
  });

  it('are told from devices that CUDA does not list for another reason, and from silence', () => {
    vi.stubEnv('CUDA_VISIBLE_DEVICES', undefined);
    expect(visibility(nvmlOnly(1), report([]), null)).toMatchObject({
      visible: false,
      from: 'CUDA does not list it, and CUDA_VISIBLE_DEVICES is not set',
    });
    const { deviceCount: _, ...silent } = report([]);
    expect(visibility(nvmlOnly(1), silent, null)).toEqual({ visible: null, from: 'CUDA is not installed' });
    vi.stubEnv('CUDA_VISIBLE_DEVICES', '0');
    expect(visibility(nvmlOnly(1), report([]), report([])).from).toBe(
      'CUDA does not list it, also without CUDA_VISIBLE_DEVICES',
    );
    expect(visibility(nvmlOnly(1), report([]), 'it hung').from).toContain('it hung');
  });
});
