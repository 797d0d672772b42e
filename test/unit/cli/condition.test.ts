/** Conditions of watch --until: what holds, and one-line answers to mistakes. */
import { describe, expect, it } from 'vitest';
import { parseCondition } from '../../../lib/cli/core/condition.ts';
import { snapshotOf } from '../../support/snapshots.ts';
import { GiB } from '../../support/units.ts';

const holds = (text: string, fixture: Parameters<typeof snapshotOf>[0] = {}): boolean =>
  parseCondition(text, 'until', 'watch').holds(snapshotOf(fixture));

describe('a condition', () => {
  it.each([
    // 102.8 GiB can be loaded of 111.8 available, with 107.1 free.
    ['safe>=100GiB', true],
    ['safe >= 103GiB', false],
    ['safe<103GiB', true],
    ['free>107GiB', true],
    ['free<=107GiB', false],
    ['available>111GiB,safe<111GiB', true],
    ['available>111GiB,safe>111GiB', false],
    ['safe>0', true],
    ['pressure<5%', true],
    ['pressure=0%', true],
    ['pressure!=0%', false],
    ['verdict=ok', true],
    ['verdict==ok', true],
    ['verdict>=notice', false],
    ['verdict<warning', true],
  ])('%s: %s', (text, expected) => expect(holds(text)).toBe(expected));

  it('follows the machine', () => {
    expect(holds('safe>=1GiB', { host: { available: 6 * GiB, free: 6 * GiB } })).toBe(false);
    expect(holds('pressure>10%', { full: 12 })).toBe(true);
    expect(holds('verdict>=warning', { largeShare: 0.01, movableShare: 0 })).toBe(true);
    // Of several GPUs the fullest, as in the verdict.
    expect(holds('safe<91GiB', { model: 'discrete', ownFree: [100 * GiB, 90 * GiB] })).toBe(true);
  });

  it('does not hold for what is unknown, whichever way it compares', () => {
    const unknown = { host: { available: null } };
    for (const sign of ['>', '<', '=', '!=', '>=', '<=']) expect(holds(`safe${sign}1GiB`, unknown)).toBe(false);
  });

  it.each([
    ['safe>=60', /^--until safe>= "60" has no unit/],
    ['safe>=60G', /could mean two sizes: write 60GB/],
    ['saef>=60GiB', /there is no "saef"; there are safe, free, .*Did you mean safe\?/],
    ['safe', /^--until "safe" is no condition, such as safe>=60GiB/],
    ['', /^--until "" is no condition/],
    ['safe>=1GiB,', /^--until "" is no condition/],
    ['pressure<5', /^--until pressure< "5" is not a percentage, such as 5%/],
    ['verdict=fine', /is not one of ok, notice, warning, danger/],
    ['constructor=1', /there is no "constructor"/],
  ])('%j is a mistake', (text, message) => {
    expect(() => parseCondition(text, 'until', 'watch')).toThrow(message);
  });
});
