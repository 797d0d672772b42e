/** record(), readRecord() and mark(): load the checks of their options and their work when they are first needed. */

import { abortable } from '../../base/abort.ts';
import { lazy } from '../../base/lazy.ts';
import type { Recorder, RecordReport } from '../../types/index.ts';
import type { MarkOptions, ReadRecordOptions, RecordOptions } from './options.ts';

const loadStart = lazy(() =>
  Promise.all([import('../../base/options.ts'), import('./options.ts'), import('./start.ts')]),
);
const loadRead = lazy(() =>
  Promise.all([import('../../base/options.ts'), import('./options.ts'), import('./read.ts')]),
);
const loadObstacle = lazy(() => import('./obstacle.ts'));
const loadMark = lazy(() =>
  Promise.all([import('../../base/options.ts'), import('./options.ts'), import('./marks.ts')]),
);

/**
 * Records the memory of this machine until `stop()`: MemFree every 10 ms, MemAvailable, pressure, swap, the largest
 * processes, and marks. A thread reads and another one writes, with fdatasync every 0.8 s, so the recording goes on while
 * JavaScript is blocked and is still there after the power button.
 *
 * @example
 * ```ts
 * import { record } from 'umaprobe/run';
 *
 * const recorder = await record({ folder: 'recording' });
 * recorder.mark('epoch 1');
 * console.log((await recorder.stop()).lowestAvailable);
 * ```
 *
 * @throws UmaError `ERR_UMA_JOURNAL`: the folder cannot be used. `ERR_UMA_BUSY`: a recorder already runs in this process, or
 *   another process records in the folder. The signal's reason when it is aborted before the start; later it stops the
 *   recorder. TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad options.
 */
export async function record(options: RecordOptions = {}): Promise<Recorder> {
  const [{ checkOptions }, { RECORD }, { startRecorder }] = await loadStart();
  return startRecorder(checkOptions('record()', options, RECORD));
}

/**
 * Reads a recording, also one of another machine or of the boot before: how each session ended, the lowest memory, the
 * fastest changes, transients apart from plateaus, the last seconds. Changes nothing, and takes the same memory whatever the
 * size of the ring.
 *
 * @example
 * ```ts
 * import { readRecord } from 'umaprobe/run';
 *
 * const { sessions } = await readRecord({ folder: 'recording' });
 * console.log(sessions.at(-1)?.end, sessions.at(-1)?.lowestAvailable);
 * ```
 *
 * @throws UmaError `ERR_UMA_NOT_FOUND`: there is no recording. The signal's reason. TypeError/RangeError for bad options.
 */
export async function readRecord(options: ReadRecordOptions = {}): Promise<RecordReport> {
  const [{ checkOptions }, { READ_RECORD }, { readRecording }] = await loadRead();
  return readRecording(checkOptions('readRecord()', options, READ_RECORD));
}

/**
 * Adds a mark to the recording that another process makes: "epoch 3".
 *
 * @example
 * ```ts
 * import { mark } from 'umaprobe/run';
 *
 * await mark('epoch 3');
 * ```
 *
 * @throws UmaError `ERR_UMA_NOT_FOUND`: no recorder runs there; `ERR_UMA_PERMISSION`: it is another user's. The signal's
 *   reason. TypeError/RangeError for a bad text or option.
 */
export async function mark(text: string, options: MarkOptions = {}): Promise<void> {
  const [{ checkOptions }, { checkMark, MARK }, { markIn }] = await loadMark();
  const checked = checkMark(text);
  const { folder, signal } = checkOptions('mark()', options, MARK);
  return abortable(signal, () => markIn(folder, checked, signal));
}

/** The reason against recording in a folder that may not exist yet, as a clause; null: none known. Writes nothing. */
export async function whyNotRecorded(folder: string): Promise<string | null> {
  return (await loadObstacle()).whyNotRecorded(folder);
}
