/** The terms of a training whose steps were replayed: memory allocated at the peak, and memory reserved beyond. */

import { range } from '../../../core/memory/range.ts';
import type { EstimateTerm } from '../../../types/index.ts';
import type { Architecture } from '../../files/architecture.ts';
import type { ModelFacts } from '../../files/model.ts';
import type { UseAt } from '../use.ts';
import { F32 } from '../widths.ts';
import { isKnownFamily } from './model.ts';
import { PLANS } from './optimizers.ts';
import { isAdapter, isPreference, sequencesOf, type Types } from './plan.ts';
import { type StepResult, simulated } from './step.ts';
import type { Kind } from './tape.ts';

/** The reason against replaying a training; null: none. Its activations and whether it fits are unknown then. */
export function whyNotReplayed(architecture: Architecture | null): string | null {
  if (architecture === null) return 'The architecture is not known: activations, logits and adapters are missing.';
  if (architecture.vocab === null) return 'The vocabulary is not known: activations, logits and adapters are missing.';
  const other = architecture.cache.find(({ kind }) => kind !== 'attention' && kind !== 'latent');
  if (other === undefined && architecture.cache.length > 0) return null;
  const what =
    other === undefined ? 'an encoder' : other.kind === 'state' ? `layers with ${other.what}` : OTHERS[other.kind];
  return `What ${what} keep for the backward pass is not known: activations, logits and adapters are missing.`;
}

const OTHERS: Readonly<Record<string, string>> = {
  compressed: 'layers with compressed attention',
  cross: 'layers with cross-attention',
};

export function replayed(
  { architecture }: ModelFacts,
  use: UseAt,
  { parameters, types }: { parameters: number | null; types: Types },
): StepResult | null {
  if (architecture?.vocab == null || whyNotReplayed(architecture) !== null) return null;
  return simulated({
    architecture,
    vocab: architecture.vocab,
    parameters,
    batch: sequencesOf(use),
    context: use.context,
    checkpointing: use.checkpointing,
    adapters: isAdapter(use) ? { rank: use.loraRank, targets: use.loraTargets } : null,
    dropout: use.loraDropout > 0,
    eager: !use.flashAttention,
    loss: isPreference(use) ? 'preference' : use.fusedLoss ? 'fused' : 'likelihood',
    // Adapters are switched off for the model to compare with.
    reference: use.use === 'dpo' || use.use === 'grpo',
    ...types,
    optimizer: PLANS[use.optimizer],
  });
}

/** Deviation of the parts in other trainers: attention, norms, dropout, shorter sequences. */
const KNOWN = { least: 0.9, most: 1.1 };
const UNKNOWN = { least: 0.5, most: 1.8 };
/** Segments of the allocator grow with the allocations; expandable segments leave nearly none unused. */
const SLACK_MOST = 0.04;

export function replayedTerms(
  { architecture }: ModelFacts,
  use: UseAt,
  { allocated, reserved, shares, trained, elements }: StepResult,
  types: Types,
): EstimateTerm[] {
  if (architecture === null) return [];
  const optimizer = PLANS[use.optimizer];
  const tokens = sequencesOf(use) * use.context;
  const vocab = architecture.vocab ?? 0;
  const spread = isKnownFamily(architecture.name) ? KNOWN : UNKNOWN;
  const { layers } = architecture;
  const bytes = isAdapter(use) ? F32 : types.weight;
  const devices = use.tensorParallel;
  const of = (
    name: string,
    kind: Kind,
    formula: string,
    inputs: EstimateTerm['inputs'],
    { least, most } = { least: 1, most: 1 },
  ): EstimateTerm =>
    divided({ name, ...range(shares[kind], shares[kind] * least, shares[kind] * most), formula, inputs }, devices);
  const perToken = Math.round(shares.activations / tokens);
  const logitBytes = vocab === 0 ? 0 : Math.round((shares.logits / tokens / vocab) * 100) / 100;
  const terms = [
    of(
      'weights',
      'weights',
      types.packed === null ? 'parameters × bytes' : 'linear × packedBytes + others × bytes',
      { parameters: elements - (isAdapter(use) ? trained : 0), bytes: types.weight, packedBytes: types.packed },
      // Nested scales; layers that stay in 16 bits.
      types.packed === null ? undefined : { least: 0.93, most: 1.1 },
    ),
    of('adapters', 'adapters', 'trained × 4', { trained, rank: use.loraRank, targets: use.loraTargets }),
    of('reference-model', 'reference', 'parameters × bytes', { bytes: types.weight }, { least: 0, most: 1 }),
    of('autocast-copies', 'copies', 'copies in 16 bits of the weights that are in use', {}),
    of('gradients', 'gradients', 'those that are there at that moment, of trained × bytes', { trained, bytes }),
    of('optimizer', 'optimizer', optimizer.stateFormula, { trained, bytes, optimizer: use.optimizer }),
    of('optimizer-step', 'temporaries', optimizer.scratchFormula, { trained, bytes, optimizer: use.optimizer }),
    of(
      'activations',
      'activations',
      use.checkpointing
        ? 'tokens × bytesPerToken: the input of each layer, and one layer'
        : 'tokens × bytesPerToken: of all layers',
      { tokens, bytesPerToken: perToken, layers, checkpointing: use.checkpointing, eager: !use.flashAttention },
      spread,
    ),
    of('logits', 'logits', 'tokens × vocab × bytesPerLogit: FP32 softmax and two gradients', {
      tokens,
      vocab,
      bytesPerLogit: logitBytes,
    }),
    of('workspace', 'workspace', '2 × 32 MiB of cuBLAS', {}),
  ].filter((term) => term.high > 0);
  const wide = tokens * vocab * F32;
  // Preferences have their logits twice, each half as large: a sixth is the most that was seen of them.
  const largest = isPreference(use) ? Math.min(wide, allocated * 0.17) : wide;
  return [...terms, slackTerm({ allocated, reserved, largest }, devices)];
}

/** It is luck whether one more tensor as large as the logits finds its place; little is left unused without them. */
function slackTerm(
  { allocated, largest, reserved }: { allocated: number; largest: number; reserved: number },
  devices: number,
): EstimateTerm {
  const slack = reserved - allocated;
  const most = slack + largest + allocated * SLACK_MOST;
  return {
    name: 'allocator-slack',
    ...range(slack / devices, (slack / devices) * 0.5, most / devices),
    formula: "reserved − allocated, by PyTorch's caching allocator over two steps",
    inputs: { reserved, allocated },
  };
}

/** Terms that FSDP and ZeRO-3 divide among devices. */
const DIVIDED = /^(?:weights|adapters|reference-model|autocast-copies|gradients|optimizer|optimizer-step)$/;

export function divided(term: EstimateTerm, devices: number): EstimateTerm {
  if (devices === 1 || !DIVIDED.test(term.name)) return term;
  const each = range(term.bytes / devices, term.low / devices, (term.high / devices) * 1.1);
  return { ...term, ...each, formula: `(${term.formula}) / devices`, inputs: { ...term.inputs, devices } };
}

export function phaseNote({ shares }: StepResult): string {
  const when =
    shares.temporaries > 0 ? "in the optimizer's step" : shares.logits > 0 ? 'in the loss' : 'in the backward pass';
  return `The most is allocated ${when}: what is not there at that moment is not counted.`;
}
