/** The command line of TensorRT-LLM: `trtllm-serve`. Pure. */

import { TRTLLM_SHARE } from '../../core/memory/program-shares.ts';
import { optionTable, readArguments, shareOf, wholeNumber } from './command-line.ts';
import { type Draft, noteUnread } from './draft.ts';
import { readParallel, readTypes } from './serving-options.ts';
import type { Unwrapped } from './unwrapped.ts';

/** It writes them with underscores. */
const OPTIONS = optionTable(
  {
    '--max-seq-len': 'one',
    '--max-batch-size': 'one',
    '--max-num-tokens': 'one',
    '--free-gpu-memory-fraction --kv-cache-free-gpu-memory-fraction': 'one',
    '--kv-cache-dtype': 'one',
    '--tensor-parallel-size --tp-size': 'one',
    '--pipeline-parallel-size --pp-size': 'one',
    '--context-parallel-size --cp-size': ['one', 'less', 'puts a part of each sequence elsewhere'],
    '--config --extra-llm-api-options': ['one', 'either', 'reads further options from a file'],
    '--max-beam-width': ['one', 'more', 'keeps a cache for each beam'],
  },
  '--moe-expert-parallel-size --ep-size --moe-cluster-parallel-size --cluster-size --gpus-per-node ' +
    '--fail-fast-on-attention-window-too-large',
  true,
);

/** Words that make it another program than the server. */
const OTHERS = new Set(['disaggregated', 'disaggregated_mpi_worker', 'mm_embedding_serve', 'embeddings']);

export function trtllmCommand(words: readonly string[], { hostPath }: Unwrapped, draft: Draft): boolean {
  const rest = words[0] === 'serve' ? words.slice(1) : words;
  if (OTHERS.has(rest[0] ?? '')) return false;
  const args = readArguments(rest, OPTIONS);
  const { positionals, values } = args;
  const [model, second] = positionals;
  draft.model(model, hostPath);
  if (second !== undefined) draft.unread('either', `"${second}" stands where nothing is expected.`);
  noteUnread(args, draft, model === undefined);
  const context = draft.read(values, '--max-seq-len', (text) => wholeNumber(text, 1));
  draft.set({ context, contextIsGiven: context !== null });
  if (context === null) draft.assume('Without --max_seq_len a request may be as long as the model allows.');
  const fraction = draft.read(values, '--free-gpu-memory-fraction', shareOf);
  draft.set({ utilization: fraction ?? TRTLLM_SHARE });
  if (fraction === null)
    draft.assume(`Without --free_gpu_memory_fraction its cache takes ${TRTLLM_SHARE} of what is free after loading.`);
  draft.set({ mostSequences: draft.read(values, '--max-batch-size', (text) => wholeNumber(text, 1)) });
  const tokens = draft.read(values, '--max-num-tokens', (text) => wholeNumber(text, 1));
  if (tokens !== null) draft.use({ batchTokens: tokens });
  readParallel(values, draft);
  readTypes(values, draft, new Set());
  return true;
}
