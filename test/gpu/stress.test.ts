/** stress() on a real device. It takes all free memory: nothing else should need the GPU meanwhile. */

import { snapshot, stress } from 'umaprobe';
import { describe, expect, it } from 'vitest';
import { hasGpu, noGpu } from '../support/gpu.ts';
import { newJournalPath } from '../support/journals.ts';
import { GiB, MiB } from '../support/units.ts';

const journal = newJournalPath();

const pids = async () => (await snapshot()).devices[0]?.processes?.map(({ pid }) => pid) ?? [];

describe.skipIf(!hasGpu)(`stress on a real GPU${noGpu}`, () => {
  it('finds the maximum, holds it verified, and leaves nothing behind', { timeout: 300_000 }, async () => {
    const before = await pids();
    const found = await stress({ journal, verify: true, holdMs: 500 });
    const { device, settled, state, verified } = found;
    expect(found.simulated).toBeNull();
    expect(verified).toMatchObject({ bytes: found.maxBytes, mismatches: 0 });
    if (device.memoryModel === 'discrete') {
      // If another program uses the GPU, its share stays free.
      expect(state).toBe(found.others === null ? 'out-of-memory' : 'share');
      expect(found.floor).toBeNull();
      // With a context, the free memory of cudaMemGetInfo is 1 to 2 GiB below the total.
      expect(found.maxBytes).toBeGreaterThan(
        (device.total as number) - 4 * GiB - (found.share?.bytes ?? 0) - (found.others?.bytes ?? 0),
      );
    } else {
      expect(['floor', 'contiguity']).toContain(state);
    }
    expect(settled.settled).toBe(true);
    expect(settled.missing).toBeNull();
    expect((await pids()).filter((pid) => !before.includes(pid))).toEqual([]);
  });

  it('finds the same in one block within 64 MiB on a discrete GPU', { timeout: 300_000 }, async () => {
    const total = await stress({ journal });
    const single = await stress({ journal, single: true });
    if (total.device.memoryModel === 'discrete')
      expect(Math.abs(total.maxBytes - single.maxBytes)).toBeLessThanOrEqual(64 * MiB);
    expect(single.steps.length).toBeLessThan(30);
  });

  it('takes pinned and managed memory up to a limit', { timeout: 120_000 }, async () => {
    for (const [kind, max] of [
      ['managed', 4 * GiB],
      ['pinned', GiB],
    ] as const) {
      const found = await stress({ journal, kind, maxBytes: max, verify: true });
      expect(found).toMatchObject({ kind, state: 'limit', maxBytes: max, verified: { mismatches: 0 } });
    }
  });
});
