import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkOptions } from '../../../../lib/base/options.ts';
import { SWEEP, type SweepOptions } from '../../../../lib/core/sweep/options.ts';
import { PRESETS, sweepSizes as sizesOf } from '../../../../lib/core/sweep/sizes.ts';

const sweepSizes = (options: SweepOptions) => sizesOf(checkOptions('sweep()', options, SWEEP));
const bytesOf = (options: SweepOptions) => sweepSizes(options).sizes.map(({ bytes }) => bytes);

describe('presets', () => {
  it('lab: the twelve sizes of the curriculum, in GB of 10^9', () => {
    const { preset, sizes } = sweepSizes({ preset: 'lab' });
    expect(preset).toBe('lab');
    expect(sizes.map(({ bytes }) => bytes / 1e9)).toEqual([1, 2, 4, 8, 10, 20, 30, 40, 50, 60, 70, 80]);
  });

  it('the default is quick', () => {
    expect(sweepSizes({})).toEqual(sweepSizes({ preset: 'quick' }));
    expect(Math.max(...PRESETS.quick)).toBeLessThanOrEqual(2e9);
  });
});

describe('ranges', () => {
  it('linear', () => expect(bytesOf({ range: { from: 10, to: 35, step: 10 } })).toEqual([10, 20, 30]));
  it('doubling', () => expect(bytesOf({ range: { from: 3, to: 50 } })).toEqual([3, 6, 12, 24, 48]));
  it('of one size', () => expect(bytesOf({ range: { from: 7, to: 7 } })).toEqual([7]));

  it('stay within their ends, rise, and keep their step', () => {
    const size = fc.integer({ min: 1, max: 2 ** 45 });
    fc.assert(
      fc.property(size, size, fc.integer({ min: 2, max: 500 }), (a, b, parts) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const step = Math.max(1, Math.ceil((to - from) / parts));
        const linear = bytesOf({ range: { from, to, step } });
        const doubling = bytesOf({ range: { from, to } });
        for (const sizes of [linear, doubling]) {
          expect(sizes[0]).toBe(from);
          expect(Math.max(...sizes)).toBeLessThanOrEqual(to);
        }
        expect(linear.every((value, i) => value === from + i * step)).toBe(true);
        expect(to - (linear.at(-1) ?? 0)).toBeLessThan(step);
        expect(doubling.every((value, i) => value === from * 2 ** i)).toBe(true);
        expect((doubling.at(-1) ?? 0) * 2).toBeGreaterThan(to);
      }),
    );
  });

  it('end, also at the largest safe integer', () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(bytesOf({ range: { from: most - 2, to: most, step: 1 } })).toEqual([most - 2, most - 1, most]);
    expect(bytesOf({ range: { from: 2 ** 52, to: most } })).toEqual([2 ** 52]);
  });
});

describe('tensors', () => {
  it('each type with each shape, in that order', () => {
    const { sizes } = sweepSizes({
      tensors: {
        dtypes: ['bf16', 'int4'],
        shapes: [
          [8, 8],
          [3, 3],
        ],
      },
    });
    expect(sizes.map(({ bytes, tensor }) => [tensor?.dtype, tensor?.shape?.join('x'), bytes])).toEqual([
      ['bf16', '8x8', 128],
      ['bf16', '3x3', 18],
      ['int4', '8x8', 32],
      ['int4', '3x3', 5],
    ]);
  });
});

describe('mistakes', () => {
  const wrong = (options: object) => () => sweepSizes(options as SweepOptions);
  it.each([
    [{ sizes: [] }, TypeError, 'sizes is empty'],
    [{ sizes: [0] }, RangeError, 'sizes[0] is 0; expected 1 to 2^53'],
    [{ sizes: [1, 2 ** 53] }, RangeError, 'sizes[1] is 9007199254740992'],
    [{ sizes: [1.5] }, RangeError, 'sizes[0] is 1.5'],
    [{ sizes: ['1GB'] }, TypeError, 'sizes[0] is "1GB"; expected a number of bytes'],
    [{ sizes: 5 }, TypeError, 'sizes is 5; expected an array'],
    [{ range: { from: 5, to: 4 } }, RangeError, 'range.to is 4; expected at least range.from, 5'],
    [{ range: { from: 1, to: 2 ** 40, step: 1 } }, RangeError, 'range.step is 1; expected at least'],
    [{ range: 1 }, TypeError, 'range is 1'],
    [{ preset: 'big' }, TypeError, 'preset is "big"; expected lab or quick'],
    [{ sizes: [1], preset: 'lab' }, TypeError, 'sizes and preset are given together'],
    [{ tensors: { dtypes: ['int8'] } }, TypeError, 'neither shapes nor elements'],
    [{ tensors: { dtypes: ['int8'], elements: 1, shapes: [[1]] } }, TypeError, 'both shapes and elements'],
    [{ tensors: { dtypes: [], elements: 1 } }, TypeError, 'tensors.dtypes is empty'],
    [{ tensors: { dtypes: ['int8'], shapes: [] } }, TypeError, 'tensors.shapes is empty'],
  ])('%j', (options, type, words) => {
    expect(wrong(options)).toThrow(type);
    expect(wrong(options)).toThrow(words);
  });
});
