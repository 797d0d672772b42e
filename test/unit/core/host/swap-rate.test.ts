/** The rate of swapping, of two readings and a clock that is moved on. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { swapMeter } from '../../../../lib/core/host/swap-rate.ts';
import type { NativeBinding } from '../../../../lib/core/native/contract.ts';
import { textsOf } from '../../../support/kernel-files.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

/** Bytes per second, of these texts of /proc/vmstat, `ms` apart, with pages of 64 KiB. */
async function rateOf(before: string, after: string, ms: number): Promise<number | null> {
  let text = before;
  const binding: Partial<NativeBinding> = {
    pageSize: () => 65_536,
    readFilesWithin: async (paths) => textsOf({ '/proc/vmstat': text })(paths),
  };
  const rate = await swapMeter(binding as NativeBinding);
  text = after;
  vi.advanceTimersByTime(ms);
  return rate();
}

it('is the pages in and out, in bytes per second', async () => {
  expect(await rateOf('pswpin 100\npswpout 1000\n', 'pswpin 110\npswpout 1040\n', 250)).toBe(4 * 50 * 65_536);
  expect(await rateOf('pswpin 7\npswpout 0\n', 'pswpin 7\npswpout 0\n', 100)).toBe(0);
});

it('is unknown where the kernel counts only one of them', async () => {
  expect(await rateOf('pswpin 100\n', 'pswpin 100\n', 100)).toBeNull();
  expect(await rateOf('pswpin 1\npswpout 1\n', 'nothing', 100)).toBeNull();
});
