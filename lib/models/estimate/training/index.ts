/**
 * The estimate of training: full fine-tuning (SFT), adapters (LoRA, QLoRA), preferences (DPO), policy gradients (GRPO).
 * PyTorch's allocations are not summed but replayed, in `training/`: their peak is less than the sum of its parts.
 */

import { sumOf } from '../../../core/memory/range.ts';
import type { EstimateReport } from '../../../types/index.ts';
import type { ModelFacts } from '../../files/model.ts';
import { parametersOf, totalParameters } from '../../files/weights.ts';
import { contextOf, estimatedModel, estimatedUse, unreadNote, unreadOf } from '../inference.ts';
import { trainingLoadingOf } from '../loading.ts';
import type { Use } from '../use.ts';
import { heldTerms } from './held-terms.ts';
import { offloaded } from './offload.ts';
import { hostTerms, referenceTerms } from './other-terms.ts';
import { isAdapter, typesOf } from './plan.ts';
import { phaseNote, replayed, replayedTerms, whyNotReplayed } from './replayed-terms.ts';

export function trainingOf(model: ModelFacts, given: Use): EstimateReport {
  const use = { ...given, context: contextOf(model, given) };
  const parameters = parametersIn(model);
  const types = typesOf(model, use);
  const step = replayed(model, use, { parameters, types });
  const terms = [
    ...(step === null ? heldTerms(model, use, { parameters, types }) : replayedTerms(model, use, step, types)),
    ...referenceTerms(model, parameters, use, { isReplayed: step !== null }),
    ...hostTerms(use),
  ].flatMap((term) => offloaded(term, use, model.architecture));
  const total = sumOf(terms);
  const saved = isAdapter(use) ? (step?.trained ?? 0) * 4 : (parameters ?? 0) * types.weight;
  return {
    schema: 'umaprobe/estimate/1',
    model: estimatedModel(model),
    use: estimatedUse(use, 'bf16'),
    method: 'breakdown',
    terms,
    total,
    loading: trainingLoadingOf(model, use, total, saved),
    kvBytesPerToken: null,
    unread: unreadOf(model),
    notes: [
      ...unreadNote(model),
      ...model.notes,
      ...notesOf(model, parameters),
      ...(step === null ? [] : [phaseNote(step)]),
    ],
  };
}

/** Parameters of the language model and what sees; layers for further tokens are not trained. */
function parametersIn({ counts, parameters, weights }: ModelFacts): number | null {
  if (counts !== null) return totalParameters(counts) + counts.vision;
  return parameters === null ? null : parameters - parametersOf(weights, 'mtp');
}

function notesOf({ architecture }: ModelFacts, parameters: number | null): string[] {
  const notes: string[] = [];
  if (parameters === null) notes.push('The parameters are not known: weights and optimizer are missing.');
  const why = whyNotReplayed(architecture);
  if (why !== null) notes.push(why);
  return notes;
}
