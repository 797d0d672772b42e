/** The allocator on simulated machines: kinds, blocks, failures. All *simulated*. */

import { describe, expect, it } from 'vitest';
import type { NativeAllocator } from '../../../lib/native/contract.ts';
import { printedBy } from '../../support/binary-on-machine.ts';
import { gb10WithFaults, withMachine } from '../../support/machines.ts';
import { GiB } from '../../support/units.ts';

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

describe('verifyBlock', () => {
  it.each(['device', 'managed', 'pinned', 'system'])('passes on %s memory and catches a poked byte', async (kind) => {
    await withMachine('gb10', async ({ env }) => {
      const found = await printedBy(
        `${OPEN} print(opened.kernel);
        for (const bytes of [1, 7, 8, 15, 16, 17, ${2 ** 20 + 3}, ${200 * 2 ** 20 + 5}]) {
          const { block } = await b.allocBlock('${kind}', bytes, 60000);
          await b.touchBlock(block, 42, 60000);
          const check = async () => { const { mismatches, firstMismatch } = await b.verifyBlock(block, 42, 60000); return [mismatches, firstMismatch]; };
          const well = await check();
          const wrong = [];
          for (const offset of new Set([0, bytes >> 1, bytes - 1])) {
            for (const byte of [0, 255]) await b.pokeBlock(block, offset, byte, 60000);
            wrong.push([offset, await check()]);
            await b.touchBlock(block, 42, 60000);
          }
          print({ bytes, well, wrong, other: (await b.verifyBlock(block, 43, 60000)).mismatches > bytes / 2 });
        }`,
        env,
      );
      expect(found[0]).toBe('kernel');
      for (const { bytes, well, wrong, other } of found.slice(1) as {
        bytes: number;
        well: unknown;
        wrong: [number, [number, number]][];
        other: boolean;
      }[]) {
        expect(well, `${bytes}`).toEqual([0, null]);
        expect(wrong.map(([offset]) => offset)).toContain(bytes - 1);
        for (const [offset, [mismatches, first]] of wrong) expect([mismatches, first]).toEqual([1, offset]);
        if (bytes > 8) expect(other).toBe(true);
      }
    });
  });
});
