/** Failures as the binary returns them. */
import type { Failure } from '../../lib/base/errors.ts';

export function nvmlFailure(name: string, status: number, call = 'nvmlDeviceGetMemoryInfo_v2'): Failure {
  return { failed: true, source: 'nvml', call, status, name, message: '' };
}

export function kernelFailure(name: string, call = 'write'): Failure {
  return { failed: true, source: 'kernel', call, status: 1, name, message: '' };
}

export function timeout(call: string): Failure {
  return { failed: true, source: 'umaprobe', call, status: null, name: 'TIMEOUT', message: 'no answer in time' };
}
