/** Options that vLLM and SGLang have in common. */

import { cacheTypeBytes } from '../models/cache-types.ts';
import { wholeNumber } from './command-line.ts';
import type { Draft } from './draft.ts';

type Values = ReadonlyMap<string, string>;

export function readParallel(values: Values, draft: Draft): void {
  const devices = draft.read(values, '--tensor-parallel-size', (text) => wholeNumber(text, 1));
  if (devices !== null && devices > 1) draft.use({ tensorParallel: devices });
  const several = (option: string): boolean => values.has(option) && values.get(option) !== '1';
  if (several('--pipeline-parallel-size'))
    draft.unread('less', '--pipeline-parallel-size puts a part of the layers elsewhere.');
  if (several('--nnodes')) draft.unread('less', '--nnodes puts a part of the model on other machines.');
  if (several(values.has('--data-parallel-size-local') ? '--data-parallel-size-local' : '--data-parallel-size'))
    draft.unread('more', '--data-parallel-size loads the model several times.');
}

/** @param inFlight quantisations that the program makes of larger files while it loads them. */
export function readTypes(values: Values, draft: Draft, inFlight: ReadonlySet<string>): void {
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
