/** The options of record(), readRecord() and mark(), and the text of a mark, checked. */

import { checkMilliseconds, checkText } from '../../base/arguments.ts';
import { formatBytes, MiB, TiB } from '../../base/format.ts';
import { LIMITS, type Range } from '../../base/limits.ts';
import { bytes, custom, integer, milliseconds, type OptionsOf, path, signal } from '../../base/options.ts';

/** Options of `record()`. */
export interface RecordOptions extends OptionsOf<typeof RECORD> {}
/** Options of `mark()`. */
export interface MarkOptions extends OptionsOf<typeof MARK> {}
/** Options of reading a recording. */
export interface ReadRecordOptions extends OptionsOf<typeof READ_RECORD> {}

/** @param fallback the default, as the help says it. */
export const folder = (help = 'Folder of the recording', fallback = '~/.local/state/umaprobe/record') =>
  path({ placeholder: '<path>', help: `${help} (default ${fallback})` });

const RING = { min: 2 * MiB, max: TiB, default: 64 * MiB };
const LISTS: Range = { min: 1000, max: 3_600_000 };

export const RECORD = {
  /** Folder of the recording, made if it is missing (0700). Default: `$XDG_STATE_HOME/umaprobe/record`. */
  folder: folder(),
  /** Interval between two readings of MemFree, in milliseconds, 1 to 1000; default 10. */
  intervalMs: milliseconds({ min: 1, max: 1000, default: 10, help: 'Between two readings of MemFree' }),
  /** Time of one frame of readings (last, lowest, highest), in milliseconds, 10 to 60,000; default 100. */
  frameMs: milliseconds({ min: 10, max: 60_000, default: 100, help: 'Time of one frame of readings' }),
  /** Size of the ring on disk, in bytes, 2 MiB to 1 TiB; default 64 MiB, which is 16 hours of frames of 100 ms. */
  maxSizeBytes: bytes({
    ...RING,
    help: 'Size of the ring on disk',
    usually: `${formatBytes(RING.default)}, 16 hours`,
  }),
  /** Interval between two lists of the largest processes, in milliseconds, 1000 to 3,600,000; default 5000. 0: none. */
  processesMs: custom<number, number>((name, value) => (value === 0 ? 0 : checkMilliseconds(name, value, LISTS)), {
    form: 'time',
    range: LISTS,
    default: 5000,
    help: 'Between two lists of the largest processes',
    note: ', or 0s for none',
    read: (word) => (/^0\s*(ms|s|m|min|h)?$/.test(word) ? 0 : undefined),
  }),
  /** Ends the recording. */
  signal,
};

export const READ_RECORD = {
  /** Default: as for `record()`. */
  folder: folder(),
  /** The last milliseconds of the recording, at least 1000. Default: all. */
  lastMs: integer({ ...LIMITS.lastMs, form: 'time', default: null, help: 'Only the end of each session' }),
  /** Number of the newest sessions, 1 to 1000; older ones are not read. Default: all. */
  sessions: integer({ min: 1, max: 1000, default: null, help: 'Sessions to show, the newest' }),
  /** Number of points of the series, 10 to 100,000; default 500. */
  points: integer({ min: 10, max: 100_000, default: 500, help: 'Points of the series' }),
  /** Rejects with the signal's reason. */
  signal,
};

export const MARK = {
  /** Default: as for `record()`. */
  folder: folder(),
  /** Rejects with the signal's reason. The recorder may have the mark. */
  signal,
};

export function checkMark(text: unknown): string {
  return checkText('text', text, LIMITS.markLength);
}
