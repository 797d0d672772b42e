/** The command line of SGLang: `python -m sglang.launch_server`, `sglang serve`. Pure. */

import { SGLANG_SHARE } from '../memory/program-shares.ts';
import { optionTable, readArguments, shareOf, wholeNumber } from './command-line.ts';
import { type Draft, unreadArguments } from './draft.ts';
import { readTensorParallel, readTypes } from './serving-options.ts';
import type { Unwrapped } from './unwrapped.ts';

const words = (lines: readonly string[]): string[] => lines.flatMap((line) => line.split(' '));

const OPTIONS = optionTable(
  {
    none: words([
      '--trust-remote-code --skip-tokenizer-init --is-embedding --enable-multimodal --grpc-mode --skip-server-warmup',
      '--enable-fp32-lm-head --enable-priority-scheduling --abort-on-priority-when-disabled --disable-radix-cache',
      '--schedule-low-priority-values-first --disable-hybrid-swa-memory --enable-metrics --log-requests --disable-cuda-graph',
      '--disable-cuda-graph-padding --enable-p2p-check --enable-torch-compile --enable-deterministic-inference',
      '--disable-flashinfer-autotune --disable-overlap-schedule --disable-custom-all-reduce --disable-outlines-disk-cache',
      '--enable-mixed-chunk --enable-cache-report --show-time-cost --enable-request-time-stats-logging --enable-nccl-nvls',
      '--disable-fast-image-processor --enable-return-hidden-states --allow-auto-truncate --disable-shared-experts-fusion',
      '--disable-piecewise-cuda-graph --enable-flashinfer-allreduce-fusion --weight-loader-disable-mmap --enable-trace',
      '--disable-chunked-prefix-cache --enable-dynamic-chunking --enable-dp-attention --enable-ep-moe --language-only',
      '--enable-tokenizer-batch-encode --sleep-on-idle --enable-symm-mem --disable-prefill-cuda-graph --enable-dp-lm-head',
      '--enable-single-batch-overlap --enable-two-batch-overlap --enable-pdmux --delete-ckpt-after-loading --enable-lora',
      '--enable-hierarchical-cache --enable-memory-saver --enable-weights-cpu-backup --enable-streaming-session',
    ]),
    one: [
      ...words([
        '--tokenizer-path --tokenizer-mode --tokenizer-worker-num --load-format --model-loader-extra-config --revision',
        '--model-impl --host --port --fastapi-root-path --warmups --nccl-port --quantization-param-path --schedule-policy',
        '--max-queued-requests --prefill-max-requests --max-prefill-tokens --schedule-conservativeness --page-size',
        '--swa-full-tokens-ratio --radix-eviction-policy --served-model-name --chat-template --completion-template',
        '--tool-call-parser --reasoning-parser --api-key --log-level --log-level-http --log-requests-level --watchdog-timeout',
        '--attention-backend --prefill-attention-backend --decode-attention-backend --sampling-backend --grammar-backend',
        '--mm-attention-backend --moe-runner-backend --moe-a2a-backend --fp8-gemm-backend --fp4-gemm-backend --random-seed',
        '--cuda-graph-max-bs --torch-compile-max-bs --stream-interval --device --base-gpu-id --gpu-id-step --download-dir',
        '--constrained-json-whitespace-pattern --file-storage-path --hf-chat-template-name --dist-init-addr --dist-timeout',
        '--node-rank --num-continuous-decode-steps --preferred-sampling-params --sampling-defaults --decode-log-interval',
        '--tool-server --enable-metrics-for-all-schedulers --kv-events-config --mamba-ssm-dtype --mamba-scheduler-strategy',
        '--mamba-full-memory-ratio --cuda-graph-bs-decode --soft-watchdog-timeout --limit-mm-data-per-request',
        '--speculative-num-steps --speculative-eagle-topk --speculative-num-draft-tokens --speculative-attention-mode',
      ]),
      '--model-path --model',
      '--context-length',
      '--mem-fraction-static',
      '--max-running-requests',
      '--max-total-tokens',
      '--chunked-prefill-size',
      '--kv-cache-dtype',
      '--tensor-parallel-size --tp-size --tp',
      '--pipeline-parallel-size --pp-size --pp',
      '--data-parallel-size --dp-size --dp',
      '--expert-parallel-size --ep-size --ep',
      '--nnodes',
      '--dtype',
      '--quantization',
      '--torchao-config',
      '--config',
      '--json-model-override-args',
      '--speculative-algorithm --speculative-algo',
      '--speculative-draft-model-path --speculative-draft-model',
      '--cpu-offload-gb',
      '--hicache-size',
      '--hicache-ratio',
      '--hicache-write-policy',
      '--hicache-io-backend',
      '--max-loras-per-batch',
      '--max-lora-rank',
    ],
    many: ['--cuda-graph-bs', '--lora-paths', '--lora-target-modules', '--bucket-time-to-first-token'],
  },
  { python: true },
);

