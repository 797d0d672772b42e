/** An estimate from a checked request: reads the model, then the arithmetic of its use. */

import { emptyModel, type Model } from '../models/model.ts';
import type { JsonObject } from '../models/model-file.ts';
import { openModel } from '../models/open.ts';
import { modelOfConfig } from '../models/open-folder.ts';
import { quantizationOf } from '../models/quantization.ts';
import type { EstimateReport, EstimateTerm, ModelDescription } from '../types/index.ts';
import { estimatedModel, estimatedUse, inferenceOf } from './inference.ts';
import { roughOf } from './rough.ts';
import { trainingOf } from './training.ts';
import { exactly, sumOf, type Use } from './use.ts';
import { parameterTerm } from './weights.ts';

export async function runEstimate(request: string | ModelDescription, use: Use): Promise<EstimateReport> {
  if (typeof request === 'string') return estimateOf(await openModel(request), use);
  if ('config' in request) {
    const { model, weights } = describedModel(request);
    return estimateOf(model, use, weights);
  }
  return parametersOnly(request, use);
}

function estimateOf(model: Model, use: Use, weights?: EstimateTerm[]): EstimateReport {
  if (use.use === 'inference') return inferenceOf(model, use, weights);
  return use.method === 'rough' ? roughOf(model, use) : trainingOf(model, use);
}

/** A model of a config that the caller holds. */
function describedModel({ config, dtype, weightBytes }: Extract<ModelDescription, { config: unknown }>): {
  model: Model;
  weights: EstimateTerm[] | undefined;
} {
  const document = config as JsonObject;
  const file = { document, path: 'config', quantization: quantizationOf(document, null) };
  const read = { ...modelOfConfig(file, String(document.model_type ?? 'config')), path: null };
  const model = dtype === undefined ? read : { ...read, dtype, quantization: null };
  if (weightBytes === undefined) return { model, weights: undefined };
  return {
    model,
    weights: [{ name: 'weights', ...exactly(weightBytes), formula: 'as given', inputs: { weightBytes } }],
  };
}

/** Only a number of parameters is known: their weights, and nothing that would need the architecture. */
function parametersOnly(
  { dtype = 'bf16', hidden, params }: Extract<ModelDescription, { params: number }>,
  use: Use,
): EstimateReport {
  const name = `${params.toLocaleString('en-US')} parameters in ${dtype}`;
  const model: Model = { ...emptyModel(name, 'parameters'), parameters: params, dtype };
  if (use.use !== 'inference')
    return use.method === 'rough' ? roughOf(model, use, hidden ?? null) : trainingOf(model, use);
  const weights = parameterTerm(params, dtype);
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
    notes: ['Only the weights: cache and buffers need the model, or its config.json.'],
  };
}
