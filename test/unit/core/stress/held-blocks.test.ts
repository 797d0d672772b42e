/** The blocks that a stress test holds, on a scripted allocator. */

import { expect, it } from 'vitest';
import type { Failure } from '../../../../lib/base/errors.ts';
import type { ChildContext } from '../../../../lib/core/probe/context.ts';
import { HeldBlocks } from '../../../../lib/core/stress/held-blocks.ts';

const FAILED: Failure = { failed: true, source: 'cuda', call: 'cuLaunchKernel', status: 700, name: 'X', message: '' };

function held({ touch = [] as boolean[], mismatchAt = -1, stopAfter = 100, timeScale = null as number | null } = {}) {
  const calls: string[] = [];
  let blocks = 0;
  const context = {
    limits: { stepTimeoutMs: 1000, timeScale },
    stop: () => (calls.filter((call) => call.startsWith('verify')).length >= stopAfter ? { cause: 'timeout' } : null),
    binding: {
      allocBlock: async () => ({ block: ++blocks, durationMs: 2 }),
      touchBlock: async (id: number) => (touch[id - 1] === false ? FAILED : { durationMs: 3 }),
      freeBlock: async (id: number) => void calls.push(`free ${id}`),
      freeBlocks: async () => ({ durationMs: 5 }),
      async verifyBlock(id: number) {
        calls.push(`verify ${id}`);
        const isWrong = id - 1 === mismatchAt;
        return { durationMs: 1, mismatches: isWrong ? 4 : 0, firstMismatch: isWrong ? 10 : null };
      },
    },
  };
  return { calls, blocks: new HeldBlocks(context as unknown as ChildContext, 'device', true) };
}

it('a block that could not be touched is given back, and not held', async () => {
  const { blocks, calls } = held({ touch: [true, false, true] });
  await blocks.allocate(100);
  expect(await blocks.allocate(200)).toMatchObject({ failure: FAILED, allocMs: 2, touchMs: null });
  expect([blocks.heldBytes, calls]).toEqual([100, ['free 2']]);
  await blocks.allocate(400);
  expect(blocks.heldBytes).toBe(500);
});

it('the first mismatch is counted from the first byte of all blocks', async () => {
  const { blocks } = held({ mismatchAt: 2 });
  for (const bytes of [100, 200, 400, 800]) await blocks.allocate(bytes);
  expect(await blocks.verify(() => undefined)).toEqual({ bytes: 1500, mismatches: 4, firstMismatch: 310 });
});

it('a stop ends the verification between two blocks', async () => {
  const { blocks, calls } = held({ stopAfter: 2 });
  for (const bytes of [100, 200, 400]) await blocks.allocate(bytes);
  expect(await blocks.verify(() => undefined)).toMatchObject({ bytes: 300 });
  expect(calls).toEqual(['verify 1', 'verify 2']);
});

it('times are those of the machine, also of a simulated one', async () => {
  const { blocks } = held({ timeScale: 10 });
  expect(await blocks.allocate(100)).toMatchObject({ allocMs: 20, touchMs: 30 });
  await blocks.free();
  expect([blocks.heldBytes, blocks.cudaMs]).toEqual([0, 100]);
});
