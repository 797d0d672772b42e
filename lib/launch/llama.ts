/** The command line of llama.cpp: `llama-server`, `llama-cli`. Pure. */

import { MiB } from '../base/format.ts';
import { optionTable, type ReadArguments, readArguments, wholeNumber } from './command-line.ts';
import { type Draft, unreadArguments } from './draft.ts';
import { llamaExtras, readCacheTypes } from './llama-extras.ts';
import type { Unwrapped } from './unwrapped.ts';

const words = (lines: readonly string[]): string[] => lines.flatMap((line) => line.split(' '));

const OPTIONS = optionTable(
  {
    none: [
      ...words([
        '--perf --no-perf --escape --no-escape -e --repack --no-repack -nr --no-host --check-tensors --op-offload',
        '--no-op-offload --log-disable -v --verbose --log-verbose --offline --log-prefix --no-log-prefix',
        '--log-timestamps --no-log-timestamps --ignore-eos --jinja --no-jinja --cont-batching -cb --no-cont-batching -nocb',
        '--metrics --props --slots --no-slots --webui --no-webui --embedding --embeddings --reranking --rerank --special',
        '--no-warmup --warmup --spm-infill --context-shift --no-context-shift --kv-unified -kvu --no-kv-unified -no-kvu',
        '--cache-prompt --no-cache-prompt --prefill-assistant --no-prefill-assistant --verbose-prompt --color -co',
        '--conversation -cnv --no-conversation -no-cnv --single-turn -st --interactive -i --interactive-first -if',
        '--multiline-input -mli --simple-io --display-prompt --no-display-prompt --no-context-shift --mmproj-auto',
        '--no-mmproj-auto --no-mmproj --mmproj-offload --no-mmproj-offload --mlock --no-log-jsonl --log-jsonl',
        '--skip-chat-parsing --no-skip-chat-parsing --models-autoload --no-models-autoload --tools-all --no-ui --ui',
        '--swa-full --mmap --no-mmap --direct-io -dio --no-direct-io -ndio --kv-offload -kvo --no-kv-offload -nkvo',
        '--cpu-moe -cmoe --verbosity-all --lora-init-without-apply --reasoning-preserve --no-cache-idle-slots',
        '--no-reasoning-preserve --cache-idle-slots --cpu-moe-draft -cmoed --spec-draft-cpu-moe --reuse-port',
        '--spec-draft-backend-sampling --no-spec-draft-backend-sampling --cors-credentials --no-cors-credentials',
      ]),
    ],
    one: [
      ...words([
        '--threads -t --threads-batch -tb --cpu-mask -C --cpu-range -Cr --cpu-strict --prio --poll --cpu-mask-batch -Cb',
        '--cpu-range-batch -Crb --cpu-strict-batch --prio-batch --poll-batch --predict --n-predict -n --keep',
        '--rope-scaling --rope-scale --rope-freq-base --rope-freq-scale --yarn-orig-ctx --yarn-ext-factor',
        '--yarn-attn-factor --yarn-beta-slow --yarn-beta-fast --defrag-thold -dt --numa --override-kv --log-file',
        '--verbosity -lv --log-verbosity --samplers --seed -s --sampler-seq --sampling-seq --temp --temperature --top-k',
        '--top-p --min-p --top-nsigma --top-n-sigma --xtc-probability --xtc-threshold --typical --typical-p',
        '--repeat-last-n --repeat-penalty --presence-penalty --frequency-penalty --dry-multiplier --dry-base',
        '--dry-allowed-length --dry-penalty-last-n --dry-sequence-breaker --dynatemp-range --dynatemp-exp --mirostat',
        '--mirostat-lr --mirostat-ent --logit-bias -l --grammar --grammar-file --json-schema -j --json-schema-file -jf',
        '--pooling --host --port --path --api-prefix --api-key --api-key-file --ssl-key-file --ssl-cert-file --timeout -to',
        '--threads-http --cache-reuse --slot-save-path --slot-prompt-similarity -sps --chat-template --chat-template-file',
        '--chat-template-kwargs --reasoning-format --reasoning-budget --reasoning -rea --alias -a --tags --media-path',
        '--webui-config --webui-config-file --prompt -p --file -f --system-prompt -sys --system-prompt-file -sysf',
        '--prompt-cache --reverse-prompt -r --in-prefix --in-suffix --image --audio --image-min-tokens --image-max-tokens',
        '--sleep-idle-seconds --hf-token -hft --main-gpu -mg --batch-size -b --tools --adaptive-target --adaptive-decay',
        '--threads-draft -td --spec-draft-threads --threads-batch-draft -tbd --spec-draft-threads-batch',
        '--spec-draft-p-split --draft-p-split --spec-draft-sampling --n-cpu-moe-draft -ncmoed --spec-draft-n-cpu-moe',
        '--override-tensor-draft -otd --spec-draft-override-tensor --video-fps --sse-ping-interval --reasoning-effort',
        '--spec-ngram-mod-n-min --spec-ngram-mod-n-max --spec-ngram-mod-n-match --spec-ngram-simple-size-n',
        '--spec-ngram-simple-size-m --spec-ngram-simple-min-hits --spec-ngram-map-k-size-n --spec-ngram-map-k-size-m',
        '--mmproj-device -mmdev --mtmd-batch-max-tokens --cors-origins --cors-methods --cors-headers --log-prompts-dir',
        '--ctx-checkpoints -ctxcp --swa-checkpoints --checkpoint-every-nb -cpent --checkpoint-min-step -cms --lazy-mode -lzm',
      ]),
      '--model -m',
      '--hf-repo -hf -hfr',
      '--hf-file -hff',
      '--model-url -mu',
      '--docker-repo -dr',
      '--ctx-size -c',
      '--parallel -np',
      '--ubatch-size -ub',
      '--n-gpu-layers --gpu-layers -ngl',
      '--cache-type-k -ctk',
      '--cache-type-v -ctv',
      '--device -dev',
      '--split-mode -sm',
      '--tensor-split -ts',
      '--override-tensor -ot',
      '--n-cpu-moe -ncmoe',
      '--n-cpu-ffn -ncffn',
      '--moe-cache-mib',
      '--fit-target -fitt',
      '--fit-ctx -fitc',
      '--load-mode -lm',
      '--rpc',
      '--lora',
      '--lora-scaled',
      '--control-vector',
      '--control-vector-scaled',
      '--mmproj -mm',
      '--mmproj-url -mmu',
      '--model-draft -md --spec-draft-model',
      '--hf-repo-draft -hfd -hfrd --spec-draft-hf',
      '--spec-type',
      '--draft-max --draft --draft-n --spec-draft-n-max',
      '--draft-min --draft-n-min --spec-draft-n-min',
      '--draft-p-min --spec-draft-p-min',
      '--gpu-layers-draft -ngld --n-gpu-layers-draft --spec-draft-ngl',
      '--ctx-size-draft -cd',
      '--device-draft -devd --spec-draft-device',
      '--cache-type-k-draft -ctkd --spec-draft-type-k',
      '--cache-type-v-draft -ctvd --spec-draft-type-v',
      '--cache-ram -cram',
      '--models-dir',
      '--models-preset',
      '--models-max',
    ],
    many: [],
  },
  { python: false },
  {
    '--flash-attn -fa': ['on', 'off', 'auto', '0', '1', 'true', 'false', 'enabled', 'disabled', '-1'],
    '--fit -fit': ['on', 'off'],
    '--log-colors': ['on', 'off', 'auto'],
  },
);

