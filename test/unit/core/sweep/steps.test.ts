import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byKind } from '../../../../lib/core/memory/kinds.ts';
import { type Counters, median, movedOver } from '../../../../lib/core/probe/counters.ts';
import { gbPerSecond, largestOf, measuredStep, timesOf } from '../../../../lib/core/sweep/steps.ts';

const counters = (all: number | null): Counters => ({
  memFree: all,
  memAvailable: all,
  cudaFree: all,
  nvmlProcess: all,
  nvmlDeviceUsed: all,
  rss: all,
  cgroup: all,
});

describe('median', () => {
  it.each([
    [[], null],
    [[5], 5],
    [[9, 1], 5],
    [[30, 1, 2], 2],
  ])('of %j is %j', (values, middle) => expect(median(values)).toBe(middle));

  it('does not reorder its input, and lies between minimum and maximum', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true, min: 0, max: 1e9 }), { minLength: 1 }), (values) => {
        const given = [...values];
        const times = timesOf(values);
        expect(values).toEqual(given);
        expect(times?.median).toBeGreaterThanOrEqual(times?.min ?? Number.NaN);
        expect(times?.median).toBeLessThanOrEqual(times?.max ?? Number.NaN);
      }),
    );
  });
});

describe('counters moved', () => {
  it('are compared with before; the median over the repeats is reported', () => {
    const series = [100, 110, 900].map((before) => ({
      before: counters(before),
      afterAlloc: counters(before - 10),
      afterTouch: counters(before - 20),
      afterFree: counters(before === 900 ? 0 : before),
    }));
    expect(movedOver(series)?.memFree).toEqual({ afterAlloc: -10, afterTouch: -20, afterFree: 0 });
  });

  it('unknown stays unknown, and is not 0', () => {
    const unknown = {
      before: counters(null),
      afterAlloc: counters(1),
      afterTouch: counters(1),
      afterFree: counters(1),
    };
    expect(movedOver([unknown])?.cgroup).toEqual({ afterAlloc: null, afterTouch: null, afterFree: null });
    const halfway = { before: counters(5), afterAlloc: counters(4), afterTouch: null, afterFree: null };
    expect(movedOver([halfway])?.rss).toEqual({ afterAlloc: -1, afterTouch: null, afterFree: null });
  });

  it('null if nothing was allocated', () => {
    expect(movedOver([])).toBeNull();
    expect(movedOver([{ before: counters(1), afterAlloc: null, afterTouch: null, afterFree: null }])).toBeNull();
  });
});

describe('a step', () => {
  const measured = {
    state: 'ok',
    reason: null,
    hung: false,
    allocMs: [35, 30, 70],
    firstTouchMs: [5],
    secondTouchMs: [4, 4, 4],
    freeMs: [],
    moved: [],
    overheadMs: 0.5,
  } as const;
  const planned = { kind: 'device', size: 1, bytes: 1e9, refusal: null } as const;

  it('has its times, bandwidth and tensor', () => {
    const tensor = { dtype: 'int8' as const, shape: null, elements: 1e9, bytes: 1e9, note: null };
    const sizes = [
      { bytes: 5, tensor: null },
      { bytes: 1e9, tensor },
    ];
    const lists = { ...measured, allocMs: [...measured.allocMs], firstTouchMs: [5], secondTouchMs: [4, 4, 4] };
    const step = measuredStep(planned, sizes, { ...lists, freeMs: [], moved: [] });
    expect(step).toMatchObject({
      requestedBytes: 1e9,
      tensor,
      repeats: 3,
      allocMs: { min: 30, median: 35, max: 70 },
      gbPerSecond: 250,
      firstTouchGbPerSecond: 200,
      freeMs: null,
      moved: null,
    });
  });

  it('without a time there is no bandwidth, not an infinite one', () => {
    expect(gbPerSecond(1e9, null)).toBeNull();
    expect(gbPerSecond(1e9, { min: 0, median: 0, max: 0 })).toBeNull();
  });

  it('the largest size is one whose state is ok', () => {
    const step = measuredStep(planned, [], {
      ...measured,
      allocMs: [],
      firstTouchMs: [],
      secondTouchMs: [],
      freeMs: [],
      moved: [],
    });
    const steps = [step, { ...step, requestedBytes: 3e9 }, { ...step, requestedBytes: 9e9, state: 'refused' as const }];
    expect(largestOf(steps)).toEqual({ ...byKind(() => null), device: 3e9 });
  });
});
