/** Memory that only the start takes. */

import { GiB, MiB } from '../../base/format.ts';
import { range, sumOf } from '../../core/memory/range.ts';
import type { EstimateRange, EstimateReport, EstimateTerm } from '../../types/index.ts';
import type { ModelFacts } from '../files/model.ts';
import { startPeak, startTerms } from './start.ts';
import { isLlama, type Use } from './use.ts';

/**
 * The files' pages in the page cache are clean: the kernel gives them back, so they are named and not part of the peak.
 * Programs that count free memory as MemFree see them as used all the same.
 */
export function loadingOf(
  model: ModelFacts,
  use: Use,
  held: { terms: readonly EstimateTerm[]; total: EstimateRange },
): EstimateReport['loading'] {
  const terms: EstimateTerm[] = [];
  if (model.fileBytes > 0) {
    terms.push({
      name: 'page-cache',
      ...range(model.fileBytes, 0, model.fileBytes),
      formula: 'files: their pages stay cached until the kernel needs the memory; reclaimable, not part of the peak',
      inputs: { files: model.files, fileBytes: model.fileBytes, mmap: use.mmap },
    });
  }
  const staging = stagingTerm(model, use);
  terms.push(staging);
  if (use.program !== 'vllm' && use.program !== 'sglang') return { terms, peak: sumOf([held.total, staging]) };
  const own = startTerms(model, use);
  return { terms: [...terms, ...own], peak: startPeak(held.terms, { own, staging, total: held.total }) };
}

/** transformers writes shards of 50 GB, each of which safetensors has in the host's memory as a whole. */
const SHARD = 50e9;

/** Start of a training: a loader takes less than a step; only the copy that a checkpoint is written from counts. */
export function trainingLoadingOf(
  model: ModelFacts,
  use: Use,
  total: EstimateRange,
  saved: number,
): EstimateReport['loading'] {
  const { terms } = loadingOf(model, { ...use, program: 'torch' }, { terms: [], total });
  const copy = Math.min(saved, SHARD);
  const saving: EstimateTerm = {
    name: 'checkpoint-copy',
    ...range(copy, 0, copy),
    formula: 'min(saved, 50 GB): a shard in memory while a checkpoint is written',
    inputs: { saved },
  };
  return { terms: [...terms, saving], peak: sumOf([total, saving]) };
}

/** Pinned buffers through which a loader copies. */
function stagingTerm({ largestFile, largestTensor }: ModelFacts, { mmap, program }: Use): EstimateTerm {
  const inputs = { largestTensor, largestFile };
  if (isLlama(program)) {
    const bytes = mmap ? 0 : Math.min(largestTensor, 64 * MiB);
    return {
      name: 'staging',
      ...range(bytes, 0, Math.max(largestTensor, 256 * MiB)),
      formula: 'mmap ? 0 : min(largestTensor, 64 MiB)',
      inputs: { ...inputs, mmap },
    };
  }
  // A loader may read a whole shard; InstantTensor's buffers took 4.4 GiB.
  const most = Math.max(largestFile, largestTensor, program === 'vllm' ? 4.4 * GiB : 0);
  return { name: 'staging', ...range(largestTensor, 0, most), formula: 'largestTensor; at most largestFile', inputs };
}
