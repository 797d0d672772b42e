import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FastestChanges, isFree, Plateaus, Transients } from '../../../../lib/run/record/changes.ts';
import type { Frame } from '../../../../lib/run/record/format.ts';
import { GpuTable } from '../../../../lib/run/record/gpu-series.ts';
import { ProcessTable } from '../../../../lib/run/record/process-series.ts';
import { Series } from '../../../../lib/run/record/series.ts';
import { type FrameValues, frameBytes, HEADER, readSegment, segmentBytes } from '../../../support/segments.ts';
import { GiB, MiB } from '../../../support/units.ts';

const at = (bootUs: number) => `${bootUs / 1e6} s`;

/** Frames of 100 ms with this MemFree, in GiB. */
function framesOf(free: readonly (number | Partial<FrameValues>)[]): Frame[] {
  const records = free.map((value, index) => {
    const given = typeof value === 'number' ? { free: value * GiB } : value;
    return frameBytes({ bootUs: index * 100_000, ...given });
  });
  const segment = readSegment('x', segmentBytes(HEADER, ...records));
  return segment.records.filter((record): record is Frame => record.kind === 'frame');
}

const free = (...values: (number | Partial<FrameValues>)[]) => framesOf(values).filter(isFree);
type FreeFrames = ReturnType<typeof free>;

function fastest(frames: FreeFrames, clock: typeof at) {
  const changes = new FastestChanges(clock);
  for (const frame of frames) changes.add(frame);
  return { fall: changes.fall, rise: changes.rise };
}
function transients(frames: FreeFrames, clock: typeof at) {
  const found = new Transients(clock);
  for (const frame of frames) found.add(frame);
  return found.list();
}
function plateaus(frames: FreeFrames, total: number, clock: typeof at) {
  const found = new Plateaus(total, clock);
  for (const frame of frames) found.add(frame);
  return found.list();
}
function seriesOf(frames: readonly Frame[], points: number, swapTotal: number | null) {
  const last = frames.at(-1);
  const series = new Series({
    at,
    fromUs: frames[0]?.bootUs ?? 0,
    toUs: last === undefined ? 0 : last.bootUs + last.durationUs,
    points,
    swapTotal,
  });
  for (const frame of frames) series.add(frame);
  return series.list();
}
const steady = (count: number, value: number) => Array.from({ length: count }, () => value);

describe('fastest', () => {
  it('is over a second, and not over a frame', () => {
    const { fall, rise } = fastest(free(...steady(20, 50), 40, ...steady(20, 40), 44, ...steady(20, 44)), at);
    // 10 GiB within one frame count over the second that ends with it.
    expect(fall?.bytesPerSecond).toBeCloseTo((10 * GiB) / 1.1, -7);
    expect(rise?.bytesPerSecond).toBeCloseTo((4 * GiB) / 1.1, -7);
  });
  it('nothing fell and nothing rose', () =>
    expect(fastest(free(...steady(30, 50)), at)).toEqual({ fall: null, rise: null }));
  it('a gap, as after a suspend, has no rate', () => {
    const frames = free(50, { free: 10 * GiB, bootUs: 3_600_000_000 });
    expect(fastest(frames, at)).toEqual({ fall: null, rise: null });
  });
});

describe('transients', () => {
  it('a fall that is back within two seconds, seen by its lowest value alone', () => {
    const spike = { free: 50 * GiB, lowestFree: 42 * GiB };
    const found = transients(free(...steady(20, 50), spike, ...steady(20, 50)), at);
    expect(found).toEqual([{ at: '2 s', durationMs: 100, bytes: 8 * GiB, lowestFree: 42 * GiB }]);
  });
  it('a load that stays is none, and neither is a small fall', () => {
    expect(transients(free(...steady(20, 50), ...steady(40, 20)), at)).toEqual([]);
    expect(
      transients(free(...steady(20, 50), { free: 50 * GiB, lowestFree: 50 * GiB - 200 * MiB }, ...steady(20, 50)), at),
    ).toEqual([]);
  });
  it('of hundreds the deepest are listed, whenever they came', () => {
    const depths = Array.from({ length: 300 }, (_, index) => (index === 0 ? 40 : 1 + (index % 7)));
    const found = transients(free(...depths.flatMap((gib) => [...steady(15, 50), 50 - gib]), ...steady(20, 50)), at);
    const deepest = depths.toSorted((a, b) => b - a).slice(0, 20);
    expect(found.map(({ bytes }) => bytes / GiB)).toEqual(deepest);
  });
  it('a fall over several frames is one', () => {
    const found = transients(free(...steady(20, 50), 45, 44, 46, ...steady(20, 50)), at);
    expect(found).toMatchObject([{ at: '2 s', durationMs: 300, bytes: 6 * GiB }]);
  });
});

