/** record(), readRecord() and mark(): check the options, and load the work when it is first needed. */

import {
  checkBytes,
  checkInteger,
  checkKeys,
  checkMilliseconds,
  checkSignal,
  checkText,
  invalidType,
  invalidValue,
  type Keys,
} from '../base/arguments.ts';
import { MiB } from '../base/format.ts';
import { lazy } from '../base/lazy.ts';
import { LIMITS } from '../base/limits.ts';
import type { ReadRecordOptions, Recorder, RecordOptions, RecordReport } from '../types/index.ts';

const startWork = lazy(() => import('./start.ts'));
const readWork = lazy(() => import('./read.ts'));
const markWork = lazy(() => import('./mark.ts'));

const RECORD_KEYS: Keys<RecordOptions> = {
  folder: true,
  intervalMs: true,
  frameMs: true,
  maxBytes: true,
  processesMs: true,
  signal: true,
};
const READ_KEYS: Keys<ReadRecordOptions> = { folder: true, lastMs: true, sessions: true, points: true, signal: true };

export const DEFAULT_RECORD_BYTES = 64 * MiB;

/**
 * Records the memory of this machine until `stop()`: MemFree every 10 ms, MemAvailable, pressure, swap, the largest
 * processes, and marks. A thread reads and another one writes, with fdatasync every 0.8 s, so the recording goes on while
 * JavaScript is blocked and is still there after the power button.
 *
 * @throws UmaError `ERR_UMA_JOURNAL`: the folder cannot be used. `ERR_UMA_BUSY`: a recorder already runs in this process, or
 *   another process records in the folder. The signal's reason when it is aborted before the start; later it stops the
 *   recorder. TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad options.
 */
export async function record(options: RecordOptions = {}): Promise<Recorder> {
  checkKeys('record()', options, RECORD_KEYS);
  const settings = {
    folder: checkFolder(options.folder),
    intervalMs: checkMilliseconds('intervalMs', options.intervalMs ?? 10, LIMITS.recordIntervalMs),
    frameMs: checkMilliseconds('frameMs', options.frameMs ?? 100, LIMITS.frameMs),
    maxBytes: checkBytes('maxBytes', options.maxBytes ?? DEFAULT_RECORD_BYTES, LIMITS.recordBytes),
    processesMs: checkProcessesMs(options.processesMs ?? 5000),
    signal: checkSignal(options.signal),
  };
  settings.signal?.throwIfAborted();
  const { startRecorder } = await startWork();
  return startRecorder(settings);
}

/**
 * Reads a recording, also one of another machine or of the boot before: how each session ended, the lowest memory, the
 * fastest changes, transients apart from plateaus, the last seconds. Changes nothing, and takes the same memory whatever the
 * size of the ring.
 *
 * @throws UmaError `ERR_UMA_NOT_FOUND`: there is no recording. The signal's reason. TypeError/RangeError for bad options.
 */
export async function readRecord(options: ReadRecordOptions = {}): Promise<RecordReport> {
  checkKeys('readRecord()', options, READ_KEYS);
  const settings = {
    folder: checkFolder(options.folder),
    lastMs: options.lastMs === undefined ? null : checkInteger('lastMs', options.lastMs, LIMITS.lastMs),
    sessions: options.sessions === undefined ? null : checkInteger('sessions', options.sessions, LIMITS.sessions),
    points: checkInteger('points', options.points ?? 500, LIMITS.points),
    signal: checkSignal(options.signal),
  };
  const { readRecording } = await readWork();
  return readRecording(settings);
}

/**
 * Adds a mark to the recording that another process makes: "epoch 3".
 *
 * @param folder default: as for `record()`.
 * @throws UmaError `ERR_UMA_NOT_FOUND`: no recorder runs there; `ERR_UMA_PERMISSION`: it is another user's. TypeError/RangeError for a bad text.
 */
export async function mark(text: string, folder?: string): Promise<void> {
  checkText('text', text, LIMITS.markLength);
  const where = checkFolder(folder);
  const { markIn } = await markWork();
  return markIn(where, text);
}

function checkFolder(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw invalidType('folder', 'a path', value);
  if (value === '' || value.includes('\0')) throw invalidValue('folder', 'a path', value);
  return value;
}

function checkProcessesMs(value: unknown): number {
  return value === 0 ? 0 : checkMilliseconds('processesMs', value, LIMITS.processesMs);
}
