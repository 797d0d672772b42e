import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SpillFacts, spillsOf } from '../../../../lib/core/sweep/spill.ts';
import type { AllocatorKind, SweepStep } from '../../../../lib/types/index.ts';

const GB = 1e9;

/** A step whose touches run at these bandwidths; null: no time. */
function step(gb: number, second: number | null, first = second, kind: AllocatorKind = 'managed'): SweepStep {
  return {
    kind,
    requestedBytes: gb * GB,
    tensor: null,
    state: 'ok',
    reason: null,
    repeats: 1,
    allocMs: null,
    firstTouchMs: null,
    secondTouchMs: null,
    freeMs: null,
    gbPerSecond: second,
    firstTouchGbPerSecond: first,
    moved: null,
    overheadMs: null,
  };
}

const card: SpillFacts = { memoryModel: 'discrete', deviceFree: 12 * GB, deviceTotal: 12.9 * GB };

describe('13 GB on a card of 12 GB', () => {
  it('spilled at 13 GB, with both kinds of evidence', () => {
    const steps = [step(2, 330), step(4, 332), step(8, 329), step(12, 330), step(13, 79), step(16, 80)];
    expect(spillsOf(steps, card)).toEqual([
      {
        kind: 'managed',
        atBytes: 13 * GB,
        slowdown: 330 / 79,
        evidence: ['capacity', 'bandwidth'],
        sentence: 'spilled at 13.0 GB, 4.2× slower',
      },
    ]);
  });

  it('an allocation larger than the device is one even if it is not slower', () => {
    const [spill] = spillsOf([step(8, 330), step(13, 330)], card);
    expect(spill).toMatchObject({ evidence: ['capacity'], sentence: 'spilled at 13.0 GB, no slower' });
  });

  it('without a smaller size the cost is unknown', () => {
    const [spill] = spillsOf([step(13, 330)], card);
    expect(spill).toMatchObject({ slowdown: null, sentence: 'spilled at 13.0 GB, at an unknown cost' });
  });

  it('a slowdown below the capacity is one if the device was nearly full', () => {
    const [spill] = spillsOf([step(4, 330), step(8, 330), step(11.5, 60)], card);
    expect(spill).toMatchObject({ atBytes: 11.5 * GB, evidence: ['bandwidth'] });
  });

  it('seen in the first touch alone', () => {
    const [spill] = spillsOf([step(4, 330, 11), step(8, 330, 11), step(11.5, 330, 2)], card);
    expect(spill?.slowdown).toBeCloseTo(5.5);
  });

  it('each kind separately', () => {
    const steps = ['device', 'managed'].flatMap((kind) =>
      [step(8, 330), step(12, 330), step(13, 30)].map((one) => ({ ...one, kind: kind as AllocatorKind })),
    );
    expect(spillsOf(steps, card).map(({ kind }) => kind)).toEqual(['device', 'managed']);
  });
});

describe('no spill', () => {
  it.each<[string, SweepStep[], SpillFacts]>([
    ['one dip', [step(8, 330), step(11, 60), step(12, 330)], card],
    ['a slow size while half of the device is free', [step(2, 330), step(4, 60), step(5, 60)], card],
    ['a tenth slower', [step(8, 330), step(12, 297)], card],
    ['small sizes in the cache are faster', [step(0.03, 4000), step(0.06, 4000), step(11, 330), step(12, 330)], card],
    ['shared memory', [step(8, 330), step(13, 30)], { ...card, memoryModel: 'unified' }],
    ['memory of the host’s', [step(8, 20, 20, 'pinned'), step(13, 2, 2, 'pinned')], card],
    ['a size that did not succeed', [step(8, 330), { ...step(13, 30), state: 'out-of-memory' }], card],
    ['no time', [step(8, null), step(12, null)], card],
  ])('%s', (_, steps, facts) => {
    expect(spillsOf(steps, facts)).toEqual([]);
  });

  it('noise of a quarter is never one', () => {
    const noisy = fc.array(fc.double({ min: 0.75, max: 1.25, noNaN: true }), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(noisy, (factors) => {
        const steps = factors.map((factor, at) => step(0.5 + at * 0.6, 330 * factor));
        expect(spillsOf(steps, { ...card, deviceTotal: null })).toEqual([]);
      }),
    );
  });

  it('a slowdown of three or more beyond the free memory is always found, in any order of steps', () => {
    fc.assert(
      fc.property(fc.double({ min: 3, max: 100, noNaN: true }), fc.integer({ min: 0, max: 5 }), (slower, turn) => {
        const steps = [step(2, 330), step(4, 330), step(8, 330), step(12.5, 330 / slower), step(12.8, 330 / slower)];
        const turned = [...steps.slice(turn), ...steps.slice(0, turn)];
        const [spill] = spillsOf(turned, card);
        expect(spill?.atBytes).toBe(12.5 * GB);
        expect(spill?.slowdown).toBeCloseTo(slower);
      }),
    );
  });
});
