/** The command line of Ollama: `ollama run`, `ollama serve`, and the variables of its server. Pure. */

import { cacheTypeBytes } from '../../models/files/cache-types.ts';
import { optionTable, readArguments, wholeNumber } from './command-line.ts';
import { CLIENTS_CHOOSE, type Draft, noteUnread } from './draft.ts';
import type { Unwrapped } from './unwrapped.ts';

/** None concerns memory; this one often stands before the model. */
const OPTIONS = optionTable({ '--verbose': 'none' }, '', true);

/** The default for 48 GiB of GPU memory and more (docs, 2026); a model with a shorter one has its own. */
const CONTEXT = 262_144;

export function ollamaCommand(words: readonly string[], { env }: Unwrapped, draft: Draft): boolean {
  const [verb, ...rest] = words;
  if (verb !== 'run' && verb !== 'serve' && verb !== 'start') return false;
  const args = readArguments(rest, OPTIONS);
  noteUnread(args, draft, verb === 'run' && args.positionals.length === 0);
  if (verb === 'run') {
    // The first argument is the model; the others are the prompt.
    const [model] = args.positionals;
    if (model !== undefined) draft.set({ model });
    draft.limit(
      'ollama run asks a server that runs already: the model is loaded there, and the guard watches this client.',
    );
    draft.assume('The settings of the server are those of this environment.');
  } else draft.unread('either', CLIENTS_CHOOSE, 'model');
  const context = draft.read(new Map(entries(env)), 'OLLAMA_CONTEXT_LENGTH', (text) => wholeNumber(text, 1));
  draft.set({ context: context ?? CONTEXT, contextIsGiven: context !== null });
  if (context === null)
    draft.assume(
      'Without OLLAMA_CONTEXT_LENGTH the context on 48 GiB and more is 262,144 tokens, or what the model allows.',
    );
  const slots = draft.read(new Map(entries(env)), 'OLLAMA_NUM_PARALLEL', (text) => wholeNumber(text, 1));
  if (slots !== null) draft.set({ sequences: slots });
  const type = env.OLLAMA_KV_CACHE_TYPE;
  if (type !== undefined && type !== '') {
    draft.understand('OLLAMA_KV_CACHE_TYPE', type);
    if (cacheTypeBytes(type) === null)
      draft.unread('either', `OLLAMA_KV_CACHE_TYPE ${type} is not a type that is known here.`);
    else draft.use({ kvDtype: type.toLowerCase() });
  }
  if (['0', 'false'].includes(env.OLLAMA_FLASH_ATTENTION?.toLowerCase() ?? '')) draft.use({ flashAttention: false });
  return true;
}

function entries(env: Unwrapped['env']): [string, string][] {
  return Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
}
