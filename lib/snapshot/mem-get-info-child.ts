/** Runs mem-get-info-worker.ts, which reads `cudaMemGetInfo`, in a child process. */

import { runWorker } from './worker-process.ts';

/** Output of the child: one line of JSON per device, in the order asked, each printed as soon as it is known. */
export type ChildLine = { ordinal: number } & (
  | {
      free: number;
      total: number;
      /** Memory of the child process by NVML, which is its CUDA context. null: unknown. */
      ownBytes: number | null;
    }
  | { failure: string }
);

export interface ChildAnswer {
  lines: ChildLine[];
  /** Reason for every device without a line. */
  missingReason: string;
}

/**
 * `cudaMemGetInfo` of the given devices, read in a short-lived child process, whose CUDA context (527 MiB on an H200) is
 * gone when it exits.
 *
 * @throws UmaError if the child cannot be started.
 */
export async function readMemGetInfoInChild(ordinals: readonly number[], deadlineMs: number): Promise<ChildAnswer> {
  const { lines, missingReason } = await runWorker('mem-get-info-worker', [String(deadlineMs), ordinals.join()], {
    deadlineMs,
    environment: process.env,
    purpose: 'cudaMemGetInfo',
  });
  return { lines: lines.map((line) => JSON.parse(line) as ChildLine), missingReason };
}
