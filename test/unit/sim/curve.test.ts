import { describe, expect, it } from 'vitest';
import { bytesOfCurve, endOfCurve, parseCurve } from '../../../lib/sim/curve.ts';
import { GiB } from '../../support/units.ts';

describe('a curve of memory', () => {
  const curve = [
    { afterMs: 2000, bytes: 10 * GiB },
    { afterMs: 4000, bytes: 10 * GiB },
    { afterMs: 4000, bytes: 30 * GiB },
    { afterMs: 5000, bytes: 20 * GiB },
  ];

  it('is a line between two points, a step at one time, and stays at the last', () => {
    expect([0, 1000, 3000, 3999, 4000, 4500, 9000].map((ms) => bytesOfCurve(curve, ms) / GiB)).toEqual([
      0, 5, 10, 10, 30, 25, 20,
    ]);
    expect(endOfCurve(curve)).toEqual({ afterMs: 5000, bytes: 20 * GiB });
    expect(bytesOfCurve([], 5)).toBe(0);
  });

  it('is read from words, and says which word is wrong', () => {
    expect(parseCurve('2s:10GiB, 4s:10GiB,4s:30GiB,5s:20GiB')).toEqual(curve);
    expect(parseCurve('100ms:0B')).toEqual([{ afterMs: 100, bytes: 0 }]);
    expect(parseCurve('2s')).toMatch(/^"2s" is not a time and a size/);
    expect(parseCurve('2:1GiB')).toMatch(/^"2:1GiB" is not/);
    expect(parseCurve('2s:1GiB:3')).toMatch(/is not/);
    expect(parseCurve('2s:1GiB,1s:2GiB')).toBe('1s comes after a later time');
  });
});
