/** What the verdict says of GPUs and libraries that fail: level, sentence, and what to do. */
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../lib/base/errors.ts';
import { meaningOf } from '../../../lib/memory/driver-status.ts';
import { health } from '../../../lib/memory/health.ts';
import { callFailure } from '../../../lib/snapshot/failures.ts';
import type { LibraryStatus, Snapshot } from '../../../lib/types/index.ts';
import { cudaFailure, deviceFailure, nvmlFailure, timeout } from '../../support/failures.ts';
import { type MachineFixture, snapshotOf } from '../../support/snapshots.ts';
import { GiB } from '../../support/units.ts';

const TWO: MachineFixture = { model: 'discrete', ownFree: [100 * GiB, 100 * GiB] };

/** A machine with failed calls on one device. */
function withFailures(failures: [path: string, failure: Failure][], fixture: MachineFixture = {}, index = 0): Snapshot {
  const snapshot = snapshotOf(fixture);
  snapshot.devices[index]?.failures.push(...failures.map(([path, failure]) => deviceFailure(path, failure)));
  return snapshot;
}

function withLibrary(library: 'cuda' | 'nvml', failure: Failure | null, fixture: MachineFixture = {}): Snapshot {
  const snapshot = snapshotOf(fixture);
  const status: Partial<LibraryStatus> =
    failure === null
      ? { state: 'missing', path: null, reason: 'ERR_UMA_LIBRARY_MISSING: not found' }
      : { state: 'unusable', failure: callFailure(library, failure), reason: 'ERR_UMA_X' };
  Object.assign(snapshot.libraries[library], status);
  return snapshot;
}

const HANDLE = 'nvmlDeviceGetHandleByIndex_v2';

