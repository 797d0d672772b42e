/** The failed calls of a library and of a device, as the report lists them. */

import type { Failure } from '../../base/errors.ts';
import { isFailure, reason } from '../../base/facts.ts';
import { DEVICE_ATTRIBUTES } from '../../types/device.ts';
import type { CallFailure, DeviceFailure } from '../../types/index.ts';
import type { NativeCudaDevice, NativeNvmlDevice } from '../native/contract.ts';

/** CUDA refuses an attribute that it does not know as an invalid value. */
const CUDA_INVALID_VALUE = 1;
const CUDA_NOT_SUPPORTED = 801;
const NVML_NOT_SUPPORTED = 3;
const NVML_FUNCTION_NOT_FOUND = 13;

/** Fields of the binary's NVML device that have another name in the report. */
const NVML_PATHS: Readonly<Record<string, string>> = { memory: 'nvml', powerMilliwatt: 'powerW' };

export function callFailure(library: CallFailure['library'], failure: Failure): CallFailure {
  const { call, name, status } = failure;
  return { library, call, status, name, reason: reason(failure) };
}

/** Facts of one device from the binary and the child. */
export interface DeviceFacts {
  cuda: NativeCudaDevice | null;
  nvml: NativeNvmlDevice | null;
  /** Failure of cudaMemGetInfo or of the context that it needs; null: none. */
  memGetInfo: Failure | null;
  /** Calls that did not return before the deadline while this device's part was incomplete. */
  timedOut: { cuda: Failure | null; nvml: Failure | null };
}

/**
 * Each failed call once, for the first property that it left null. Memory comes first, because it matters most; a
 * device without a handle has one failure.
 */
export function deviceFailures({ cuda, memGetInfo, nvml, timedOut }: DeviceFacts): DeviceFailure[] {
  const found: DeviceFailure[] = [];
  add(found, 'cuda', 'cuda', memGetInfo);
  if (cuda !== null) {
    for (const name of DEVICE_ATTRIBUTES) {
      const fact = cuda.attributes?.[name];
      if (isFailure(fact)) add(found, 'cuda', `attributes.${name}`, fact);
    }
    add(found, 'cuda', 'computeCapability', cuda.computeCapability);
    add(found, 'cuda', 'name', cuda.name);
    add(found, 'cuda', 'uuid', cuda.uuid);
    add(found, 'cuda', 'pciBusId', cuda.pciBusId);
  }
  add(found, 'cuda', 'memoryModel', timedOut.cuda);
  if (nvml !== null) {
    add(found, 'nvml', 'nvml', nvml.memory);
    for (const [key, fact] of Object.entries(nvml)) {
      const isLater = key === 'name' || key === 'uuid' || key === 'pciBusId';
      if (!isLater) add(found, 'nvml', NVML_PATHS[key] ?? key, fact);
    }
    add(found, 'nvml', 'name', nvml.name);
    add(found, 'nvml', 'uuid', nvml.uuid);
    add(found, 'nvml', 'pciBusId', nvml.pciBusId);
  }
  add(found, 'nvml', 'nvml', timedOut.nvml);
  return found;
}

function add(found: DeviceFailure[], library: CallFailure['library'], path: string, fact: unknown): void {
  if (isFailure(fact) && !isOrdinary(library, fact)) addOnce(found, { path, ...callFailure(library, fact) });
}

function addOnce(found: DeviceFailure[], failure: DeviceFailure): void {
  const isSame = ({ call, library, name, status }: DeviceFailure) =>
    library === failure.library && call === failure.call && status === failure.status && name === failure.name;
  if (!found.some(isSame)) found.push(failure);
}

/** Functions that every version of the libraries has, and without which nothing about a device is read. */
const ESSENTIAL: readonly string[] = [
  'cuInit',
  'cuDeviceGet',
  'cuDeviceGetAttribute',
  'cudaDeviceGetAttribute',
  'nvmlDeviceGetHandleByIndex_v2',
];

/** The device or the library does not have the value; nothing is wrong. */
function isOrdinary(library: CallFailure['library'], { call, name, status }: Failure): boolean {
  if (name === 'SYMBOL_MISSING') return !ESSENTIAL.includes(call);
  return library === 'cuda'
    ? status === CUDA_INVALID_VALUE || status === CUDA_NOT_SUPPORTED
    : status === NVML_NOT_SUPPORTED || status === NVML_FUNCTION_NOT_FOUND;
}
