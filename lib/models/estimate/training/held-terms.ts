/** Weights, gradients and optimizer of a training whose steps cannot be replayed. Its activations are missing. */

import { range } from '../../../core/memory/range.ts';
import type { EstimateTerm } from '../../../types/index.ts';
import type { ModelFacts } from '../../files/model.ts';
import { bytesOf } from '../../files/weights.ts';
import type { UseAt } from '../use.ts';
import { PLANS } from './optimizers.ts';
import { isAdapter, type Types } from './plan.ts';
import { divided } from './replayed-terms.ts';

export function heldTerms(
  model: ModelFacts,
  use: UseAt,
  { parameters, types }: { parameters: number | null; types: Types },
): EstimateTerm[] {
  if (parameters === null) return [];
  const weights = weightsTerm(model, parameters, types);
  const terms = isAdapter(use) ? [weights] : [weights, ...stateTerms(parameters, use, types)];
  return terms.map((term) => divided(term, use.tensorParallel));
}

function weightsTerm({ weights }: ModelFacts, parameters: number, { packed, weight }: Types): EstimateTerm {
  const stored = bytesOf(weights) - bytesOf(weights, 'mtp');
  const bytes = packed === null ? parameters * weight : stored > 0 ? stored : parameters * packed;
  return {
    name: 'weights',
    ...range(bytes, bytes, packed === null ? bytes : bytes * 1.1),
    formula: packed === null ? 'parameters × bytes' : 'parameters × packedBytes',
    inputs: { parameters, bytes: weight, packedBytes: packed },
  };
}

function stateTerms(parameters: number, { optimizer }: UseAt, { weight }: Types): EstimateTerm[] {
  const { state, stateFormula } = PLANS[optimizer];
  const held = state(parameters, weight).reduce((sum, bytes) => sum + bytes, 0);
  const gradients = parameters * weight;
  return [
    {
      name: 'gradients',
      ...range(gradients, gradients, gradients),
      formula: 'parameters × bytes',
      inputs: { parameters, bytes: weight },
    },
    {
      name: 'optimizer',
      ...range(held, held, held),
      formula: stateFormula,
      inputs: { trained: parameters, bytes: weight, optimizer },
    },
  ];
}
