/** Extrapolation, against peaks that were measured on real GB10s (mission.md S3) and against formulas. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Measured, predict } from '../../../../lib/run/profile/predict.ts';
import { GB, GiB } from '../../../support/units.ts';

const line = (name: string, peaks: Readonly<Record<number, number>>): Measured[] =>
  Object.entries(peaks).map(([value, gb]) => ({ params: { [name]: Number(value) }, bytes: gb * GB }));

/** Qwen3-0.6B SFT at sequence length 1024. */
const SFT = { 2: 21.1, 4: 29.0, 8: 46.8, 16: 80.9 };

describe('the peaks of a real SFT', () => {
  it('of batch 2, 4, 8 predict batch 16 within 15 %, and the interval has it', () => {
    const { 16: actual, ...known } = SFT;
    const prediction = predict({ bs: 16 }, 'bs', line('bs', known));
    expect(prediction?.bytes).toBeGreaterThan(actual * GB * 0.85);
    expect(prediction?.bytes).toBeLessThan(actual * GB * 1.15);
    expect(prediction?.low).toBeLessThan(actual * GB);
    expect(prediction?.high).toBeGreaterThan(actual * GB);
    expect(prediction?.model).toMatch(/^a \+ b·bs\S* through bs 2, 4, 8; the interval has every exponent/);
  });

  it('of batch 2 and 4 predict batch 8 within 15 %', () => {
    const prediction = predict({ bs: 8 }, 'bs', line('bs', { 2: 21.1, 4: 29.0 }));
    expect(Math.abs((prediction?.bytes ?? 0) / (46.8 * GB) - 1)).toBeLessThan(0.15);
    expect(prediction?.model).toContain('through bs 2, 4');
  });

  it('of all four predict batch 32 far above 100 GB', () => {
    expect(predict({ bs: 32 }, 'bs', line('bs', SFT))?.low).toBeGreaterThan(100 * GB);
  });

  it('of a DPO, 23.8, 27.2 and 62.2 GB, predict batch 16 above 100 GB', () => {
    expect(predict({ bs: 16 }, 'bs', line('bs', { 2: 23.8, 4: 27.2, 8: 62.2 }))?.bytes).toBeGreaterThan(100 * GB);
  });
});

describe('a prediction', () => {
  it('needs a trial that differs in one parameter alone', () => {
    expect(predict({ bs: 4, seq: 2 }, 'bs', [{ params: { bs: 2, seq: 1 }, bytes: GB }])).toBeNull();
    expect(predict({ bs: 2 }, 'bs', [])).toBeNull();
  });

  it('from one trial is between no growth and growth in proportion', () => {
    const prediction = predict({ bs: 4 }, 'bs', line('bs', { 2: 20 }));
    expect(prediction).toMatchObject({ bytes: 30 * GB });
    expect(prediction?.low).toBeCloseTo(20 * GB * 0.97, -9);
    expect(prediction?.high).toBeGreaterThanOrEqual(40 * GB);
    expect(prediction?.model).toContain('one trial');
  });

  it('of a parameter that costs nothing is what there was', () => {
    const prediction = predict({ ga: 8 }, 'ga', line('ga', { 1: 20, 2: 20, 4: 20 }));
    expect(prediction?.bytes).toBe(20 * GB);
    // Three trials that differ by noise, and one that fell, are not taken for growth.
    expect(predict({ ga: 8 }, 'ga', line('ga', { 1: 20.1, 2: 20, 4: 19.9 }))?.bytes).toBe(19.9 * GB);
  });

  it('of a second parameter enlarges its rise at the smallest configuration', () => {
    // 10 GB of weights, and 1 GB for each sequence of 1024 tokens.
    const at = (bs: number, seq: number) => ({ params: { bs, seq }, bytes: (10 + bs * seq) * GB });
    const trials = [at(1, 1), at(2, 1), at(4, 1), at(8, 1), at(1, 2)];
    const prediction = predict({ bs: 8, seq: 2 }, 'seq', trials);
    expect(Math.abs((prediction?.bytes ?? 0) / (26 * GB) - 1)).toBeLessThan(0.1);
    expect(prediction?.model).toMatch(/^a \+ b·bs·seq through 5 trials/);
  });

  it('holds for every power with any weights: the value is in the interval, and the interval around the prediction', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.5, max: 60, noNaN: true }),
        fc.double({ min: 0.1, max: 8, noNaN: true }),
        fc.double({ min: 1, max: 2, noNaN: true }),
        fc.integer({ min: 2, max: 4 }),
        (weights, unit, exponent, count) => {
          const peak = (value: number) => (weights + unit * value ** exponent) * GiB;
          const trials = Array.from({ length: count }, (_, index) => ({
            params: { bs: 2 ** index },
            bytes: peak(2 ** index),
          }));
          const value = 2 ** count;
          const prediction = predict({ bs: value }, 'bs', trials);
          if (prediction === null) throw new Error('no prediction');
          const { bytes, high, low } = prediction;
          expect(low).toBeLessThanOrEqual(bytes);
          expect(bytes).toBeLessThanOrEqual(high);
          expect(peak(value)).toBeGreaterThanOrEqual(low);
          expect(peak(value)).toBeLessThanOrEqual(high);
          // The field has exponents up to 1.3; steeper ones are the less likely beforehand.
          if (count >= 3 && exponent <= 1.6) expect(Math.abs(bytes / peak(value) - 1)).toBeLessThan(0.25);
        },
      ),
    );
  });

  it('is never below the largest trial of its line, whatever the trials are', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 1, maxLength: 6 }), (peaks) => {
        const trials = peaks.map((gb, index) => ({ params: { n: index + 1 }, bytes: gb * GB }));
        const prediction = predict({ n: peaks.length + 1 }, 'n', trials);
        expect(prediction?.bytes).toBeGreaterThanOrEqual((peaks.at(-1) ?? 0) * GB);
        expect(Number.isSafeInteger(prediction?.high)).toBe(true);
      }),
    );
  });
});
