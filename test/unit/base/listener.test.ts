import { expect, it } from 'vitest';
import { Listener } from '../../../lib/base/listener.ts';

const MINE = new Error('mine');

it.each([
  [
    'throws',
    () => {
      throw MINE;
    },
  ],
  ['rejects', () => Promise.reject(MINE)],
])('one that %s ends the work once, hears nothing more, and is what the work fails with', async (_, call) => {
  const failures: unknown[] = [];
  let heard = 0;
  const listener = new Listener<number>(
    () => {
      heard++;
      return call();
    },
    (error) => failures.push(error),
  );
  listener.hear(1);
  await expect(listener.settled()).rejects.toBe(MINE);
  listener.hear(2);
  expect([heard, failures]).toEqual([1, [MINE]]);
});

it('is waited for', async () => {
  let done = false;
  const listener = new Listener<void>(
    async () => {
      await new Promise(setImmediate);
      done = true;
    },
    () => undefined,
  );
  listener.hear();
  await listener.settled();
  expect(done).toBe(true);
});
