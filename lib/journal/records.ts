/** One line of the journal: JSON with a checksum, so that a changed byte is seen and never taken for a size. */

import { crc32 } from 'node:zlib';
import type { ProcessId } from '../host/process.ts';
import type { AllocatorKind } from '../types/index.ts';

export type JournalCommand = 'sweep' | 'layout' | 'stress';

interface Common {
  /** Of one run; runs of several processes may lie interleaved in a file. */
  run: string;
  /** ISO 8601, UTC. */
  at: string;
  bootId: string | null;
}

/** A run begins; nothing has been allocated. */
export interface BeginRecord extends Common, ProcessId {
  type: 'begin';
  command: JournalCommand;
  /** The simulated machine; null: a real one. */
  simulated: string | null;
  device: number;
}

/** A step is about to be made: on disk before it is. */
export interface StepRecord extends Common, ProcessId {
  type: 'step';
  kind: AllocatorKind;
  heldBytes: number;
  targetBytes: number;
}

/** It was made, and the machine is still there. */
export interface ResultRecord extends Common {
  type: 'result';
  state: string;
  heldBytes: number;
}

/** The run has come to its end and holds nothing any more. */
export interface EndRecord extends Common {
  type: 'end';
  state: string;
}

/** The parent saw its child go, however: an open step stays open, and the run no longer is a live one. */
export interface GoneRecord extends Common {
  type: 'gone';
  how: string;
}

export type JournalRecord = BeginRecord | StepRecord | ResultRecord | EndRecord | GoneRecord;

/** What every line begins with: by this a torn line is told from a line of some other file. */
export const PREFIX = '{"umaprobe":1,';

const CRC = /,"crc":"([0-9a-f]{8})"\}$/;

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/** The record as its line, newline included. */
export function encode(record: JournalRecord): string {
  const body = PREFIX + JSON.stringify(record).slice(1, -1);
  return `${body},"crc":"${checksum(body)}"}\n`;
}

/** A line without its newline; null: it is not what `encode` made. */
export function decode(line: string): JournalRecord | null {
  const crc = CRC.exec(line);
  if (crc === null || !line.startsWith(PREFIX)) return null;
  const body = line.slice(0, crc.index);
  if (checksum(body) !== crc[1]) return null;
  try {
    // The checksum says that these are the bytes that encode() wrote.
    return JSON.parse(`{${body.slice(PREFIX.length)}}`) as JournalRecord;
  } catch {
    return null;
  }
}

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
