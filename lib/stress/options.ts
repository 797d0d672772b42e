/** The options of a stress test, checked and filled in; chunk and resolution depend on the device. */

import { checkBoolean, checkBytes, checkChoice, checkFunction, checkMilliseconds } from '../base/arguments.ts';
import { GiB, MiB } from '../base/format.ts';
import { KINDS, staysOnDevice } from '../memory/kinds.ts';
import { type CheckedProbeOptions, checkProbeOptions } from '../probe/options.ts';
import type { AllocatorKind, MemoryModel, StressOptions } from '../types/index.ts';

const DEFAULT_TIMEOUT_MS = 600_000;

export interface CheckedStressOptions {
  probe: CheckedProbeOptions;
  kind: AllocatorKind;
  single: boolean;
  /** null: none. */
  max: number | null;
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
    chunk: options.chunk === undefined ? null : checkBytes('chunk', options.chunk, 2 * MiB, 64 * GiB),
    verify: checkBoolean('verify', options.verify),
    holdMs: checkMilliseconds('holdMs', options.holdMs ?? 0, 0, 86_400_000),
    resume: checkBoolean('resume', options.resume),
    onStep,
  };
}

/**
 * Step sizes. Of the host's memory, and of lazy memory, 4 GiB, which take 0.15 s where a GB takes 34 ms (the lab's figure), so that
 * a stop is never far, down to 64 MiB, which is less than an idle machine's MemAvailable moves by itself. Of a device's own
 * memory 32 GiB take about a millisecond, and 2 MiB are what the driver gives at the least.
 */
export function stepSizes(
  model: MemoryModel,
  kind: AllocatorKind,
  chunk: number | null,
): { chunkBytes: number; resolutionBytes: number } {
  const own = staysOnDevice(kind) && (model === 'discrete' || model === 'coherent');
  const chunkBytes = chunk ?? (own ? 32 * GiB : 4 * GiB);
  return { chunkBytes, resolutionBytes: Math.min(own ? 2 * MiB : 64 * MiB, chunkBytes) };
}