/** A load of so many seconds, a second of work, and an end that takes as long as the load. In frames of 100 ms. */
function loadAndEnd(seconds: number, gib: number): number[] {
  const ramp = Array.from(
    { length: seconds * 10 },
    (_, index) => Math.round(((index + 1) / (seconds * 10)) * gib * 64) / 64,
  );
  return [...ramp, ...steady(10, gib), ...ramp.toReversed()].map((taken) => 110 - taken);
}

describe('a load that comes and goes', () => {
  it.each([1, 2, 3, 4])('of %d s is one transient, as deep as it was and as long', (seconds) => {
    const found = transients(free(...steady(60, 110), ...loadAndEnd(seconds, 40), ...steady(60, 110)), at);
    expect(found).toHaveLength(1);
    expect(found[0]?.bytes).toBeCloseTo(40 * GiB, -1);
    expect(found[0]?.at).toBe('6 s');
    // All but the first and last frame of the fall, of 256 MiB at most.
    expect(Math.abs((found[0]?.durationMs ?? 0) - (2 * seconds + 1) * 1000)).toBeLessThanOrEqual(300);
  });
  it.each([1, 2.5, 3, 8])('at once for %d s is one transient of this length', (seconds) =>
    expect(transients(free(...steady(60, 110), ...steady(seconds * 10, 70), ...steady(60, 110)), at)).toEqual([
      { at: '6 s', durationMs: seconds * 1000, bytes: 40 * GiB, lowestFree: 70 * GiB },
    ]),
  );
  it('every second is ten transients', () => {
    const second = [...steady(5, 70), ...steady(5, 110)];
    const found = transients(free(...steady(60, 110), ...Array.from({ length: 10 }, () => second).flat()), at);
    expect(found.map(({ durationMs }) => durationMs)).toEqual(steady(10, 500));
  });
  it('that stays for more than ten seconds is none', () =>
    expect(transients(free(...steady(60, 110), ...steady(101, 70), ...steady(60, 110)), at)).toEqual([]));
});

describe('plateaus', () => {
  it('lasts five seconds within 1 % of MemTotal', () => {
    const found = plateaus(free(...steady(60, 50), 30, 29.5, ...steady(100, 20), ...steady(30, 10)), HEADER.total, at);
    expect(found).toEqual([
      { from: '6.2 s', to: '16.2 s', free: 20 * GiB },
      { from: '0 s', to: '6 s', free: 50 * GiB },
    ]);
  });
});

describe('seriesOf', () => {
  it('a share of time is between none and all of it, whatever the counter says', () => {
    const frames = framesOf([0, 500_000, 100_000].map((fullUs) => ({ free: GiB, fullUs })));
    expect(seriesOf(frames, 3, null).map(({ fullPercent }) => fullPercent)).toEqual([0, 100, 0]);
  });

  it('bins keep the lowest, and pressure is a share of the span', () => {
    const frames = framesOf([
      { free: 50 * GiB, available: 60 * GiB, fullUs: 0 },
      { free: 49 * GiB, lowestFree: 10 * GiB, available: 20 * GiB, fullUs: 50_000 },
      { free: 48 * GiB, available: 58 * GiB, fullUs: 50_000 },
      { free: 47 * GiB, available: 57 * GiB, fullUs: 250_000 },
    ]);
    const [first, second, ...rest] = seriesOf(frames, 2, 16 * GiB);
    expect(rest).toEqual([]);
    expect(first).toMatchObject({
      at: '0 s',
      free: 49 * GiB,
      lowestFree: 10 * GiB,
      lowestAvailable: 20 * GiB,
      fullPercent: 25,
      swapUsed: 0,
    });
    expect(second?.fullPercent).toBeCloseTo((200 / 300) * 100);
    expect(seriesOf([], 2, null)).toEqual([]);
  });
  it('pressure of some and of all is told apart, and swap in use is what is not free', () => {
    const frames = framesOf([
      { someUs: 0, fullUs: 0 },
      { bootUs: 900_000, someUs: 500_000, fullUs: 100_000, swapFree: 4 * GiB },
    ]);
    expect(seriesOf(frames, 1, 16 * GiB)).toMatchObject([{ somePercent: 50, fullPercent: 10, swapUsed: 12 * GiB }]);
  });
  it('a value that was never read is null', () => {
    expect(seriesOf(framesOf([{ free: -1 }]), 5, null)).toMatchObject([
      { free: null, lowestFree: null, available: null, fullPercent: null, swapUsed: null },
    ]);
  });
});