const UNCOUNTED: Readonly<Record<string, readonly [effect: 'more' | 'less' | 'either', why: string]>> = {
  '--mmproj-url': ['more', 'loads a second file, which sees or hears'],
  '--moe-cache-mib': ['more', 'keeps a part of the experts twice'],
  '--rpc': ['less', 'puts a part of the model on other machines'],
};

/** Variables that stand for options (`env:` in the program's help). */
const VARIABLES: Readonly<Record<string, string>> = {
  LLAMA_ARG_MODEL: '--model',
  LLAMA_ARG_HF_REPO: '--hf-repo',
  LLAMA_ARG_HF_FILE: '--hf-file',
  LLAMA_ARG_CTX_SIZE: '--ctx-size',
  LLAMA_ARG_N_PARALLEL: '--parallel',
  LLAMA_ARG_UBATCH: '--ubatch-size',
  LLAMA_ARG_CACHE_TYPE_K: '--cache-type-k',
  LLAMA_ARG_CACHE_TYPE_V: '--cache-type-v',
  LLAMA_ARG_FLASH_ATTN: '--flash-attn',
  LLAMA_ARG_N_GPU_LAYERS: '--n-gpu-layers',
  LLAMA_ARG_LOAD_MODE: '--load-mode',
  LLAMA_ARG_MMPROJ: '--mmproj',
  LLAMA_ARG_MMPROJ_URL: '--mmproj-url',
  LLAMA_ARG_FIT: '--fit',
  LLAMA_ARG_FIT_TARGET: '--fit-target',
  LLAMA_ARG_FIT_CTX: '--fit-ctx',
  LLAMA_ARG_SPEC_TYPE: '--spec-type',
  LLAMA_ARG_SPEC_DRAFT_MODEL: '--model-draft',
  LLAMA_ARG_MODEL_DRAFT: '--model-draft',
  LLAMA_ARG_SPEC_DRAFT_HF_REPO: '--hf-repo-draft',
  LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_K: '--cache-type-k-draft',
  LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_V: '--cache-type-v-draft',
};

