/** The status of CUDA and NVML as libraries: opened or not, versions, reasons. */

import type { Failure } from '../../base/errors.ts';
import { isFailure, reason } from '../../base/facts.ts';
import type { LibraryStatus } from '../../types/index.ts';
import type { NativeCudaReport, NativeLibrary, NativeNvmlReport } from '../native/contract.ts';
import { callFailure } from './failures.ts';

/** CUDA's integer version: 13000 is "13.0", 12080 is "12.8". */
function cudaVersion(number: number): string {
  return `${Math.floor(number / 1000)}.${Math.floor((number % 1000) / 10)}`;
}

const known = <T>(fact: unknown, format: (value: T) => string): string | null =>
  fact === undefined || isFailure(fact) ? null : format(fact as T);

/**
 * Status of the CUDA runtime library, else of the driver library: the first that was opened.
 *
 * @param hidesAll CUDA_VISIBLE_DEVICES hides every device: CUDA answers that there is none, and works.
 */
export function cudaLibrary(report: NativeCudaReport, hidesAll = false): LibraryStatus {
  const path =
    [report.runtime, report.driver].find(isUsable)?.path ?? report.runtime.path ?? report.driver.path ?? null;
  const versions = {
    path,
    version: known(report.runtimeVersion, cudaVersion),
    driverVersion: known(report.driverVersion, cudaVersion),
  };
  const opened = [report.runtime, report.driver].some(isUsable);
  if (report.timedOut !== null && typeof report.deviceCount !== 'number')
    return { state: lateOrUnusable(report.timedOut), ...versions, ...because('cuda', report.timedOut) };
  if (path === null)
    return { state: 'missing', ...versions, reason: reasons([report.runtime, report.driver]), failure: null };
  if (!opened) {
    // The driver's own answer says more: the runtime passes it on, or says 35 where the driver is missing.
    const failure = [report.driver, report.runtime].find(({ path, failure }) => path !== undefined && failure)?.failure;
    return {
      state: 'unusable',
      ...versions,
      reason: reasons([report.runtime, report.driver]),
      failure: failure === undefined ? null : callFailure('cuda', failure),
    };
  }
  if (isFailure(report.deviceCount) && !hidesAll)
    return { state: 'unusable', ...versions, ...because('cuda', report.deviceCount) };
  return { state: 'loaded', ...versions, reason: null, failure: null };
}

function isUsable({ failure, path }: NativeLibrary): boolean {
  return path !== undefined && failure === undefined;
}

function because(library: 'cuda' | 'nvml', failure: Failure): Pick<LibraryStatus, 'reason' | 'failure'> {
  return { reason: reason(failure), failure: callFailure(library, failure) };
}

/** A reading also has no answer where no thread could be started for it. */
function lateOrUnusable({ name }: Failure): 'timeout' | 'unusable' {
  return name === 'TIMEOUT' ? 'timeout' : 'unusable';
}

export function nvmlLibrary(report: NativeNvmlReport): LibraryStatus {
  const versions = {
    path: report.library.path ?? null,
    version: known<string>(report.nvmlVersion, String),
    driverVersion: known<string>(report.driverVersion, String),
  };
  if (report.timedOut !== null && typeof report.deviceCount !== 'number')
    return { state: lateOrUnusable(report.timedOut), ...versions, ...because('nvml', report.timedOut) };
  const { failure } = report.library;
  if (failure !== undefined && versions.path === null)
    return { state: 'missing', ...versions, reason: reason(failure), failure: null };
  if (failure !== undefined) return { state: 'unusable', ...versions, ...because('nvml', failure) };
  if (isFailure(report.deviceCount)) return { state: 'unusable', ...versions, ...because('nvml', report.deviceCount) };
  return { state: 'loaded', ...versions, reason: null, failure: null };
}

function reasons(libraries: NativeLibrary[]): string {
  const failures = libraries.map((library) => library.failure).filter((failure) => failure !== undefined);
  return failures.length === 0 ? 'ERR_UMA_LIBRARY_MISSING: nothing was tried' : failures.map(reason).join('; ');
}

/** Returns why no device is listed, in one line. */
export function whyNoDevices(cuda: LibraryStatus, nvml: LibraryStatus): string {
  const state = (name: string, status: LibraryStatus) =>
    `${name} ${status.state === 'loaded' ? 'sees no device' : `is ${status.state}: ${status.reason}`}`;
  return `${state('CUDA', cuda)}. ${state('NVML', nvml)}`;
}
