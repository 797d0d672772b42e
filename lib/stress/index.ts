import type { StressOptions, StressReport } from '../types/index.ts';

/** Loaded by the first call: a program that only imports umaprobe should not pay for it. */
let runStress: typeof import('./run.ts').runStress | undefined;

/**
 * The most memory that can be allocated, found without taking the host over the edge: in a child process that can be
 * killed, each step predicted and checked before it is made, with a native thread that stops it without JavaScript, and a
 * journal on disk that names the step if the machine vanishes all the same. How it ends is a result (`state`), no error.
 *
 * @throws UmaError `ERR_UMA_FLOOR`: the machine is not fit for it (below the floor, under pressure, fragmented, swapping)
 *   and nothing was allocated. `ERR_UMA_JOURNAL`: the journal cannot be used. `ERR_UMA_BUSY`: another test is going on.
 *   `ERR_UMA_NO_DEVICE`, `ERR_UMA_LIBRARY_MISSING`, `ERR_UMA_DRIVER_UNUSABLE`: no such device, no CUDA.
 *   `ERR_UMA_NOT_SUPPORTED`: the kind, or verification, is not supported there. TypeError/RangeError for bad options.
 */
export async function stress(options: StressOptions = {}): Promise<StressReport> {
  runStress ??= (await import('./run.ts')).runStress;
  return runStress(options);
}
