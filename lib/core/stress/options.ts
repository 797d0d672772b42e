/** The options of a stress test; chunk and resolution depend on the device. */

import { checkBytes, outOfRange } from '../../base/arguments.ts';
import { GiB, MiB } from '../../base/format.ts';
import { ANY_BYTES, LIMITS, SOME_BYTES } from '../../base/limits.ts';
import {
  bytes,
  type CheckedOf,
  callback,
  custom,
  flag,
  milliseconds,
  type OptionsOf,
  withDefault,
} from '../../base/options.ts';
import type { AllocatorKind, MemoryModel, StressEvent } from '../../types/index.ts';
import { staysOnDevice } from '../memory/kinds.ts';
import { DEFAULT_SHARE_TEXT, MIN_SHARE } from '../memory/others.ts';
import { kind, PROBE, type ProbeOptions } from '../probe/options.ts';

const LEAST = `${MIN_SHARE / MiB}MiB`;

/** Options of `stress()`. */
export interface StressOptions extends OptionsOf<typeof OWN>, ProbeOptions {}
export type CheckedStressOptions = CheckedOf<typeof STRESS>;

const OWN = {
  /** Default `device`. */
  kind,
  /** Search for the largest single block instead of the largest total. */
  single: flag({ help: 'The largest single block instead of the total' }),
  /** Stop at this size: 1 to 2^53 − 1 bytes. The `maxBytes` of the report never exceeds it. */
  maxBytes: bytes({ ...SOME_BYTES, default: null, help: 'Stop at this size' }),
  /** Largest step, in bytes: 2 MiB to 64 GiB. Default 4 GiB, and 32 GiB for a device's own memory. */
  // Smaller than the driver's smallest block a step measures nothing; larger, it cannot be stopped soon.
  chunkBytes: bytes({
    min: 2 * MiB,
    max: 64 * GiB,
    default: null,
    help: 'Largest step',
    usually: '4GiB on unified memory',
  }),
  /**
   * Memory of the device that stays free for its other users, in bytes: 0 to 2^53 − 1. Default, if there are any: the
   * larger of 1 GiB and 10 % of what they hold. At least 256 MiB unless `acceptThatOthersRunOut`.
   */
  shareBytes: custom(checkShare, {
    form: 'size',
    range: ANY_BYTES,
    default: null,
    help: 'Memory of the GPU left free for its other users',
    usually: `${DEFAULT_SHARE_TEXT}; at least ${LEAST}`,
    refuse: (share, { acceptThatOthersRunOut }) =>
      share < MIN_SHARE && acceptThatOthersRunOut !== true
        ? `is below ${LEAST}: the GPU's other users fail without memory. Give a larger share, or add --i-accept-that-others-run-out.`
        : null,
  }),
  /** Allow `shareBytes` below 256 MiB: the other users of the device may then fail for lack of memory. */
  acceptThatOthersRunOut: flag({
    flag: 'i-accept-that-others-run-out',
    help: `Accept a share below ${LEAST}: the GPU's other users may fail for lack of memory`,
  }),
  /** Fill every byte with a pattern on the device, read it back there and compare. */
  verify: flag({ help: 'Have the GPU read every byte back and compare' }),
  /** Time for which the maximum is held, in milliseconds: 0 to 86400000. Default 0. */
  holdMs: milliseconds({ ...LIMITS.holdMs, default: 0, help: 'Hold the maximum for this time' }),
  /** Start below the step in which an earlier run was lost (see `unfinished`). */
  resume: flag({ help: 'Start below the step at which an earlier run was lost' }),
  /** Called with each event. The first allocation waits for a promise of `started`; an error ends the run and is thrown. */
  onEvent: callback<(event: StressEvent) => void | Promise<void>>(),
};
export const STRESS = { ...OWN, ...PROBE, timeoutMs: withDefault(PROBE.timeoutMs, 600_000) };

function checkShare(
  name: string,
  value: unknown,
  { acceptThatOthersRunOut }: Readonly<Record<string, unknown>>,
): number {
  const share = checkBytes(name, value, ANY_BYTES);
  if (share < MIN_SHARE && acceptThatOthersRunOut !== true)
    throw outOfRange(
      name,
      `at least ${MIN_SHARE} bytes (256 MiB), because the other users of the GPU fail without memory; acceptThatOthersRunOut takes less`,
      share,
    );
  return share;
}

/**
 * Largest and smallest step.
 * - Host memory and lazy memory: 4 GiB take about 0.15 s (34 ms per GB in a DGX Spark curriculum), so that a stop takes
 *   effect soon; 64 MiB is within the fluctuation of MemAvailable on an idle machine.
 * - A device's own memory: 32 GiB take about 1 ms; 2 MiB is the driver's smallest block.
 */
export function stepSizes(
  model: MemoryModel,
  kind: AllocatorKind,
  chunk: number | null,
): { chunkBytes: number; resolutionBytes: number } {
  const isOwnMemory = staysOnDevice(kind) && (model === 'discrete' || model === 'coherent');
  const chunkBytes = chunk ?? (isOwnMemory ? 32 * GiB : 4 * GiB);
  return { chunkBytes, resolutionBytes: Math.min(isOwnMemory ? 2 * MiB : 64 * MiB, chunkBytes) };
}
