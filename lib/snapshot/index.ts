/** snapshot(): checks the options, and loads the code of a reading when it is first needed. */

import { checkBoolean, checkChoice, checkMilliseconds } from '../base/arguments.ts';
import { lazy } from '../base/lazy.ts';
import type { Snapshot, SnapshotOptions } from '../types/index.ts';

const MODES = [
  'auto',
  'needed',
  'neededInProcess',
  'child',
  'inProcess',
  'never',
] as const satisfies SnapshotOptions['memGetInfo'][];

/** Loaded by the first snapshot, because it is most of umaprobe's code: `import 'umaprobe'` stays fast. */
const loadTake = lazy(() => import('./take.ts'));
let takeSnapshot: typeof import('./take.ts').takeSnapshot | undefined;

/**
 * The memory of this machine at one instant: its use, to the byte, and how much a new allocation can get.
 *
 * Creates no CUDA context unless requested (`memGetInfo`). A field that fails, or that a library does not return within
 * the deadline, is `null` with its reason in `from`. The host's part is always complete.
 *
 * @throws UmaError `ERR_UMA_LIBRARY_MISSING` when the native binary cannot be loaded, `ERR_UMA_CALL_FAILED` when
 *   /proc/meminfo cannot be read. TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad options.
 */
export async function snapshot(options: SnapshotOptions = {}): Promise<Snapshot> {
  const { memGetInfo = 'auto' } = options;
  checkChoice('memGetInfo', MODES, memGetInfo);
  const deadlineMs = checkMilliseconds('deadlineMs', options.deadlineMs ?? 2_000);
  const childDeadlineMs = checkMilliseconds('childDeadlineMs', options.childDeadlineMs ?? 10_000);
  const hiddenDevices = checkBoolean('hiddenDevices', options.hiddenDevices);
  takeSnapshot ??= (await loadTake()).takeSnapshot;
  return takeSnapshot({ memGetInfo, deadlineMs, childDeadlineMs, hiddenDevices });
}
