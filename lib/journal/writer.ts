/** Appends records to a journal that is open, in whichever process: the parent that began the run or the child. */

import { fdatasyncSync, fstatSync, ftruncateSync, writeSync } from 'node:fs';
import { fileError } from './file.ts';
import { encode, type JournalRecord } from './records.ts';

/** The system calls, so that a test can have a disk that is full. */
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

export interface JournalWriter {
  /** Written, but on disk only with the next `commit`. */
  append(record: JournalRecord): void;
  /** Written and on disk, with all that was appended before. */
  commit(record: JournalRecord): void;
}

/**
 * @param fd opened with O_APPEND. Stays the caller's.
 * @throws (from both functions) UmaError `ERR_UMA_JOURNAL`: no space, or the disk failed. What had been written of the
 *   record is taken back, so that the journal stays readable.
 */
export function journalWriter(fd: number, path: string, io: JournalIo = SYSTEM): JournalWriter {
  function append(record: JournalRecord): void {
    const bytes = Buffer.from(encode(record));
    let written = 0;
    try {
      while (written < bytes.length) written += io.write(fd, bytes.subarray(written));
    } catch (cause) {
      if (written > 0) takeBack(written);
      throw fileError(path, cause, 'the step was not made, because nobody could tell afterwards that it was');
    }
  }

  /** Only where the torn record still is the end: another process may have appended since. */
  function takeBack(bytes: number): void {
    try {
      io.truncate(fd, io.size(fd) - bytes);
    } catch {
      // The next reader drops a torn tail; the error that led here is the one to tell.
    }
  }

  return {
    append,
    commit(record) {
      append(record);
      try {
        io.sync(fd);
      } catch (cause) {
        throw fileError(path, cause, 'the step was not made, because its record may not be on disk');
      }
    },
  };
}
