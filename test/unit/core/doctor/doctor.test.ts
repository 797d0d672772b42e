/** Rows of the table by id or pattern. */
import { describe, expect, it } from 'vitest';
import { matching } from '../../../../lib/core/doctor/options.ts';
import { FINDING_IDS } from '../../../../lib/core/memory/findings/index.ts';

describe('naming rows', () => {
  it('takes ids and patterns', () => {
    expect([...matching(['library.*', 'swap.full']).ids]).toEqual(['library.cuda', 'library.nvml', 'swap.full']);
    expect(matching(['*']).ids.size).toBe(FINDING_IDS.length);
  });

  it('names the unknown pattern; a dot matches a dot only', () => {
    expect(matching(['swap.full', 'nope']).unknown).toBe('nope');
    expect(matching(['libraryxcuda']).unknown).toBe('libraryxcuda');
    expect(matching(['(']).unknown).toBe('(');
  });
});
