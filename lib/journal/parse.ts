/** The journal's bytes as records. Pure: what is done about a torn tail is the caller's business. */

import { decode, type JournalRecord, PREFIX } from './records.ts';

export interface ParsedJournal {
  records: JournalRecord[];
  /** Bytes up to the end of the last record: what follows is torn. */
  goodBytes: number;
  /** The last record lacks its newline. */
  unended: boolean;
  /** Bytes that a power cut has left of a record that never was complete; 0: none. */
  tornBytes: number;
}

const NEWLINE = 0x0a;

/**
 * Reads a journal. A tail may be torn in two ways: a record cut short, and NUL bytes where the file system had made room
 * for data that never arrived. Both can only be the end of the file, because every record is on disk before the next one
 * is written; anything else that is not a record means that the file was changed or is no journal.
 *
 * @returns the records, or a sentence that says what is wrong.
 */
export function parseJournal(bytes: Uint8Array): ParsedJournal | string {
  const records: JournalRecord[] = [];
  let at = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, at)) {
    const record = decode(text(bytes.subarray(at, end)));
    if (record === null) return wrong(records.length, at);
    records.push(record);
    at = end + 1;
  }
  const rest = bytes.subarray(at);
  if (rest.length === 0) return { records, goodBytes: at, unended: false, tornBytes: 0 };
  const written = withoutNuls(rest);
  const last = decode(text(written));
  if (last !== null) {
    // Complete, as its checksum says, but for its newline.
    records.push(last);
    return { records, goodBytes: at + written.length, unended: true, tornBytes: rest.length - written.length };
  }
  return isTorn(text(written))
    ? { records, goodBytes: at, unended: false, tornBytes: rest.length }
    : wrong(records.length, at);
}

function wrong(lines: number, at: number): string {
  return `line ${lines + 1} (byte ${at}) is not a record of umaprobe, or was changed after it was written`;
}

function withoutNuls(bytes: Uint8Array): Uint8Array {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length--;
  return bytes.subarray(0, length);
}

/** The beginning of a record, or nothing. A whole checksum with something behind it was not cut off but changed. */
function isTorn(written: string): boolean {
  if (written.includes('\0') || /,"crc":"[0-9a-f]{8}"\}/.test(written)) return false;
  return PREFIX.startsWith(written.slice(0, PREFIX.length));
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
