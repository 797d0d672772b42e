/** One rank of several that hold a model together: its layers (pipeline), and its part of each sequence (decode context). */

import { plus, range, sumOf, without } from '../../core/memory/range.ts';
import type { EstimateReport, EstimateTerm } from '../../types/index.ts';
import type { Use } from './use.ts';

const CACHES = new Set(['kv-cache', 'recurrent-state']);

/** The rank that takes the most: with its layers, and the embedding or the output layer. */
export function rankOf(
  report: EstimateReport,
  { decodeContextParallel: parts, pipelineParallel: stages }: Use,
): EstimateReport {
  if (stages === 1 && parts === 1) return report;
  const { layers } = report.model;
  const share = layers === null ? 1 / stages : Math.ceil(layers / stages) / layers;
  const terms = report.terms.map((term) => {
    if (term.name === 'weights') return weightsOf(term, share, stages);
    if (term.name === 'kv-cache') return scaled(term, share / parts, { stages, parts });
    return CACHES.has(term.name) ? scaled(term, share, { stages }) : term;
  });
  const total = sumOf(terms);
  const peak = plus(without(report.loading.peak, report.total), total);
  const { kvBytesPerToken } = report;
  return {
    ...report,
    terms,
    total,
    loading: { ...report.loading, peak },
    kvBytesPerToken: kvBytesPerToken === null ? null : (kvBytesPerToken * share) / parts,
  };
}

function scaled(term: EstimateTerm, share: number, inputs: Record<string, number>): EstimateTerm {
  const factors = Object.keys(inputs).join(' and ');
  return {
    ...term,
    ...range(term.bytes * share, term.low * share, term.high * share),
    formula: `(${term.formula}), of one of ${factors}`,
    inputs: { ...term.inputs, ...inputs },
  };
}

/** The embedding is on the first rank and the output layer on the last, where a rank may have both if they are tied. */
function weightsOf(term: EstimateTerm, share: number, stages: number): EstimateTerm {
  if (stages === 1) return term;
  const numberOf = (name: string): number => Number(term.inputs[name] ?? 0);
  const all = ['embedding', 'output', 'layers', 'experts', 'vision'].reduce((sum, name) => sum + numberOf(name), 0);
  const [one, both] =
    all === 0
      ? [0, 0]
      : [Math.max(numberOf('embedding'), numberOf('output')) / all, (numberOf('embedding') + numberOf('output')) / all];
  const inside = share * (1 - both);
  return {
    ...term,
    ...range(term.bytes * (inside + one), term.low * inside, term.high * (inside + both)),
    formula: `(${term.formula}), of one of stages`,
    inputs: { ...term.inputs, stages },
  };
}
