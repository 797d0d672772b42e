/** The options of a stress test, checked and with their defaults; chunk and resolution depend on the device. */

import {
  checkBoolean,
  checkBytes,
  checkChoice,
  checkKeys,
  checkMilliseconds,
  type Keys,
  outOfRange,
} from '../../base/arguments.ts';
import { GiB, MiB } from '../../base/format.ts';
import { ANY_BYTES, LIMITS, SOME_BYTES } from '../../base/limits.ts';
import type { AllocatorKind, MemoryModel, StressOptions } from '../../types/index.ts';
import { KINDS, staysOnDevice } from '../memory/kinds.ts';
import { MIN_SHARE } from '../memory/others.ts';
import { type CheckedProbeOptions, checkProbeOptions, PROBE_KEYS } from '../probe/options.ts';

const DEFAULT_TIMEOUT_MS = 600_000;

const KEYS: Keys<StressOptions> = {
  kind: true,
  single: true,
  maxBytes: true,
  chunkBytes: true,
  shareBytes: true,
  acceptThatOthersRunOut: true,
  verify: true,
  holdMs: true,
  resume: true,
  ...PROBE_KEYS,
};

export interface CheckedStressOptions {
  probe: CheckedProbeOptions;
  kind: AllocatorKind;
  single: boolean;
  /** null: no maximum. */
  maxBytes: number | null;
  /** null: the default. */
  share: number | null;
  /** null: the device's default. */
  chunkBytes: number | null;
  verify: boolean;
  holdMs: number;
  resume: boolean;
  onEvent: StressOptions['onEvent'];
}

/** @throws TypeError/RangeError that names the option. */
export function checkStressOptions(options: StressOptions): CheckedStressOptions {
  checkKeys('stress()', options, KEYS);
  const { kind = 'device', onEvent } = options;
  checkChoice('kind', KINDS, kind);
  return {
    probe: checkProbeOptions(options, DEFAULT_TIMEOUT_MS),
    kind,
    single: checkBoolean('single', options.single),
    maxBytes: options.maxBytes === undefined ? null : checkBytes('maxBytes', options.maxBytes, SOME_BYTES),
    share: options.shareBytes === undefined ? null : checkShare(options),
    chunkBytes:
      options.chunkBytes === undefined ? null : checkBytes('chunkBytes', options.chunkBytes, LIMITS.chunkBytes),
    verify: checkBoolean('verify', options.verify),
    holdMs: checkMilliseconds('holdMs', options.holdMs ?? 0, LIMITS.holdMs),
    resume: checkBoolean('resume', options.resume),
    onEvent,
  };
}

function checkShare({ acceptThatOthersRunOut, shareBytes }: StressOptions): number {
  const accept = checkBoolean('acceptThatOthersRunOut', acceptThatOthersRunOut);
  const bytes = checkBytes('shareBytes', shareBytes, ANY_BYTES);
  if (bytes < MIN_SHARE && !accept)
    throw outOfRange(
      'shareBytes',
      `at least ${MIN_SHARE} bytes (256 MiB), because the other users of the GPU fail without memory; acceptThatOthersRunOut takes less`,
      bytes,
    );
  return bytes;
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
