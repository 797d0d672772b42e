/** The largest model that fits: by precision and use, against the machine and against a program. */

import { describe, expect, it } from 'vitest';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { largestText } from '../../../../lib/show/render/fit-parts.ts';
import type { FitLargest, FitLargestQuestion } from '../../../../lib/types/index.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const machineOf = (available: number | null) =>
  snapshotOf({ host: available === null ? { available } : { available: available * GiB, free: available * GiB } });

async function tableOf(available: number | null, options: Partial<FitLargestQuestion> = {}): Promise<FitLargest> {
  return fitInto({ ...options, largest: true, snapshot: machineOf(available) });
}

function cellOf({ rows, uses }: FitLargest, dtype: string, use: FitLargest['uses'][number]) {
  return rows.find((row) => row.dtype === dtype)?.cells[uses.indexOf(use)] ?? null;
}

/** Once: each of its answers is a search. */
const report = await tableOf(110);

describe('fit() of the largest model', () => {
  it('has each precision, and each use that there is of it', () => {
    const filled = report.rows.map(({ cells, dtype }) => [dtype, ...cells.map((cell) => cell !== null)]);
    expect(filled).toEqual([
      ['bf16', true, true, true],
      ['fp8', true, false, false],
      ['nvfp4', true, false, false],
      ['q4_k_m', true, false, false],
      ['iq3_k', true, false, false],
      ['nf4', true, true, false],
    ]);
  });

  it('finds what fit() says fits: weights and the rest within what can be loaded', async () => {
    for (const { bytesPerWeight, cells } of report.rows)
      for (const cell of cells) {
        expect(cell?.known ?? true).toBe(true);
        if (cell === null) continue;
        const { expected, need, parameters } = cell;
        expect(expected ?? 0).toBeGreaterThanOrEqual(parameters ?? 0);
        expect(need?.high).toBeLessThanOrEqual(report.limit ?? 0);
        // The next size is at most 8 % larger.
        expect(need?.high).toBeGreaterThan(0.9 * (report.limit ?? 0));
        expect((await fitInto({ bytes: need?.high ?? 0, snapshot: machineOf(110) })).verdict).toBe('fits');
        expect(need?.bytes).toBeGreaterThanOrEqual((parameters ?? 0) * bytesPerWeight * 0.99);
      }
  });

  it('smaller types and lighter uses hold more; a longer context holds less', async () => {
    const of = (dtype: string, use: FitLargest['uses'][number]) => cellOf(report, dtype, use)?.expected ?? 0;
    expect(of('fp8', 'inference')).toBeGreaterThan(1.7 * of('bf16', 'inference'));
    expect(of('iq3_k', 'inference')).toBeGreaterThan(of('q4_k_m', 'inference'));
    expect(of('bf16', 'inference')).toBeGreaterThan(of('bf16', 'lora'));
    expect(of('bf16', 'lora')).toBeGreaterThan(of('bf16', 'full'));
    expect(of('nf4', 'lora')).toBeGreaterThan(of('bf16', 'lora'));
    const llama = await Promise.all(
      [4096, 65_536].map((context) => tableOf(110, { program: 'llama.cpp', use: { context } })),
    );
    const [short = 0, long = 0] = llama.map((table) => cellOf(table, 'bf16', 'inference')?.expected ?? 0);
    expect(long).toBeLessThan(short);
    expect(llama[1]?.context).toBe(65_536);
  });

  it('by a program: the types that it loads, and no training on a server', async () => {
    const served = await tableOf(110, { program: 'vllm' });
    expect(served.rows.map(({ dtype }) => dtype)).toEqual(['bf16', 'fp8', 'nvfp4']);
    expect(cellOf(served, 'bf16', 'lora')).toBeNull();
  });

  it('where nothing fits it says none, and unknown where a number is missing', async () => {
    const none = cellOf(await tableOf(9), 'bf16', 'full');
    expect(none).toEqual({ parameters: null, expected: null, need: null, known: true });
    expect(largestText(none)).toBe('none');
    const unknown = cellOf(await tableOf(null), 'bf16', 'inference');
    expect(unknown?.known).toBe(false);
    expect(largestText(unknown)).toBe('unknown');
  });

  it('names a wrong option', async () => {
    await expect(tableOf(100, { solve: 'context' } as Partial<FitLargestQuestion>)).rejects.toThrow(
      'has no option "solve"',
    );
  });
});