/** Slots of a server where none are given, in one pool (2025-12; one slot before). */
const AUTO_SLOTS = 4;

export function llamaCommand(
  program: string,
  args: readonly string[],
  { env, hostPath }: Unwrapped,
  draft: Draft,
): void {
  const read = readArguments(args, OPTIONS);
  const values = new Map(read.values);
  for (const [variable, option] of Object.entries(VARIABLES)) {
    const value = env[variable];
    if (value !== undefined && value !== '' && !values.has(option)) values.set(option, value);
  }
  modelOf(values, hostPath, draft);
  for (const word of strayWords(read)) draft.unread('either', `"${word}" stands where nothing is expected.`);
  unreadArguments(read, draft, false);
  for (const [option, [effect, why]] of Object.entries(UNCOUNTED))
    if (values.has(option)) draft.unread(effect, `${option} ${why}.`);
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
  if (values.has('--no-kv-unified') || values.has('-no-kvu')) draft.use({ kvUnified: false });
  loading(values, draft);
  placement(values, draft);
}

/** Words that belong to no option; older builds write `--lora-scaled FILE SCALE`. */
function strayWords({ every, positionals }: ReadArguments): string[] {
  const isScaled = every.has('--lora-scaled') || every.has('--control-vector-scaled');
  return isScaled ? positionals.filter((word) => !/^-?\d*\.?\d+$/.test(word)) : positionals;
}

function modelOf(values: ReadonlyMap<string, string>, hostPath: Unwrapped['hostPath'], draft: Draft): void {
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
  else if (directories !== undefined) draft.unread('either', 'Its clients choose the models that it loads.', 'model');
}

function context(values: ReadonlyMap<string, string>, program: string, draft: Draft): void {
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

/** --fit and its settings: what it does where the model does not fit. */
function fitting(values: ReadonlyMap<string, string>, draft: Draft): void {
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
function loading(values: ReadonlyMap<string, string>, draft: Draft): void {
  const mode = values.get('--load-mode');
  const isRead =
    values.has('--no-mmap') || values.has('--direct-io') || values.has('-dio') || mode === 'none' || mode === 'dio';
  if (!isRead) return;
  draft.understand(mode === undefined ? '--no-mmap' : '--load-mode', mode ?? '');
  draft.use({ mmap: false });
}

function placement(values: ReadonlyMap<string, string>, draft: Draft): void {
  const layers = values.get('--n-gpu-layers');
  if (layers !== undefined) draft.understand('--n-gpu-layers', layers);
  const fewer = layers !== undefined && /^\d{1,2}$/.test(layers) && Number(layers) < 50;
  const elsewhere = [
    '--cpu-moe',
    '-cmoe',
    '--n-cpu-moe',
    '--n-cpu-ffn',
    '--override-tensor',
    '--no-kv-offload',
    '-nkvo',
  ];
  if (fewer || values.get('--device') === 'none' || elsewhere.some((option) => values.has(option)))
    draft.assume('What stays on the CPU is counted with the rest: on a unified machine it is the same memory.');
  if (values.has('--split-mode') || values.has('--tensor-split'))
    draft.assume('All is counted for one GPU, also where several share it.');
}
