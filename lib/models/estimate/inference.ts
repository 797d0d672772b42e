/** The estimate of a model that answers. */

import { formatCount } from '../../base/format.ts';
import { sumOf } from '../../core/memory/range.ts';
import type { EstimatedModel, EstimatedUse, EstimateReport, EstimateTerm } from '../../types/index.ts';
import type { CacheLayers } from '../files/architecture.ts';
import type { ModelFacts } from '../files/model.ts';
import { totalParameters } from '../files/weights.ts';
import { bufferTerms } from './buffers.ts';
import { cacheOf } from './cache.ts';
import { loadingOf } from './loading.ts';
import { loadsInHalf, type Use, type UseAt } from './use.ts';
import { weightTerms } from './weights.ts';

/** Context of an estimate for which none was given. */
const CONTEXT = 4096;

export function contextOf({ architecture }: ModelFacts, { context }: Use): number {
  return context ?? Math.min(CONTEXT, architecture?.maxContext ?? CONTEXT);
}

export function inferenceOf(model: ModelFacts, given: Use): EstimateReport {
  const use = { ...given, context: contextOf(model, given) };
  const weights = weightTerms(model, use);
  const cache = cacheOf(model, use);
  const terms = [...weights, ...cache.terms, ...bufferTerms(model, use)];
  const total = sumOf(terms);
  return {
    schema: 'umaprobe/estimate/1',
    model: estimatedModel(model),
    use: estimatedUse(use, cache.kvDtype),
    method: 'breakdown',
    terms,
    total,
    loading: loadingOf(model, use, { terms, total }),
    kvBytesPerToken: cache.bytesPerToken,
    unread: unreadOf(model),
    notes: [
      ...unreadNote(model),
      ...model.notes,
      ...(model.architecture?.notes ?? []),
      ...notesOf(model, use, weights),
    ],
  };
}

/** Fields of a model that no rule understands; if its files tell the weights' size, only fields of other memory. */
export function unreadOf({ uncounted, unread }: ModelFacts): string[] {
  return [...unread, ...uncounted];
}

/** Names of the longest sentence. */
const NAMED = 8;

export function unreadNote(model: ModelFacts): string[] {
  const unread = unreadOf(model);
  if (unread.length === 0) return [];
  const more = unread.length > NAMED ? ` and ${unread.length - NAMED} more` : '';
  return [`Not understood, and it may change memory: ${unread.slice(0, NAMED).join(', ')}${more}.`];
}

export function estimatedUse(use: UseAt, kvDtype: string): EstimatedUse {
  return {
    use: use.use,
    program: use.program,
    context: use.context,
    sequences: use.sequences,
    kvDtype,
    batch: use.use === 'inference' ? null : use.batch,
    settings: {
      kvDtype: use.kvDtype,
      batchTokens: use.batchTokens,
      flashAttention: use.flashAttention,
      swaFull: use.swaFull,
      kvUnified: use.kvUnified,
      mla: use.mla,
      tensorParallel: use.tensorParallel,
      pipelineParallel: use.pipelineParallel,
      decodeContextParallel: use.decodeContextParallel,
      mtp: use.mtp,
      languageModelOnly: use.languageModelOnly,
      mmap: use.mmap,
    },
  };
}

export function estimatedModel(model: ModelFacts): EstimatedModel {
  const { architecture, counts } = model;
  return {
    name: model.name,
    source: model.source,
    path: model.path,
    architecture: architecture?.name ?? null,
    layers: architecture?.layers ?? null,
    mtpLayers: mtpLayersOf(model),
    heads: architecture?.heads ?? null,
    kvHeads: kvHeadsOf(architecture?.cache ?? []),
    parameters: model.parameters ?? (counts === null ? null : totalParameters(counts)),
    files: model.files,
    fileBytes: model.fileBytes,
    maxContext: architecture?.maxContext ?? null,
    maxContextSglang: architecture?.unstretched ?? architecture?.maxContext ?? null,
    quantization: model.quantization?.method ?? null,
    dtypes: dtypesOf(model),
  };
}

/** Tensors without a field that counts their layers: how many there are is not known. */
function mtpLayersOf({ architecture, weights }: ModelFacts): number | null {
  const layers = architecture?.mtpLayers ?? null;
  return layers === 0 && weights.some(({ part }) => part === 'mtp') ? null : layers;
}

function kvHeadsOf(cache: readonly CacheLayers[]): number | null {
  const heads = cache.flatMap((layers) => (layers.kind === 'attention' ? [layers.kvHeads] : []));
  return heads.length === 0 ? null : Math.min(...heads);
}

function dtypesOf({ weights }: ModelFacts): EstimatedModel['dtypes'] {
  const dtypes = new Map<string, { dtype: string; bytes: number; parameters: number }>();
  for (const { dtype, bytes, parameters } of weights) {
    const sum = dtypes.get(dtype) ?? { dtype, bytes: 0, parameters: 0 };
    sum.bytes += bytes;
    sum.parameters += parameters;
    dtypes.set(dtype, sum);
  }
  return [...dtypes.values()].sort((a, b) => b.bytes - a.bytes);
}

function notesOf(model: ModelFacts, use: UseAt, weights: readonly EstimateTerm[]): string[] {
  const { architecture } = model;
  const { context, mtp } = use;
  const notes: string[] = [];
  if (architecture !== null && weights.length === 0)
    notes.push('The weights are not known: the config does not describe a model whose parameters can be counted.');
  if (architecture?.maxContext != null && context > architecture.maxContext)
    notes.push(
      `The context of ${formatCount(context)} tokens is longer than the ${formatCount(architecture.maxContext)} that the model was made for.`,
    );
  if (loadsInHalf(model, use))
    notes.push('Its weights of FP32 are loaded in 16 bits: --dtype float32 would take twice as much.');
  if (mtpLayersOf(model) === 0 && mtp)
    notes.push('It has no layers that predict further tokens: speculative decoding with them does not start.');
  if (architecture !== null && architecture.mtpLayers > 0 && !mtp)
    notes.push('Layers that predict further tokens are not counted; speculative decoding with them needs --mtp.');
  return notes;
}
