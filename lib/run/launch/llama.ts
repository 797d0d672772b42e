/** The command line of llama.cpp: `llama-server`, `llama-cli`. Pure. */

import { MiB } from '../../base/format.ts';
import { optionTable, readArguments, wholeNumber } from './command-line.ts';
import { CLIENTS_CHOOSE, type Draft, type Given, noteUnread } from './draft.ts';
import { llamaExtras, readCacheTypes } from './llama-extras.ts';
import type { Unwrapped } from './unwrapped.ts';

/** Options, with the variables that stand for them (`env:` in the program's help). */
const OPTIONS = optionTable(
  {
    '--model -m LLAMA_ARG_MODEL': 'one',
    '--hf-repo -hf -hfr LLAMA_ARG_HF_REPO': 'one',
    '--hf-file -hff LLAMA_ARG_HF_FILE': 'one',
    '--model-url -mu': 'one',
    '--docker-repo -dr': 'one',
    '--models-dir': 'one',
    '--models-preset': 'one',
    '--ctx-size -c LLAMA_ARG_CTX_SIZE': 'one',
    '--parallel -np LLAMA_ARG_N_PARALLEL': 'one',
    '--ubatch-size -ub LLAMA_ARG_UBATCH': 'one',
    '--cache-type-k -ctk LLAMA_ARG_CACHE_TYPE_K': 'one',
    '--cache-type-v -ctv LLAMA_ARG_CACHE_TYPE_V': 'one',
    '--flash-attn -fa LLAMA_ARG_FLASH_ATTN': 'any',
    '--swa-full': 'none',
    '--no-kv-unified -no-kvu': 'none',
    '--no-mmap': 'none',
    '--direct-io -dio': 'none',
    '--load-mode -lm LLAMA_ARG_LOAD_MODE': 'one',
    '--n-gpu-layers --gpu-layers -ngl LLAMA_ARG_N_GPU_LAYERS': 'one',
    '--cpu-moe -cmoe': 'none',
    '--n-cpu-moe -ncmoe': 'one',
    '--n-cpu-ffn -ncffn': 'one',
    '--override-tensor -ot': 'one',
    '--no-kv-offload -nkvo': 'none',
    '--device -dev': 'one',
    '--split-mode -sm': 'one',
    '--tensor-split -ts': 'one',
    '--fit -fit LLAMA_ARG_FIT': 'any',
    '--fit-target -fitt LLAMA_ARG_FIT_TARGET': 'one',
    '--fit-ctx -fitc LLAMA_ARG_FIT_CTX': 'one',
    '--mmproj -mm LLAMA_ARG_MMPROJ': 'one',
    '--mmproj-url -mmu LLAMA_ARG_MMPROJ_URL': ['one', 'more', 'loads a second file, which sees or hears'],
    '--no-mmproj --no-mmproj-auto': 'none',
    '--lora': 'one',
    '--control-vector': 'one',
    // Older builds: --lora-scaled FILE SCALE.
    '--lora-scaled': 'any',
    '--control-vector-scaled': 'any',
    '--model-draft -md --spec-draft-model LLAMA_ARG_SPEC_DRAFT_MODEL LLAMA_ARG_MODEL_DRAFT': 'one',
    '--hf-repo-draft -hfd -hfrd --spec-draft-hf LLAMA_ARG_SPEC_DRAFT_HF_REPO': 'one',
    '--ctx-size-draft -cd': 'one',
    '--cache-type-k-draft -ctkd --spec-draft-type-k LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_K': 'one',
    '--cache-type-v-draft -ctvd --spec-draft-type-v LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_V': 'one',
    '--spec-type LLAMA_ARG_SPEC_TYPE': 'one',
    '--moe-cache-mib': ['one', 'more', 'keeps a part of the experts twice'],
    '--rpc': ['one', 'less', 'puts a part of the model on other machines'],
  },
  '--batch-size --threads-batch --cont-batching --kv-unified -kvu --kv-offload -kvo --op-offload --mmproj-offload --main-gpu ' +
    '--context-shift --cache-prompt --cache-reuse --cache-ram --cache-idle-slots --prompt-cache --ctx-checkpoints -ctxcp ' +
    '--yarn-orig-ctx --override-kv --gpu-layers-draft --n-gpu-layers-draft',
  false,
);

/** Slots of a server where none are given, in one pool (2025-12; one slot before). */
const AUTO_SLOTS = 4;

