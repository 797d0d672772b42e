/** PyTorch and accelerate, which take cudaMemGetInfo at its word. */

import { formatBytes, GiB } from '../../base/format.ts';
import type { FitProgramReport } from '../../types/index.ts';
import { flagsFor, none } from './flags.ts';
import { ifExpected, inequalityOf, judged } from './judge.ts';
import { isWeights, type ProgramInput, readingOf, sumOf, unreadable } from './program.ts';

/**
 * PyTorch has no rule of its own: an allocation fails when the driver gets no pages. Programs on top of it
 * (bitsandbytes, transformers, Unsloth) ask torch.cuda.mem_get_info first: that is judged here.
 */
export function torch(input: ProgramInput): FitProgramReport {
  const { need } = input;
  const reading = readingOf(input, 'torch');
  const versions = 'all';
  if (reading.bytes === null) return unreadable('torch', versions, reading);
  const { bytes: free, later, remedy } = reading;
  const fits = need.total.bytes <= free;
  return {
    program: 'torch',
    versions,
    ...judged(need.total, free, later),
    reads: free,
    from: reading.from,
    inequality: inequalityOf(need.total, free, {
      left: 'need',
      right: 'torch.cuda.mem_get_info',
      rule: 'need ≤ free of torch.cuda.mem_get_info',
    }),
    decision: fits
      ? `reads ${formatBytes(free)} as free, which is enough${need.total.high > free ? ' for the expected size, not for the upper end' : ''}`
      : `reads ${formatBytes(free)} as free: programs that ask it first refuse or offload`,
    message: null,
    numbers: { free },
    ...flagsFor('torch', input, []),
    remedies: remedy === null ? [] : [remedy],
    notes:
      // If even the whole cache is too little, nothing succeeds.
      remedy !== null && !fits && need.total.high <= (later ?? free)
        ? ['torch.empty itself succeeds: the kernel takes the cache back while it allocates.']
        : [],
  };
}

/** get_max_memory of accelerate 1.15.0.dev0, utils/modeling.py: nine tenths of cudaMemGetInfo's free. */
const ACCELERATE_SHARE = 0.9;

/** Bytes that device_map="auto" puts on the GPU. */
export function accelerateBudget(free: number): number {
  return Math.floor(free * ACCELERATE_SHARE);
}

export function accelerate(input: ProgramInput): FitProgramReport {
  const { limit, need } = input;
  const reading = readingOf(input, 'torch');
  const versions = '1.15; device_map="auto"';
  if (reading.bytes === null) return unreadable('accelerate', versions, reading);
  const { later, remedy } = reading;
  const budget = accelerateBudget(reading.bytes);
  const known = sumOf(need.terms, (name) => isWeights(name));
  const modules = known.bytes > 0 ? known : need.total;
  const fits = modules.bytes <= budget;
  return {
    program: 'accelerate',
    versions,
    ...judged(modules, budget, later === null ? null : accelerateBudget(later)),
    reads: reading.bytes,
    from: reading.from,
    inequality: inequalityOf(modules, budget, {
      left: 'weights',
      right: '0.9 × free',
      rule: 'weights ≤ 0.9 × free of torch.cuda.mem_get_info',
    }),
    decision: fits
      ? `puts every module on the GPU${ifExpected(modules, budget)}: its budget is ${formatBytes(budget)}`
      : `puts modules on the CPU or the disk: its budget is ${formatBytes(budget)}`,
    message: fits ? null : 'Some modules are dispatched on the CPU or the disk.',
    numbers: { budget },
    // A unified pool counted once: all of it for the GPU, and none for the CPU.
    ...(limit === null || modules.high > limit
      ? none('The weights may be more than what can be loaded.')
      : { flags: `max_memory={0: "${Math.floor(limit / GiB)}GiB", "cpu": "0GiB"}`, aboutFlags: [] }),
    remedies: remedy === null ? [] : [remedy],
    notes: ['On unified memory its budgets for GPU and CPU are the same memory, counted twice.'],
  };
}
