import { checkBoolean, checkChoice, checkFunction, checkInteger, invalidType, outOfRange } from '../base/arguments.ts';
import { KINDS } from '../memory/kinds.ts';
import type { AllocatorKind, SweepOptions, SweepReport } from '../types/index.ts';

/** Loaded by the first sweep: a program that only imports umaprobe should not pay for it. */
let run: typeof import('./run.ts').runSweep | undefined;

/**
 * Allocates the same sizes kind by kind, small to large, in a child process: how long allocation, first touch, second touch
 * and freeing take, and which counters of the machine moved by how much.
 *
 * Nothing is held between steps. A size that the host or the device cannot hold is a step `refused` with its reason; how
 * the sweep ends is in `state` of the report and is no error.
 *
 * @throws TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad options, also for `oversubscribe` on a
 *   device that shares the host's memory. UmaError `ERR_UMA_NO_DEVICE`, `ERR_UMA_LIBRARY_MISSING` or
 *   `ERR_UMA_DRIVER_UNUSABLE` where there is nothing to allocate on; `ERR_UMA_FLOOR` when the machine is in no state to
 *   begin; `ERR_UMA_JOURNAL` when the journal cannot be kept.
 */
export async function sweep(options: SweepOptions = {}): Promise<SweepReport> {
  const { onStep, oversubscribe = false, repeat = 1 } = options;
  const kinds = checkKinds(options.kinds ?? ['device']);
  checkInteger('repeat', repeat, 1, 1000);
  checkBoolean('oversubscribe', oversubscribe);
  checkFunction('onStep', onStep);
  const [{ checkProbeOptions }, { sweepSizes }] = await Promise.all([
    import('../probe/options.ts'),
    import('./sizes.ts'),
  ]);
  const probe = checkProbeOptions(options, null);
  const sizes = sweepSizes(options);
  run ??= (await import('./run.ts')).runSweep;
  return run({ probe, kinds, ...sizes, repeat, oversubscribe, onStep });
}

/** Each once, in the order in which they are asked for. */
function checkKinds(kinds: unknown): readonly AllocatorKind[] | 'all' {
  if (kinds === 'all') return kinds;
  if (!Array.isArray(kinds)) throw invalidType('kinds', "an array of kinds or 'all'", kinds);
  if (kinds.length === 0) throw outOfRange('number of kinds', 'at least one', 0);
  return [...new Set(kinds.map((kind) => checkChoice('kinds', KINDS, kind)))];
}
