/**
 * The start of vLLM and SGLang, which takes more for a while than serving does: loading, then a run that measures the
 * room for the cache, which is not there yet. Most frozen Sparks froze in one of them.
 */

import { GiB } from '../../base/format.ts';
import { range, sumOf } from '../../core/memory/range.ts';
import type { EstimateRange, EstimateTerm } from '../../types/index.ts';
import type { ModelFacts } from '../files/model.ts';
import { COMPILE_JOB } from './compile-job.ts';
import type { Use } from './use.ts';

/** Terms that are there before the cache is. */
const BEFORE_CACHE = new Set(['weights', 'output-copy', 'runtime']);

/** Terms of the start alone. */
export function startTerms(model: ModelFacts, use: Use): EstimateTerm[] {
  return [compilation(use), ...(seesOrHears(model, use) ? [encoderProfile()] : [])];
}

/** The most at any time: while it loads, while it measures, and while it serves. */
export function startPeak(
  terms: readonly EstimateTerm[],
  { own, staging, total }: { own: readonly EstimateTerm[]; staging: EstimateTerm; total: EstimateRange },
): EstimateRange {
  const loaded = terms.filter(({ name }) => BEFORE_CACHE.has(name));
  const activations = terms.filter(({ name }) => name === 'activations');
  const phases = [total, sumOf([...loaded, staging]), sumOf([...loaded, ...activations, ...own])];
  const most = (key: keyof EstimateRange): number => Math.max(...phases.map((phase) => phase[key]));
  return { bytes: most('bytes'), low: most('low'), high: most('high') };
}

/** Kernels that no package has for this GPU are compiled in the first run, by MAX_JOBS compilers at once. */
function compilation({ maxJobs: jobs }: Use): EstimateTerm {
  return {
    name: 'compilation',
    // Compiled before, or part of the package: none.
    ...range(jobs * COMPILE_JOB.bytes, 0, jobs * COMPILE_JOB.high),
    formula: 'MAX_JOBS × 5 GiB of the host; 3 to 8 (flashinfer #3634). Without MAX_JOBS: one for each core',
    inputs: { MAX_JOBS: jobs },
  };
}

function seesOrHears({ counts, weights }: ModelFacts, { languageModelOnly }: Use): boolean {
  const has = (counts?.vision ?? 0) > 0 || weights.some(({ part }) => part === 'vision');
  return has && !languageModelOnly;
}

/**
 * The encoder is run with the most pictures of a step, outside of any budget. The one account of a GB10 (vLLM #46307,
 * PR 49760): 112 GiB in use with 48 GiB of weights and a share of 83.
 */
function encoderProfile(): EstimateTerm {
  return {
    name: 'encoder-profile',
    ...range(4 * GiB, 0, 56 * GiB),
    formula: 'pictures of one step in the profiling run: as reported (vLLM #46307)',
    inputs: {},
  };
}
