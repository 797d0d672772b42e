/** The options of processes(). */

import { milliseconds, type OptionsOf, signal } from '../../base/options.ts';
import { MEMORY } from '../snapshot/options.ts';

/** Options of `processes()`. */
export interface ProcessesOptions extends OptionsOf<typeof PROCESSES> {}

export const PROCESSES = {
  /**
   * Time limit for the exact figures (PSS, from `/proc/<pid>/smaps_rollup`), in milliseconds, 0 to 60,000; default 1000. The largest
   * processes come first; the others keep the figures of `/proc/<pid>/status`.
   */
  pssLimitMs: milliseconds({
    min: 0,
    max: 60_000,
    default: 1000,
    help: 'Time limit for exact figures (PSS), the largest processes first',
  }),
  /** Time limit for NVML, in milliseconds; default 2000. Without an answer `gpuBytes` is null. */
  deadlineMs: MEMORY.deadlineMs,
  /** Ends the reading: rejects with the signal's reason. */
  signal,
};
