/** The receipt of a launch, from made-up readings. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatBytes } from '../../../../lib/base/format.ts';
import { type ReceiptInput, receiptOf } from '../../../../lib/run/launch/receipt.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';
import type { LaunchExpectation, LaunchReading } from '../../../../lib/types/index.ts';
import { GiB } from '../../../support/units.ts';

const START = Date.parse('2026-11-22T10:00:00.000Z');
const TOTAL = 119.7 * GiB;
const FLOOR = { bytes: 8 * GiB, from: 'test' };

const EXPECTED: LaunchExpectation = {
  model: 'org/model',
  weights: 30 * GiB,
  total: { bytes: 40 * GiB, low: 36 * GiB, high: 50 * GiB },
  host: null,
  kvBytesPerToken: 100_000,
  context: 65_536,
  sequences: 2,
  extras: [],
};

/** Readings every 100 ms from [seconds, available in GiB] pairs, each of which holds until the next. */
function readingsOf(levels: readonly (readonly [seconds: number, available: number])[], end: number): LaunchReading[] {
  const readings: LaunchReading[] = [];
  for (let tick = 0; tick <= end * 10; tick++) {
    const level = levels.findLast(([seconds]) => seconds * 10 <= tick)?.[1] ?? 0;
    readings.push({ at: new Date(START + tick * 100).toISOString(), available: level * GiB, free: level * GiB });
  }
  return readings;
}

function inputOf(values: Partial<ReceiptInput> = {}, line = 'vllm serve m --gpu-memory-utilization 0.8'): ReceiptInput {
  return {
    before: { available: 110 * GiB, free: 60 * GiB },
    readings: readingsOf(
      [
        [0, 110],
        [1, 79.5],
        [5, 40],
        [20, 108],
      ],
      20.5,
    ),
    loadedAt: new Date(START + 6000).toISOString(),
    lowest: 35 * GiB,
    after: { available: 109.5 * GiB, free: 70 * GiB },
    total: TOTAL,
    floor: FLOOR,
    own: { bytes: 2 * GiB, gpuBytes: 68 * GiB },
    expected: EXPECTED,
    command: recognise(line.split(' '), {}).command,
    isStopped: false,
    gpus: { gpus: [], gpuProblem: null },
    planned: null,
    ...values,
  };
}

