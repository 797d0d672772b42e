/** Every published measurement beside the estimate: exact quantities within 1 %, all others within the stated range. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LEFT_OUT, MISSES } from '../../support/measurement-misses.ts';
import { comparisonsOf, comparisonTable, keeps, MEASUREMENTS } from '../../support/measurements.ts';
import { ROOT } from '../../support/root.ts';

const COMPARISONS = MEASUREMENTS.flatMap(comparisonsOf);
const NAMED = COMPARISONS.map((comparison) => [`${comparison.id} ${comparison.quantity}`, comparison] as const);

describe('published measurements', () => {
  it.each(NAMED.filter(([name]) => MISSES[name] === undefined))('%s', (_, comparison) => {
    expect(keeps(comparison), JSON.stringify(comparison)).toBe(true);
  });

  it.each(NAMED.filter(([name]) => MISSES[name] !== undefined))('%s is a miss with a reason', (name, comparison) => {
    expect(keeps(comparison), JSON.stringify(comparison)).toBe(false);
    // A reason that says "within the range" must be true.
    const { low, high } = comparison.ours;
    if (MISSES[name]?.includes('within the range') === true)
      expect(comparison.measured >= low * 0.995 && comparison.measured <= high * 1.005).toBe(true);
  });

  it('are compared, every one but those that say why not', () => {
    const compared = new Set(COMPARISONS.map(({ id }) => id));
    expect(MEASUREMENTS.filter(({ id }) => !compared.has(id)).map(({ id }) => id)).toEqual(
      ['m028', ...Object.keys(LEFT_OUT)].filter((id) => !compared.has(id)).sort(),
    );
  });

  it('have no miss that is named and not there', () => {
    const names = new Set<string>(NAMED.map(([name]) => name));
    expect(Object.keys(MISSES).filter((name) => !names.has(name))).toEqual([]);
  });

  it('stand in docs/estimate.md as they are', () => {
    const page = readFileSync(join(ROOT, 'docs/estimate.md'), 'utf8');
    const missing = comparisonTable().filter((line) => !page.includes(`\n${line}\n`));
    expect(missing).toEqual([]);
  });
});
