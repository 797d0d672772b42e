/** Failures as the binary returns them. */
import type { NativeFailure } from '../../lib/native/contract.ts';

export function nvmlFailure(name: string, status: number, call = 'nvmlDeviceGetMemoryInfo_v2'): NativeFailure {
  return { failed: true, source: 'nvml', call, status, name, message: '' };
}

export function kernelFailure(name: string, call = 'write'): NativeFailure {
  return { failed: true, source: 'kernel', call, status: 1, name, message: '' };
}

export function timeout(call: string): NativeFailure {
  return { failed: true, source: 'umaprobe', call, status: null, name: 'TIMEOUT', message: 'no answer in time' };
}
