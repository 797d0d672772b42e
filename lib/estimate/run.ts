/** An estimate of an open model: the arithmetic of its use. */

import { sumOf } from '../memory/range.ts';
import type { ModelFacts } from '../models/model.ts';
import type { EstimateReport } from '../types/index.ts';
import { estimatedModel, estimatedUse, inferenceOf } from './inference.ts';
import { roughOf } from './rough.ts';
import { trainingOf } from './training.ts';
import type { Use } from './use.ts';
import { parameterTerm } from './weights.ts';

export function estimateOf(model: ModelFacts, use: Use): EstimateReport {
  if (use.use !== 'inference') return use.method === 'rough' ? roughOf(model, use) : trainingOf(model, use);
  return model.source === 'parameters' ? parametersOnly(model, use) : inferenceOf(model, use);
}

/** The weights, and nothing that would need the architecture. */
function parametersOnly(model: ModelFacts, use: Use): EstimateReport {
  const weights = parameterTerm(model.parameters ?? 0, model.dtype ?? 'bf16');
  const total = sumOf([weights]);
  return {
    schema: 'umaprobe/estimate/1',
    model: estimatedModel(model),
    use: estimatedUse({ ...use, context: use.context ?? 0 }, use.kvDtype ?? 'bf16'),
    method: 'breakdown',
    terms: [weights],
    total,
    loading: { terms: [], peak: total },
    kvBytesPerToken: null,
    unread: [],
    notes: ['Only the weights: cache and buffers need the model, or its config.json.'],
  };
}
