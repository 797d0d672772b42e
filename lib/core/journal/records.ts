/**
 * The format of the journal: JSON Lines, each record with a checksum, so that a changed byte is detected and never
 * taken for a size. Writes one record, and reads a whole journal that a power cut may have torn.
 */

import { crc32 } from 'node:zlib';
import type { AllocatorKind, ProfileParameters, ProfileTrial } from '../../types/index.ts';
import type { ProcessId } from '../host/process.ts';

export type JournalCommand = 'sweep' | 'layout' | 'stress' | 'profile';

interface Common {
  /** Id of the run. Records of several runs may be interleaved in one file. */
  run: string;
  /** ISO 8601, UTC. */
  at: string;
  bootId: string | null;
}

/** A run starts; nothing has been allocated. */
export interface BeginRecord extends Common, ProcessId {
  type: 'begin';
  command: JournalCommand;
  /** Name of the simulated machine; null: a real one. */
  simulated: string | null;
  /** null: the command uses no device of its own. */
  device: number | null;
  /** The experiment of `profile`, and whether this run continues the trials of the run before. */
  experiment?: { id: string; title: string; resumes: boolean };
}

/** A step starts. The record is on disk before the step allocates anything. */
export interface StepRecord extends Common, ProcessId {
  type: 'step';
  kind: AllocatorKind;
  heldBytes: number;
  targetBytes: number;
}

/** The step is done, and the machine still runs. */
export interface ResultRecord extends Common {
  type: 'result';
  state: string;
  heldBytes: number;
}

/** A trial of `profile` starts. The record is on disk before its command does. */
export interface TrialRecord extends Common {
  type: 'trial';
  number: number;
  params: ProfileParameters;
}

/** The command of the trial runs, in a process that may outlive the one that measures. */
export interface TrialProcessRecord extends Common, ProcessId {
  type: 'trial-process';
  number: number;
}

/** The command of the trial has ended; its memory may not be back. */
export interface TrialAfterRecord extends Common {
  type: 'trial-after';
  number: number;
}

/** The trial is over, and the machine still runs. */
export interface TrialEndRecord extends Common {
  type: 'trial-end';
  trial: ProfileTrial;
}

/** The run ended and holds no memory. */
export interface EndRecord extends Common {
  type: 'end';
  state: string;
}

/** The child process has exited. The run is no longer live, and a step without a result keeps none. */
export interface GoneRecord extends Common {
  type: 'gone';
  how: string;
}

export type JournalRecord =
  | BeginRecord
  | StepRecord
  | ResultRecord
  | TrialRecord
  | TrialProcessRecord
  | TrialAfterRecord
  | TrialEndRecord
  | EndRecord
  | GoneRecord;

/** Start of every line; it distinguishes a torn record from a line of another file. */
export const PREFIX = '{"umaprobe":1,';

/** End of every line. */
const CHECKSUM = /,"crc":"([0-9a-f]{8})"\}$/;

const NEWLINE = 0x0a;

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/** The record as a line, with its newline. */
export function encode(record: JournalRecord): string {
  const body = PREFIX + JSON.stringify(record).slice(1, -1);
  return `${body},"crc":"${checksum(body)}"}\n`;
}

/** The record of a line without its newline; null: `encode` did not write this line. */
function decode(line: string): JournalRecord | null {
  const crc = CHECKSUM.exec(line);
  if (crc === null || !line.startsWith(PREFIX)) return null;
  const body = line.slice(0, crc.index);
  if (checksum(body) !== crc[1]) return null;
  try {
    // The checksum proves that these are the bytes that encode() wrote.
    return JSON.parse(`{${body.slice(PREFIX.length)}}`) as JournalRecord;
  } catch {
    return null;
  }
}

/** No record is nearly as long: a longer tail was not torn off by a power cut. */
const MAX_TORN_BYTES = 64 * 1024;

export interface ParsedJournal {
  records: JournalRecord[];
  /** Bytes up to the end of the last complete record. */
  goodBytes: number;
  /** The last record is complete but lacks its newline. */
  lacksNewline: boolean;
  /** Bytes of an incomplete record that a power cut left at the end; 0: none. */
  tornBytes: number;
}

/**
 * Reads a journal. A power cut tears it in two ways: an incomplete record, or NUL bytes for blocks that the file system
 * allocated but never wrote. Both occur only at the end, because every record is on disk before the next one is
 * written. Anything else that is not a record means that the file was changed or is not a journal.
 *
 * @returns the records, or a sentence that says what is wrong.
 */
export function parseJournal(bytes: Uint8Array): ParsedJournal | string {
  const records: JournalRecord[] = [];
  let at = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, at)) {
    const record = decode(text(bytes.subarray(at, end)));
    if (record === null) return notARecord(records.length, at);
    records.push(record);
    at = end + 1;
  }
  const rest = bytes.subarray(at);
  if (rest.length === 0) return { records, goodBytes: at, lacksNewline: false, tornBytes: 0 };
  const written = withoutNuls(rest);
  const last = decode(text(written));
  if (last !== null) {
    // The checksum proves that the record is complete; only its newline is missing.
    records.push(last);
    return { records, goodBytes: at + written.length, lacksNewline: true, tornBytes: rest.length - written.length };
  }
  const isFirst = records.length === 0;
  if (isFirst && written.length === 0)
    return 'it has only NUL bytes; if a power cut left a new journal so, remove the file';
  return isTorn(text(written), isFirst) && rest.length <= MAX_TORN_BYTES
    ? { records, goodBytes: at, lacksNewline: false, tornBytes: rest.length }
    : notARecord(records.length, at);
}

function notARecord(lines: number, at: number): string {
  return `line ${lines + 1} (byte ${at}) is not a record of umaprobe, or was changed after it was written`;
}

function withoutNuls(bytes: Uint8Array): Uint8Array {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length--;
  return bytes.subarray(0, length);
}

/**
 * True for the start of a record. A complete checksum with more text after it was changed, not torn. The first record
 * must begin with the whole prefix: a file of zeros, or of anything else, is another program's and stays as it is.
 */
function isTorn(written: string, isFirst: boolean): boolean {
  if (isFirst && !written.startsWith(PREFIX)) return false;
  if (written.includes('\0') || /,"crc":"[0-9a-f]{8}"\}/.test(written)) return false;
  return PREFIX.startsWith(written.slice(0, PREFIX.length));
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
