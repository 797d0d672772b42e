/**
 * Command lines as people publish them: playbooks, documentation, recipes, units of systemd, bug reports. [where it is from,
 * the words, what it says]. What is not named is expected to be as where nothing is said.
 */
import type { ExtraModel, RecognisedCommand } from '../../../../lib/types/index.ts';

export interface Published {
  from: string;
  line: string;
  env?: Record<string, string>;
  says: Partial<Omit<RecognisedCommand, 'unread' | 'assumed' | 'understood' | 'limits'>>;
  /** What is not understood: a part of each sentence. */
  unread?: readonly string[];
}

const VLLM = { program: 'vllm' } as const;
const SGLANG = { program: 'sglang' } as const;
/** --fit is on, and may do what the command line does not forbid. */
const FIT = { fit: true, mayShorten: true, layersAreGiven: false } as const;
const LLAMA = { program: 'llama.cpp', contextIsShared: true, llama: FIT } as const;
/** With -c and a number of -ngl. */
const FIXED = { llama: { fit: true, mayShorten: false, layersAreGiven: true } } as const;
const TRTLLM = { program: 'trtllm' } as const;
const OLLAMA = { program: 'ollama' } as const;

function extra(kind: ExtraModel['kind'], option: string, model: string, rest: Partial<ExtraModel> = {}): ExtraModel {
  return { kind, option, model, modelFile: null, use: {}, ...rest };
}

