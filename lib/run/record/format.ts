/**
 * Reads the segments of a recording (native/run/record/format.h), which are little-endian whatever the machine. A torn
 * or unwritten end is normal; damage before the end is reported with its offset, and later records are read.
 */

import { crc32 } from 'node:zlib';
import type { RecordedSession, RecordProblem } from '../../types/index.ts';

const MAGIC = 'UMAREC1\n';
const FRAME = 1;
const NOTE = 2;
const HEAD_BYTES = 16;
const FRAME_BYTES = 104;
/** A note has at most 64 KiB, and its time. */
const MAX_PAYLOAD = 66 * 1024;

/** Facts about the session in the header of a segment. */
export interface SegmentHeader
  extends Pick<RecordedSession, 'bootId' | 'simulated' | 'hostName' | 'architecture' | 'deviceName' | 'driverVersion'>,
    Pick<RecordedSession, 'memoryModel' | 'total' | 'swapTotal' | 'floor' | 'intervalMs'> {
  schema: 'umaprobe/record-segment/1';
  session: string;
  frameMs: number;
  /** Number of the segment, and its start on the clocks BOOTTIME and REALTIME, in microseconds. */
  segment: number;
  bootUs: number;
  wallUs: number;
}

interface Range {
  last: number;
  lowest: number;
  highest: number;
}

/** One frame. Bytes; null: not read. */
export interface Frame {
  kind: 'frame';
  /** Microseconds of CLOCK_BOOTTIME. */
  bootUs: number;
  durationUs: number;
  samples: number;
  free: Range | null;
  available: Range | null;
  /** Time of the lowest MemFree, from the start of the frame. */
  lowestAtUs: number;
  lost: number;
  someUs: number | null;
  fullUs: number | null;
  swapFree: number | null;
  dirty: number | null;
}

export interface Note {
  kind: 'note';
  bootUs: number;
  note: Record<string, unknown>;
}

/** The header of a segment; null: neither it nor a copy of it can be read. */
export interface HeaderRead {
  header: SegmentHeader | null;
  /** Offset of the first record; null: there is none. */
  end: number | null;
  /** Damage of the header; null: there is none, or nothing was ever written. */
  problem: RecordProblem | null;
}

/** @param bytes the beginning of a segment: its header at least, and all of it where that is damaged. */
export function readHeader(name: string, bytes: Buffer): HeaderRead {
  const found = parseHeader(bytes);
  if (found !== null) return { header: found.value, end: found.end, problem: null };
  // A segment that was being made when the machine stopped: nothing but zeros.
  if (bytes.every((byte) => byte === 0)) return { header: null, end: null, problem: null };
  const end = nextRecord(bytes, 0);
  const header = end === null ? null : copiedHeader(bytes, end);
  const problem = (length: number, message: string) => ({ segment: name, offset: 0, bytes: length, message });
  if (header !== null && end !== null)
    return { header, end, problem: problem(end, 'the header is damaged; a copy of it was read') };
  const version = /^UMAREC(\d+)\n/.exec(bytes.toString('latin1', 0, 16))?.[1];
  if (version !== undefined && version !== '1') {
    const message = `this segment has format ${version}, and this umaprobe reads format 1: use a newer one`;
    return { header: null, end: null, problem: problem(bytes.length, message) };
  }
  return {
    header: null,
    end,
    problem: problem(bytes.length, 'the header is damaged, so the segment cannot be read'),
  };
}

/** A copy of the header among the records of a segment; null: there is none. */
function copiedHeader(bytes: Buffer, from: number): SegmentHeader | null {
  for (const record of recordsOf('', bytes, from, [])) {
    if (record.kind !== 'note' || record.note.type !== 'segment') continue;
    const header = record.note.header as SegmentHeader;
    if (header.schema === 'umaprobe/record-segment/1') return header;
  }
  return null;
}

/** Bytes that hold any header. */
export const MAX_HEADER = 16 * 1024;

