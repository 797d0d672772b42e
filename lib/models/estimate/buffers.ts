/** Memory of programs besides weights and cache: buffers of a step, graphs, and the programs themselves. */

import { GiB, MiB } from '../../base/format.ts';
import { range } from '../../core/memory/range.ts';
import type { EstimateProgram, EstimateTerm } from '../../types/index.ts';
import type { Architecture, LatentLayers } from '../files/architecture.ts';
import type { ModelFacts } from '../files/model.ts';
import { UBATCH } from './cache.ts';
import { isLlama, type Use, type UseAt } from './use.ts';
import { F32 } from './widths.ts';

export function bufferTerms({ architecture }: ModelFacts, use: UseAt): EstimateTerm[] {
  const own = runtimeTerm(use);
  if (architecture === null) return [own];
  if (isLlama(use.program)) return [computeBuffer(architecture, use), hostBuffer(architecture, use), own];
  if (isServer(use)) return [stepTerm(architecture, use), graphTerm(), own];
  return [prefillTerm(architecture, use), own];
}

/** True for servers that profile a step of the most tokens. TensorRT-LLM's --max_num_tokens is 8192 as well. */
function isServer({ program }: Use): boolean {
  return program === 'vllm' || program === 'sglang' || program === 'trtllm';
}

/** Vectors of a layer that are alive beside the scores without flash attention: 3.8 to 5.3 in published logs. */
const ALIVE = 5;

/**
 * llama.cpp's compute buffer on one GPU: the largest of the logits of a batch, and without flash attention the scores of
 * one layer. The factors are those of published logs (test/unit/models/estimate/golden/measurements.md has each).
 */
function computeBuffer(architecture: Architecture, use: UseAt): EstimateTerm {
  const { experts, heads, hidden, softcap, vocab } = architecture;
  const batch = use.batchTokens ?? UBATCH;
  const cells = use.context * use.sequences;
  const logits = batch * F32 * ((vocab ?? 0) * (softcap ? 2 : 1) + hidden * (experts > 0 ? 1 : 2));
  const scores = use.flashAttention
    ? 0
    : batch * F32 * ((heads ?? 1) * cells + masks(architecture) * cells + ALIVE * hidden);
  // Builds since 2026-09 compute logits only for the tokens that are asked for; others add a fifth.
  const least = Math.max(scores * 0.95, batch * F32 * hidden * 2);
  const most = Math.max(logits, scores) * 1.2 + latentScratch(architecture, cells, batch, use);
  const inputs = { batch, vocab, hidden, heads, cells, softcap, experts, flashAttention: use.flashAttention };
  const formula = use.flashAttention
    ? 'batch × 4 × (vocab × (softcap ? 2 : 1) + hidden × (experts ? 1 : 2))'
    : 'max(batch × 4 × (vocab + hidden), batch × 4 × (heads × cells + masks × cells + 5 × hidden))';
  return { name: 'compute-buffer', ...range(Math.max(logits, scores), least, most), formula, inputs };
}

/** Layers with and without a window have a mask each. */
function masks({ cache }: Architecture): number {
  return cache.some((layers) => layers.kind === 'attention' && layers.window !== null) ? 2 : 1;
}

/** Latent attention unpacks the keys and values of all cells for a batch: to FP32 from a quantised cache. */
function latentScratch({ cache }: Architecture, cells: number, batch: number, { kvDtype }: Use): number {
  const latent = cache.find((layers): layers is LatentLayers => layers.kind === 'latent');
  if (latent === undefined) return 0;
  const { kvHeads, keyDim, valueDim } = latent.expanded;
  const bytes = kvDtype?.startsWith('q') === true ? F32 : 2;
  return kvHeads * (keyDim + valueDim) * cells * bytes + kvHeads * (latent.rank + latent.ropeDim) * batch * F32;
}

/** llama.cpp's buffer in pinned host memory: the mask of each kind of layer, and the embeddings of a batch. */
function hostBuffer(architecture: Architecture, use: UseAt): EstimateTerm {
  const batch = use.batchTokens ?? UBATCH;
  const cells = use.context * use.sequences;
  const kinds = masks(architecture);
  const of = (bytes: number): number => batch * (kinds * cells * bytes + architecture.hidden * F32);
  const inputs = { batch, cells, masks: kinds, hidden: architecture.hidden };
  const formula = 'batch × (masks × cells × 4 + hidden × 4); masks of 2 bytes in newer builds';
  return { name: 'compute-buffer-host', ...range(of(kinds === 2 ? 2 : 4), of(2), of(4)), formula, inputs };
}

