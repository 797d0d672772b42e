/** Offload to the host's memory: a part of another name, which on a unified machine is the same memory. */

import { range } from '../../../core/memory/range.ts';
import type { EstimateTerm, Offload } from '../../../types/index.ts';
import type { Architecture } from '../../files/architecture.ts';
import type { UseAt } from '../use.ts';

/** Parts that each offload moves. */
const MOVED: Readonly<Record<Offload, string>> = {
  parameters: 'weights',
  optimizer: 'optimizer',
  activations: 'activations',
};
/** Layers whose weights or activations are on the GPU at a time: the one in use and the next. */
const RESIDENT = 2;

export function offloaded(term: EstimateTerm, { offload }: UseAt, architecture: Architecture | null): EstimateTerm[] {
  const which = offload.find((name) => MOVED[name] === term.name);
  if (which === undefined) return [term];
  const moved: EstimateTerm = {
    ...term,
    name: `offloaded-${which}`,
    formula: `${term.formula}; in the host's memory, which a unified machine shares`,
  };
  if (which === 'optimizer' || architecture === null) return [moved];
  const share = Math.min(1, RESIDENT / architecture.layers);
  const bytes = term.bytes * share;
  const stays: EstimateTerm = {
    ...term,
    ...range(bytes, term.low * share, term.high * share),
    formula: `(${term.formula}) × 2 / layers: the layers in use`,
    inputs: { ...term.inputs, layers: architecture.layers },
  };
  return [stays, moved];
}
