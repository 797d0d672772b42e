/** The command line of vLLM: `vllm serve`, and `python -m vllm.entrypoints.openai.api_server`. Pure. */

import { VLLM_SHARE } from '../memory/program-shares.ts';
import { humanReadable, optionTable, readArguments, shareOf, wholeNumber } from './command-line.ts';
import { type Draft, unreadArguments } from './draft.ts';
import { readTensorParallel, readTypes } from './serving-options.ts';
import type { Unwrapped } from './unwrapped.ts';
import { vllmExtras } from './vllm-extras.ts';

const OPTIONS = optionTable(
  {
    none: [
      '--headless --enable-auto-tool-choice --exclude-tools-when-tool-choice-none --disable-uvicorn-access-log',
      '--allow-credentials --enable-ssl-refresh --return-tokens-as-token-ids --disable-frontend-multiprocessing',
      '--enable-request-id-headers --disable-fastapi-docs --enable-prompt-tokens-details --enable-force-include-usage',
      '--enable-server-load-tracking --enable-tokenizer-info-endpoint --enable-log-outputs --enable-log-deltas',
      '--trust-remote-code --disable-log-requests --enable-log-requests --disable-log-stats --enforce-eager',
      '--enable-prefix-caching --enable-chunked-prefill --disable-sliding-window --disable-cascade-attn',
      '--skip-tokenizer-init --enable-prompt-embeds --async-scheduling --disable-hybrid-kv-cache-manager',
      '--enable-expert-parallel --disable-custom-all-reduce --use-tqdm-on-load --calculate-kv-scales',
      '--disable-chunked-mm-input --enable-sleep-mode --skip-mm-profiling --interleave-mm-strings --log-error-stack',
      '--fully-sharded-loras --disable-async-output-proc --use-v2-block-manager --enable-reasoning --kv-cache-metrics',
      '--cudagraph-metrics --enable-mfu-metrics --enable-layerwise-nvtx-tracing --worker-use-ray --enable-mm-embeds',
      '--trust-request-chat-template --enable-logging-iteration-details',
    ]
      .flatMap((line) => line.split(' '))
      .concat('--language-model-only', '--enable-lora'),
    one: [
      ...[
        '--host --port --uds --uvicorn-log-level --allowed-origins --allowed-methods --allowed-headers --chat-template',
        '--chat-template-content-format --response-role --ssl-keyfile --ssl-certfile --ssl-ca-certs --ssl-cert-reqs',
        '--root-path --middleware --tool-call-parser --tool-parser-plugin --reasoning-parser --reasoning-parser-plugin',
        '--log-config-file --max-log-len --tool-server --tokenizer --tokenizer-mode --tokenizer-revision --seed',
        '--hf-config-path --hf-token --allowed-local-media-path --allowed-media-domains --revision --code-revision',
        '--rope-scaling --rope-theta --max-seq-len-to-capture --max-logprobs --logprobs-mode --generation-config',
        '--override-generation-config --model-impl --load-format --download-dir --model-loader-extra-config',
        '--ignore-patterns --guided-decoding-backend --structured-outputs-config --distributed-executor-backend',
        '--master-addr --master-port --node-rank --data-parallel-rank --data-parallel-address --data-parallel-rpc-port',
        '--data-parallel-backend --data-parallel-start-rank --all2all-backend --worker-cls --worker-extension-cls',
        '--block-size --prefix-caching-hash-algo --limit-mm-per-prompt --mm-processor-kwargs --media-io-kwargs',
        '--mm-processor-cache-gb --mm-processor-cache-type --mm-encoder-tp-mode --mm-encoder-attn-backend',
        '--scheduling-policy --max-num-partial-prefills --max-long-partial-prefills --long-prefill-token-threshold',
        '--scheduler-cls --scheduler-delay-factor --stream-interval --num-scheduler-steps --attention-backend',
        '--kv-events-config --otlp-traces-endpoint --collect-detailed-traces --show-hidden-metrics-for-version',
        '--max-cudagraph-capture-size --convert --runner --task --io-processor-plugin --moe-backend --mamba-cache-dtype',
        '--mamba-ssm-cache-dtype --mamba-block-size --mamba-cache-mode --default-chat-template-kwargs --pooler-config',
        '--api-server-count --renderer-num-workers --shutdown-timeout --performance-mode --optimization-level',
        '--max-cpu-loras --lora-dtype --lora-extra-vocab-size --h11-max-header-count',
        '--h11-max-incomplete-event-size --disable-access-log-for-endpoints --linear-backend --gdn-prefill-backend',
      ].flatMap((line) => line.split(' ')),
      '--compilation-config -O -cc',
      '--model',
      '--max-model-len',
      '--max-num-seqs',
      '--max-num-batched-tokens',
      '--gpu-memory-utilization',
      '--kv-cache-dtype',
      '--kv-cache-memory-bytes --kv-cache-memory',
      '--tensor-parallel-size -tp',
      '--pipeline-parallel-size -pp',
      '--data-parallel-size -dp',
      '--data-parallel-size-local -dpl',
      '--nnodes',
      '--quantization -q',
      '--dtype',
      '--config',
      '--hf-overrides',
      '--speculative-config -sc',
      '--speculative-model',
      '--num-speculative-tokens',
      '--max-loras',
      '--max-lora-rank',
      '--cpu-offload-gb',
      '--swap-space',
      '--kv-offloading-size',
      '--kv-offloading-backend',
      '--kv-transfer-config',
      '--ec-transfer-config',
      '--num-gpu-blocks-override',
      '--additional-config',
    ],
    many: [
      '--served-model-name',
      '--api-key',
      '--lora-modules',
      '--cuda-graph-sizes',
      '--cudagraph-capture-sizes',
      '--logits-processors',
    ],
  },
  { python: true },
);