/** Default of --max-num-batched-tokens in vLLM's server, and of SGLang's --chunked-prefill-size on a GPU of this size. */
const STEP_TOKENS = 8192;
/** Sequences whose logits are kept at once, in FP32 with copies for sampling: vLLM tries --max-num-seqs of them at its start. */
const SAMPLED = 256;
const SAMPLING_COPIES = 4;

/** The activations of one step of vLLM or SGLang, as their profiling run sees them. */
function stepTerm(architecture: Architecture, use: UseAt): EstimateTerm {
  const tokens = use.batchTokens ?? STEP_TOKENS;
  const width = activeWidth(architecture);
  const vocab = architecture.vocab ?? 0;
  const sampled = Math.max(SAMPLED, use.sequences);
  const bytes = tokens * 2 * width + sampled * vocab * F32 * SAMPLING_COPIES;
  return {
    name: 'activations',
    // Measured from a half (dense models) to four times this (DeepSeek V4 Flash).
    ...range(bytes, bytes / 3, bytes * 4),
    formula: 'tokens × 2 × width + max(256, sequences) × vocab × 4 × 4',
    inputs: { tokens, width, vocab, sequences: use.sequences },
  };
}

/** Elements per token that are alive in the widest part of a layer. */
function activeWidth(architecture: Architecture): number {
  const { cache, expertHidden, expertIntermediate, experts, expertsPerToken, heads, hidden, intermediate } =
    architecture;
  const expert =
    experts > 0 ? expertsPerToken * (2 * (expertIntermediate ?? intermediate ?? 0) + (expertHidden ?? hidden)) : 0;
  const dense = experts > 0 && expertIntermediate !== null ? 0 : 2 * (intermediate ?? 4 * hidden);
  const widest = Math.max(
    0,
    ...cache.map((layers) =>
      layers.kind === 'attention' ? layers.keyDim : layers.kind === 'latent' ? layers.rank + layers.ropeDim : 0,
    ),
  );
  return 4 * hidden + Math.max(expert, dense, 2 * (heads ?? 1) * widest);
}

/** CUDA graphs took 0.03 to 1.8 GB in published logs of a Spark. */
function graphTerm(): EstimateTerm {
  const formula = 'measured on published start-up logs';
  return { name: 'cuda-graphs', ...range(0.5 * GiB, 0, 2 * GiB), formula, inputs: {} };
}

/** transformers without the kernels of mamba-ssm multiplies every token of a chunk with every other. */
function scanElements({ cache }: Architecture): number {
  return Math.max(0, ...cache.map((layers) => (layers.kind === 'state' ? (layers.scanElements ?? 0) : 0)));
}

/** transformers computes the whole prompt at once. Its newer versions compute logits for the last token only. */
function prefillTerm(architecture: Architecture, use: UseAt): EstimateTerm {
  // An encoder reads its input at once.
  const read = architecture.cache.find((layers) => layers.kind === 'cross')?.tokens ?? 0;
  const tokens = Math.max(use.context, read) * use.sequences;
  const width = activeWidth(architecture);
  const vocab = architecture.vocab ?? 0;
  const plain = tokens * 2 * width + use.sequences * vocab * F32;
  // Two such tensors: the next layer does not find the place of the first one free again.
  const scan = tokens * scanElements(architecture) * F32 * 2;
  return {
    name: 'activations',
    // The least is the workspace of cuBLAS, and kernels that scan in place. Logits are those of the last token:
    // generate() of transformers computes no others since 4.45, and no server does.
    ...range(plain + scan, Math.min(plain, 8 * MiB), plain * 2 + scan * 1.2),
    formula: 'context × sequences × 2 × width + sequences × vocab × 4 + context × sequences × scan × 8',
    inputs: {
      context: Math.max(use.context, read),
      sequences: use.sequences,
      width,
      vocab,
      scan: scanElements(architecture),
    },
  };
}

/**
 * GiB of a process: expected, least and most. A server has several processes, autotuning and warm-up, which no budget of
 * its own counts.
 */
const RUNTIMES: Readonly<Record<EstimateProgram | 'any', readonly [number, number, number]>> = {
  'llama.cpp': [0.7, 0.2, 1.5],
  ollama: [0.7, 0.2, 1.5],
  vllm: [4, 1, 12],
  sglang: [4, 1, 12],
  trtllm: [4, 1, 12],
  torch: [2, 0.5, 5],
  accelerate: [2, 0.5, 5],
  any: [1.5, 0.2, 12],
};

/** The process itself: its CUDA context, libraries and host memory, which is the same memory on a unified machine. */
function runtimeTerm({ program }: Use): EstimateTerm {
  const [bytes, low, high] = RUNTIMES[program ?? 'any'];
  const formula = 'CUDA context, libraries and host memory of the process: as measured';
  return { name: 'runtime', ...range(bytes * GiB, low * GiB, high * GiB), formula, inputs: {} };
}
