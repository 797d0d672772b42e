import { describe, expect, it } from 'vitest';
import { Eta } from '../../../../lib/core/sweep/progress.ts';
import { GiB } from '../../../support/units.ts';

describe('the remaining time', () => {
  const step = (kind: 'device' | 'managed', bytes: number, refused = false) => ({
    kind,
    bytes,
    size: 0,
    refusal: refused ? ({ state: 'refused', reason: 'too large' } as const) : null,
  });

  it('is unknown before the first step; a kind without a measurement counts as fast as the others', () => {
    let now = 0;
    const eta = new Eta(() => now);
    expect(eta.remainingMs([step('device', 1)])).toBeNull();
    eta.begin();
    now = 10;
    eta.end(step('device', GiB), true);
    expect(eta.remainingMs([step('managed', 2 * GiB)])).toBe(20);
    eta.begin();
    now = 1010;
    eta.end(step('managed', GiB), true);
    expect(eta.remainingMs([step('managed', 2 * GiB), step('device', GiB)])).toBe(2010);
    expect(eta.remainingMs([step('managed', GiB, true)])).toBe(0);
    expect(eta.remainingMs([])).toBe(0);
  });

  it('grows with the remaining bytes; a refused step changes nothing', () => {
    let now = 0;
    const eta = new Eta(() => now);
    eta.begin();
    now += 7;
    eta.end(step('device', GiB), false);
    expect(eta.remainingMs([step('device', GiB)])).toBeNull();
    eta.begin();
    now += 100;
    eta.end(step('device', GiB), true);
    expect(eta.remainingMs([step('device', 3 * GiB), step('device', GiB)])).toBe(400);
  });
});
