/** An estimate of an open model: the arithmetic of its use. */

import { range, sumOf } from '../../core/memory/range.ts';
import type { EstimateReport } from '../../types/index.ts';
import type { ModelFacts } from '../files/model.ts';
import { bufferTerms } from './buffers.ts';
import { cacheOf } from './cache.ts';
import { contextOf, estimatedModel, estimatedUse, inferenceOf } from './inference.ts';
import { rankOf } from './ranks.ts';
import { roughOf } from './rough.ts';
import { trainingOf } from './training/index.ts';
import { cacheShares, typicalArchitecture } from './typical.ts';
import type { Use } from './use.ts';
import { parameterTerm } from './weights.ts';

export function estimateOf(model: ModelFacts, use: Use): EstimateReport {
  if (use.use !== 'inference') return use.method === 'rough' ? roughOf(model, use) : trainingOf(model, use);
  return model.source === 'parameters' ? parametersOnly(model, use) : rankOf(inferenceOf(model, use), use);
}

/** The weights; cache and buffers as those of a typical model of this size, with the range of those that are not. */
function parametersOnly(model: ModelFacts, given: Use): EstimateReport {
  const architecture = typicalArchitecture(model.parameters ?? 0);
  const typical: ModelFacts = { ...model, architecture, dtype: 'bfloat16' };
  const use = { ...given, context: contextOf(typical, given) };
  const cache = cacheOf(typical, use);
  const shares = cacheShares(architecture);
  const terms = [
    parameterTerm(model.parameters ?? 0, model.dtype ?? 'bf16'),
    ...cache.terms.map((term) => ({
      ...term,
      ...range(term.bytes, term.bytes * shares.low, term.high * shares.high),
      formula: `${term.formula}, of a typical model of this size`,
    })),
    ...bufferTerms(typical, use),
  ];
  const total = sumOf(terms);
  return {
    schema: 'umaprobe/estimate/1',
    model: estimatedModel(model),
    use: estimatedUse(use, cache.kvDtype),
    method: 'breakdown',
    terms,
    total,
    loading: { terms: [], peak: total },
    kvBytesPerToken: cache.bytesPerToken,
    unread: [],
    notes: [`Cache and buffers: rough (${architecture.layers} layers, 8 KV heads); config.json says more.`],
  };
}
