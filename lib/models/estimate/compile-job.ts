import { GiB } from '../../base/format.ts';

/** Bytes of one compiler of kernels, as reported of a GB10: 3 to 8 GiB (flashinfer #3634). */
export const COMPILE_JOB = { low: 3 * GiB, bytes: 5 * GiB, high: 8 * GiB };
