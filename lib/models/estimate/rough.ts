/**
 * The rules of thumb of a training method made on a Spark: a first guess before a sweep. They leave out most of what
 * training takes (docs/estimate.md says by how much it misses).
 */

import { invalidArgument } from '../../base/arguments.ts';
import { GB } from '../../base/format.ts';
import { exactly, sumOf } from '../../core/memory/range.ts';
import type { EstimateReport, EstimateTerm } from '../../types/index.ts';
import type { ModelFacts } from '../files/model.ts';
import { totalParameters } from '../files/weights.ts';
import { contextOf, estimatedModel, estimatedUse } from './inference.ts';
import type { Use } from './use.ts';

/** GB that the method assumes of the machine. */
const MACHINE_GB = 119;

export function roughOf(model: ModelFacts, given: Use): EstimateReport {
  const use = { ...given, context: contextOf(model, given) };
  const parameters = model.parameters ?? (model.counts === null ? null : totalParameters(model.counts));
  const hidden = model.architecture?.hidden ?? model.hidden;
  if (parameters === null)
    throw invalidArgument('The rough formula needs the number of parameters, which this model does not have.');
  if (hidden === null)
    throw invalidArgument(
      'The rough formula needs the hidden size: give hidden with params (--hidden), or a config.json.',
    );
  const sft = 6 * (parameters / 1e9) + (use.batch * use.context * hidden * 4) / 1e9;
  const inputs = { paramsB: parameters / 1e9, batch: use.batch, seq: use.context, hidden };
  const term = termOf(use, sft, inputs);
  const total = sumOf([term]);
  return {
    schema: 'umaprobe/estimate/1',
    model: estimatedModel(model),
    use: estimatedUse(use, 'bf16'),
    method: 'rough',
    terms: [term],
    total,
    loading: { terms: [], peak: total },
    kvBytesPerToken: null,
    unread: [],
    notes: ['A rule of thumb: measured runs took 6 to 22 times as much. The method breakdown counts term by term.'],
  };
}

const SFT = '6 × paramsB + batch × seq × hidden × 4 / 1e9 GB';

function termOf(use: Use, sft: number, inputs: EstimateTerm['inputs']): EstimateTerm {
  const of = (name: string, gigabytes: number, formula: string, more: EstimateTerm['inputs'] = {}): EstimateTerm => ({
    name,
    ...exactly(Math.round(gigabytes * GB)),
    formula,
    inputs: { ...inputs, ...more },
  });
  switch (use.use) {
    case 'sft':
      return of('sft', sft, SFT);
    case 'dpo':
      return of('dpo', 1.8 * sft, `1.8 × (${SFT})`);
    case 'grpo':
      return of('grpo', sft + use.rolloutUtilization * MACHINE_GB, `${SFT} + utilization × 119 GB`, {
        utilization: use.rolloutUtilization,
      });
    default:
      throw invalidArgument(
        `There is no rough formula for ${use.use}; expected sft, dpo or grpo, or the method breakdown.`,
      );
  }
}
