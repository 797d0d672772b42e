/** The options of a stress test, checked and with their defaults; chunk and resolution depend on the device. */

import {
  checkBoolean,
  checkBytes,
  checkChoice,
  checkFunction,
  checkMilliseconds,
  outOfRange,
} from '../base/arguments.ts';
import { GiB, MiB } from '../base/format.ts';
import { KINDS, staysOnDevice } from '../memory/kinds.ts';
import { MIN_SHARE } from '../memory/others.ts';
import { type CheckedProbeOptions, checkProbeOptions } from '../probe/options.ts';
import type { AllocatorKind, MemoryModel, StressOptions } from '../types/index.ts';

const DEFAULT_TIMEOUT_MS = 600_000;

export interface CheckedStressOptions {
  probe: CheckedProbeOptions;
  kind: AllocatorKind;
  single: boolean;
  /** null: no maximum. */
  max: number | null;
  /** null: the default. */
  share: number | null;
  /** null: the device's default. */
  chunk: number | null;
  verify: boolean;
  holdMs: number;
  resume: boolean;
  onStep: NonNullable<StressOptions['onStep']>;
}

/** @throws TypeError/RangeError that names the option. */
export function checkStressOptions(options: StressOptions): CheckedStressOptions {
  const { kind = 'device', onStep = () => undefined } = options;
  checkChoice('kind', KINDS, kind);
  checkFunction('onStep', onStep);
  return {
    probe: checkProbeOptions(options, DEFAULT_TIMEOUT_MS),
    kind,
    single: checkBoolean('single', options.single),
    max: options.max === undefined ? null : checkBytes('max', options.max, 1),
    share: options.share === undefined ? null : checkShare(options),
    chunk: options.chunk === undefined ? null : checkBytes('chunk', options.chunk, 2 * MiB, 64 * GiB),
    verify: checkBoolean('verify', options.verify),
    holdMs: checkMilliseconds('holdMs', options.holdMs ?? 0, 0, 86_400_000),
    resume: checkBoolean('resume', options.resume),
    onStep,
  };
}

function checkShare({ acceptThatOthersRunOut, share }: StressOptions): number {
  const accept = checkBoolean('acceptThatOthersRunOut', acceptThatOthersRunOut);
  const bytes = checkBytes('share', share, 0);
  if (bytes < MIN_SHARE && !accept)
    throw outOfRange(
      'share',
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
