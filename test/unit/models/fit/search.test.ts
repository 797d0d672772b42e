/** The largest value that is accepted. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { largestAccepted } from '../../../../lib/models/fit/search.ts';

it('finds the largest accepted value, and asks about few', async () => {
  const count = fc.integer({ min: 1, max: 5000 });
  await fc.assert(
    fc.asyncProperty(count, count, fc.integer({ min: 1, max: 300 }), async (limit, most, step) => {
      const asked: number[] = [];
      const ask = async (value: number) => {
        asked.push(value);
        return value;
      };
      const { answer, value } = await largestAccepted({ most, step }, ask, (tried) => tried <= limit);
      const values = [...Array.from({ length: Math.ceil(most / step) - 1 }, (_, index) => (index + 1) * step), most];
      const largest = values.findLast((candidate) => candidate <= limit) ?? null;
      expect([value, answer]).toEqual([largest, largest ?? values[0]]);
      expect(asked.length).toBeLessThanOrEqual(Math.ceil(Math.log2(most / step + 1)) + 2);
    }),
    { numRuns: 300 },
  );
});
