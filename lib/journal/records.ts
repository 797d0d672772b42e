/** One line of the journal: JSON with a checksum, so that a changed byte is seen and never taken for a size. */

import { crc32 } from 'node:zlib';
import type { AllocatorKind } from '../types/index.ts';

export type JournalCommand = 'sweep' | 'layout' | 'stress';

/** A process, told from a later one with the same number by when it started (clock ticks since boot). */
export interface Writer {
  pid: number;
  startTicks: number | null;
}

interface Common {
  /** Of one run; runs of several processes may lie interleaved in a file. */
  run: string;
  /** ISO 8601, UTC. */
  at: string;
  bootId: string | null;
}

/** A run begins; nothing has been allocated. */
export interface BeginRecord extends Common, Writer {
  type: 'begin';
  command: JournalCommand;
  /** The simulated machine; null: a real one. */
  simulated: string | null;
  device: number;
}

/** A step is about to be made: on disk before it is. */
export interface StepRecord extends Common, Writer {
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
