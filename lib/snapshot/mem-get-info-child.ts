/** Runs mem-get-info-worker.ts, which reads `cudaMemGetInfo`, in a child process. */

import type { Failure } from '../base/errors.ts';
import { runWorker } from './worker-process.ts';

/** The devices that the child asks: all, those with memory of their own, or some ordinals. */
export type ChildDevices = 'all' | 'own memory' | readonly number[];

/** Output of the child: one line of JSON per device, in the order asked, each printed as soon as it is known. */
export type ChildLine = { ordinal: number } & (
  | {
      free: number;
      total: number;
      /**
       * Memory of the child process by NVML, which is its CUDA context. null: unknown, or not asked, because the device
       * has memory of its own.
       */
      ownBytes: number | null;
    }
  | { failure: Failure }
);

export interface ChildAnswer {
  lines: ChildLine[];
  /** Why a device has no line: CUDA failed or hung, or (a sentence) the child did not get as far as CUDA. */
  missing: Failure | string;
}

/**
 * `cudaMemGetInfo` of the given devices, read in a short-lived child process, whose CUDA context (527 MiB on an H200) is
 * gone when it exits.
 *
 * @param signal ends the child early; the answer then has the lines so far.
 * @throws UmaError if the child cannot be started.
 */
export async function readMemGetInfoInChild(
  devices: ChildDevices,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<ChildAnswer> {
  const { lines, missing } = await runWorker('mem-get-info-worker', [String(deadlineMs), String(devices)], {
    deadlineMs,
    environment: process.env,
    purpose: 'cudaMemGetInfo',
    signal,
  });
  return { lines: lines.map((line) => JSON.parse(line) as ChildLine), missing };
}
