/** Appends records to an open journal, in the parent that started the run or in its child. */

import { fdatasyncSync, fstatSync, ftruncateSync, writeSync } from 'node:fs';
import { fileError } from './file.ts';
import { encode, type JournalRecord } from './records.ts';

/** System calls, replaceable so that a test can simulate a full disk. */
export interface JournalIo {
  write(fd: number, bytes: Uint8Array): number;
  sync(fd: number): void;
  size(fd: number): number;
  truncate(fd: number, bytes: number): void;
}

const SYSTEM: JournalIo = {
  write: (fd, bytes) => writeSync(fd, bytes),
  sync: (fd) => fdatasyncSync(fd),
  size: (fd) => fstatSync(fd).size,
  truncate: (fd, bytes) => ftruncateSync(fd, bytes),
};

const UNRECORDED = 'no further step is run';

export interface JournalWriter {
  /** Writes a record, which is on disk only after the next `commit`. */
  append(record: JournalRecord): void;
  /** Writes a record; on return it is on disk, with all records appended before. */
  commit(record: JournalRecord): void;
}

/**
 * @param fd opened with O_APPEND; the caller closes it.
 * @throws (from both functions) UmaError `ERR_UMA_JOURNAL`: no space, or the disk failed. A partly written record is
 *   removed, so that the journal stays readable.
 */
export function journalWriter(fd: number, path: string, io: JournalIo = SYSTEM): JournalWriter {
  function append(record: JournalRecord): void {
    const bytes = Buffer.from(encode(record));
    let written = 0;
    try {
      while (written < bytes.length) written += io.write(fd, bytes.subarray(written));
    } catch (cause) {
      if (written > 0) removeTail(written);
      throw fileError(path, cause, `${UNRECORDED}, because it could not be recorded`);
    }
  }

  /** Removes the incomplete record from the end. Correct only if no other process has appended since. */
  function removeTail(bytes: number): void {
    try {
      io.truncate(fd, io.size(fd) - bytes);
    } catch {
      // The next reader drops a torn tail; the error that led here is the one to report.
    }
  }

  return {
    append,
    commit(record) {
      append(record);
      try {
        io.sync(fd);
      } catch (cause) {
        throw fileError(path, cause, `${UNRECORDED}, because its record may not be on disk`);
      }
    },
  };
}
