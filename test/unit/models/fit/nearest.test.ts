/** Beside what does not fit: the nearest settings with which it does. Each is asked again here. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openModel } from '../../../../lib/models/estimate/index.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import type { EstimateOptions, FitOptions, FitReport, Snapshot } from '../../../../lib/types/index.ts';
import { QWEN3_8B } from '../../../support/qwen.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const model = await openModel({ config: QWEN3_8B });

function machineOf(available: number): Snapshot {
  return snapshotOf({ host: { available: available * GiB, free: available * GiB } });
}

const ask = (use: EstimateOptions, options: FitOptions = {}, available = 100): Promise<FitReport> =>
  fitInto({ model, use, snapshot: machineOf(available), ...options });

/** What was asked, with a change in place of a part of it. */
function withChange(
  use: EstimateOptions,
  options: FitOptions,
  { utilization, ...change }: NonNullable<FitReport['nearest']>['settings'][number]['change'],
): [EstimateOptions, FitOptions] {
  return [{ ...use, ...change }, utilization === undefined ? options : { ...options, utilization }];
}

const changesOf = ({ nearest }: FitReport) => nearest?.settings.map(({ change }) => Object.keys(change).join('+'));

describe('the nearest setting', () => {
  it('is a number of sequences, a type of the cache, or a context; one more of each does not fit', async () => {
    const use = { context: 40_960, sequences: 16 };
    const report = await ask(use, { program: 'vllm' });
    expect(report.verdict).not.toBe('fits');
    expect(changesOf(report)).toEqual(['sequences', 'kvDtype', 'context']);
    const [{ change, flags } = { change: {}, flags: null }] = report.nearest?.settings ?? [];
    expect(flags).toContain(`--max-num-seqs ${change.sequences}`);
    const more = await ask({ ...use, sequences: (change.sequences ?? 0) + 1 }, { program: 'vllm' });
    expect(more.verdict).not.toBe('fits');
  });

  it.each([
    ['vllm', 0.1],
    ['sglang', 0.1],
    ['trtllm', 0.01],
  ] as const)('is a share of %s, where the one that was given is too small', async (program, utilization) => {
    const asked = [{ context: 8192 }, { program, utilization }] as const;
    const report = await ask(...asked);
    expect(report.verdict).toBe('no');
    expect(changesOf(report)).toContain('utilization');
    const [{ change, text } = { change: {}, text: '' }] = report.nearest?.settings ?? [];
    expect(text).toBe(`a share of ${change.utilization}`);
    expect((await ask(...withChange(...asked, change))).verdict).toBe('fits');
  });

  it('is several of them together, where one is not enough', async () => {
    const report = await ask({ context: 40_960, sequences: 4096, kvDtype: 'bf16' }, { program: 'vllm' }, 49.2);
    expect(changesOf(report)).toEqual(['sequences+kvDtype']);
  });

  it('is a smaller batch of a training', async () => {
    const report = await ask({ use: 'lora', batch: 64, context: 4096 });
    expect(changesOf(report)).toContain('batch');
    expect(report.nearest?.settings[0]?.text).toMatch(/^a batch of \d+$/);
  });

  it('where nothing fits it says what the smallest takes', async () => {
    const { nearest } = await ask({ context: 8192, sequences: 2 }, { program: 'llama.cpp' }, 16);
    expect(nearest?.settings).toEqual([]);
    expect(nearest?.none).toMatch(/^even 1 sequence, 256 tokens and a cache of q4_0 takes [\d.]+ GiB, at most/);
  });

  it('is not looked for where it fits, of a size, or on a machine that cannot be read', async () => {
    expect((await ask({ context: 4096 })).nearest).toBeNull();
    expect((await fitInto({ bytes: 500 * GiB, snapshot: machineOf(100) })).nearest).toBeNull();
    expect((await fitInto({ model, snapshot: snapshotOf({ host: { available: null } }) })).nearest).toBeNull();
  });

  it('always fits, whatever was asked', async () => {
    const programs = fc.constantFrom<FitOptions>(
      {},
      { program: 'vllm' },
      { program: 'vllm', utilization: 0.3 },
      { program: 'sglang' },
      { program: 'sglang', utilization: 0.1 },
      { program: 'trtllm', utilization: 0.05 },
      { program: 'llama.cpp' },
      { program: 'ollama' },
    );
    const uses = fc.record({
      context: fc.integer({ min: 1, max: 40_960 }),
      sequences: fc.integer({ min: 1, max: 64 }),
    });
    await fc.assert(
      fc.asyncProperty(uses, programs, fc.integer({ min: 12, max: 100 }), async (use, options, available) => {
        const report = await ask(use, options, available);
        const isShort = ['tight', 'fits-after', 'no'].includes(report.verdict);
        expect(report.nearest !== null).toBe(isShort);
        for (const { change } of report.nearest?.settings ?? []) {
          const [changed, settings] = withChange(use, options, change);
          expect((await ask(changed, settings, available)).verdict).toBe('fits');
        }
        if (report.nearest !== null) expect(report.nearest.none === null).toBe(report.nearest.settings.length > 0);
      }),
      { numRuns: 40 },
    );
  });
});
