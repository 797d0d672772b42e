/** Models that llama.cpp loads besides the main one: draft models, projectors, adapters, control vectors. Pure. */

import { cacheTypeBytes } from '../../models/files/cache-types.ts';
import type { ExtraModel } from '../../types/index.ts';
import { wholeNumber } from './command-line.ts';
import type { Draft, Given } from './draft.ts';
import type { Unwrapped } from './unwrapped.ts';

/** Options whose values are files, several of them with commas between. */
const FILES: Readonly<Record<string, ExtraModel['kind']>> = {
  '--lora': 'adapter',
  '--lora-scaled': 'adapter',
  '--control-vector': 'control-vector',
  '--control-vector-scaled': 'control-vector',
};

export function llamaExtras(
  values: Given,
  every: ReadonlyMap<string, readonly string[]>,
  hostPath: Unwrapped['hostPath'],
  draft: Draft,
): void {
  for (const [option, kind] of Object.entries(FILES))
    for (const file of (every.get(option) ?? []).flatMap((list) => list.split(',')).filter((word) => !isScale(word)))
      draft.extra({ kind, option, model: file.replace(SCALE, '') }, hostPath);
  projector(values, hostPath, draft);
  draftModel(values, hostPath, draft);
  speculation(values, draft);
}

/** Behind a file, or after it and a colon. */
const SCALE = /(^|:)-?(\d+\.?\d*|\.\d+)$/;

function isScale(word: string): boolean {
  return SCALE.exec(word)?.index === 0;
}

/** One that is named, or that of the repository, which is downloaded with the model. */
function projector(values: Given, hostPath: Unwrapped['hostPath'], draft: Draft): void {
  if (values.has('--no-mmproj')) return;
  const file = values.get('--mmproj');
  const [repository = ''] = values.has('--model') ? [] : (values.get('--hf-repo') ?? '').split(':');
  if (file !== undefined) draft.extra({ kind: 'projector', option: '--mmproj', model: file }, hostPath);
  else if (repository !== '' && !values.has('--mmproj-url'))
    draft.extra({ kind: 'projector', option: '--hf-repo', model: repository }, hostPath);
}

function draftModel(values: Given, hostPath: Unwrapped['hostPath'], draft: Draft): void {
  const kvDtype = readCacheTypes(values, ['--cache-type-k-draft', '--cache-type-v-draft'], draft);
  // Newer builds have no such option: the draft model has the context of the model.
  const context = draft.read(values, '--ctx-size-draft', wholeNumber);
  const use = { ...(kvDtype === null ? {} : { kvDtype }), ...(context === null || context === 0 ? {} : { context }) };
  const file = values.get('--model-draft');
  const [repository, quantisation] = (values.get('--hf-repo-draft') ?? '').split(':');
  if (file !== undefined) draft.extra({ kind: 'draft', option: '--model-draft', model: file, use }, hostPath);
  else if (repository !== undefined && repository !== '')
    draft.extra(
      {
        kind: 'draft',
        option: '--hf-repo-draft',
        model: repository,
        modelFile: quantisation ?? null,
        use,
      },
      hostPath,
    );
}

/** Kinds of speculation that load nothing: they look tokens up. */
const LOOKS_UP = /^(none|ngram-.+)$/;

/** `--spec-type`: with a draft model it says how that is used; without one it takes layers of the model. */
function speculation(values: Given, draft: Draft): void {
  const types = (values.get('--spec-type') ?? 'none').split(',').filter((type) => !LOOKS_UP.test(type));
  if (types.length === 0) return;
  const [type = ''] = types;
  draft.understand('--spec-type', types.join(','));
  if (values.has('--model-draft') || values.has('--hf-repo-draft')) {
    if (type !== 'draft-simple')
      draft.unread('more', `--spec-type ${type} keeps states of the model for its draft, which are not counted.`);
    return;
  }
  if (type === 'draft-mtp') draft.use({ mtp: true });
  draft.unread('more', `--spec-type ${type} computes with further layers, whose buffers are not counted.`);
}

/** Types of keys and values as one text; null: the default of the program. */
export function readCacheTypes(
  values: Given,
  [keys, cached]: readonly [keys: string, values: string],
  draft: Draft,
): string | null {
  const [key, value] = [keys, cached].map((option) => {
    const type = values.get(option);
    if (type === undefined) return null;
    draft.understand(option, type);
    if (cacheTypeBytes(type) !== null) return type.toLowerCase();
    draft.unread('either', `${option} ${type} is not a type that is known here.`);
    return null;
  });
  return key == null && value == null ? null : `${key ?? 'f16'}/${value ?? 'f16'}`;
}
