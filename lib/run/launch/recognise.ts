/** Finds the program that a command line starts, and its options about memory. Pure: nothing is run or looked up. */

import { LIMITS } from '../../base/limits.ts';
import { LONGER_CONTEXT } from '../../core/memory/program-shares.ts';
import type { RecognisedCommand } from '../../types/index.ts';
import { Draft } from './draft.ts';
import { llamaCommand } from './llama.ts';
import { ollamaCommand } from './ollama.ts';
import { sglangCommand } from './sglang.ts';
import { trtllmCommand } from './trtllm.ts';
import { baseName, type Unwrapped } from './unwrapped.ts';
import { vllmCommand } from './vllm.ts';
import { unwrap } from './wrappers.ts';

export interface Recognised {
  command: RecognisedCommand;
  /** Variables for finding the model: a mounted store is looked into where it lies on this machine. */
  stores: Readonly<Record<string, string>>;
}

/** Names of llama.cpp's programs that load a model to answer. */
const LLAMA = new Set(['llama-server', 'llama-cli', 'llama-completion', 'llama-mtmd-cli']);

/** @param env of the caller, whose variables the program sees unless a wrapper hides them. */
export function recognise(command: readonly string[], env: Unwrapped['env']): Recognised {
  const unwrapped = unwrap(command, env);
  const { doubts, hostfile, hosts, limits, problem, stores, wrappers } = unwrapped;
  const nothing: RecognisedCommand = {
    program: null,
    wrappers,
    model: null,
    modelFile: null,
    context: null,
    contextIsShared: false,
    contextIsGiven: false,
    sequences: 1,
    mostSequences: null,
    use: {},
    utilization: null,
    kvCacheBytes: null,
    extras: [],
    adapterSlots: null,
    llama: null,
    understood: [],
    assumed: unwrapped.assumed,
    unread: doubts.map((text) => ({ text, part: 'option', effect: 'either' })),
    limits,
    hosts,
    hostfile,
  };
  const draft = new Draft(nothing);
  const [file = '', ...words] = unwrapped.words;
  const name = baseName(file);
  const why = problem ?? programOf(name, words, unwrapped, draft);
  if (why === null)
    return { command: withModel(withLongerContext(withJobs(draft, unwrapped), unwrapped)).command, stores };
  return {
    command: { ...nothing, unread: [{ text: `Not recognised: ${why}.`, part: 'program', effect: 'either' }] },
    stores,
  };
}

/** Programs whose first word is a verb, and the meaning of other verbs for a launch. */
const WITH_VERBS = {
  vllm: { read: vllmCommand, otherwise: 'is not a server' },
  sglang: { read: sglangCommand, otherwise: 'is not a server' },
  'trtllm-serve': { read: trtllmCommand, otherwise: 'is not a server' },
  ollama: { read: ollamaCommand, otherwise: 'loads no model' },
} as const;

/** Fills in the draft; a reason where the program is not known. */
function programOf(name: string, words: readonly string[], unwrapped: Unwrapped, draft: Draft): string | null {
  if (name === 'vllm' || name === 'sglang' || name === 'trtllm-serve' || name === 'ollama') {
    draft.set({ program: name === 'trtllm-serve' ? 'trtllm' : name });
    const { otherwise, read } = WITH_VERBS[name];
    return read(words, unwrapped, draft) ? null : `${name} ${words[0] ?? ''} ${otherwise}`.replace('  ', ' ');
  }
  if (LLAMA.has(name)) {
    draft.set({ program: 'llama.cpp' });
    llamaCommand(name, words, unwrapped, draft);
    return null;
  }
  return name === '' ? 'no program is named' : `${name} is not one of the known programs`;
}

/** Compilers at once in the first start of vLLM or SGLang, where the environment says. */
function withJobs(draft: Draft, { env }: Unwrapped): Draft {
  const { program, use } = draft.command;
  const jobs = Number(env.MAX_JOBS ?? '');
  if ((program === 'vllm' || program === 'sglang') && Number.isInteger(jobs) && jobs >= 1 && jobs <= LIMITS.workers.max)
    draft.set({ use: { ...use, maxJobs: jobs } });
  return draft;
}

function withLongerContext(draft: Draft, { env }: Unwrapped): Draft {
  const { program } = draft.command;
  const variable = program === null ? undefined : LONGER_CONTEXT[program];
  const value = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && (value === '1' || value?.toLowerCase() === 'true')) draft.understand(variable, value);
  return draft;
}

function withModel(draft: Draft): Draft {
  const { model, unread } = draft.command;
  if (model === null && unread.length === 0) draft.unread('either', 'The command names no model.', 'model');
  return draft;
}
