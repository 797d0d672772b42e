/** Free pages of the real kernel: those in lists of the processors, and those that compaction can move. */

import { describe, expect, it } from 'vitest';
import { kernelFiles } from '../../../lib/core/host/files.ts';
import { readMovableBlocks } from '../../../lib/core/host/movable-blocks.ts';
import { native } from '../../../lib/core/native/binding.ts';
import type { Snapshot } from '../../../lib/types/index.ts';
import { runUmaprobe, snapshotJson, umaprobe } from '../../support/cli.ts';
import { freeBytes } from '../../support/meminfo.ts';
import { besideOthers, watchOthers } from '../../support/other-programs.ts';
import { asNobody, isRoot, pageBytes } from '../../support/real-files.ts';
import { parseDocument } from '../../support/schemas.ts';
import { MiB } from '../../support/units.ts';

/** Bytes by which other programs may change the counters meanwhile. */
const NOISE = 96 * MiB;

describe('free pages', () => {
  it('are those of MemFree and of the lists of the processors, for any user', async (context) => {
    const free = ({ host, kernel }: Snapshot) => (host.free ?? 0) + (kernel.freeInCpuLists ?? 0);
    await besideOthers(context, NOISE, async () => {
      const moved = watchOthers(process.pid, { cache: true });
      const before = freeBytes(pageBytes);
      const { stdout } = await umaprobe(['snapshot', '--json']);
      const after = freeBytes(pageBytes);
      const own = parseDocument(stdout) as unknown as Snapshot;
      expect(own.kernel.freeInCpuLists).toBeGreaterThan(0);
      const check = (): void => {
        expect(free(own)).toBeGreaterThan(Math.min(before, after) - 2 * NOISE);
        expect(free(own)).toBeLessThan(Math.max(before, after) + 2 * NOISE);
      };
      return { others: moved(), check };
    });
    if (!isRoot) return context.skip('only root can become somebody else');
    const theirs = parseDocument(runUmaprobe(['--json'], { cwd: '/', ...asNobody }).stdout) as unknown as Snapshot;
    expect(theirs.from['kernel.freeInCpuLists']).toBe('/proc/zoneinfo');
  });

  it('in movable pageblocks are counted for root, and for others there is a reason', async () => {
    const { contiguity } = snapshotJson();
    const read = await readMovableBlocks(kernelFiles(native()), contiguity ?? []);
    if (!isRoot)
      return expect(read).toEqual({ contiguity, from: expect.stringMatching(/^ERR_UMA_PERMISSION.*EACCES/) });
    expect(read.from).toBe('/proc/pagetypeinfo');
    expect(read.contiguity.at(-1)?.movableBlocks).not.toBeNull();
    for (const { freeBlocks, movableBlocks } of read.contiguity) expect(movableBlocks).toBeLessThanOrEqual(freeBlocks);
  });
});
