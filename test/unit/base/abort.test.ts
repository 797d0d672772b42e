import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { abortable } from '../../../lib/base/abort.ts';

const never = () => new Promise<never>(() => undefined);

it('work that is aborted rejects with the reason, at once', async () => {
  const caller = new AbortController();
  const work = abortable(caller.signal, never);
  caller.abort(new Error('enough'));
  await expect(work).rejects.toThrow('enough');
  let begun = false;
  const late = abortable(caller.signal, async () => {
    begun = true;
  });
  await expect(late).rejects.toThrow('enough');
  expect(begun).toBe(false);
});

it('work that ends leaves nothing at the signal', async () => {
  const { signal } = new AbortController();
  expect(await abortable(signal, async () => 7)).toBe(7);
  await expect(abortable(signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(await abortable(undefined, async () => 8)).toBe(8);
});
