/** Segments of a recording, made without the addon. */
import { crc32 } from 'node:zlib';
import { type Frame, type Note, readHeader, recordsOf, type SegmentHeader } from '../../lib/run/record/format.ts';
import type { RecordProblem } from '../../lib/types/index.ts';
import { GiB } from './units.ts';

export const HEADER: SegmentHeader = {
  schema: 'umaprobe/record-segment/1',
  session: 's',
  bootId: 'b',
  simulated: null,
  hostName: 'spark',
  architecture: 'arm64',
  deviceName: 'NVIDIA GB10',
  driverVersion: '580.142',
  memoryModel: 'unified',
  total: 120 * GiB,
  swapTotal: 16 * GiB,
  floor: 8 * GiB,
  intervalMs: 10,
  frameMs: 100,
  segment: 1,
  bootUs: 0,
  wallUs: 0,
};

export interface FrameValues {
  bootUs: number;
  free?: number;
  lowestFree?: number;
  available?: number;
  /** Default: as `fullUs`. */
  someUs?: number;
  fullUs?: number;
  swapFree?: number;
  durationUs?: number;
  lost?: number;
}

/** A whole segment, as the reader of a recording reads it. */
export function readSegment(
  name: string,
  bytes: Buffer,
): { header: SegmentHeader | null; records: (Frame | Note)[]; problems: RecordProblem[] } {
  const found = readHeader(name, bytes);
  const problems = found.problem === null ? [] : [found.problem];
  if (found.header === null || found.end === null) return { header: null, records: [], problems };
  return { header: found.header, records: [...recordsOf(name, bytes, found.end, problems)], problems };
}

const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 7)]);

export function segmentBytes(header: SegmentHeader, ...records: Buffer[]): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const head = Buffer.alloc(16);
  head.write('UMAREC1\n', 'latin1');
  head.writeUInt32LE(json.length, 8);
  head.writeUInt32LE(crc32(json), 12);
  return Buffer.concat([padded(Buffer.concat([head, json])), ...records]);
}

export function recordBytes(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32LE(type, 0);
  head.writeUInt32LE(payload.length, 4);
  head.writeUInt32LE(crc32(payload, crc32(head.subarray(0, 8))), 8);
  return padded(Buffer.concat([head, payload]));
}

export function frameBytes(values: FrameValues, extra = 0): Buffer {
  const { available = -1, bootUs, durationUs = 100_000, free = -1, fullUs = -1, lost = 0 } = values;
  const { lowestFree = free, someUs = fullUs, swapFree = 16 * GiB } = values;
  const payload = Buffer.alloc(104 + extra);
  payload.writeBigInt64LE(BigInt(bootUs), 0);
  payload.writeUInt32LE(durationUs, 8);
  payload.writeUInt32LE(10, 12);
  for (const [index, value] of [free, lowestFree, free, available, available, available].entries())
    payload.writeBigInt64LE(BigInt(value), 16 + 8 * index);
  payload.writeUInt32LE(lost, 68);
  for (const [index, value] of [someUs, fullUs, swapFree, 0].entries())
    payload.writeBigInt64LE(BigInt(value), 72 + 8 * index);
  return recordBytes(1, payload);
}

export function noteBytes(bootUs: number, note: object): Buffer {
  return recordBytes(2, Buffer.from(JSON.stringify({ bootUs, note })));
}