describe('verdict over failing GPUs and libraries', () => {
  it.each<[string, Snapshot, 'notice' | 'warning', RegExp, RegExp]>([
    [
      'a context that is refused as busy',
      withFailures([['cuda', cudaFailure('cudaErrorDevicesUnavailable', 46)]]),
      'warning',
      /^GPU 0: no CUDA program can use it, because the GPU is busy or unavailable: .*\(cudaMemGetInfo answered cudaErrorDevicesUnavailable, 46\)\.$/,
      /COMPUTE,PIDS/,
    ],
    [
      'no memory for a context on a machine with much',
      withFailures([['cuda', cudaFailure('cudaErrorMemoryAllocation', 2)]]),
      'warning',
      /no CUDA context can be created, because the driver found no memory for it, though 111\.8 GiB are available/,
      /^free pages for it: sync; echo 1/,
    ],
    [
      'no memory for a context on a GPU that is full',
      withFailures([['cuda', cudaFailure('cudaErrorMemoryAllocation', 2)]], { model: 'discrete', ownFree: [0] }),
      'warning',
      /found no memory for it, though 0 B are available/,
      /^stop a program that holds memory of this GPU$/,
    ],
    [
      'one of two GPUs lost',
      withFailures([['nvml', nvmlFailure('GPU_IS_LOST', 15, HANDLE)]], TWO, 1),
      'warning',
      /^GPU 1 is lost: it has fallen off the bus, or it no longer answers \(nvmlDeviceGetHandleByIndex_v2 answered GPU_IS_LOST, 15\)\. GPU 0 answers\.$/,
      /Xid .*reboot/,
    ],
    [
      'lost in the middle of its readings',
      withFailures([['powerW', nvmlFailure('GPU_IS_LOST', 15, 'nvmlDeviceGetPowerUsage')]]),
      'warning',
      /^GPU 0 is lost/,
      /reboot/,
    ],
    [
      'a GPU that must be reset',
      withFailures([['nvml', nvmlFailure('RESET_REQUIRED', 16)]]),
      'warning',
      /^GPU 0 must be reset: an error has stopped it/,
      /gpu-reset/,
    ],
    [
      'a handle that fails for no reason',
      withFailures([['nvml', nvmlFailure('UNKNOWN', 999, HANDLE)]]),
      'warning',
      /^NVML cannot reach GPU 0: .*the GPU may be lost/,
      /Xid/,
    ],
    [
      'single readings',
      withFailures([['processes', nvmlFailure('NO_PERMISSION', 4, 'nvmlDeviceGetComputeRunningProcesses_v3')]]),
      'notice',
      /^GPU 0 does not report its processes: this user has no permission/,
      /rights/,
    ],
    [
      'cuInit fails beside NVML',
      withLibrary('cuda', cudaFailure('CUDA_ERROR_UNKNOWN', 999, 'cuInit')),
      'warning',
      /^CUDA cannot be used: the driver gives no reason: a GPU may be lost.*\(cuInit answered CUDA_ERROR_UNKNOWN, 999\)\. No program can use the GPU\.$/,
      /Xid/,
    ],
    [
      'cuInit and NVML fail, so no device is listed',
      withLibrary('cuda', cudaFailure('CUDA_ERROR_UNKNOWN', 999, 'cuInit'), { gpu: false }),
      'warning',
      /^CUDA cannot be used/,
      /Xid/,
    ],
    [
      'no GPU, with the driver installed',
      withLibrary('cuda', cudaFailure('CUDA_ERROR_NO_DEVICE', 100, 'cuInit'), { gpu: false }),
      'notice',
      /^No GPU: CUDA cannot be used, NVML is not installed/,
      /--sim gb10/,
    ],
    [
      'libraries newer than the loaded module',
      withLibrary('nvml', nvmlFailure('LIB_RM_VERSION_MISMATCH', 18, 'nvmlInit_v2')),
      'warning',
      /^NVML cannot be used: the driver's libraries and the loaded kernel module have different versions.* Which programs hold GPU memory is not known\.$/,
      /^reboot this machine$/,
    ],
    ['no NVML', withLibrary('nvml', null), 'notice', /^NVML is not installed here: which programs/, /libnvidia-ml/],
    ['no CUDA', withLibrary('cuda', null), 'warning', /^There is a GPU, but CUDA is not installed/, /libcuda/],
    [
      'a hang in a call for one device',
      withFailures([['nvml', timeout('nvmlDeviceGetMemoryInfo_v2')]]),
      'warning',
      /^NVML did not answer within 2\.00 s/,
      /check again/,
    ],
  ])('%s', (_, snapshot, level, text, next) => {
    expect(health(snapshot)).toMatchObject({
      level,
      text: expect.stringMatching(text),
      next: expect.stringMatching(next),
    });
    expect(health(snapshot).next).not.toMatch(/install the NVIDIA driver/i);
  });

  it('GPUs with the same failure share a sentence', () => {
    const lost = nvmlFailure('GPU_IS_LOST', 15, HANDLE);
    const snapshot = withFailures([['nvml', lost]], { model: 'discrete', ownFree: [GiB, GiB, GiB, GiB] });
    snapshot.devices[2]?.failures.push(deviceFailure('nvml', lost));
    expect(health(snapshot).text).toMatch(/^GPU 0 is lost: [^.]*\. The same on GPU 2\. GPU 1 and 3 answer\.$/);
  });

  it('a driver updated without a reboot, and a runtime that is too new', () => {
    const module = snapshotOf();
    module.driver.version = '580.173.02';
    expect(health(module)).toMatchObject({ level: 'warning', text: expect.stringMatching(/without a reboot/) });
    const runtime = snapshotOf();
    runtime.libraries.cuda.version = '14.0';
    expect(health(runtime)).toMatchObject({ level: 'warning', text: expect.stringMatching(/newer than the driver/) });
  });

  it('a notice hides no warning, a warning no danger', () => {
    const lost: [string, Failure][] = [['nvml', nvmlFailure('GPU_IS_LOST', 15, HANDLE)]];
    expect(health(withFailures(lost, { full: 40, host: { available: GiB, free: GiB } })).level).toBe('danger');
    const cached = { host: { free: 8 * GiB, cached: 100 * GiB, available: 108 * GiB } };
    expect(health(withFailures(lost, cached)).text).toMatch(/^GPU 0 is lost/);
    const quiet = withFailures([['temperatureC', nvmlFailure('NO_PERMISSION', 4)]], { largeShare: 0.01 });
    expect(health(quiet).text).toMatch(/^Free memory is fragmented/);
  });

  it('does not say that nothing stands in the way where that is not known', () => {
    const blind = snapshotOf();
    blind.contiguity = null;
    blind.from.contiguity = 'open /proc/buddyinfo: ENOENT';
    expect(health(blind)).toMatchObject({
      level: 'notice',
      text: '102.8 GiB can be loaded on the GPU, but whether free memory is fragmented is not known (open /proc/buddyinfo: ENOENT).',
    });
    const [device] = blind.devices;
    Object.assign(device ?? {}, { memoryModel: 'unknown', cuda: { free: GiB, total: 4 * GiB } });
    expect(health(blind)).toMatchObject({
      level: 'notice',
      text: expect.stringMatching(/but whether GPU 0 shares the host/),
    });
    const discrete = snapshotOf({ model: 'discrete' });
    discrete.contiguity = null;
    expect(health(discrete).level).toBe('ok');
  });
});

describe('the meaning of a status', () => {
  it.each([
    ['cuda', [2, 3, 34, 35, 36, 46, 100, 101, 102, 214, 220, 304, 700, 719, 800, 802, 803, 804, 805, 809, 999]],
    ['nvml', [4, 8, 9, 11, 12, 14, 15, 16, 17, 18, 19, 20, 27, 999]],
  ] as const)('%s: each known status has a cause of its own and a remedy, as clauses', (library, statuses) => {
    for (const status of statuses) {
      const { cause, remedy } = meaningOf({ library, status, name: 'X' });
      expect(cause, String(status)).toMatch(/^[^A-Z].{15,}[^.]$/);
      expect(cause).not.toMatch(/gives X/);
      expect(remedy, String(status)).toMatch(/^[a-z].*[^.]$/);
    }
  });

  it('says to install a driver only where one may be missing', () => {
    const all = Array.from({ length: 1000 }, (_, status) => status);
    const installs = (library: 'cuda' | 'nvml') =>
      all.filter((status) =>
        /install (or update )?the (NVIDIA )?driver/.test(meaningOf({ library, status, name: 'X' }).remedy),
      );
    expect(installs('cuda')).toEqual([35]);
    expect(installs('nvml')).toEqual([9, 12]);
  });

  it('names an unknown status', () => {
    expect(meaningOf({ library: 'cuda', status: 718, name: 'CUDA_ERROR_718' }).cause).toContain('CUDA_ERROR_718');
  });
});
