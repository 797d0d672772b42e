/** The allocator on simulated machines: kinds, blocks, failures. All *simulated*. */

import { describe, expect, it } from 'vitest';
import type { NativeAllocator } from '../../../../lib/core/native/contract.ts';
import { printedBy } from '../../../support/binary-on-machine.ts';
import { gb10WithFaults, withMachine } from '../../../support/machines.ts';
import { GiB } from '../../../support/units.ts';

const OPEN = 'const opened = await b.allocOpen(0, 10000);';

describe('allocOpen', () => {
  it('names the call of each kind and creates one context', async () => {
    await withMachine('gb10', async ({ env, record }) => {
      const [opened, again, other] = await printedBy(
        `${OPEN} print(opened); print(await b.allocOpen(0, 10000)); print(await b.allocOpen(1, 10000));`,
        env,
      );
      expect((opened as NativeAllocator).kinds).toEqual({
        device: 'cudaMalloc',
        managed: 'cudaMallocManaged',
        pinned: 'cudaHostAlloc',
        system: 'mmap',
      });
      expect(opened).toMatchObject({ memGetInfo: [expect.any(Number), 128518619136], durationMs: expect.any(Number) });
      expect(again).toEqual(opened);
      expect(other).toMatchObject({ source: 'umaprobe', call: 'allocOpen', name: 'EBUSY' });
      expect(record().counts).toMatchObject({ contexts: 1 });
    });
  });
});

describe('blocks', () => {
  it.each([
    ['the runtime', {}],
    ['the driver', { missingLibraries: ['cudart'] }],
  ])('of each kind are allocated, touched and freed over %s', async (_, faults) => {
    await withMachine(gb10WithFaults(faults), async ({ env, record }) => {
      const printed = await printedBy(
        `${OPEN} for (const kind of ['device', 'managed', 'pinned', 'system']) {
          const { block, durationMs } = await b.allocBlock(kind, ${GiB}, 10000);
          const first = await b.touchBlock(block, 1, 10000), second = await b.touchBlock(block, 2, 10000);
          print({ kind, live: b.liveBlocks(), block, times: [durationMs, first.durationMs, second.durationMs].map(Number.isFinite), free: await b.freeBlock(block, 10000) });
        } print(b.liveBlocks());`,
        env,
      );
      const times = [true, true, true];
      const free = { durationMs: expect.any(Number) };
      expect(printed).toEqual([
        ...['device', 'managed', 'pinned', 'system'].map((kind, at) => ({
          kind,
          live: [1, GiB],
          block: at + 1,
          times,
          free,
        })),
        [0, 0],
      ]);
      expect(record().live).toEqual([]);
    });
  });
});

/** The first, a middle and the last byte of a block. */
const places = (bytes: number) => [...new Set([0, bytes >> 1, bytes - 1])];

/** Faults that spoil these bytes of each block in turn, each in a fill of its own after one that is right. */
function spoiledFills(sizes: readonly number[]) {
  const fills: number[] = [];
  const corrupt = [];
  for (const bytes of sizes) {
    fills.push(bytes);
    for (const offset of places(bytes)) {
      corrupt.push({ offset, after: fills.filter((filled) => filled > offset).length, times: 1 });
      fills.push(bytes);
    }
  }
  return corrupt;
}

describe('verifyBlock', () => {
  const kinds = ['device', 'managed', 'pinned', 'system'];
  const sizes = [
    [1, 7, 8, 15, 16],
    [17, 2 ** 20 + 3, 200 * 2 ** 20 + 5],
  ];
  it.each(kinds.flatMap((kind) => sizes.map((some) => [kind, some] as const)))(
    'passes on %s memory of %j bytes and catches a wrong byte',
    { timeout: 120_000 }, // 2 GB are written and compared, by the thread sanitizer at a tenth of the speed
    async (kind, some) => {
      await withMachine(gb10WithFaults({ corrupt: spoiledFills(some) }), async ({ env }) => {
        const found = await printedBy(
          `${OPEN} print(opened.kernel);
        for (const bytes of ${JSON.stringify(some)}) {
          const { block } = await b.allocBlock('${kind}', bytes, 60000);
          const check = async () => {
            await b.touchBlock(block, 42, 60000);
            const { mismatches, firstMismatch } = await b.verifyBlock(block, 42, 60000);
            return [mismatches, firstMismatch];
          };
          const well = await check(), wrong = [];
          for (const offset of new Set([0, bytes >> 1, bytes - 1])) wrong.push([offset, await check()]);
          // Where every byte is wrong, 200 MiB take the thread sanitizer 20 s, beside other tests over 60.
          const other = bytes < 2 ** 21 ? await b.verifyBlock(block, 43, 60000) : null;
          print({ bytes, well, wrong, other });
        }`,
          env,
        );
        expect(found[0]).toBe('kernel');
        for (const { bytes, well, wrong, other } of found.slice(1) as {
          bytes: number;
          well: unknown;
          wrong: [number, [number, number]][];
          other: { mismatches?: number } | null;
        }[]) {
          expect(well, `${bytes}`).toEqual([0, null]);
          expect(wrong.map(([offset]) => offset)).toEqual(places(bytes));
          for (const [offset, [mismatches, first]] of wrong) expect([mismatches, first]).toEqual([1, offset]);
          if (bytes > 8 && bytes < 2 ** 21) expect(other?.mismatches, JSON.stringify(other)).toBeGreaterThan(bytes / 2);
        }
      });
    },
  );
});
