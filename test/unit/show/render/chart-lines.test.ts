/** What the charts of a page say in words, and which lines they draw wider because others hide them. */
import { describe, expect, it } from 'vitest';
import {
  axesOf,
  type ChartSpec,
  hiddenBy,
  type Line,
  prefersLog,
  readingText,
  summaryOf,
} from '../../../../browser/lines.ts';
import { stressCharts } from '../../../../browser/report/stress.ts';
import { sweepCharts } from '../../../../browser/report/sweep.ts';
import { notMade, stepOf, stressOf, sweepOf } from '../../../support/reports.ts';
import { GB, GiB } from '../../../support/units.ts';

function line(name: string, values: (number | null)[], overrides: Partial<Line> = {}): Line {
  return { name, colour: 'kind-1', dash: [], values, ...overrides };
}

function specOf(...lines: Line[]): ChartSpec {
  return { title: 'Allocation', unit: 'ms', xName: 'size, GB', xs: [1, 2, 4], xText: (x) => `${x} GB`, lines };
}

describe('a chart in words', () => {
  it('tells each line by its ends, and what failed', () => {
    const spec = specOf(
      line('device', [35, 70, 140]),
      line('managed', [0.1, null, null], { failed: [null, 'failed', 'refused'] }),
      line('pinned', [null, null, null]),
      line('floor', [8, 8, 8], { bare: true }),
    );
    expect(summaryOf(spec)).toBe(
      'Line chart. Allocation in ms: device from 35.0 ms at 1 GB to 140 ms at 4 GB; managed 0.10 ms at 1 GB, 2 without a result; pinned has no result; the floor is 8.00 ms.',
    );
    expect(readingText(spec, 0)).toBe('1 GB: device 35.0 ms, managed 0.10 ms, floor 8.00 ms');
    expect(readingText(spec, 1)).toBe('2 GB: device 70.0 ms, managed failed, floor 8.00 ms');
    expect(readingText(specOf(line('device', [1, 2, null])), 2)).toBe('4 GB: no result');
  });
});

describe('lines that hide each other', () => {
  const hidden = (...lines: Line[]): number[][] => hiddenBy(lines, axesOf(specOf(...lines), false, 500).y);

  it('are counted for the one below, place by place', () => {
    expect(hidden(line('a', [1, 2, 4]), line('b', [1, 2, 4.01]), line('c', [1, 3, 4]))).toEqual([
      [2, 1, 2],
      [1, 0, 1],
      [0, 0, 0],
    ]);
    expect(hidden(line('a', [1, 2, 4]), line('b', [2, 3, 3]))[0]).toEqual([0, 0, 0]);
  });

  it('are not where one has no value, and a limit hides nothing', () => {
    expect(hidden(line('a', [1, 1, 1]), line('b', [1, 1, 1], { bare: true }))[0]).toEqual([0, 0, 0]);
    expect(hidden(line('a', [1, null, null]), line('b', [null, 2, 2]))[0]).toEqual([0, 0, 0]);
  });

  it('have no place for 0 on a logarithmic axis', () => {
    const lines = [line('a', [0, 1, 100]), line('b', [0, 1, 100])];
    expect(hiddenBy(lines, axesOf(specOf(...lines), true, 500).y)[0]).toEqual([0, 1, 1]);
  });
});

describe('the charts of a sweep', () => {
  it('have the fastest and the slowest repeat only where there are repeats', () => {
    const spreadOf = (repeat: number) => sweepCharts(sweepOf({ repeat }))[0]?.lines[0]?.spread?.[0];
    const { min, max } = sweepOf().steps[0]?.allocMs ?? { min: 0, max: 0 };
    expect(spreadOf(3)).toEqual([min, max]);
    expect(spreadOf(1)).toBeNull();
  });

  it('mark steps that were tried without success, and have room for them', () => {
    const steps = [
      stepOf('device', GB),
      notMade('device', 2 * GB, 'refused', 'x'),
      notMade('device', 4 * GB, 'not-reached', 'x'),
    ];
    const [chart] = sweepCharts(sweepOf({ steps }));
    expect(chart?.xs).toEqual([1, 2]);
    expect(chart?.lines[0]).toMatchObject({
      values: [stepOf('device', GB).allocMs?.median, null],
      failed: [null, 'refused'],
    });
  });

  it('are none without a measurement', () =>
    expect(sweepCharts(sweepOf({ steps: [notMade('device', GB, 'refused', 'x')] }))).toEqual([]));

  it('measure sizes in the unit in which they were typed', () => {
    const [chart] = sweepCharts(sweepOf({ steps: [stepOf('device', GiB / 2), stepOf('device', GiB)] }));
    expect(chart).toMatchObject({ xName: 'size, GiB', xs: [0.5, 1], binary: true });
    expect(chart?.xText(0.5)).toBe('512 MiB');
  });

  it('have two logarithmic axes or none', () => {
    const specs = sweepCharts(sweepOf());
    expect(prefersLog(specs)).toBe(true);
    for (const spec of specs)
      for (const log of [true, false]) {
        const { x, y } = axesOf(spec, log, 500);
        expect([x.log, y.log]).toEqual([log, log]);
      }
  });
});

it('the charts of a stress test are linear and mark its failed step', () => {
  const report = stressOf();
  const steps = report.steps.map((step, index) => (index === 3 ? { ...step, state: 'out-of-memory' as const } : step));
  const [chart] = stressCharts({ ...report, steps });
  expect(chart?.lines[0]?.failed?.[3]).toBe('out-of-memory');
  expect(prefersLog([chart as ChartSpec])).toBe(false);
  expect(axesOf(chart as ChartSpec, true, 500).x).toMatchObject({
    log: false,
    from: 1,
    ticks: [5, 10, 15, 20, 25, 30],
  });
});
