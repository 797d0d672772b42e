/** Options that vLLM and SGLang have in common. */

import { cacheTypeBytes } from '../../models/files/cache-types.ts';
import { wholeNumber } from './command-line.ts';
import type { Draft, Given } from './draft.ts';

export function readParallel(values: Given, draft: Draft): void {
  const devices = draft.read(values, '--tensor-parallel-size', (text) => wholeNumber(text, 1));
  if (devices !== null && devices > 1) draft.use({ tensorParallel: devices });
  const several = (option: string): boolean => values.has(option) && values.get(option) !== '1';
  const stages = draft.read(values, '--pipeline-parallel-size', (text) => wholeNumber(text, 1));
  if (stages !== null && stages > 1) draft.use({ pipelineParallel: stages });
  const parts = draft.read(values, '--decode-context-parallel-size', (text) => wholeNumber(text, 1));
  if (parts !== null && parts > 1) draft.use({ decodeContextParallel: parts });
  const ranks = (devices ?? 1) * (stages ?? 1);
  const nodes = draft.read(values, '--nnodes', (text) => wholeNumber(text, 1)) ?? 1;
  if (nodes > ranks) draft.unread('either', `--nnodes ${nodes} is more than the ${ranks} ranks that it starts.`);
  if (ranks > 1) draft.assume(rankSentence(ranks, nodes));
  if (several(values.has('--data-parallel-size-local') ? '--data-parallel-size-local' : '--data-parallel-size'))
    draft.unread('more', '--data-parallel-size loads the model several times.');
}

/** Sentence about the counted rank of a model that several GPUs hold. */
function rankSentence(ranks: number, nodes: number): string {
  const here = Math.ceil(ranks / nodes);
  const where = nodes === 1 ? '' : here === 1 ? ', on a machine of its own' : `, ${here} on each machine`;
  return `What is counted is one of ${ranks} ranks, each on a GPU of its own${where}.`;
}

/** @param inFlight quantisations that the program makes of larger files while it loads them. */
export function readTypes(values: Given, draft: Draft, inFlight: ReadonlySet<string>): void {
  const cache = values.get('--kv-cache-dtype');
  if (cache !== undefined && cache !== 'auto') {
    draft.understand('--kv-cache-dtype', cache);
    if (cacheTypeBytes(cache) === null)
      draft.unread('either', `--kv-cache-dtype ${cache} is not a type that is known here.`);
    else draft.use({ kvDtype: cache.toLowerCase() });
  }
  const dtype = values.get('--dtype');
  if (dtype === 'float32' || dtype === 'float') draft.unread('more', `--dtype ${dtype} makes the weights larger.`);
  const quantization = values.get('--quantization');
  if (quantization !== undefined && inFlight.has(quantization))
    draft.unread('less', `--quantization ${quantization} may make the weights smaller than their files.`);
}
