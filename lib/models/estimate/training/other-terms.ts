/** Memory of a training beside PyTorch's tensors: the engine that writes GRPO's answers, CUDA, Python, data workers. */

import { GiB } from '../../../base/format.ts';
import { range, sumOf } from '../../../core/memory/range.ts';
import type { EstimateRange, EstimateTerm } from '../../../types/index.ts';
import type { ModelFacts } from '../../files/model.ts';
import { cacheOf } from '../cache.ts';
import type { UseAt } from '../use.ts';
import { HALF } from '../widths.ts';

export function referenceTerms(
  model: ModelFacts,
  parameters: number | null,
  use: UseAt,
  { isReplayed }: { isReplayed: boolean },
): EstimateTerm[] {
  if (parameters === null || (use.use !== 'dpo' && use.use !== 'grpo')) return [];
  const weights = parameters * HALF;
  const reference: EstimateTerm = {
    name: 'reference-model',
    // Reference answers that are computed beforehand, or beta = 0, need none.
    ...range(weights, 0, weights),
    formula: 'parameters × 2',
    inputs: { parameters },
  };
  return [...(isReplayed ? [] : [reference]), ...(use.use === 'grpo' ? [rolloutTerm(model, weights, use)] : [])];
}

function rolloutTerm(model: ModelFacts, weights: number, use: UseAt): EstimateTerm {
  const cache = sumOf(cacheOf(model, { ...use, program: 'vllm', sequences: use.sequences * use.batch }).terms);
  const of = (part: EstimateRange): number => weights + part.bytes;
  return {
    name: 'rollout-engine',
    ...range(of(cache) + 2 * GiB, weights, of(cache) + 12 * GiB),
    formula:
      'weights + kv-cache of batch × sequences + 2 GiB; an engine with a share of memory takes all of that share',
    inputs: { weights, cache: cache.bytes, batch: use.batch, sequences: use.sequences },
  };
}

export function hostTerms({ workers }: UseAt): EstimateTerm[] {
  return [
    {
      name: 'cuda-context',
      // Used − reserved of torch 2.11 on an H200: 0.73 to 0.80 GB, with libraries and kernels.
      ...range(0.75 * GiB, 0.5 * GiB, 1 * GiB),
      formula: 'the context, and the kernels that it has loaded: as measured',
      inputs: {},
    },
    {
      name: 'host-process',
      ...range(0.5 * GiB, 0, 1.25 * GiB),
      formula: 'Python and its libraries, without pages of files: not measured on a Spark',
      inputs: {},
    },
    ...(workers === 0
      ? []
      : [
          {
            name: 'data-workers',
            // A Python process each, with the samples that it prepares.
            ...range(workers * 0.25 * GiB, 0, workers * GiB),
            formula: 'workers × 0.25 GiB',
            inputs: { workers },
          },
        ]),
  ];
}
