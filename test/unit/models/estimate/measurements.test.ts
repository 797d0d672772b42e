/** Every published measurement beside the estimate: exact quantities within 1 %, all others within the stated range. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LEFT_OUT, MISSES } from '../../../support/measurement-misses.ts';
import { comparisonsOf, comparisonTable, keeps, MEASUREMENTS } from '../../../support/measurements.ts';
import { ROOT } from '../../../support/root.ts';

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

  it('stand in golden/measurements.md as they are (UPDATE_GOLDEN=1 writes it), and some in docs/estimate.md', () => {
    const table = comparisonTable();
    const golden = join(import.meta.dirname, 'golden/measurements.md');
    const text = `# Published measurements beside the estimate\n\n${table.join('\n')}\n`;
    if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(golden, text);
    expect(readFileSync(golden, 'utf8')).toBe(text);
    const shown = readFileSync(join(ROOT, 'docs/estimate.md'), 'utf8').match(/^\| m\d+ .*$/gm) ?? [];
    expect(shown.length).toBeGreaterThan(5);
    expect(shown.filter((line) => !table.includes(line))).toEqual([]);
  });
});
