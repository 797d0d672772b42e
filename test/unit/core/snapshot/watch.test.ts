/** The pace of watch(): a pause is never negative, of which Node 24 warns. */
import { expect, it } from 'vitest';
import { pauseUntilNext } from '../../../../lib/core/snapshot/watch.ts';

it.each([
  ['a reading that took no time', 1000, 100, 1000, 100],
  ['a reading within the interval', 1000, 100, 1060, 40],
  ['a reading as long as the interval', 1000, 100, 1100, 0],
  ['a reading that took longer', 1000, 100, 1100.25, 0],
  ['a process that was stopped for an hour', 1000, 100, 3_601_000, 0],
])('after %s', (_, due, intervalMs, now, pause) => {
  expect(pauseUntilNext(due, intervalMs, now)).toBe(pause);
});