export const PUBLISHED: readonly Published[] = [
  {
    from: 'docs of TensorRT-LLM, two nodes by mpirun',
    line: 'mpirun -n 2 -H node1,node2 --allow-run-as-root --mca btl_tcp_if_include enp1s0 -x NCCL_DEBUG=INFO trtllm-llmapi-launch trtllm-serve nvidia/Qwen3-235B-A22B-FP4 --backend pytorch --tp_size 2 --max_num_tokens 4096 --max_batch_size 4 --kv_cache_free_gpu_memory_fraction 0.8 --max_seq_len 32768 --port 8355',
    says: {
      ...TRTLLM,
      wrappers: ['mpirun', 'trtllm-llmapi-launch'],
      hosts: ['node1', 'node2'],
      model: 'nvidia/Qwen3-235B-A22B-FP4',
      context: 32_768,
      contextIsGiven: true,
      mostSequences: 4,
      utilization: 0.8,
      use: { batchTokens: 4096, tensorParallel: 2 },
    },
  },
  {
    from: 'docs of TensorRT-LLM, Slurm',
    line: 'srun -N 2 --ntasks-per-node=1 --mpi=pmix --container-image=nvcr.io/nvidia/tensorrt-llm/release trtllm-llmapi-launch trtllm-serve serve org/model --tp_size 2 --kv_cache_dtype fp8',
    says: {
      ...TRTLLM,
      wrappers: ['srun', 'trtllm-llmapi-launch'],
      model: 'org/model',
      utilization: 0.9,
      use: { tensorParallel: 2, kvDtype: 'fp8' },
    },
  },
  {
    from: 'TensorRT-LLM with a file of options',
    line: 'trtllm-serve org/model --max_batch_size 32 --config extra.yaml',
    says: { ...TRTLLM, model: 'org/model', mostSequences: 32, utilization: 0.9 },
    unread: ['--config reads further options from a file'],
  },
  {
    from: 'vLLM on two Sparks without Ray',
    line: 'vllm serve org/model --tensor-parallel-size 2 --nnodes 2 --node-rank 0 --master-addr 192.0.2.1 --decode-context-parallel-size 2 --gpu-memory-utilization 0.8',
    says: {
      ...VLLM,
      model: 'org/model',
      utilization: 0.8,
      use: { tensorParallel: 2, decodeContextParallel: 2 },
    },
  },
  {
    from: 'vLLM on several machines by Ray',
    line: 'ray symmetric-run --address 192.0.2.1:6379 --min-nodes 2 --num-gpus 1 -- vllm serve org/model --tensor-parallel-size 1 --pipeline-parallel-size 2',
    says: {
      ...VLLM,
      wrappers: ['ray symmetric-run'],
      model: 'org/model',
      utilization: 0.92,
      use: { pipelineParallel: 2 },
    },
  },
  {
    from: 'torchrun of a module',
    line: 'torchrun --nnodes=2 --nproc-per-node=1 -m sglang.launch_server --model-path org/model --tp 2 --nnodes 2 --dist-init-addr 192.0.2.1:20000',
    says: {
      ...SGLANG,
      wrappers: ['torchrun', 'python -m'],
      model: 'org/model',
      utilization: 0.9,
      use: { tensorParallel: 2 },
    },
  },
  {
    from: 'dgx-spark-playbooks, vllm',
    line: 'docker run -it --gpus all -p 8000:8000 nvcr.io/nvidia/vllm:25.11-py3 vllm serve Qwen/Qwen2.5-Math-1.5B-Instruct',
    says: { ...VLLM, wrappers: ['docker run'], model: 'Qwen/Qwen2.5-Math-1.5B-Instruct', utilization: 0.92 },
  },
  {
    from: 'dgx-spark-playbooks, vllm on two Sparks',
    line: 'vllm serve hugging-quants/Meta-Llama-3.1-405B-Instruct-AWQ-INT4 --tensor-parallel-size 2 --max-model-len 256 --gpu-memory-utilization 1.0 --max-num-seqs 1 --max_num_batched_tokens 256',
    says: {
      ...VLLM,
      mostSequences: 1,
      model: 'hugging-quants/Meta-Llama-3.1-405B-Instruct-AWQ-INT4',
      context: 256,
      contextIsGiven: true,
      utilization: 1,
      use: { batchTokens: 256, tensorParallel: 2 },
    },
  },
  {
    from: 'spark-vllm-docker issue 272, its arguments',
    line: 'vllm serve bg-digitalservices/Gemma-4-26B-A4B-it-NVFP4 --host 0.0.0.0 --port 8888 --trust-remote-code --max-model-len 262144 --quantization modelopt --served-model-name gemma-4-26b --gpu-memory-utilization 0.85 --kv-cache-dtype fp8 --max-num-seqs 4 --moe-backend marlin',
    says: {
      ...VLLM,
      mostSequences: 4,
      model: 'bg-digitalservices/Gemma-4-26B-A4B-it-NVFP4',
      context: 262_144,
      contextIsGiven: true,
      utilization: 0.85,
      use: { kvDtype: 'fp8' },
    },
  },
  {
    from: 'home-ops PR 13219',
    line: 'vllm serve Qwen/Qwen3.6-35B-A3B-FP8 --reasoning-parser qwen3 --tool-call-parser qwen3_xml --enable-auto-tool-choice --kv-cache-dtype fp8 --max-model-len 32768 --gpu-memory-utilization 0.42',
    says: {
      ...VLLM,
      model: 'Qwen/Qwen3.6-35B-A3B-FP8',
      context: 32_768,
      contextIsGiven: true,
      utilization: 0.42,
      use: { kvDtype: 'fp8' },
    },
  },
  {
    from: 'a shell script with = and underscores',
    line: 'vllm serve meta-llama/Llama-3.2-1B-Instruct --gpu_memory_utilization=0.85 --tensor_parallel_size=1 --dtype=half --port=8088 --enforce_eager --max_model_len=4096',
    says: {
      ...VLLM,
      model: 'meta-llama/Llama-3.2-1B-Instruct',
      context: 4096,
      contextIsGiven: true,
      utilization: 0.85,
    },
  },
  {
    from: 'a shell script with an abbreviated option',
    line: 'vllm serve models/Llama-3.1-70B-Instruct-FP8-KV --trust-remote-code --max-model-len=65536 --max-num-batched-token=65536 --max-num-seqs=1024 --gpu-memory-utilization=0.9 --enable-prefix-caching --disable-log-requests --kv-cache-dtype=fp8 --tensor-parallel-size 2',
    says: {
      ...VLLM,
      mostSequences: 1024,
      model: 'models/Llama-3.1-70B-Instruct-FP8-KV',
      context: 65_536,
      contextIsGiven: true,
      utilization: 0.9,
      use: { kvDtype: 'fp8', tensorParallel: 2 },
    },
    unread: ['--max-num-batched-token is not known'],
  },
  {
    from: 'a shell script, the module of vLLM',
    line: 'python -m vllm.entrypoints.openai.api_server --model meta-llama/Llama-3.1-405B-Instruct-FP8 --gpu-memory-utilization 0.9 --tensor-parallel-size 8 --host 0.0.0.0 --port 8000',
    says: {
      ...VLLM,
      wrappers: ['python -m'],
      model: 'meta-llama/Llama-3.1-405B-Instruct-FP8',
      utilization: 0.9,
      use: { tensorParallel: 8 },
    },
  },
  {
    from: 'deploying with docker, docs of vLLM',
    line: 'docker run --runtime nvidia --gpus all -v /home/ann/.cache/huggingface:/root/.cache/huggingface --env HUGGING_FACE_HUB_TOKEN=secret -p 8000:8000 --ipc=host vllm/vllm-openai:latest --model mistralai/Mistral-7B-v0.1',
    says: { ...VLLM, wrappers: ['docker run'], model: 'mistralai/Mistral-7B-v0.1', utilization: 0.92 },
  },
  {
    from: 'Nemotron on a Spark, a container that is detached',
    line: 'docker run -d --gpus all --ipc=host --restart unless-stopped -p 8000:8000 -v /root/.cache/huggingface:/root/.cache/huggingface nvcr.io/nvidia/vllm:26.01-py3 vllm serve nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 --host 0.0.0.0 --port 8000 --trust-remote-code --max-model-len 32768',
    says: {
      ...VLLM,
      wrappers: ['docker run'],
      model: 'nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16',
      context: 32_768,
      contextIsGiven: true,
      utilization: 0.92,
    },
  },
  {
    from: 'uv run, with a device',
    line: 'env CUDA_VISIBLE_DEVICES=0 uv run vllm serve hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4 --served-model-name llama31_8b --port 8001 --max-model-len 8192 --max-num-seqs 64 --gpu-memory-utilization 0.90 --quantization awq_marlin',
    says: {
      ...VLLM,
      mostSequences: 64,
      wrappers: ['env', 'uv run'],
      model: 'hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4',
      context: 8192,
      contextIsGiven: true,
      utilization: 0.9,
    },
  },
  {
    from: 'nohup, uv run, no limits',
    line: 'nohup uv run vllm serve mistralai/Mistral-7B-Instruct-v0.3 --dtype bfloat16 --port 8001 --tensor-parallel-size 1',
    says: { ...VLLM, wrappers: ['nohup', 'uv run'], model: 'mistralai/Mistral-7B-Instruct-v0.3', utilization: 0.92 },
  },
  {
    from: 'README of a recipe, speculation',
    line: 'vllm serve Qwen/Qwen3.6-27B --max-model-len 131072 --speculative-config {"method":"mtp","num_speculative_tokens":2} --gpu-memory-utilization 0.7',
    says: {
      ...VLLM,
      model: 'Qwen/Qwen3.6-27B',
      context: 131_072,
      contextIsGiven: true,
      utilization: 0.7,
      use: { mtp: true },
    },
  },
  {
    from: 'speculative decoding, docs of vLLM',
    line: 'vllm serve org/target --speculative-config {"method":"draft_model","model":"org/small","num_speculative_tokens":5,"max_model_len":4096}',
    says: {
      ...VLLM,
      model: 'org/target',
      utilization: 0.92,
      extras: [extra('draft', '--speculative-config', 'org/small', { use: { context: 4096 } })],
    },
  },
  {
    from: 'n-grams, docs of vLLM',
    line: 'vllm serve org/target --speculative-config {"method":"ngram","num_speculative_tokens":4,"prompt_lookup_max":5}',
    says: { ...VLLM, model: 'org/target', utilization: 0.92 },
  },
  {
    from: 'a key of the configuration for speculation',
    line: 'vllm serve org/target --speculative-config.method ngram --speculative-config.num_speculative_tokens 4',
    says: { ...VLLM, model: 'org/target', utilization: 0.92 },
  },
  {
    from: 'adapters, docs of vLLM',
    line: 'vllm serve meta-llama/Llama-2-7b-hf --enable-lora --lora-modules sql-lora=/l/sql {"name":"chat","path":"/l/chat","base_model_name":"m"} --max-lora-rank 64',
    says: {
      ...VLLM,
      model: 'meta-llama/Llama-2-7b-hf',
      utilization: 0.92,
      adapterSlots: { adapters: 1, rank: 64 },
      extras: [extra('adapter', '--lora-modules', '/l/sql'), extra('adapter', '--lora-modules', '/l/chat')],
    },
  },
  {
    from: 'adapters without paths',
    line: 'vllm serve org/m --enable-lora --max-loras 4 --lora-modules sql',
    says: { ...VLLM, model: 'org/m', utilization: 0.92, adapterSlots: { adapters: 4, rank: 16 } },
    unread: ['--lora-modules "sql" is not understood'],
  },
  {
    from: 'LMCache',
    line: 'vllm serve meta-llama/Llama-3.1-8B-Instruct --quantization bitsandbytes --max-model-len 8192 --gpu-memory-utilization 0.9 --kv-transfer-config {"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}',
    says: {
      ...VLLM,
      model: 'meta-llama/Llama-3.1-8B-Instruct',
      context: 8192,
      contextIsGiven: true,
      utilization: 0.9,
    },
    unread: ['--kv-transfer-config keeps caches outside', '--quantization bitsandbytes may make the weights smaller'],
  },
  {
    from: 'langX101 PR 409: a cache of a size, a small share',
    line: 'vllm serve Qwen/Qwen2.5-1.5B-Instruct --kv-cache-memory-bytes 2G --gpu-memory-utilization 0.1 --max-model-len 8k',
    says: {
      ...VLLM,
      model: 'Qwen/Qwen2.5-1.5B-Instruct',
      context: 8000,
      contextIsGiven: true,
      utilization: 0.1,
      kvCacheBytes: 2 * 1024 ** 3,
    },
  },
  {
    from: 'dgx-spark-playbooks, sglang',
    line: 'python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V2-Lite --host 0.0.0.0 --port 30000 --trust-remote-code --tp 1 --attention-backend flashinfer --mem-fraction-static 0.75',
    says: { ...SGLANG, wrappers: ['python3 -m'], model: 'deepseek-ai/DeepSeek-V2-Lite', utilization: 0.75 },
  },
  {
    from: 'server arguments, docs of SGLang',
    line: 'python -m sglang.launch_server --model-path meta-llama/Meta-Llama-3-8B-Instruct --tp 4 --dist-init-addr sgl-dev-0:50000 --nnodes 2 --node-rank 0',
    says: {
      ...SGLANG,
      wrappers: ['python -m'],
      model: 'meta-llama/Meta-Llama-3-8B-Instruct',
      utilization: 0.9,
      use: { tensorParallel: 4 },
    },
  },
  {
    from: 'a benchmark of two engines',
    line: 'nohup /scratch/learn/envs/sgl/bin/python -m sglang.launch_server --model-path Qwen/Qwen3-1.7B --port 8000 --host 127.0.0.1 --context-length 16384 --mem-fraction-static 0.45 --page-size 16 --chunked-prefill-size 8192 --enable-metrics --disable-radix-cache',
    says: {
      ...SGLANG,
      wrappers: ['nohup', 'python -m'],
      model: 'Qwen/Qwen3-1.7B',
      context: 16_384,
      contextIsGiven: true,
      utilization: 0.45,
      use: { batchTokens: 8192 },
    },
  },
  {
    from: 'a container of SGLang',
    line: 'docker run --gpus all --ipc=host -p 30000:30000 -v /home/ann/.cache/huggingface:/root/.cache/huggingface lmsysorg/sglang:latest python3 -m sglang.launch_server --model-path Qwen/Qwen3.6-27B --trust-remote-code --tp 1 --tool-call-parser qwen3_coder --reasoning-parser qwen3',
    says: { ...SGLANG, wrappers: ['docker run', 'python3 -m'], model: 'Qwen/Qwen3.6-27B', utilization: 0.9 },
  },
  {
    from: 'sglang serve, mintlify',
    line: 'sglang serve --model-path meta-llama/Llama-3.1-8B-Instruct --host 0.0.0.0 --port 30000 --tp-size 2 --mem-fraction-static 0.8',
    says: { ...SGLANG, model: 'meta-llama/Llama-3.1-8B-Instruct', utilization: 0.8, use: { tensorParallel: 2 } },
  },
  {
    from: 'speculative decoding, docs of SGLang',
    line: 'python -m sglang.launch_server --model meta-llama/Llama-3.1-8B-Instruct --speculative-algorithm EAGLE3 --speculative-draft-model-path org/eagle3 --speculative-num-steps 5 --speculative-eagle-topk 8 --speculative-num-draft-tokens 32 --mem-fraction-static 0.6',
    says: {
      ...SGLANG,
      wrappers: ['python -m'],
      model: 'meta-llama/Llama-3.1-8B-Instruct',
      utilization: 0.6,
      extras: [extra('draft', '--speculative-draft-model-path', 'org/eagle3')],
    },
  },
  {
    from: 'layers of the model that speculate, docs of SGLang',
    line: 'python -m sglang.launch_server --model-path XiaomiMiMo/MiMo-7B-RL --speculative-algorithm EAGLE --mem-fraction-static 0.5',
    says: { ...SGLANG, wrappers: ['python -m'], model: 'XiaomiMiMo/MiMo-7B-RL', utilization: 0.5 },
    unread: ['--speculative-algorithm loads layers'],
  },
  {
    from: 'a configuration file, docs of SGLang',
    line: 'python -m sglang.launch_server --config config.yaml',
    says: { ...SGLANG, wrappers: ['python -m'], utilization: 0.9 },
    unread: ['--config reads further options from a file'],
  },
  {
    from: 'a script of an editor',
    line: 'llama-server --hf-repo ggml-org/Qwen2.5-Coder-0.5B-Q8_0-GGUF --hf-file qwen2.5-coder-0.5b-q8_0.gguf --n-gpu-layers 999 --batch-size 1024 --ubatch-size 512 --flash-attn on --cache-reuse 256 --port 8012',
    says: {
      ...LLAMA,
      llama: { ...FIT, layersAreGiven: true },
      extras: [extra('projector', '--hf-repo', 'ggml-org/Qwen2.5-Coder-0.5B-Q8_0-GGUF')],
      model: 'ggml-org/Qwen2.5-Coder-0.5B-Q8_0-GGUF',
      modelFile: 'qwen2.5-coder-0.5b-q8_0.gguf',
      sequences: 4,
      use: { batchTokens: 512 },
    },
  },
  {
    from: 'the same, short options and a context of 0',
    line: 'llama-server -hf ggml-org/Qwen2.5-Coder-3B-Q8_0-GGUF --port 8012 -ngl 99 -fa -ub 1024 -b 1024 -dt 0.1 --ctx-size 0 --cache-reuse 256',
    says: {
      ...LLAMA,
      ...FIXED,
      extras: [extra('projector', '--hf-repo', 'ggml-org/Qwen2.5-Coder-3B-Q8_0-GGUF')],
      model: 'ggml-org/Qwen2.5-Coder-3B-Q8_0-GGUF',
      sequences: 4,
      use: { batchTokens: 1024 },
    },
  },
  {
    from: 'several files, one slot',
    line: './bin/llama-server -m /home/ann/models/ML2-123B-Magnum-Diamond-IQ4_NL-00001-of-00002.gguf -ngl 999 --port 8085 --host 0.0.0.0 -c 4096 --parallel 1',
    says: {
      ...LLAMA,
      ...FIXED,
      model: '/home/ann/models/ML2-123B-Magnum-Diamond-IQ4_NL-00001-of-00002.gguf',
      context: 4096,
      contextIsGiven: true,
    },
  },
  {
    from: 'a unit of systemd, ExecStart',
    line: '/usr/local/bin/llama-server --model /srv/models/model.gguf --host 0.0.0.0 --port 8000 --ctx-size 32768 --n-gpu-layers 99 --cont-batching --parallel 4',
    says: { ...LLAMA, ...FIXED, model: '/srv/models/model.gguf', context: 32_768, contextIsGiven: true, sequences: 4 },
  },
  {
    from: 'a unit of systemd, a locked model',
    line: '/usr/local/bin/llama-server -m /root/models/llama-3.2-3b-instruct-q4_k_m.gguf --host 127.0.0.1 --port 18080 -c 4096 --mlock -ngl 0 -t 4',
    says: {
      ...LLAMA,
      ...FIXED,
      model: '/root/models/llama-3.2-3b-instruct-q4_k_m.gguf',
      context: 4096,
      contextIsGiven: true,
      sequences: 4,
    },
  },
  {
    from: 'a projector for images',
    line: 'llama-server -m /m/Qwen3VL-8B-Instruct-Q8_0.gguf --mmproj /m/mmproj-Qwen3VL-8B-Instruct-F16.gguf --ctx-size 8192 --batch-size 256 --ubatch-size 256 --gpu-layers 99 --host 0.0.0.0 --port 8080',
    says: {
      ...LLAMA,
      ...FIXED,
      model: '/m/Qwen3VL-8B-Instruct-Q8_0.gguf',
      context: 8192,
      contextIsGiven: true,
      sequences: 4,
      use: { batchTokens: 256 },
      extras: [extra('projector', '--mmproj', '/m/mmproj-Qwen3VL-8B-Instruct-F16.gguf')],
    },
  },
  {
    from: 'a model of a repository without its projector',
    line: 'llama-server -hf ggml-org/gemma-3-4b-it-GGUF:Q8_0 --no-mmproj',
    says: {
      ...LLAMA,
      model: 'ggml-org/gemma-3-4b-it-GGUF',
      modelFile: 'Q8_0',
      use: { languageModelOnly: true },
      sequences: 4,
    },
  },
  {
    from: 'adapters and vectors, one with a scale, in both ways of writing',
    line: 'llama-cli -m /m/base.gguf --lora /l/a.gguf,/l/b.gguf --lora-scaled /l/c.gguf:0.5 --control-vector-scaled /v/happy.gguf -1.5 --control-vector /v/calm.gguf',
    says: {
      ...LLAMA,
      model: '/m/base.gguf',
      extras: [
        extra('adapter', '--lora', '/l/a.gguf'),
        extra('adapter', '--lora', '/l/b.gguf'),
        extra('adapter', '--lora-scaled', '/l/c.gguf'),
        extra('control-vector', '--control-vector', '/v/calm.gguf'),
        extra('control-vector', '--control-vector-scaled', '/v/happy.gguf'),
      ],
    },
  },
  {
    from: 'a draft model of a repository with a cache of its own',
    line: 'llama-server -m /m/big.gguf -c 32768 -np 1 -hfd org/small-GGUF:Q4_0 -ctkd q8_0 -ngld 99 --draft-max 16',
    says: {
      ...LLAMA,
      model: '/m/big.gguf',
      context: 32_768,
      contextIsGiven: true,
      llama: { ...FIT, mayShorten: false },
      extras: [
        extra('draft', '--hf-repo-draft', 'org/small-GGUF', { modelFile: 'Q4_0', use: { kvDtype: 'q8_0/f16' } }),
      ],
    },
  },
  {
    from: 'layers of the model that speculate',
    line: 'llama-server -m /m/big.gguf --spec-type draft-mtp',
    says: { ...LLAMA, model: '/m/big.gguf', sequences: 4, use: { mtp: true } },
    unread: ['--spec-type draft-mtp computes with further layers'],
  },
  {
    from: 'n-grams that speculate',
    line: 'llama-server -m /m/big.gguf --spec-type ngram-mod',
    says: { ...LLAMA, model: '/m/big.gguf', sequences: 4 },
  },
  {
    from: 'no fitting',
    line: 'llama-server -m /m/big.gguf -fit off',
    says: { ...LLAMA, model: '/m/big.gguf', sequences: 4, llama: { ...FIT, fit: false } },
  },
  {
    from: 'fitting with a target for two devices and a shortest context',
    line: 'llama-server -m /m/big.gguf --fit on --fit-target 2048,1024 --fit-ctx 16384 -ngl auto',
    says: {
      ...LLAMA,
      model: '/m/big.gguf',
      sequences: 4,
      llama: { ...FIT, targetBytes: 2048 * 2 ** 20, leastContext: 16_384 },
    },
  },
  {
    from: 'fitting with a target that is no number',
    line: 'llama-server -m /m/big.gguf -fitt 2G',
    says: { ...LLAMA, model: '/m/big.gguf', sequences: 4 },
    unread: ['--fit-target "2G" is not understood'],
  },
  {
    from: 'a draft model of experts',
    line: 'llama-server --model /models/target.gguf --spec-draft-model /models/moe-draft.gguf --spec-type draft-simple --spec-draft-ngl all --spec-draft-cpu-moe',
    says: {
      ...LLAMA,
      model: '/models/target.gguf',
      sequences: 4,
      extras: [extra('draft', '--model-draft', '/models/moe-draft.gguf')],
    },
  },
  {
    from: 'a cache of 8 bits without mmap',
    line: 'llama-cli -m model.gguf -c 131072 -ngl 999 --no-mmap -fa on -ctk q8_0 -ctv q8_0 -p hello',
    says: {
      ...LLAMA,
      ...FIXED,
      model: 'model.gguf',
      context: 131_072,
      contextIsGiven: true,
      use: { kvDtype: 'q8_0/q8_0', mmap: false },
    },
  },
  {
    from: 'router mode',
    line: 'llama-server --models-preset llama-models.ini --models-max 2 --port 9090',
    says: { ...LLAMA, sequences: 4 },
    unread: ['Its clients choose the models'],
  },
  {
    from: 'the server image of llama.cpp',
    line: 'docker run --gpus all -v /srv/models:/models -p 8080:8080 ghcr.io/ggml-org/llama.cpp:server-cuda -m /models/gemma/model.gguf -c 8192 --host 0.0.0.0 -np 2',
    says: {
      ...LLAMA,
      llama: { ...FIT, mayShorten: false },
      wrappers: ['docker run'],
      model: '/srv/models/gemma/model.gguf',
      context: 8192,
      contextIsGiven: true,
      sequences: 2,
    },
  },
  {
    from: 'variables instead of options',
    line: 'llama-server --port 8080',
    env: { LLAMA_ARG_MODEL: '/m/a.gguf', LLAMA_ARG_CTX_SIZE: '16384', LLAMA_ARG_N_PARALLEL: '1' },
    says: {
      ...LLAMA,
      model: '/m/a.gguf',
      context: 16_384,
      contextIsGiven: true,
      llama: { ...FIT, mayShorten: false },
    },
  },
  {
    from: 'quickstart of Ollama',
    line: 'ollama run qwen3:0.6b',
    says: { ...OLLAMA, model: 'qwen3:0.6b', context: 262_144 },
  },
  {
    from: 'context length, docs of Ollama',
    line: 'env OLLAMA_CONTEXT_LENGTH=64000 ollama serve',
    says: { ...OLLAMA, wrappers: ['env'], context: 64_000, contextIsGiven: true },
    unread: ['Its clients choose the models'],
  },
  {
    from: 'a quantised cache',
    line: 'ollama run gpt-oss:120b --verbose hello',
    env: { OLLAMA_KV_CACHE_TYPE: 'q8_0', OLLAMA_CONTEXT_LENGTH: '131072', OLLAMA_NUM_PARALLEL: '2' },
    says: {
      ...OLLAMA,
      model: 'gpt-oss:120b',
      context: 131_072,
      contextIsGiven: true,
      sequences: 2,
      use: { kvDtype: 'q8_0' },
    },
  },
  {
    from: 'the image of Ollama',
    line: 'docker run -d --gpus=all -v ollama:/root/.ollama -p 11434:11434 --name ollama ollama/ollama',
    says: { ...OLLAMA, wrappers: ['docker run'], context: 262_144 },
    unread: ['Its clients choose the models'],
  },
];

