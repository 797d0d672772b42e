/** profile() of a torch trainer on a GPU with memory of its own finds the batch that bare runs find. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { snapshot } from 'umaprobe';
import { profile } from 'umaprobe/run';
import { describe, expect, it } from 'vitest';
import { hasGpu, noGpu } from '../support/gpu.ts';
import { ROOT } from '../support/root.ts';
import { parseDocument } from '../support/schemas.ts';
import { GB, MiB } from '../support/units.ts';

const TRAINER = ['python3', join(ROOT, 'test/gpu/trainer.py')] as const;
const SEQUENCE = '512';
/** 48 MiB of activations for each of the batch: 3072 needs 144 GiB. */
const BATCHES = [256, 512, 1024, 2048, 2560, 3072, 3584];

const torch = hasGpu
  ? spawnSync('python3', ['-c', 'import torch; assert torch.cuda.is_available()'], { timeout: 120_000 })
  : null;
const reason = !hasGpu ? noGpu : torch?.status === 0 ? '' : ': python3 has no torch with CUDA';

function runBare(batch: number): { isSafe: boolean; output: string; reserved: number } {
  const { status, stderr, stdout } = spawnSync(TRAINER[0], [TRAINER[1], String(batch), SEQUENCE], { encoding: 'utf8' });
  const reserved = Number(/peak (\d+)\s*$/.exec(stdout)?.[1] ?? Number.NaN);
  return { isSafe: status === 0, output: stderr, reserved };
}

describe.skipIf(reason !== '')(`profile of a trainer on a GPU with memory of its own${reason}`, () => {
  it('finds the largest batch that bare runs find, by the memory of the GPU', { timeout: 300_000 }, async (context) => {
    const { devices } = await snapshot({ memGetInfo: 'never' });
    if (!devices.some(({ memoryModel, visible }) => visible !== false && memoryModel === 'discrete'))
      return context.skip('no GPU with memory of its own');
    const report = await profile({
      command: [...TRAINER, '{batch}', SEQUENCE],
      vary: [{ name: 'batch', values: BATCHES }],
      journal: false,
      record: false,
    });
    console.log(
      `profile on a GPU's own memory: ${JSON.stringify(report.trials.map(({ notes, params, peakBytes, predictedBytes, status }) => ({ batch: params.batch, status, peakBytes, predictedBytes, notes })))}`,
    );
    parseDocument(JSON.stringify(report));
    expect(report.pool.name).toBe('gpu');
    const bare = BATCHES.map((batch) => ({ batch, ...runBare(batch) }));
    const first = bare.findIndex(({ isSafe }) => !isSafe);
    for (const { isSafe, output } of bare) if (!isSafe) expect(output).toContain('out of memory');
    expect(report.safe?.params.batch).toBe(first === -1 ? BATCHES.at(-1) : bare[first - 1]?.batch);
    for (const { params, peakBytes, phases, status } of report.trials) {
      const { reserved = 0 } = bare.find(({ batch }) => batch === params.batch) ?? {};
      // A context takes some 500 MiB besides what torch has reserved.
      if (status === 'ok')
        expect(Math.abs((peakBytes ?? 0) - (phases.start ?? 0) - reserved)).toBeLessThan(Math.max(GB, reserved * 0.05));
    }
  });

  it('says that a batch which dies of CUDA out of memory was measured so', { timeout: 120_000 }, async () => {
    const report = await profile({
      command: [...TRAINER, '{batch}', SEQUENCE],
      vary: [{ name: 'batch', values: [16, 100_000] }],
      limitBytes: 1024 * 1024 * MiB,
      journal: false,
      record: false,
    });
    const [small, huge] = report.trials;
    expect(small?.status).toBe('ok');
    if (report.pool.name === 'gpu') expect(huge).toMatchObject({ status: 'out-of-memory', exitCode: 1 });
  });
});
