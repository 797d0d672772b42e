import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pointsOf } from '../../../browser/report/points.ts';
import { addHistory, addPoint, addProcesses, DAY_MS, emptyCourse } from '../../../browser/serve/course.ts';
import type { SeriesPoint } from '../../../lib/types/index.ts';
import { sessionOf } from '../../support/reports.ts';

const START = Date.parse('2026-11-20T00:00:00.000Z');

function pointAt(ms: number, bytes: number | null, percent = 0): SeriesPoint {
  return {
    at: new Date(START + ms).toISOString(),
    spanMs: 1000,
    free: bytes,
    lowestFree: bytes,
    available: bytes,
    lowestAvailable: bytes,
    swapUsed: 0,
    somePercent: percent,
    fullPercent: percent,
  };
}

describe('the course of a machine', () => {
  it('has a day in a few thousand points, in which no low and no peak is lost', () => {
    const course = emptyCourse();
    for (let second = 0; second < 2 * 86_400; second += 1)
      addPoint(course, pointAt(second * 1000, second === 100_000 ? 5 : 50, second === 120_000 ? 99 : 1));
    const { series } = course;
    expect(series.length).toBeLessThanOrEqual(6000);
    expect(Math.min(...series.map(({ lowestAvailable }) => lowestAvailable ?? 99))).toBe(5);
    expect(Math.max(...series.map(({ fullPercent }) => fullPercent ?? 0))).toBe(99);
    const [first, last] = [series[0], series.at(-1)].map((point) => Date.parse(point?.at ?? ''));
    expect((last ?? 0) - (first ?? 0)).toBeLessThanOrEqual(DAY_MS);
    expect((last ?? 0) - (first ?? 0)).toBeGreaterThan(0.9 * DAY_MS);
    // No gap has come of it.
    expect(pointsOf(course).every(({ free }) => free !== null)).toBe(true);
  });

  it('shows a gap where no reading came, also when it is old', () => {
    const course = emptyCourse();
    for (let second = 0; second < 20_000; second += 1)
      if (second < 500 || second > 510) addPoint(course, pointAt(second * 1000, 50));
    expect(pointsOf(course).filter(({ free }) => free === null).length).toBe(1);
  });

  it('stays in order and bounded, whatever the readings are', () => {
    const reading = fc.record({ ms: fc.nat(3 * DAY_MS), bytes: fc.option(fc.nat()) });
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 300 }), (readings) => {
        const course = emptyCourse();
        for (const { bytes, ms } of readings) addPoint(course, pointAt(ms, bytes));
        const times = course.series.map(({ at }) => at);
        return times.length <= 600 && times.every((at, place) => place === 0 || at > (times[place - 1] ?? ''));
      }),
    );
  });

  it('begins with the recordings, whose ends are marks', () => {
    const session = sessionOf({ end: 'machine-lost' });
    const course = emptyCourse();
    const after = Date.parse(session.lastAt) + 60_000 - START;
    addPoint(course, pointAt(after, 50));
    addPoint(course, pointAt(after + 1000, 50));
    addHistory(course, [session]);
    expect(course.series.length).toBe(pointsOf(session).length + 2);
    expect(course.marks.at(-1)).toEqual({ at: session.lastAt, text: 'MACHINE LOST', pid: null });
    expect(course.marks.length).toBe(session.marks.length + 1);
    expect(pointsOf(course).some(({ free }) => free === null)).toBe(true);
    expect(course.processSeries.at).toEqual(session.processSeries.at);
    expect(course.processSeries.processes.map(({ held }) => held)).toEqual(
      session.processSeries.processes.map(({ held }) => held),
    );
  });

  it('of a machine that is back the recording tells what was between its readings', () => {
    const session = sessionOf();
    const course = emptyCourse();
    const second = (place: number): number => Date.parse(session.startedAt) + place * 1000 - START;
    // The page saw it until it froze, and again a minute after it was back.
    const readings = [-60, -59, 100, 101, 102, 900, 901].map((place) => pointAt(second(place), 50));
    for (const reading of readings) addPoint(course, reading);
    const list = (place: number) => ({
      at: pointAt(second(place), 1).at,
      processes: [{ pid: 7, name: 'b', held: 1, gpuBytes: null }],
    });
    for (const place of [-60, 101, 900]) addProcesses(course, list(place));
    for (const _ of [1, 2]) addHistory(course, [session]);
    const times = course.series.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
    const known = course.series.filter(({ free }) => free !== null).map(({ at }) => at);
    expect(known).toEqual([
      ...readings.slice(0, 2).map(({ at }) => at),
      ...pointsOf(session).map(({ at }) => at),
      ...readings.slice(5).map(({ at }) => at),
    ]);
    expect(course.processSeries.at).toEqual([list(-60).at, ...session.processSeries.at, list(900).at]);
    expect(course.marks.length).toBe(session.marks.length + 1);
  });

  it('a reading that comes twice counts once', () => {
    const course = emptyCourse();
    addPoint(course, pointAt(0, 1));
    addPoint(course, pointAt(0, 1));
    const list = { at: pointAt(0, 1).at, processes: [{ pid: 1, name: 'a', held: 1, gpuBytes: null }] };
    addProcesses(course, list);
    addProcesses(course, list);
    expect([course.series.length, course.processSeries.at.length]).toEqual([1, 1]);
  });

  it('has the largest processes of a day, each with a value for each list', () => {
    const course = emptyCourse();
    for (let place = 0; place < 5000; place += 1) {
      const processes = [
        { pid: 1, name: 'server', held: place === 10 ? 99 : 50, gpuBytes: 7 },
        { pid: 1000 + place, name: 'short', held: 1, gpuBytes: null },
      ];
      addProcesses(course, { at: pointAt(2000 * place, 1).at, processes });
    }
    const { at, processes } = course.processSeries;
    expect(at.length).toBeLessThanOrEqual(1500);
    expect(processes.length).toBeLessThanOrEqual(24);
    for (const { gpuBytes, held } of processes) expect([held.length, gpuBytes.length]).toEqual([at.length, at.length]);
    expect(processes.find(({ pid }) => pid === 1)?.highestHeld).toBe(99);
    expect(Math.max(...(processes.find(({ pid }) => pid === 1)?.held ?? []).map((bytes) => bytes ?? 0))).toBe(99);
  });
});
