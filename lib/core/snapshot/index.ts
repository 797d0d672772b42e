/** snapshot(): checks the options, and loads the code of a reading when it is first needed. */

import { abortable } from '../../base/abort.ts';
import { lazy } from '../../base/lazy.ts';
import { checkOptions } from '../../base/options.ts';
import type { Snapshot } from '../../types/index.ts';
import { SNAPSHOT, type SnapshotOptions } from './options.ts';

/** Loaded by the first snapshot, because it is most of umaprobe's code: `import 'umaprobe'` stays fast. */
const loadTake = lazy(() => import('./take.ts'));

/** Loads the code of a reading, which the first `snapshot()` would load. */
export async function loadSnapshot(): Promise<void> {
  await loadTake();
}

let takeSnapshot: typeof import('./take.ts').takeSnapshot | undefined;

/**
 * The memory of this machine at one instant: its use, to the byte, and how much a new allocation can get.
 *
 * Creates no CUDA context unless requested (`memGetInfo`). A field that fails, or that a library does not return within
 * the deadline, is `null` with its reason in `from`. The same holds for fields of a kernel file that does not answer;
 * the deadline of those is at least a second.
 *
 * @example
 * ```ts
 * import { snapshot } from 'umaprobe';
 *
 * const { from, host, judgement } = await snapshot();
 * console.log(host.available ?? from['host.available'], judgement.because);
 * ```
 *
 * @throws the signal's reason when it is aborted. UmaError `ERR_UMA_LIBRARY_MISSING` when the native binary cannot be
 *   loaded, `ERR_UMA_CALL_FAILED` when /proc/meminfo cannot be read, `ERR_UMA_TIMEOUT` when it does not answer.
 *   TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad options.
 */
export async function snapshot(options: SnapshotOptions = {}): Promise<Snapshot> {
  const { signal, ...reading } = checkOptions('snapshot()', options, SNAPSHOT);
  return abortable(signal, async () => {
    takeSnapshot ??= (await loadTake()).takeSnapshot;
    return takeSnapshot(reading);
  });
}
