/**
 * Runs of real models on an H200 (torch 2.11, transformers 5.17, peft 0.21): what PyTorch allocated and reserved at most, and
 * what the device had in use. The runs of the second half were made after the first version of the estimate, to test it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EstimateOptions, Optimizer } from '../../lib/types/index.ts';
import { ROOT } from './root.ts';

export interface H200Run {
  kind: 'train' | 'inference' | 'weights';
  use: 'sft' | 'lora' | 'lora-dpo' | 'inference';
  model: string;
  batch: number;
  sequences?: number;
  context: number;
  checkpointing?: boolean;
  dtype?: string;
  /** FP32 weights, products in 16 bits. */
  autocast?: boolean;
  attention?: 'eager';
  adamw?: { fused?: boolean; foreach?: boolean };
  rank?: number;
  dropout?: number;
  trainable: number;
  /** Bytes of a cache that generate() has filled. */
  cacheBytes?: number;
  /** Bytes of the tensors of a model that was loaded and not used. */
  bytes?: number;
  peakAllocated: number;
  reserved: number;
  /** Bytes in use on the device; left out if other runs were on it. */
  used?: number;
}

const read = (name: string): string => readFileSync(join(ROOT, 'test/fixtures/h200', name), 'utf8');

export const H200_RUNS = read('runs.jsonl')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as H200Run);

export const H200_CONFIGS = JSON.parse(read('configs.json')) as Record<string, Record<string, unknown>>;

/** CUDA's context and kernels, if it could not be read: the amount of the other runs. */
const CONTEXT = 0.8e9;

export function usedBy({ reserved, used }: H200Run): number {
  return used ?? reserved + CONTEXT;
}

export function nameOf({
  adamw,
  attention,
  batch,
  checkpointing,
  context,
  dtype,
  dropout,
  model,
  rank,
  sequences,
  use,
}: H200Run): string {
  const more = { ...adamw, attention, rank, dropout };
  const options = Object.entries(more).flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${value}`]));
  const type = dtype?.replace('torch.', '') ?? 'bfloat16';
  const parts = [model, use ?? 'inference', `${batch ?? sequences} × ${context}`, type];
  if (checkpointing === true) parts.push('checkpointing');
  return [...parts, ...options].join(', ');
}

function optimizerOf({ adamw }: H200Run): Optimizer {
  if (adamw?.fused === true) return 'adamw-fused';
  return adamw?.foreach === false ? 'adamw-single' : 'adamw';
}

export function optionsOf(run: H200Run): EstimateOptions {
  const { attention, autocast, batch, checkpointing, context, dropout, dtype, rank, use } = run;
  if (run.kind === 'inference')
    return { context, sequences: run.sequences ?? batch, program: 'torch', flashAttention: attention !== 'eager' };
  return {
    use,
    batch,
    context,
    checkpointing: checkpointing === true,
    flashAttention: attention !== 'eager',
    optimizer: optimizerOf(run),
    ...(dtype === 'torch.float32' ? (autocast === true ? { mixedPrecision: true } : { dtype: 'fp32' }) : {}),
    ...(rank === undefined ? {} : { loraRank: rank }),
    ...(dropout === undefined ? {} : { loraDropout: dropout }),
  };
}
