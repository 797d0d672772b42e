/** The time that files of the kernel have to answer, with a clock that is moved on. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { kernelFiles } from '../../../../lib/core/host/files.ts';
import type { NativeBinding } from '../../../../lib/core/native/contract.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

function limits(wantedMs?: number) {
  const asked: number[] = [];
  const binding: Partial<NativeBinding> = {
    async readFilesWithin(paths, ms) {
      asked.push(ms);
      return paths.map(() => '');
    },
    async rereadFilesWithin(paths, _, ms) {
      asked.push(ms);
      return paths.map(() => '');
    },
  };
  return { asked, files: kernelFiles(binding as NativeBinding, wantedMs) };
}

it('is what is left of the limit, and half a second at least', async () => {
  const { asked, files } = limits(3000);
  expect(files.limitMs).toBe(3000);
  await files.read(['/proc/a']);
  vi.advanceTimersByTime(1000);
  await files.reread(['/proc/b'], [100]);
  vi.advanceTimersByTime(1900);
  await files.read(['/proc/c']);
  expect(asked).toEqual([3000, 2000, 500]);
  await files.read([]);
  expect(asked).toHaveLength(3);
});

it('is a second at least, however little is wanted, and two by default', () => {
  expect([limits(1).files.limitMs, limits().files.limitMs]).toEqual([1000, 2000]);
});