export function llamaCommand(
  program: string,
  args: readonly string[],
  { env, hostPath }: Unwrapped,
  draft: Draft,
): void {
  // The last of several counts: the command line goes before the environment.
  const fromVariables = Object.entries(env).flatMap(([variable, value]) => {
    const option = variable.startsWith('LLAMA_ARG_') ? OPTIONS.options.get(variable) : undefined;
    return option === undefined || value === undefined || value === '' ? [] : [option.name, value];
  });
  const read = readArguments([...fromVariables, ...args], OPTIONS);
  const { values } = read;
  modelOf(values, hostPath, draft);
  for (const word of read.positionals) draft.unread('either', `"${word}" stands where nothing is expected.`);
  noteUnread(read, draft, false);
  llamaExtras(values, read.every, hostPath, draft);
  context(values, program, draft);
  const tokens = draft.read(values, '--ubatch-size', (text) => wholeNumber(text, 1));
  if (tokens !== null) draft.use({ batchTokens: tokens });
  const kvDtype = readCacheTypes(values, ['--cache-type-k', '--cache-type-v'], draft);
  if (kvDtype !== null) draft.use({ kvDtype });
  fitting(values, draft);
  const attention = values.get('--flash-attn');
  if (attention !== undefined && ['off', '0', 'false', 'disabled'].includes(attention))
    draft.use({ flashAttention: false });
  if (values.has('--swa-full')) draft.use({ swaFull: true });
  if (values.has('--no-kv-unified')) draft.use({ kvUnified: false });
  if (values.has('--no-mmproj')) draft.use({ languageModelOnly: true });
  loading(values, draft);
  placement(values, draft);
}

function modelOf(values: Given, hostPath: Unwrapped['hostPath'], draft: Draft): void {
  const path = values.get('--model');
  const repository = values.get('--hf-repo');
  const directories = values.get('--models-dir') ?? values.get('--models-preset');
  if (path !== undefined) draft.model(path, hostPath);
  else if (repository !== undefined) {
    const [name, quantisation] = repository.split(':');
    draft.set({
      model: name === '' ? null : (name ?? null),
      modelFile: values.get('--hf-file') ?? quantisation ?? null,
    });
    draft.understand('--hf-repo', repository);
  } else if (values.has('--model-url') || values.has('--docker-repo'))
    draft.unread('either', 'The model is downloaded by its address.', 'model');
  else if (directories !== undefined) draft.unread('either', CLIENTS_CHOOSE, 'model');
}

function context(values: Given, program: string, draft: Draft): void {
  const typed = draft.read(values, '--ctx-size', wholeNumber);
  const isOwn = typed === null || typed === 0;
  if (isOwn) draft.assume('Without -c the context is the longest of the model.');
  draft.set({ context: isOwn ? null : typed, contextIsGiven: !isOwn, contextIsShared: true });
  const isServer = program === 'llama-server';
  const text = values.get('--parallel');
  const slots =
    text === undefined || text === '-1' ? null : draft.number('--parallel', text, (word) => wholeNumber(word, 1));
  if (!isServer) return;
  draft.set({ sequences: slots ?? AUTO_SLOTS });
  if (slots === null) draft.assume(`Without -np the server has ${AUTO_SLOTS} slots in one cache.`);
}

/** --fit and its settings: its way if the model does not fit. */
function fitting(values: Given, draft: Draft): void {
  const fit = values.get('--fit');
  if (fit !== undefined) draft.understand('--fit', fit);
  const [first = ''] = (values.get('--fit-target') ?? '').split(',');
  const target = first === '' ? null : draft.number('--fit-target', first, wholeNumber);
  const least = draft.read(values, '--fit-ctx', (text) => wholeNumber(text, 1));
  const layers = values.get('--n-gpu-layers') ?? 'auto';
  draft.set({
    llama: {
      fit: !['off', '0', 'false', 'disabled'].includes(fit ?? 'on'),
      ...(target === null ? {} : { targetBytes: target * MiB }),
      ...(least === null ? {} : { leastContext: least }),
      // An explicit 0 asks for the whole context of the model.
      mayShorten: !values.has('--ctx-size'),
      layersAreGiven: layers !== 'auto' && layers !== '-1',
    },
  });
}

/** mmap: pages of the file stay beside the copy. */
function loading(values: Given, draft: Draft): void {
  const mode = values.get('--load-mode');
  const isRead = values.has('--no-mmap') || values.has('--direct-io') || mode === 'none' || mode === 'dio';
  if (!isRead) return;
  draft.understand(mode === undefined ? '--no-mmap' : '--load-mode', mode ?? '');
  draft.use({ mmap: false });
}

function placement(values: Given, draft: Draft): void {
  const layers = values.get('--n-gpu-layers');
  if (layers !== undefined) draft.understand('--n-gpu-layers', layers);
  const fewer = layers !== undefined && /^\d{1,2}$/.test(layers) && Number(layers) < 50;
  const elsewhere = ['--cpu-moe', '--n-cpu-moe', '--n-cpu-ffn', '--override-tensor', '--no-kv-offload'];
  if (fewer || values.get('--device') === 'none' || elsewhere.some((option) => values.has(option)))
    draft.assume('What stays on the CPU is counted with the rest: on a unified machine it is the same memory.');
  if (values.has('--split-mode') || values.has('--tensor-split'))
    draft.assume('All is counted for one GPU, also where several share it.');
}
