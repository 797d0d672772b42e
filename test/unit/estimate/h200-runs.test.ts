/** Runs on an H200 beside their estimates: trainings within 10 % of what was used, all within the range. */
import { describe, expect, it } from 'vitest';
import { estimate } from '../../../lib/estimate/index.ts';
import { H200_CONFIGS, H200_RUNS, type H200Run, nameOf, optionsOf, usedBy } from '../../support/h200-runs.ts';

/** Runs in which one more tensor as large as the logits did or did not find its place: the range has both. */
const UNLUCKY: readonly string[] = ['qwen2-0.5b, sft, 2 × 4096, bfloat16'];

async function estimateOf(run: H200Run) {
  return estimate({ config: H200_CONFIGS[run.model] ?? {} }, optionsOf(run));
}

const of = (kind: H200Run['kind']) =>
  H200_RUNS.filter((run) => run.kind === kind && (kind === 'train' || run.cacheBytes !== undefined)).map(
    (run) => [nameOf(run), run] as const,
  );

describe('trainings on an H200', () => {
  it.each(of('train'))('%s', async (name, run) => {
    const { terms, total } = await estimateOf(run);
    const used = usedBy(run);
    const difference = Math.abs(total.bytes / used - 1);
    if (UNLUCKY.includes(name)) expect(difference).toBeGreaterThan(0.1);
    else expect(difference, `${total.bytes} for ${used}`).toBeLessThan(0.1);
    expect(total.low).toBeLessThanOrEqual(used);
    expect(total.high).toBeGreaterThanOrEqual(used);
    expect(total.high / total.low).toBeLessThanOrEqual(1.6);
    const trained = terms.find(({ inputs }) => 'trained' in inputs)?.inputs.trained;
    // Biases are not counted from a config.
    if (trained !== undefined) expect(Math.abs(Number(trained) / run.trainable - 1)).toBeLessThan(0.001);
  });

  it.each(of('train'))('%s: what PyTorch allocates, within 1 %', async (_, run) => {
    const { terms } = await estimateOf(run);
    const slack = terms.find(({ name }) => name === 'allocator-slack');
    expect(Math.abs(Number(slack?.inputs.allocated) / run.peakAllocated - 1)).toBeLessThan(0.01);
  });
});

// Of generate(); a plain call of the model has the logits of every token, too.
describe('inference on an H200', () => {
  it.each(of('inference'))('%s', async (_, run) => {
    const { total } = await estimateOf(run);
    const used = usedBy(run);
    expect(total.low).toBeLessThanOrEqual(used);
    expect(total.high).toBeGreaterThanOrEqual(used);
  });
});