describe('receiptOf', () => {
  it('tells the weights, the end of loading, the peak and the plateau apart', () => {
    const { after, headroom, took } = receiptOf(inputOf());
    expect(took.weights).toBe(30.5 * GiB);
    expect(took.loaded).toBe(70 * GiB);
    expect(took.peak).toBe(75 * GiB);
    expect(took.plateau).toBe(70 * GiB);
    expect(took.plateaus.map(({ taken }) => taken / GiB)).toEqual([30.5, 70]);
    expect(headroom).toBe(27 * GiB);
    expect(after).toEqual({ available: 109.5 * GiB, free: 70 * GiB, returned: 69.5 * GiB, missing: 0.5 * GiB });
  });

  it('counts as returned what was held in the last second, and not before', () => {
    const readings = readingsOf(
      [
        [0, 110],
        [1, 30],
        [15, 60],
        [19.9, 100],
      ],
      20,
    );
    expect(receiptOf(inputOf({ readings })).after?.returned).toBe(49.5 * GiB);
  });

  it('takes for the weights what is nearest to those of the files', () => {
    const readings = readingsOf(
      [
        [0, 110],
        [1, 82],
        [5, 79.5],
        [9, 77],
        [13, 40],
      ],
      20,
    );
    expect(receiptOf(inputOf({ readings })).took.weights).toBe(30.5 * GiB);
  });

  it('does not call something the weights that is not near them', () => {
    const expected = { ...EXPECTED, weights: 45 * GiB };
    expect(receiptOf(inputOf({ expected })).took.weights).toBeNull();
    expect(receiptOf(inputOf({ expected: null })).took.weights).toBeNull();
  });

  it('has no plateau of a program that ends at once', () => {
    const readings = readingsOf([[0, 100]], 1);
    expect(receiptOf(inputOf({ readings, loadedAt: null })).took).toMatchObject({
      loaded: null,
      plateau: null,
      plateaus: [],
    });
    expect(receiptOf(inputOf({ readings: [], after: null })).took.peak).toBe(75 * GiB);
  });

  // 8 GiB of floor, of which so much was taken.
  it.each([
    ['vllm serve m --gpu-memory-utilization 0.8', 3, '--gpu-memory-utilization 0.77'],
    ['vllm serve m', 0.5, '--gpu-memory-utilization 0.91'],
    ['python -m sglang.launch_server --model-path m --mem-fraction-static 0.7', 3, '--mem-fraction-static 0.67'],
    // 3 GiB / (100,000 B × 2) = 16,107 tokens fewer than 65,536.
    ['llama-server -m m.gguf -c 131072 -np 2', 3, '-c 98816'],
    ['ollama run m', 3, 'OLLAMA_CONTEXT_LENGTH=49408'],
    ['vllm serve m --gpu-memory-utilization 0.02', 3, null],
    ['llama-server -m m.gguf', 13, null],
    ['sleep 10', 3, undefined],
  ])('flags that would have been safe: %s, %d GiB', (line, missing, safe) => {
    const { flags, headroom } = receiptOf(inputOf({ lowest: 8 * GiB - missing * GiB, readings: [] }, line));
    expect(headroom).toBe(-missing * GiB);
    expect(flags?.safe).toBe(safe);
    if (safe !== undefined) expect(flags?.from).toContain(`${formatBytes(missing * GiB)} of the floor`);
  });

  it('keeps the flags of a launch that kept the floor', () => {
    expect(receiptOf(inputOf()).flags).toEqual({
      safe: null,
      from: 'The floor was kept, with 27.0 GiB to spare: its own flags are safe.',
    });
  });

  it('does not call flags safe because the guard stopped it in time', () => {
    const stopped = receiptOf(inputOf({ isStopped: true }));
    expect(stopped.headroom).toBeGreaterThan(0);
    expect(stopped.flags).toEqual({ safe: null, from: 'The guard stopped it before it had all that it takes.' });
    const planned = { safe: '--gpu-memory-utilization 0.4', from: 'fit' };
    expect(receiptOf(inputOf({ isStopped: true, planned })).flags).toEqual(planned);
  });

  it('a share or context that it names is less by at least what was missing', () => {
    const lines = [
      'vllm serve m --gpu-memory-utilization 0.9',
      'ollama run m',
      'llama-server -m m.gguf -c 131072 -np 2',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...lines), fc.double({ min: 0.001, max: 7.9, noNaN: true }), (line, gib) => {
        const missing = Math.round(gib * GiB);
        const { flags } = receiptOf(inputOf({ lowest: FLOOR.bytes - missing, readings: [] }, line));
        const value = Number(/[\d.]+$/.exec(flags?.safe ?? '')?.[0]);
        if (line.startsWith('vllm')) expect((0.9 - value) * TOTAL).toBeGreaterThanOrEqual(missing - 1);
        else {
          const cells = line.startsWith('ollama') ? value * EXPECTED.sequences : value;
          const before = EXPECTED.context * EXPECTED.sequences;
          expect((before - cells) * 100_000).toBeGreaterThanOrEqual(missing);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('peaks are never below plateaus, and plateaus never overlap', () => {
    const series = fc.array(fc.tuple(fc.nat(100), fc.double({ min: 1, max: 110, noNaN: true })), { maxLength: 12 });
    fc.assert(
      fc.property(series, (levels) => {
        const sorted = levels.map(([second, level]) => [second, level] as const).sort((a, b) => a[0] - b[0]);
        const readings = readingsOf([[0, 110], ...sorted], 60);
        const { took } = receiptOf(inputOf({ readings, lowest: 110 * GiB }));
        for (const { taken } of took.plateaus) expect(taken).toBeLessThanOrEqual(took.peak + 1);
        for (const [index, { from }] of took.plateaus.entries())
          if (index > 0) expect(from > (took.plateaus[index - 1]?.to ?? '')).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
