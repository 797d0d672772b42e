/** The command line of SGLang: `python -m sglang.launch_server`, `sglang serve`. Pure. */

import { SGLANG_SHARE } from '../../core/memory/program-shares.ts';
import { optionTable, readArguments, shareOf, wholeNumber } from './command-line.ts';
import { type Draft, noteUnread } from './draft.ts';
import { readParallel, readTypes } from './serving-options.ts';
import type { Unwrapped } from './unwrapped.ts';

const DRAFT_MODEL = '--speculative-draft-model-path';

const OPTIONS = optionTable(
  {
    '--model-path --model': 'one',
    '--context-length': 'one',
    '--mem-fraction-static': 'one',
    '--max-running-requests': 'one',
    '--chunked-prefill-size': 'one',
    '--disable-hybrid-swa-memory': 'none',
    '--kv-cache-dtype': 'one',
    '--dtype': 'one',
    '--quantization': 'one',
    '--tensor-parallel-size --tp-size --tp': 'one',
    '--pipeline-parallel-size --pp-size --pp': 'one',
    '--decode-context-parallel-size --dcp-size': 'one',
    '--nnodes': 'one',
    '--data-parallel-size --dp-size --dp': 'one',
    '--speculative-algorithm --speculative-algo': 'one',
    [`${DRAFT_MODEL} --speculative-draft-model`]: 'one',
    '--config': ['one', 'either', 'reads further options from a file'],
    '--json-model-override-args': ['one', 'either', 'changes the model'],
    '--enable-lora': ['none', 'more', 'loads adapters'],
    '--lora-paths': ['any', 'more', 'loads adapters'],
    '--cpu-offload-gb': ['one', 'more', 'keeps a part of the weights in memory of the host'],
    '--enable-hierarchical-cache': ['none', 'more', 'keeps a second cache in memory of the host'],
    '--hicache-size': ['one', 'more', 'keeps a second cache in memory of the host'],
    '--enable-weights-cpu-backup': ['none', 'more', 'keeps the weights a second time'],
    '--max-total-tokens': ['one', 'less', 'limits the pool'],
    '--torchao-config': ['one', 'less', 'makes the weights smaller than their files'],
  },
  '--disable-radix-cache --disable-chunked-prefix-cache --disable-outlines-disk-cache --enable-cache-report ' +
    '--enable-tokenizer-batch-encode --expert-parallel-size --base-gpu-id --gpu-id-step --kv-events-config ' +
    '--enable-symm-mem --enable-single-batch-overlap --enable-two-batch-overlap',
  true,
);

export function sglangCommand(words: readonly string[], { hostPath }: Unwrapped, draft: Draft): boolean {
  const [verb, ...rest] = words;
  if (verb !== 'serve') return false;
  const args = readArguments(rest, OPTIONS);
  const { positionals, values } = args;
  draft.model(values.get('--model-path') ?? positionals[0], hostPath);
  const extra = positionals[values.has('--model-path') ? 0 : 1];
  if (extra !== undefined) draft.unread('either', `"${extra}" stands where nothing is expected.`);
  noteUnread(args, draft, !values.has('--model-path'));
  const model = values.get(DRAFT_MODEL);
  if (model !== undefined) draft.extra({ kind: 'draft', option: DRAFT_MODEL, model }, hostPath);
  else if (values.get('--speculative-algorithm') === 'NEXTN') draft.use({ mtp: true });
  else if (values.has('--speculative-algorithm'))
    draft.unread('more', '--speculative-algorithm loads layers for speculation.');
  const context = draft.read(values, '--context-length', (text) => wholeNumber(text, 1));
  draft.set({ context, contextIsGiven: context !== null });
  if (!values.has('--context-length'))
    draft.assume('Without --context-length a request may be as long as the model allows.');
  const fraction = draft.read(values, '--mem-fraction-static', shareOf);
  draft.set({ utilization: fraction ?? SGLANG_SHARE });
  if (!values.has('--mem-fraction-static'))
    draft.assume(`Without --mem-fraction-static SGLang chooses a share of what is free; ${SGLANG_SHARE} is assumed.`);
  draft.set({ mostSequences: draft.read(values, '--max-running-requests', (text) => wholeNumber(text, 1)) });
  if (values.has('--disable-hybrid-swa-memory')) draft.use({ swaFull: true });
  // -1: the prompt is not cut into chunks.
  if (values.get('--chunked-prefill-size') !== '-1') {
    const tokens = draft.read(values, '--chunked-prefill-size', (text) => wholeNumber(text, 1));
    if (tokens !== null) draft.use({ batchTokens: tokens });
  } else if (context !== null) draft.use({ batchTokens: context });
  readParallel(values, draft);
  readTypes(values, draft, IN_FLIGHT);
  return true;
}

/** Quantisations while the weights are loaded: the files are larger. */
const IN_FLIGHT = new Set(['fp8', 'bitsandbytes', 'mxfp8']);
