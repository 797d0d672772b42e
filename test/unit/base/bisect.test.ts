/** The largest number that is accepted. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bisect } from '../../../lib/base/bisect.ts';

it('finds the largest accepted number, and asks about few', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 5000 }), async (largest, above) => {
      let asked = 0;
      const ask = async (at: number) => {
        asked++;
        return at;
      };
      const found = await bisect({ at: 1, answer: 1 }, largest + above, ask, (at) => at <= largest);
      expect(found).toEqual({ at: largest, answer: largest });
      expect(asked).toBeLessThanOrEqual(Math.ceil(Math.log2(largest + above)) + 1);
    }),
    { numRuns: 200 },
  );
});
