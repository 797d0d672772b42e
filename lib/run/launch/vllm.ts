/** The command line of vLLM: `vllm serve`, and `python -m vllm.entrypoints.openai.api_server`. Pure. */

import { VLLM_SHARE } from '../../core/memory/program-shares.ts';
import { humanReadable, optionTable, readArguments, shareOf } from './command-line.ts';
import { type Draft, noteUnread } from './draft.ts';
import { readParallel, readTypes } from './serving-options.ts';
import type { Unwrapped } from './unwrapped.ts';
import { vllmExtras } from './vllm-extras.ts';

const OPTIONS = optionTable(
  {
    '--model': 'one',
    '--max-model-len': 'one',
    '--max-num-seqs': 'one',
    '--max-num-batched-tokens': 'one',
    '--gpu-memory-utilization': 'one',
    '--kv-cache-dtype': 'one',
    '--kv-cache-memory-bytes --kv-cache-memory': 'one',
    '--dtype': 'one',
    '--quantization -q': 'one',
    '--language-model-only': 'none',
    '--disable-hybrid-kv-cache-manager': 'none',
    '--tensor-parallel-size -tp': 'one',
    '--pipeline-parallel-size -pp': 'one',
    '--data-parallel-size -dp': 'one',
    '--data-parallel-size-local -dpl': 'one',
    '--nnodes -n': 'one',
    '--decode-context-parallel-size -dcp': 'one',
    '--speculative-config -sc': 'one',
    '--speculative-model': 'one',
    '--enable-lora': 'none',
    '--lora-modules': 'any',
    '--max-loras': 'one',
    '--max-lora-rank': 'one',
    '--config': ['one', 'either', 'reads further options from a file'],
    '--hf-overrides': ['one', 'either', 'changes the model'],
    '--rope-scaling': ['one', 'either', 'changes the longest context'],
    '--additional-config': ['one', 'either', 'changes what is not known here'],
    '--num-gpu-blocks-override': ['one', 'either', 'sets the size of the cache'],
    '--cpu-offload-gb': ['one', 'more', 'keeps a part of the weights twice while they are loaded'],
    '--swap-space': ['one', 'more', 'pins memory of the host'],
    '--kv-offloading-size': ['one', 'more', 'pins memory of the host'],
    '--kv-transfer-config': ['one', 'more', 'keeps caches outside of vLLM'],
    '--ec-transfer-config': ['one', 'more', 'keeps caches outside of vLLM'],
  },
  '--enable-expert-parallel --calculate-kv-scales --kv-cache-metrics --kv-events-config --max-seq-len-to-capture ' +
    '--mm-processor-cache-gb --mm-processor-cache-type',
  true,
);

/** Quantisations while the weights are loaded: the files are larger. */
const IN_FLIGHT = new Set([
  'bitsandbytes',
  'fp8',
  'fp8_per_tensor',
  'fp8_per_block',
  'experts_int8',
  'torchao',
  'mxfp8',
  'inc',
]);

/** --gpu-memory-utilization, --max-model-len and the others; null: it is not the command of a server. */
export function vllmCommand(words: readonly string[], { hostPath }: Unwrapped, draft: Draft): boolean {
  const [verb, ...rest] = words;
  if (verb !== 'serve') return false;
  const args = readArguments(rest, OPTIONS);
  const { positionals, values } = args;
  const [positional, second] = positionals;
  const model = positional ?? values.get('--model');
  draft.model(model, hostPath);
  if (second !== undefined) draft.unread('either', `"${second}" stands where nothing is expected.`);
  noteUnread(args, draft, model === undefined);
  vllmExtras(values, args.every, hostPath, draft);
  context(values.get('--max-model-len'), draft);
  share(values.get('--gpu-memory-utilization'), draft);
  const tokens = draft.read(values, '--max-num-batched-tokens', humanReadable);
  if (tokens !== null) draft.use({ batchTokens: tokens });
  draft.set({ mostSequences: draft.read(values, '--max-num-seqs', humanReadable) });
  const bytes = draft.read(values, '--kv-cache-memory-bytes', humanReadable);
  if (bytes !== null) draft.set({ kvCacheBytes: bytes });
  readParallel(values, draft);
  readTypes(values, draft, IN_FLIGHT);
  if (values.get('--language-model-only') === '') draft.use({ languageModelOnly: true });
  if (values.get('--disable-hybrid-kv-cache-manager') === '') draft.use({ swaFull: true });
  return true;
}

function context(text: string | undefined, draft: Draft): void {
  if (text === undefined) {
    draft.set({ context: null, contextIsGiven: false });
    draft.assume('Without --max-model-len a request may be as long as the model allows.');
    return;
  }
  if (text === 'auto' || text === '-1') {
    draft.understand('--max-model-len', text);
    draft.set({ context: SHORTEST, contextIsGiven: false });
    draft.assume('vLLM chooses --max-model-len by the memory that it finds.');
    return;
  }
  const tokens = draft.number('--max-model-len', text, humanReadable);
  draft.set({ context: tokens, contextIsGiven: tokens !== null });
}

/** A context that nobody would call too short: vLLM shortens the context itself. */
const SHORTEST = 4096;

function share(text: string | undefined, draft: Draft): void {
  const given = text === undefined ? null : draft.number('--gpu-memory-utilization', text, shareOf);
  draft.set({ utilization: given ?? VLLM_SHARE.newest });
  if (text === undefined)
    draft.assume(
      `Without --gpu-memory-utilization vLLM takes ${VLLM_SHARE.newest} of the memory (${VLLM_SHARE.before020} before 0.20).`,
    );
}