const DRAFT_MODEL = '--speculative-draft-model-path';

const UNCOUNTED: Readonly<Record<string, readonly [effect: 'more' | 'less' | 'either', why: string]>> = {
  '--config': ['either', 'reads further options from a file'],
  '--json-model-override-args': ['either', 'changes the model'],
  '--speculative-algorithm': ['more', 'loads layers for speculation'],
  '--enable-lora': ['more', 'loads adapters'],
  '--lora-paths': ['more', 'loads adapters'],
  '--cpu-offload-gb': ['more', 'keeps a part of the weights in memory of the host'],
  '--enable-hierarchical-cache': ['more', 'keeps a second cache in memory of the host'],
  '--hicache-size': ['more', 'keeps a second cache in memory of the host'],
  '--enable-weights-cpu-backup': ['more', 'keeps the weights a second time'],
  '--max-total-tokens': ['less', 'limits the pool'],
  '--torchao-config': ['less', 'makes the weights smaller than their files'],
};

export function sglangCommand(words: readonly string[], { hostPath }: Unwrapped, draft: Draft): boolean {
  const [verb, ...rest] = words;
  if (verb !== 'serve') return false;
  const args = readArguments(rest, OPTIONS);
  const { positionals, values } = args;
  draft.model(values.get('--model-path') ?? positionals[0], hostPath);
  const extra = positionals[values.has('--model-path') ? 0 : 1];
  if (extra !== undefined) draft.unread('either', `"${extra}" stands where nothing is expected.`);
  unreadArguments(args, draft, !values.has('--model-path'));
  for (const [option, [effect, why]] of Object.entries(UNCOUNTED)) {
    const value = values.get(option);
    const isCounted = option === '--speculative-algorithm' && values.has(DRAFT_MODEL);
    if (value !== undefined && value !== 'no' && !isCounted) draft.unread(effect, `${option} ${why}.`);
  }
  const model = values.get(DRAFT_MODEL);
  if (model !== undefined) draft.extra({ kind: 'draft', option: DRAFT_MODEL, model }, hostPath);
  const context = draft.read(values, '--context-length', (text) => wholeNumber(text, 1));
  draft.set({ context, contextIsGiven: context !== null });
  if (!values.has('--context-length'))
    draft.assume('Without --context-length a request may be as long as the model allows.');
  const fraction = draft.read(values, '--mem-fraction-static', shareOf);
  draft.set({ utilization: fraction ?? SGLANG_SHARE });
  if (!values.has('--mem-fraction-static'))
    draft.assume(`Without --mem-fraction-static SGLang chooses a share of what is free; ${SGLANG_SHARE} is assumed.`);
  draft.read(values, '--max-running-requests', (text) => wholeNumber(text, 1));
  // -1: the prompt is not cut into chunks.
  if (values.get('--chunked-prefill-size') !== '-1') {
    const tokens = draft.read(values, '--chunked-prefill-size', (text) => wholeNumber(text, 1));
    if (tokens !== null) draft.use({ batchTokens: tokens });
  } else if (context !== null) draft.use({ batchTokens: context });
  parallel(values, draft);
  readTypes(values, draft, IN_FLIGHT);
  return true;
}

/** Quantisations while the weights are loaded: the files are larger. */
const IN_FLIGHT = new Set(['fp8', 'bitsandbytes', 'mxfp8']);

function parallel(values: ReadonlyMap<string, string>, draft: Draft): void {
  readTensorParallel(values, draft);
  const several = (option: string): boolean => values.has(option) && values.get(option) !== '1';
  if (several('--pipeline-parallel-size'))
    draft.unread('less', '--pipeline-parallel-size puts a part of the layers elsewhere.');
  if (several('--data-parallel-size')) draft.unread('more', '--data-parallel-size loads the model several times.');
}