/** Command lines of which nothing is known, and a part of the reason. */
export const NOT_RECOGNISED: readonly (readonly [line: string, reason: string])[] = [
  ['python train.py --bs 4', 'python runs train.py'],
  ['python3 -m llama_cpp.server --model m.gguf --n_ctx 4096', 'python3 -m llama_cpp.server is not one of'],
  ['bash -c vllm\u00a0serve\u00a0model', 'bash starts what a text for a shell says'],
  ['vllm bench serve --model m', 'vllm bench is not a server'],
  ['ollama pull qwen3:0.6b', 'ollama pull loads no model'],
  ['docker compose up', 'docker compose does not say what it starts'],
  ['docker run --gpus all my/image', 'what the image my/image starts is not known'],
  ['docker run --gpus all my/image --model m', 'what the image my/image starts is not known'],
  ['docker run --frobnicate my/image vllm serve m', 'docker run has the option --frobnicate'],
  ['env -S vllm\u00a0serve\u00a0m', 'env has the option -S'],
  ['uv sync', 'uv sync starts no server'],
  ['nice', 'nice is given no command'],
  ['torchrun --nproc-per-node 8 train.py', 'python runs train.py'],
  ['ray start --head', 'ray start starts no server'],
  ['ray job submit', 'ray job submit is given no command'],
  ['mpirun -n 2', 'mpirun is given no command'],
  ['srun --frobnicate vllm serve m', 'srun has the option --frobnicate'],
  ['trtllm-serve disaggregated -c c.yaml', 'trtllm-serve disaggregated is not a server'],
  ['sleep 10', 'sleep is not one of the known programs'],
];
