/** The options of record(), readRecord() and mark(), checked. */

import {
  checkBytes,
  checkInteger,
  checkKeys,
  checkMilliseconds,
  checkSignal,
  checkText,
  type Keys,
} from '../../base/arguments.ts';
import { LIMITS } from '../../base/limits.ts';
import { checkPath } from '../../base/program-arguments.ts';
import type { ReadRecordOptions, RecordOptions } from '../../types/index.ts';
import { DEFAULT_RECORD_BYTES } from './defaults.ts';

const RECORD_KEYS: Keys<RecordOptions> = {
  folder: true,
  intervalMs: true,
  frameMs: true,
  maxSizeBytes: true,
  processesMs: true,
  signal: true,
};
const READ_KEYS: Keys<ReadRecordOptions> = { folder: true, lastMs: true, sessions: true, points: true, signal: true };

export function checkRecordOptions(options: RecordOptions) {
  checkKeys('record()', options, RECORD_KEYS);
  return {
    folder: checkPath('folder', options.folder),
    intervalMs: checkMilliseconds('intervalMs', options.intervalMs ?? 10, LIMITS.recordIntervalMs),
    frameMs: checkMilliseconds('frameMs', options.frameMs ?? 100, LIMITS.frameMs),
    maxSizeBytes: checkBytes('maxSizeBytes', options.maxSizeBytes ?? DEFAULT_RECORD_BYTES, LIMITS.recordBytes),
    processesMs: checkProcessesMs(options.processesMs ?? 5000),
    signal: checkSignal(options.signal),
  };
}

export function checkReadOptions(options: ReadRecordOptions) {
  checkKeys('readRecord()', options, READ_KEYS);
  return {
    folder: checkPath('folder', options.folder),
    lastMs: options.lastMs === undefined ? null : checkInteger('lastMs', options.lastMs, LIMITS.lastMs),
    sessions: options.sessions === undefined ? null : checkInteger('sessions', options.sessions, LIMITS.sessions),
    points: checkInteger('points', options.points ?? 500, LIMITS.points),
    signal: checkSignal(options.signal),
  };
}

export function checkMark(text: unknown, folder: unknown): { text: string; folder: string | undefined } {
  return { text: checkText('text', text, LIMITS.markLength), folder: checkPath('folder', folder) };
}

function checkProcessesMs(value: unknown): number {
  return value === 0 ? 0 : checkMilliseconds('processesMs', value, LIMITS.processesMs);
}
