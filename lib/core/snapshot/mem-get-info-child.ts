/** Runs mem-get-info-worker.ts, which reads `cudaMemGetInfo`, in a child process. */

import type { Failure } from '../../base/errors.ts';
import { runWorker } from './worker-process.ts';

/** Output of the child: one line of JSON per device, in the order asked, each printed as soon as it is known. */
export type ChildLine = { ordinal: number } & (
  | {
      free: number;
      total: number;
      /** Memory of the child process by NVML, which is its CUDA context. null: unknown. */
      ownBytes: number | null;
    }
  | { failure: Failure }
);

export interface ChildAnswer {
  lines: ChildLine[];
  /** The reason why a device has no line: CUDA failed or hung, or (a sentence) the child did not get as far as CUDA. */
  missing: Failure | string;
}

/**
 * `cudaMemGetInfo` of the given devices, read in a short-lived child process, whose CUDA context (527 MiB on an H200) is
 * gone when it exits.
 *
 * @throws UmaError if the child cannot be started.
 */
export async function readMemGetInfoInChild(ordinals: readonly number[], deadlineMs: number): Promise<ChildAnswer> {
  const { lines, missing } = await runWorker('mem-get-info-worker', [String(deadlineMs), ordinals.join()], {
    deadlineMs,
    environment: process.env,
    purpose: 'cudaMemGetInfo',
  });
  return { lines: lines.map((line) => JSON.parse(line) as ChildLine), missing };
}
