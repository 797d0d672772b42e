import { describe, expect, it } from 'vitest';
import { guardThresholds } from '../../../../lib/core/memory/guard-rules.ts';
import { GiB, MiB } from '../../../support/units.ts';

describe('thresholds of the guard', () => {
  it('on a Spark: the floor of stress, and the critical band', () => {
    const thresholds = guardThresholds(120 * GiB);
    expect(thresholds.floor.bytes).toBe(Math.ceil(120 * GiB * 0.07));
    expect(thresholds.killBelowBytes).toBe(2 * GiB);
    expect(thresholds.loadFreeBytes).toBe(8 * GiB);
  });

  it('on a small machine: shares of its memory', () => {
    const thresholds = guardThresholds(8 * GiB);
    expect(thresholds.floor).toEqual({ bytes: 2 * GiB, from: expect.stringContaining('a quarter of MemTotal') });
    expect([thresholds.killBelowBytes, thresholds.loadFreeBytes]).toEqual([512 * MiB, 2 * GiB]);
  });

  it('with the floor and the limit of the caller, zero included', () => {
    const { floor, killBelowBytes } = guardThresholds(120 * GiB, { floorBytes: 0, killBelowBytes: 0 });
    expect([floor, killBelowBytes]).toEqual([{ bytes: 0, from: 'as requested' }, 0]);
  });

  it('never have the limit above the floor', () => {
    const low = guardThresholds(120 * GiB, { floorBytes: GiB });
    expect([low.floor.bytes, low.killBelowBytes]).toEqual([GiB, GiB]);
    const high = guardThresholds(120 * GiB, { killBelowBytes: 20 * GiB });
    expect([high.floor, high.killBelowBytes]).toEqual([{ bytes: 20 * GiB, from: 'the limit, as requested' }, 20 * GiB]);
  });
});