describe('the window of a transient', () => {
  /** By comparing each frame with every pair around it: slow, and plainly right. */
  function deepestAround(frames: FreeFrames): number {
    const depths = frames.flatMap((frame, index) =>
      frames.slice(0, index).flatMap((before) =>
        frames
          .slice(index + 1)
          .filter((after) => after.bootUs - before.bootUs <= 10_000_000)
          .map((after) => Math.min(before.free.highest, after.free.highest) - frame.free.lowest),
      ),
    );
    return Math.max(0, ...depths.filter((depth) => depth >= 256 * MiB));
  }
  it('gives the depth that a comparison with every other frame gives', () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ gib: fc.integer({ min: 1, max: 9 }), step: fc.integer({ min: 1, max: 60 }) }), {
          maxLength: 40,
        }),
        (values) => {
          let bootUs = 0;
          const frames = free(
            ...values.map(({ gib, step }) => {
              bootUs += step * 100_000;
              return { free: gib * GiB, bootUs };
            }),
          );
          expect(transients(frames, at)[0]?.bytes ?? 0).toBe(deepestAround(frames));
        },
      ),
      { numRuns: 200 },
    ));
});

describe('ProcessTable', () => {
  const process = (pid: number, held: number, gpuBytes: number | null = null) => ({
    pid,
    name: `p${pid}`,
    held,
    gpuBytes,
  });
  it('has one value for each time and process, and null where it was not listed', () => {
    const table = new ProcessTable({ at, fromUs: 0, toUs: 10_000_000 });
    table.add(1_000_000, [process(1, 5, 3), process(2, 9)]);
    table.add(6_000_000, [process(1, 7, 4)]);
    expect(table.list()).toEqual({
      at: ['1 s', '6 s'],
      processes: [
        { pid: 2, name: 'p2', highestHeld: 9, highestGpuBytes: null, held: [9, null], gpuBytes: [null, null] },
        { pid: 1, name: 'p1', highestHeld: 7, highestGpuBytes: 4, held: [5, 7], gpuBytes: [3, 4] },
      ],
    });
  });
  it('of a long session has at most 500 times and 12 processes, the largest', () => {
    const table = new ProcessTable({ at, fromUs: 0, toUs: 5000e6 });
    for (let second = 0; second < 5000; second++) table.add(second * 1e6, [process(second, second), process(1e6, 1e9)]);
    const { at: times, processes } = table.list();
    expect(times).toHaveLength(500);
    expect(processes.map(({ pid }) => pid).slice(0, 3)).toEqual([1e6, 4999, 4998]);
    expect(processes).toHaveLength(12);
    expect(processes[0]?.held.every((bytes) => bytes === 1e9)).toBe(true);
  });
});

describe('GpuTable', () => {
  it('of a long session has the most that was in use at each of its times', () => {
    const table = new GpuTable({ at, fromUs: 0, toUs: 5000e6 });
    for (const [second, gib] of [5, 9, 3].entries())
      table.add(second * 1e6, [{ index: 0, name: null, total: 80 * GiB, used: gib * GiB, holders: [] }]);
    expect(table.list()).toMatchObject([{ at: ['0 s'], used: [9 * GiB], lowestFree: { at: '1 s', bytes: 71 * GiB } }]);
  });
});
