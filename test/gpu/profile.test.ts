/** profile() of a program that holds memory of a real GPU: its peaks, and the memory back after each trial. */

import { profile } from 'umaprobe/run';
import { describe, expect, it } from 'vitest';
import { CLI } from '../support/cli.ts';
import { hasGpu, noGpu, usedMiB } from '../support/gpu.ts';
import { GB, MiB } from '../support/units.ts';

const HOLDER = [process.execPath, CLI, 'stress', '--max', '{gb}GB', '--hold', '3s', '--journal', 'none'];

describe.skipIf(!hasGpu)(`profile on a real GPU${noGpu}`, () => {
  it('sees the GPU memory of the program, and that it came back', { timeout: 120_000 }, async () => {
    const before = usedMiB();
    const report = await profile({
      command: HOLDER,
      vary: [{ name: 'gb', values: [1, 2, 4] }],
      journal: false,
      record: false,
    });
    expect(report.trials.map(({ notes, params, status }) => [params.gb, status, notes])).toEqual([
      [1, 'ok', null],
      [2, 'ok', null],
      [4, 'ok', null],
    ]);
    for (const { groupGpuBytes, params } of report.trials)
      expect(groupGpuBytes).toBeGreaterThanOrEqual((params.gb as number) * GB - 64 * MiB);
    expect(Math.abs(usedMiB() - before)).toBeLessThan(64);
    expect(report.safe?.params).toEqual({ gb: 4 });
  });
});
