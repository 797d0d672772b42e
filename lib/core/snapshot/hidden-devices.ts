/**
 * The GPUs that CUDA_VISIBLE_DEVICES hides from this process. The variable is an answer about the caller, not about the
 * machine: a child process without it asks CUDA for the rest.
 */

import { errorCode, UmaError } from '../../base/errors.ts';
import { isFailure, reason } from '../../base/facts.ts';
import type { NativeCudaReport, NativeNvmlReport } from '../native/contract.ts';
import { type DevicePair, isSameGpu } from './pairs.ts';

/** The variable of this process. CUDA reads it once, when it is initialized. */
export function visibleDevices(): string | null {
  return process.env.CUDA_VISIBLE_DEVICES ?? null;
}

/** CUDA itself works, and sees no device. */
function seesNoDevice({ deviceCount }: NativeCudaReport): boolean {
  return deviceCount === 0 || (isFailure(deviceCount) && errorCode(deviceCount) === 'ERR_UMA_NO_DEVICE');
}

/** True if a device may be missing from CUDA's answer because of the variable. */
function mayHideOne(cuda: NativeCudaReport, nvml: NativeNvmlReport, pairs: readonly DevicePair[]): boolean {
  if (visibleDevices() === null || cuda.timedOut !== null) return false;
  if (seesNoDevice(cuda)) return true;
  // Only NVML, if it answers, says how many devices there are.
  return (
    typeof cuda.deviceCount === 'number' && (nvml.deviceCount === undefined || pairs.some((pair) => pair.cuda === null))
  );
}

/** The child's report; or why there is none; null: no child is needed. */
export type HiddenReport = NativeCudaReport | string | null;

/** The devices of a machine do not change: a reading every second starts one child, not one a second. */
let answer: { key: string; report: NativeCudaReport } | null = null;

export async function readHidden(
  cuda: NativeCudaReport,
  nvml: NativeNvmlReport,
  pairs: readonly DevicePair[],
  deadlineMs: number,
): Promise<HiddenReport> {
  if (!mayHideOne(cuda, nvml, pairs)) return null;
  const key = JSON.stringify([visibleDevices(), pairs.map((pair) => [pair.cuda?.pciBusId, pair.nvml?.pciBusId])]);
  if (answer?.key === key) return answer.report;
  const report = await askWithoutVariable(deadlineMs).catch((error: unknown) => {
    if (error instanceof UmaError) return `${error.code}: ${error.message}`;
    throw error;
  });
  if (typeof report === 'string') return report;
  if (report.timedOut === null) answer = { key, report };
  return report;
}

async function askWithoutVariable(deadlineMs: number): Promise<NativeCudaReport | string> {
  const { runWorker } = await import('./worker-process.ts'); // node:child_process costs 3 ms to load
  const { CUDA_VISIBLE_DEVICES: _, ...environment } = process.env;
  const { lines, missing } = await runWorker('hidden-devices-worker', [String(deadlineMs)], {
    deadlineMs,
    environment,
    purpose: 'CUDA without CUDA_VISIBLE_DEVICES',
  });
  const [line] = lines;
  if (line !== undefined) return JSON.parse(line) as NativeCudaReport;
  return isFailure(missing) ? reason(missing) : missing;
}

/** The pairs with what CUDA says of hidden devices; devices that only the child sees come last. */
export function withHidden(pairs: readonly DevicePair[], hidden: HiddenReport): DevicePair[] {
  if (hidden === null || typeof hidden === 'string') return [...pairs];
  const filled = pairs.map((pair): DevicePair => {
    if (pair.cuda !== null) return pair;
    const found = hidden.devices.find((device) => isSameGpu(device, pair.nvml));
    return found === undefined ? pair : { ...pair, cuda: found, hidden: true };
  });
  const others = hidden.devices.filter(
    (device) => !filled.some((pair) => isSameGpu(device, pair.cuda) || isSameGpu(device, pair.nvml)),
  );
  return [...filled, ...others.map((cuda): DevicePair => ({ cuda, nvml: null, hidden: true }))];
}

/** True if CUDA works and sees no device because of the variable. NVML's devices say so if no child answered. */
export function hidesEveryDevice(cuda: NativeCudaReport, hidden: HiddenReport, pairs: readonly DevicePair[]): boolean {
  if (visibleDevices() === null || !seesNoDevice(cuda)) return false;
  return hidden === null ? pairs.length > 0 : pairs.some((pair) => pair.hidden === true);
}

/** Tells that CUDA in this process lists a device, or why it does not. */
export function visibility(
  pair: DevicePair,
  cuda: NativeCudaReport,
  hidden: HiddenReport,
): { visible: boolean | null; from: string } {
  if (pair.cuda !== null && pair.hidden !== true) return { visible: true, from: 'CUDA lists it' };
  const variable = visibleDevices();
  if (pair.hidden === true)
    return { visible: false, from: `CUDA_VISIBLE_DEVICES=${JSON.stringify(variable)} hides it` };
  if (typeof cuda.deviceCount !== 'number' && !seesNoDevice(cuda)) {
    const why = cuda.timedOut ?? cuda.deviceCount;
    return { visible: null, from: isFailure(why) ? reason(why) : 'CUDA is not installed' };
  }
  if (variable === null) return { visible: false, from: 'CUDA does not list it, and CUDA_VISIBLE_DEVICES is not set' };
  if (hidden === null)
    return { visible: false, from: `CUDA does not list it; CUDA_VISIBLE_DEVICES is ${JSON.stringify(variable)}` };
  return {
    visible: false,
    from:
      typeof hidden === 'string'
        ? `CUDA does not list it; without CUDA_VISIBLE_DEVICES: ${hidden}`
        : 'CUDA does not list it, also without CUDA_VISIBLE_DEVICES',
  };
}