/** The records of a segment, one at a time; `from` is the end of its header. Damage before the end goes to `problems`. */
export function* recordsOf(
  name: string,
  bytes: Buffer,
  from: number,
  problems: RecordProblem[],
): Generator<Frame | Note, void> {
  let at = from;
  while (at + HEAD_BYTES <= bytes.length) {
    const found = recordAt(bytes, at);
    if (found !== null) {
      at = found.end;
      if (found.record !== null) yield found.record;
      continue;
    }
    const next = nextRecord(bytes, at);
    if (next === null) return; // The torn record at the end, and the part that was never written.
    problems.push({
      segment: name,
      offset: at,
      bytes: next - at,
      message: 'these bytes are damaged; what follows them was read',
    });
    at = next;
  }
}

function parseHeader(bytes: Buffer): { value: SegmentHeader; end: number } | null {
  if (bytes.length < 16 || bytes.toString('latin1', 0, 8) !== MAGIC) return null;
  const length = bytes.readUInt32LE(8);
  const end = 16 + length;
  if (end > bytes.length) return null;
  const text = bytes.subarray(16, end);
  if (crc32(text) !== bytes.readUInt32LE(12)) return null;
  try {
    return { value: JSON.parse(text.toString()) as SegmentHeader, end: padded(end) };
  } catch {
    return null;
  }
}

function padded(length: number): number {
  return Math.ceil(length / 8) * 8;
}

/** The record that begins at `at`; null: none does. A record of an unknown type is skipped: it is of a later version. */
function recordAt(bytes: Buffer, at: number): { record: Frame | Note | null; end: number } | null {
  const type = bytes.readUInt32LE(at);
  const length = bytes.readUInt32LE(at + 4);
  const start = at + HEAD_BYTES;
  if (type === 0 || length === 0 || length > MAX_PAYLOAD || start + length > bytes.length) return null;
  const payload = bytes.subarray(start, start + length);
  if (crc32(payload, crc32(bytes.subarray(at, at + 8))) !== bytes.readUInt32LE(at + 8)) return null;
  const end = padded(start + length);
  if (type === FRAME && length >= FRAME_BYTES) return { record: frameOf(payload), end };
  if (type === NOTE) return { record: noteOf(payload), end };
  return { record: null, end };
}

/** Offset of the next whole record after damage; null: there is none. Records begin at multiples of 8. */
function nextRecord(bytes: Buffer, from: number): number | null {
  for (let at = from + 8; at + HEAD_BYTES <= bytes.length; at += 8) {
    if (bytes.readUInt32LE(at) !== 0 && recordAt(bytes, at) !== null) return at;
  }
  return null;
}

function frameOf(payload: Buffer): Frame {
  // readBigInt64LE takes twice the time for eight million frames. Sizes and times are below 2^53.
  const number = (offset: number) => payload.readInt32LE(offset + 4) * 2 ** 32 + payload.readUInt32LE(offset);
  const orNull = (offset: number) => {
    const value = number(offset);
    return value < 0 ? null : value;
  };
  const range = (offset: number): Range | null => {
    const [last, lowest, highest] = [number(offset), number(offset + 8), number(offset + 16)];
    return last < 0 ? null : { last, lowest, highest };
  };
  return {
    kind: 'frame',
    bootUs: number(0),
    durationUs: payload.readUInt32LE(8),
    samples: payload.readUInt32LE(12),
    free: range(16),
    available: range(40),
    lowestAtUs: payload.readUInt32LE(64),
    lost: payload.readUInt32LE(68),
    someUs: orNull(72),
    fullUs: orNull(80),
    swapFree: orNull(88),
    dirty: orNull(96),
  };
}

function noteOf(payload: Buffer): Note | null {
  try {
    const { bootUs, note } = JSON.parse(payload.toString()) as { bootUs: number; note: Record<string, unknown> };
    return { kind: 'note', bootUs, note };
  } catch {
    return null;
  }
}