/** Options whose memory no estimate here knows. */
const UNCOUNTED: Readonly<Record<string, readonly [effect: 'more' | 'less' | 'either', why: string]>> = {
  '--config': ['either', 'reads further options from a file'],
  '--hf-overrides': ['either', 'changes the model'],
  '--additional-config': ['either', 'changes what is not known here'],
  '--cpu-offload-gb': ['more', 'keeps a part of the weights twice while they are loaded'],
  '--swap-space': ['more', 'pins memory of the host'],
  '--kv-offloading-size': ['more', 'pins memory of the host'],
  '--kv-transfer-config': ['more', 'keeps caches outside of vLLM'],
  '--ec-transfer-config': ['more', 'keeps caches outside of vLLM'],
  '--num-gpu-blocks-override': ['either', 'sets the size of the cache'],
  '--nnodes': ['less', 'puts a part of the model on other machines'],
};

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
  const args = readArguments(
    rest.map((word) => (/^-O[0-9]$/.test(word) ? '--optimization-level=0' : word)),
    OPTIONS,
  );
  const { positionals, values } = args;
  const [positional, second] = positionals;
  const model = positional ?? values.get('--model');
  draft.model(model, hostPath);
  if (second !== undefined) draft.unread('either', `"${second}" stands where nothing is expected.`);
  unreadArguments(args, draft, positional === undefined && !values.has('--model'));
  for (const [option, [effect, why]] of Object.entries(UNCOUNTED)) {
    const value = values.get(option);
    if (value !== undefined && value !== 'no' && !(option === '--nnodes' && value === '1'))
      draft.unread(effect, `${option} ${why}.`);
  }
  vllmExtras(values, args.every, hostPath, draft);
  context(values.get('--max-model-len'), draft);
  share(values.get('--gpu-memory-utilization'), draft);
  const tokens = draft.read(values, '--max-num-batched-tokens', humanReadable);
  if (tokens !== null) draft.use({ batchTokens: tokens });
  draft.read(values, '--max-num-seqs', (text) => humanReadable(text));
  const bytes = draft.read(values, '--kv-cache-memory-bytes', humanReadable);
  if (bytes !== null) draft.set({ kvCacheBytes: bytes });
  parallel(values, draft);
  readTypes(values, draft, IN_FLIGHT);
  if (values.get('--language-model-only') === '') draft.use({ languageModelOnly: true });
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

function parallel(values: ReadonlyMap<string, string>, draft: Draft): void {
  readTensorParallel(values, draft);
  const stages = draft.read(values, '--pipeline-parallel-size', (text) => wholeNumber(text, 1));
  if (stages !== null && stages > 1)
    draft.unread('less', '--pipeline-parallel-size puts a part of the layers elsewhere.');
  const copies = values.get('--data-parallel-size-local') ?? values.get('--data-parallel-size');
  if (copies !== undefined && copies !== '1')
    draft.unread('more', '--data-parallel-size loads the model several times.');
}
