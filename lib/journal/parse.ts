/** The journal's bytes as records. Pure: what is done about a torn tail is the caller's business. */

import { decode, type JournalRecord, PREFIX } from './record.ts';

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
  while (at < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline === -1 ? bytes.length : newline;
    const record = decode(text(bytes.subarray(at, end)));
    if (record !== null) {
      records.push(record);
      at = end + 1;
      continue;
    }
    const rest = bytes.subarray(at);
    if (!isTorn(rest))
      return `line ${records.length + 1} (byte ${at}) is not a record of umaprobe, or was changed after it was written`;
    return { records, goodBytes: at, unended: false, tornBytes: rest.length };
  }
  // A complete record whose newline is missing: its checksum says that it is complete.
  const unended = at > bytes.length;
  return { records, goodBytes: Math.min(at, bytes.length), unended, tornBytes: 0 };
}

/** The beginning of one record, or nothing, and then NULs or nothing. */
function isTorn(rest: Uint8Array): boolean {
  const nul = rest.indexOf(0);
  const written = nul === -1 ? rest : rest.subarray(0, nul);
  // What follows the first NUL is what was not written: no newline ends a record there, or it may be the end of it.
  const after = nul === -1 ? rest.subarray(rest.length) : rest.subarray(nul);
  if (after.some((byte) => byte !== 0)) return false;
  if (written.includes(NEWLINE)) return false;
  const start = text(written);
  return PREFIX.startsWith(start.slice(0, PREFIX.length));
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
