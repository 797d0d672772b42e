/** Names of models on the Hub: hf:org/name, hf:org/name@revision, hf:org/name:file.gguf. */

import { invalidValue } from '../../base/arguments.ts';

export interface HubName {
  /** "org/name", or "name" of the oldest models. */
  repository: string;
  /** Branch, tag or commit; null: main. */
  revision: string | null;
  /** A file of the repository, or a word of its name such as "Q4_K_M"; null: the whole model. */
  file: string | null;
}

const PART = String.raw`[\w-][\w.-]{0,95}`;
const NAME = new RegExp(String.raw`^hf:(${PART}(?:/${PART})?)(?:@([\w./-]{1,100}))?(?::([^:\0]{1,500}))?$`);

/** null: it does not begin with "hf:". @throws TypeError ERR_INVALID_ARG_VALUE for one that does and is no name. */
export function hubName(text: string): HubName | null {
  if (!text.startsWith('hf:')) return null;
  const [, repository, revision = null, file = null] = NAME.exec(text) ?? [];
  const leadsOut = [revision, file].some((path) => path?.split('/').some((part) => part === '..' || part === ''));
  if (repository === undefined || leadsOut)
    throw invalidValue('model', 'hf:org/name, hf:org/name@revision or hf:org/name:file.gguf', text);
  return { repository, revision, file };
}
