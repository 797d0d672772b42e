/** Failures as the binary returns them. */
import type { Failure } from '../../lib/base/errors.ts';
import { callFailure } from '../../lib/core/snapshot/failures.ts';
import type { DeviceFailure } from '../../lib/types/index.ts';

export function nvmlFailure(name: string, status: number, call = 'nvmlDeviceGetMemoryInfo_v2'): Failure {
  return { failed: true, source: 'nvml', call, status, name, message: '' };
}

export function kernelFailure(name: string, call = 'write'): Failure {
  return { failed: true, source: 'kernel', call, status: 1, name, message: '' };
}

export function timeout(call: string, ms = 2000): Failure {
  const message = `no answer within ${ms} ms`;
  return { failed: true, source: 'umaprobe', call, status: null, name: 'TIMEOUT', message };
}

export function cudaFailure(name: string, status: number, call = 'cudaMemGetInfo'): Failure {
  return { failed: true, source: 'cudart', call, status, name, message: '' };
}

/** The failed call of a device, as a snapshot lists it. */
export function deviceFailure(path: string, failure: Failure): DeviceFailure {
  return { path, ...callFailure(failure.call.startsWith('nvml') ? 'nvml' : 'cuda', failure) };
}
