/** What a session says of its processes and its marks, from frames and notes. */
import { describe, expect, it } from 'vitest';
import { SessionTally } from '../../../../lib/run/record/tally.ts';
import type { RecordedSession } from '../../../../lib/types/index.ts';
import { frameBytes, HEADER, noteBytes, readSegment, segmentBytes } from '../../../support/segments.ts';
import { GiB } from '../../../support/units.ts';

const SECOND = 1e6;

function sessionOf(endUs: number, ...records: Buffer[]): RecordedSession {
  const tally = new SessionTally(HEADER, { startUs: 0, endUs, fromUs: Number.NEGATIVE_INFINITY }, 100);
  for (const record of readSegment('x', segmentBytes(HEADER, ...records)).records) tally.add(record);
  return tally.report('complete');
}

const frame = (second: number, gib: number) =>
  frameBytes({ bootUs: second * SECOND, free: gib * GiB, available: gib * GiB });
const list = (second: number, gib: number, gpuGib = 0) =>
  noteBytes(second * SECOND, {
    type: 'processes',
    processes: [{ pid: 7, name: 'p', held: gib * GiB, gpuBytes: gpuGib * GiB }],
  });
const time = (second: number) => new Date(second * 1000).toISOString();

describe('who held memory at the lowest point', () => {
  it('is in the list before it, where the process ended then', () =>
    expect(
      sessionOf(20 * SECOND, list(1, 5), frame(3, 50), list(6, 60), frame(8, 9), frame(9, 70), list(11, 1)),
    ).toMatchObject({
      lowestAvailable: { at: time(8), bytes: 9 * GiB },
      lowestProcesses: { at: time(6), processes: [{ held: 60 * GiB }] },
      processes: { at: time(11) },
    }));
  it('is in the list after it, where the process began meanwhile, and had memory of the GPU', () =>
    expect(
      sessionOf(
        20 * SECOND,
        list(1, 5),
        frame(3, 50),
        list(6, 6),
        frame(8, 9),
        frame(9, 9),
        list(11, 4, 80),
        list(16, 90),
      ),
    ).toMatchObject({
      lowestProcesses: { at: time(11), processes: [{ gpuBytes: 80 * GiB }] },
    }));
  it('is not known without a list, nor without a reading', () => {
    expect(sessionOf(SECOND, frame(0, 50)).lowestProcesses).toBeNull();
    expect(sessionOf(SECOND, frameBytes({ bootUs: 0, free: GiB }))).toMatchObject({
      lowestAvailable: null,
      lowestProcesses: null,
    });
  });
});

describe('frames', () => {
  it('that could not be kept are counted', () => {
    const frames = [0, 3, 0, 4].map((lost, second) => frameBytes({ bootUs: second * SECOND, free: GiB, lost }));
    expect(sessionOf(4 * SECOND, ...frames)).toMatchObject({ frames: 4, lostFrames: 7 });
  });

  it('below the floor are as long as they are', () => {
    // The floor is 8 GiB; a frame takes 0.1 s.
    const session = sessionOf(6 * SECOND, ...[50, 7.5, 8, 1, 9, 60].map((gib, second) => frame(second, gib)));
    expect(session.belowFloorMs).toBe(200);
  });

  it('before the time that is asked for do not count, but how it ended does', () => {
    const tally = new SessionTally(HEADER, { startUs: 0, endUs: 3 * SECOND, fromUs: 2 * SECOND }, 100);
    const end = noteBytes(SECOND, { type: 'end', reason: 'a signal' });
    for (const record of readSegment('x', segmentBytes(HEADER, frame(0, 1), end, frame(2, 50), frame(3, 40))).records)
      tally.add(record);
    expect(tally.report('complete')).toMatchObject({
      frames: 2,
      lowestFree: { at: time(3), bytes: 40 * GiB },
      endReason: 'a signal',
    });
  });

  it('of the same lowest value: the first one is the moment', () => {
    const session = sessionOf(5 * SECOND, frame(0, 50), frame(1, 9), frame(2, 30), frame(3, 9));
    expect(session).toMatchObject({
      lowestFree: { at: time(1), bytes: 9 * GiB },
      lowestAvailable: { at: time(1), bytes: 9 * GiB },
    });
  });
});

describe('the table of processes', () => {
  const processes = (second: number, ...all: { pid: number; name: string; held: number; gpuBytes: number | null }[]) =>
    noteBytes(second * SECOND, { type: 'processes', processes: all });
  const one = (held: number, gpuBytes: number | null = null, name = 'p') => ({ pid: 7, name, held, gpuBytes });

  it('has the highest value of each process, where several lists are of one time', () => {
    // 500 times in 5,000 s.
    const { processSeries } = sessionOf(
      5000 * SECOND,
      processes(1, one(5, 3)),
      processes(2, one(9, 1)),
      processes(3, one(2)),
    );
    expect(processSeries).toEqual({
      at: [time(1)],
      processes: [{ pid: 7, name: 'p', highestHeld: 9, highestGpuBytes: 3, held: [9], gpuBytes: [3] }],
    });
  });

  it('tells two programs apart that had one pid', () => {
    const { processSeries } = sessionOf(100 * SECOND, processes(1, one(5)), processes(50, one(9, null, 'q')));
    expect(processSeries.processes.map(({ held, name }) => [name, held])).toEqual([
      ['q', [null, 9]],
      ['p', [5, null]],
    ]);
  });

  it('keeps the twelve largest, whoever came first', () => {
    const lists = Array.from({ length: 300 }, (_, index) => processes(index, { ...one(1000 + index), pid: index }));
    const found = sessionOf(300 * SECOND, ...lists).processSeries.processes.map(({ pid }) => pid);
    expect(found).toEqual(Array.from({ length: 12 }, (_, index) => 299 - index));
  });
});

it('marks for which there is no place are counted', () => {
  const marks = Array.from({ length: 10_003 }, (_, index) => noteBytes(index, { type: 'mark', text: `${index}` }));
  const session = sessionOf(SECOND, ...marks);
  expect([session.marks.length, session.marks[0]?.text, session.leftOut]).toEqual([
    10_000,
    '3',
    { marks: 3, kernelMessages: 0, notes: 0, transients: 0 },
  ]);
});

it('transients for which there is no place are counted', () => {
  // Half a second deep, every two seconds.
  const frames = Array.from({ length: 600 }, (_, index) =>
    frameBytes({ bootUs: index * 100_000, free: index % 20 < 5 ? GiB : 8 * GiB }),
  );
  const { leftOut, transients } = sessionOf(SECOND, ...frames);
  expect([transients.length, leftOut.transients]).toEqual([20, 9]);
});

it('a process that grows is found, with what is left at the end above the floor', () => {
  const minutes = Array.from({ length: 121 }, (_, index) => index);
  const records = minutes.flatMap((minute) => [
    frame(60 * minute, 100 - minute / 32),
    list(60 * minute, 10 + minute / 32),
  ]);
  // 96.25 GiB are left, less the floor of 8 GiB, at 1.875 GiB an hour.
  expect(sessionOf(7200 * SECOND, ...records).growth).toEqual([
    {
      ...{ pid: 7, name: 'p', memory: 'host', from: time(0), to: time(7200) },
      bytesPerHour: expect.closeTo(1.875 * GiB, -4),
      bytes: expect.closeTo(3.75 * GiB, -4),
      usedUpInMs: expect.closeTo((88.25 / 1.875) * 3_600_000, -4),
    },
  ]);
});
