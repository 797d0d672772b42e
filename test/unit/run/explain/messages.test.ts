/** The table of messages: published texts, variants of them, and texts that only look alike. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scan } from '../../../../lib/run/explain/error-report.ts';
import { MESSAGES } from '../../../../lib/run/explain/messages/index.ts';
import { ROOT } from '../../../support/root.ts';

interface PublishedText {
  id: string;
  software: string;
  text: string;
  /** null: not about memory, although it looks alike. */
  code: string | null;
  /** "initial_free_gib=82.94" */
  numbers: string[];
  source: string;
}

function textsOf(file: string): PublishedText[] {
  const lines = readFileSync(join(ROOT, 'test/unit/run/explain', file), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as PublishedText);
}

const PUBLISHED = textsOf('published-texts.jsonl');
/** From issue threads, documentation and the code that prints them, each beside a text that only looks alike. */
const FURTHER = textsOf('further-texts.jsonl');

async function codesOf(text: string): Promise<string[]> {
  return (await scan(text)).found.map(({ message }) => message.code);
}

/** Numbers by name: "22.76 GiB". */
async function numbersOf(text: string): Promise<Record<string, string>> {
  const { found } = await scan(text);
  return Object.fromEntries(found.flatMap(({ numbers }) => numbers).map(({ name, text: shown }) => [name, shown]));
}

describe('published texts', () => {
  it('has them all', () => expect(PUBLISHED).toHaveLength(73));

  it.for(PUBLISHED.map((row) => [row.id, row.code, row] as const))('%s: %s', async ([, code, row]) => {
    expect(await codesOf(row.text)).toEqual(code === null ? [] : [code]);
    const found = await numbersOf(row.text);
    for (const number of row.numbers) {
      const [, name = '', unit = '', value = ''] = /^(.*?)(?:_(gib|mib|gb|mb|bytes))?=(.*)$/.exec(number) ?? [];
      // Two rows have numbers from elsewhere in their threads.
      if (!row.text.replaceAll(',', '').includes(value)) continue;
      const camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
      const shown = found[camel] ?? found[unit];
      expect(shown?.replaceAll(',', '') ?? `${name} is missing`).toContain(
        /^\d+\.\d+$/.test(value) ? String(Number(value)) : value,
      );
    }
  });
});

describe('further texts', () => {
  it.for(FURTHER.map((row) => [row.id, row.code, row] as const))('%s: %s', async ([, code, row]) => {
    expect(await codesOf(row.text)).toEqual(code === null ? [] : [code]);
    const found = await numbersOf(row.text);
    for (const number of row.numbers) {
      const [name = '', value = ''] = number.split('=');
      expect(found[name] ?? `${name} is missing`).toContain(value);
    }
  });
});

/** Other numbers, units, versions, prefixes and line breaks; the numbers that must be found. */
const VARIANTS: readonly (readonly [string, string, Record<string, string>?])[] = [
  // vLLM
  [
    '(EngineCore_DP0 pid=1234) ERROR 10-02 09:11:12 [core.py:708] ValueError: Free memory on device (101.31/121.69 GiB) on startup is less than desired GPU memory utilization (0.92, 111.95 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.',
    'vllm-startup-free-memory',
    { free: '101.31 GiB', total: '121.69 GiB', util: '0.92', needed: '111.95 GiB' },
  ],
  [
    'ValueError: Free memory\n  on device cuda:1 (84.11/287.98 GiB)\n  on startup is less than\n  desired GPU memory\n  utilization (0.95, 273.59 GiB).',
    'vllm-startup-free-memory',
    { device: 'cuda:1', needed: '273.59 GiB' },
  ],
  [
    "vllm-1  | (Worker_TP0 pid=99) ERROR 05-04 23:44:44 [x.py:1] ValueError: To serve at least one request with the models's max seq len (131072), (24.00 GiB KV cache is needed, which is larger than the available KV cache memory (7.51 GiB). Based on the available memory, the estimated maximum model length is 40960. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
    'vllm-kv-too-small',
    { maxModelLen: '131072', kvNeeded: '24.00 GiB', kvAvailable: '7.51 GiB', estMaxLen: '40960' },
  ],
  [
    "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (20480). Try increasing `gpu_memory_utilization`",
    'vllm-kv-too-small',
    { maxModelLen: '32768', estMaxLen: '20480' },
  ],
  ['INFO 05-04 worker.py: Available KV cache memory: -0.3 GiB', 'vllm-no-kv-blocks', { kvAvailable: '-0.3 GiB' }],
  [
    'RuntimeError: CUDA out of memory occurred when warming up sampler with 256 dummy requests. Please try lowering `max_num_seqs`',
    'vllm-warmup-oom',
    { requests: '256' },
  ],
  [
    '[rank0]: AssertionError: Error in memory profiling. Initial free memory 100663296 bytes, current free memory 117440512 bytes.',
    'vllm-profiling-memory-grew',
  ],
  // SGLang
  [
    'RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static=0.72',
    'sglang-mem-fraction',
    { memFractionStatic: '0.72' },
  ],
  [
    'RuntimeError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. pre_model_load_memory=19.2269287109375, local_gpu_memory=30.54656982421875, local_gpu_memory * 0.9=27.49',
    'sglang-unbalanced',
    { smallestFree: '19.2269287109375 GiB', localFree: '30.54656982421875 GiB' },
  ],
  ['[2026-01-01 10:00:00 TP0] Decode out of memory. Try to lower your batch size.', 'sglang-runtime-oom'],
  // llama.cpp
  [
    '0.18.542.875 E ggml_backend_cuda_buffer_type_alloc_buffer: allocating 97809.00 MiB on device 0: cudaMalloc failed: out of memory\n0.18.542.881 E alloc_tensor_range: failed to allocate CUDA0 buffer of size 102560175104\n0.19.167.504 E llama_model_load: error loading model: unable to allocate CUDA0 buffer',
    'llama-weights-oom',
    { asked: '97809.00 MiB', bytes: '102560175104 B' },
  ],
  [
    'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 16448.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_kv_cache: failed to allocate buffer for kv cache',
    'llama-kv-oom',
    { asked: '16448.00 MiB' },
  ],
  [
    'llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers',
    'llama-compute-buffer-oom',
  ],
  ['llama_model_load: error loading model: unable to allocate CUDA0 buffer', 'llama-weights-oom'],
  [
    'W common_fit_params: failed to fit params to free device memory: n_gpu_layers already set by user to 999, abort',
    'llama-fit-failed',
  ],
  ['ggml_aligned_malloc: insufficient memory (attempted to allocate 7480.31 MB)', 'llama-cpu-buffer-oom'],
  // PyTorch
  [
    'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 121.69 GiB of which 2.15 GiB is free. Including non-PyTorch memory, this process has 37.09 GiB memory in use. Of the allocated memory 34.83 GiB is allocated by PyTorch, and 1.02 GiB is reserved by PyTorch but unallocated.',
    'torch-cuda-oom',
    {
      tried: '1.50 GiB',
      gpu: '0',
      total: '121.69 GiB',
      free: '2.15 GiB',
      processUse: '37.09 GiB',
      allocated: '34.83 GiB',
      reservedUnallocated: '1.02 GiB',
    },
  ],
  [
    '\u001b[31mtorch.OutOfMemoryError: HIP out of memory. Tried to allocate 256.00 MiB. GPU 3 has a total capacity of 63.98 GiB of which 0 bytes is free.\u001b[0m',
    'torch-cuda-oom',
    { tried: '256.00 MiB', gpu: '3', free: '0 bytes' },
  ],
  ['RuntimeError: CUDA out of memory.', 'torch-cuda-oom'],
  [
    '{"error": "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.69 GiB total capacity; 21.05 GiB already allocated; 1.40 GiB free; 21.50 GiB reserved in total by PyTorch)\\nIf reserved memory is >> allocated memory"}',
    'torch-cuda-oom',
    { reserved: '21.50 GiB', total: '23.69 GiB' },
  ],
  [
    'torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 9.43 GiB\nRequested               : 640.00 MiB\nDevice limit            : 11.59 GiB\nFree (according to CUDA): 7.12 MiB',
    'torch-cuda-oom',
    { allocated: '9.43 GiB', tried: '640.00 MiB', total: '11.59 GiB', free: '7.12 MiB' },
  ],
  [
    'RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasLtMatmul( ltHandle, computeDesc.descriptor()`',
    'cublas-alloc-failed',
    { status: 'CUBLAS_STATUS_ALLOC_FAILED', call: 'cublasLtMatmul' },
  ],
  [
    "RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: can't allocate memory: you tried to allocate 137438953472 bytes. Error code 12 (Cannot allocate memory)",
    'torch-cpu-oom',
    { tried: '137438953472 B' },
  ],
  [
    "RuntimeError: DataLoader worker (pid(s) 4301) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
    'dataloader-shm',
    { pid: '4301' },
  ],
  ['RuntimeError: DataLoader worker (pid 77) is killed by signal: Killed. ', 'dataloader-killed', { pid: '77' }],
  [
    'RuntimeError: CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported',
    'cuda-out-of-memory',
  ],
  [
    'WARNING:accelerate.big_modeling:Some parameters are on the meta device because they were offloaded to the cpu and disk.',
    'accelerate-offload',
    { where: 'cpu and disk' },
  ],
  ['Error out of memory at line 380 in file /mmfs1/bitsandbytes/csrc/pythonInterface.c', 'bitsandbytes-oom'],
  // Ollama, LM Studio
  [
    'time=2026-03-21T23:22:17.156-05:00 level=WARN source=server.go:1044 msg="model request too large for system" requested="615.4 MiB" available="415.9 MiB" total="916.8 MiB" free="415.9 MiB" swap="0 B"\ntime=2026-03-21T23:22:17.156-05:00 level=INFO source=sched.go:511 msg="Load failed" error="model requires more system memory (615.4 MiB) than is available (415.9 MiB)"',
    'ollama-insufficient',
    { required: '615.4 MiB', available: '415.9 MiB', total: '916.8 MiB' },
  ],
  [
    '{"error":"model requires more system memory (63.6 GiB) than is available (18.9 GiB)"}',
    'ollama-insufficient',
    { required: '63.6 GiB' },
  ],
  ['Error: memory layout cannot be allocated with num_gpu = 99', 'ollama-layout', { numGpu: '99' }],
  [
    'Error: Model loading was stopped due to insufficient system resources. Under the current settings, this model requires approximately 14.36 GB of memory, and continuing to load it would likely overload your system',
    'lmstudio-guardrail',
    { required: '14.36 GB' },
  ],
  // Ray
  [
    'ray.exceptions.OutOfMemoryError: 1 worker(s) were killed due to the node running low on memory.\nMemory on the node (IP: 10.83.10.20) was 957.55GB / 1006.84GB (0.951040),\nwhich exceeds the memory usage threshold of 0.950000',
    'ray-oom',
    { used: '957.55GB', total: '1006.84GB', threshold: '0.950000' },
  ],
  // The kernel and its helpers
  [
    '[337533.314410] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/leaker,task_memcg=/leaker,task=leaker,pid=23793,uid=0\n[337533.314412] Memory cgroup out of memory: Killed process 23793 (leaker) total-vm:2623712kB, anon-rss:506500kB, file-rss:1268kB, shmem-rss:0kB\n[337533.418036] oom_reaper: reaped process 23793 (leaker), now anon-rss:0kB',
    'oom-killer-cgroup',
    { cgroup: '/leaker', killed: 'leaker', anonRss: '506500kB' },
  ],
  [
    'Out of memory: Killed process 4242 (python3) total-vm:812345678kB, anon-rss:4242424kB, file-rss:12kB, shmem-rss:61234kB, UID:1000 pgtables:9kB oom_score_adj:0',
    'oom-killer',
    { pid: '4242', killed: 'python3', anonRss: '4242424kB' },
  ],
  [
    'Nov 22 08:00:01 spark kernel: vllm::worker invoked oom-killer: gfp_mask=0x102cc2(GFP_HIGHUSER), order=9, oom_score_adj=0\nNov 22 08:00:01 spark kernel: CPU: 3 PID: 1 Comm: x\nNov 22 08:00:01 spark kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task=sshd,pid=77,uid=0\nNov 22 08:00:01 spark kernel: Out of memory: Killed process 77 (sshd) total-vm:1kB',
    'oom-killer',
    { order: '9' },
  ],
  ['python3: page allocation failure: order:9, mode:0x102cc2(GFP_HIGHUSER)', 'page-allocation-failure', { order: '9' }],
  [
    'systemd-oomd[812]: Killed /user.slice/user-1000.slice/session-2.scope due to memory pressure for /user.slice being 81.30% > 50.00% for > 20s with reclaim activity',
    'systemd-oomd',
    { pressure: '81.30', limit: '50.00' },
  ],
  [
    'earlyoom[900]: sending SIGTERM to process 5511 uid 1000 "python3": badness 812, VmRSS 30211 MiB',
    'earlyoom-kill',
    { killed: 'python3' },
  ],
  ['vllm-1 exited with code 137', 'exit-137', { exitCode: '137' }],
  [
    '    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137',
    'exit-137',
    { reason: 'OOMKilled' },
  ],
  ["vllm.service: Failed with result 'oom-kill'.", 'service-oom-killed'],
  // The driver and libraries
  [
    'NVRM: _iovaspaceCreateMappingDataFromMemDesc: failed to allocate 0x176028 bytes',
    'nvrm-no-memory',
    { bytes: '0x176028' },
  ],
  [
    '[Sun Sep 13 10:00:00 2026] NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051) returned from vidmemAlloc @ vid_mem.c:1393',
    'nvrm-no-memory',
    { where: 'vidmemAlloc', file: 'vid_mem.c:1393' },
  ],
  [
    'misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-abc to 33030148 bytes, error: No space left on device (28)',
    'nccl-shm-full',
    { bytes: '33030148 B' },
  ],
  [
    'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 33762398024 bytes.',
    'xla-oom',
    { tried: '33762398024 bytes' },
  ],
  ['RESOURCE_EXHAUSTED: Out of memory while trying to allocate 16.00GiB.', 'xla-oom', { tried: '16.00GiB' }],
  ['OOM when allocating tensor with shape[32,128,56,56] and type float on /job:localhost', 'tensorflow-oom'],
  [
    '[E] Requested amount of GPU memory (8589934592 bytes) could not be allocated.',
    'tensorrt-oom',
    { tried: '8589934592 B' },
  ],
  ['Failed to allocate memory for requested buffer of size 1073741824', 'onnxruntime-oom', { tried: '1073741824 B' }],
  ["NCCL WARN Cuda failure 2 'out of memory'", 'cuda-out-of-memory'],
  ['ibv_reg_mr_iova2 failed: Cannot allocate memory', 'cannot-allocate-memory'],
  ['bash: fork: Cannot allocate memory', 'cannot-allocate-memory'],
  ['OSError: [Errno 12] Cannot allocate memory', 'cannot-allocate-memory'],
  [
    'numpy._core._exceptions._ArrayMemoryError: Unable to allocate 119. GiB for an array with shape (16000000000,) and data type float64',
    'numpy-oom',
    { tried: '119. GiB' },
  ],
  ["terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc", 'bad-alloc'],
  [
    'exitcode  : -9 (pid: 4821)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 4821',
    'exit-137',
  ],
  [
    'W external/xla/xla/tsl/framework/bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of memory trying to allocate 16.00GiB (rounded to 17179869184)requested by op',
    'xla-oom',
    { tried: '16.00GiB' },
  ],
  [
    'failed to allocate 90.16GiB (96811024384 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory',
    'xla-oom',
    { asked: '90.16GiB' },
  ],
  ['Error: 500 Internal Server Error: llama runner process has terminated: signal: killed', 'ollama-runner-killed'],
  ['Error: unable to allocate CUDA0 buffer', 'llama-weights-oom'],
  ['ggml_vulkan: Device memory allocation of size 1073741824 failed.', 'llama-cuda-oom', { bytes: '1073741824 B' }],
  ["NCCL WARN Cuda failure 'out of memory'", 'cuda-out-of-memory'],
  ['cuFFT error: CUFFT_ALLOC_FAILED', 'cublas-alloc-failed'],
  ['[E] [TRT] Error Code 1: Cuda Runtime (out of memory)', 'tensorrt-oom'],
  ['RuntimeError: Insufficient VRAM for model and cache', 'exllama-oom'],
  ['{"error": "CUDA out of memory"}', 'torch-cuda-oom'],
  ['Error: llama runner process has terminated: cudaMalloc failed: out of memory', 'cuda-out-of-memory'],
  // Found after the table was made, in issues of these programs.
  [
    'WARNING 09-17 13:06:28 scheduler.py:1057] Sequence group 0 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. This can affect the end-to-end performance. total_num_cumulative_preemption=1',
    'vllm-preempted',
    { mode: 'RECOMPUTE', preemptions: '1' },
  ],
  [
    '[2026-01-01 12:00:00 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_token_ratio: 0.5 -> 0.7',
    'sglang-retracted',
    { requests: '3' },
  ],
  ['decode: failed to find a memory slot for batch of size 512', 'llama-kv-full', { batch: '512' }],
  ['srv  update_slots: failed to find free space in the KV cache, retrying with smaller batch size', 'llama-kv-full'],
  [
    `time=2025-08-08T14:28:48.816Z level=WARN source=sched.go:685 msg="gpu VRAM usage didn't recover within timeout" seconds=5.256447526 runner.size="76.6 GiB" runner.vram="45.8 GiB" runner.parallel=1`,
    'ollama-vram-wait',
    { seconds: '5.256447526', size: '76.6 GiB', vram: '45.8 GiB' },
  ],
  [
    'RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":830, please report a bug to PyTorch.',
    'torch-nvml-assert',
  ],
  [
    'RuntimeError: NVML_SUCCESS == DriverAPI::get()->nvmlInit_v2_() INTERNAL ASSERT FAILED at "/opt/pytorch/pytorch/c10/cuda/CUDACachingAllocator.cpp":995, please report a bug to PyTorch.',
    'torch-nvml-assert',
  ],
  [
    'ValueError: You are trying to offload the whole model to the disk. Please use the `disk_offload` function instead.',
    'accelerate-offload',
  ],
  [
    'triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.',
    'triton-shared-memory',
    { required: '147456 B', limit: '101376 B' },
  ],
  ['RuntimeError: Triton Error [CUDA]: out of memory', 'cuda-out-of-memory'],
  ['Last error:\nFailed to CUDA calloc async 608 bytes', 'cuda-out-of-memory', { bytes: '608 B' }],
  ['ggml_cuda_init: failed to initialize CUDA: out of memory', 'cuda-out-of-memory'],
  [
    '[E] 2: [virtualMemoryBuffer.cpp::resizePhysical::140] Error Code 2: OutOfMemory (Requested size was 17179869184 bytes.)',
    'tensorrt-oom',
    { tried: '17179869184 B' },
  ],
  [
    '[W] Tactic Device request: 4608MB Available: 3017MB. Device memory is insufficient to use tactic.',
    'tensorrt-tactic-skipped',
    { request: '4608MB', available: '3017MB' },
  ],
  ['RuntimeError: Executor creation failed due to insufficient GPU memory.', 'tensorrt-llm-oom'],
  ["[TensorRT-LLM][ERROR] Assertion failed: Can't allocate new blocks. No free blocks left.", 'tensorrt-llm-oom'],
  [
    'cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,000,000,000 bytes (allocated so far: 0 bytes).',
    'cupy-oom',
    { tried: '8,000,000,000 B', allocated: '0 B' },
  ],
  [
    'MemoryError: std::bad_alloc: out_of_memory: CUDA error at: /rmm/mr/device/cuda_memory_resource.hpp:60: cudaErrorMemoryAllocation out of memory',
    'rmm-oom',
  ],
  [
    'c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.',
    'compiler-killed',
    { program: 'cc1plus' },
  ],
  ["nvcc error   : 'cicc' died due to signal 9 (Kill signal)", 'compiler-killed', { compiler: 'cicc' }],
  ['FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory', 'heap-limit'],
  ['Exception in thread "main" java.lang.OutOfMemoryError: Java heap space', 'heap-limit'],
  ['memory allocation of 34359738368 bytes failed', 'bad-alloc', { tried: '34359738368 B' }],
  ["subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>.", 'exit-137'],
];

describe('variants', () => {
  it.for(VARIANTS.map(([text, code, numbers]) => [code, text.slice(0, 70), text, numbers] as const))(
    '%s: %s',
    async ([code, , text, numbers]) => {
      expect(await codesOf(text)).toEqual([code]);
      expect((await scan(text)).found[0]?.count).toBe(1);
      expect(await numbersOf(text)).toMatchObject(numbers ?? {});
    },
  );

  it('has one for every code, or a published text', () => {
    const tried = new Set([
      ...VARIANTS.map(([, code]) => code),
      ...PUBLISHED.map(({ code }) => code),
      ...FURTHER.map(({ code }) => code),
    ]);
    expect([...new Set(MESSAGES.map(({ code }) => code))].filter((code) => !tried.has(code))).toEqual([]);
  });
});

/** What is no message about memory, or is one of a program that this table does not know. */
const LOOK_ALIKES = [
  "nvcc error : 'ptxas' died due to signal 11 (Invalid memory reference)",
  'RuntimeError: ptr INTERNAL ASSERT FAILED at "../torch/csrc/autograd/engine.cpp":1, please report a bug to PyTorch.',
  'INFO scheduler.py: Sequence group 0 is preempted by a request of higher priority.',
  'level=INFO source=sched.go msg="gpu VRAM usage recovered" seconds=0.5',
  'dynamic memory allocation of buffers is disabled',
  'Retract requests are not supported; KV cache pool is at 93 %',
  'I common_fit_params: successfully fit params to free device memory',
  'RuntimeError: CUDA error: device-side assert triggered',
  'torch.AcceleratorError: CUDA error: unspecified launch failure',
  'NVRM: Xid (PCI:000f:01:00): 13, Graphics SM Warp Exception: Illegal Instruction Parameter',
  'NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x23:0x65:1426)',
  'NCCL WARN Error: failed to extend /dev/shm/nccl-x to 100 bytes, error: Permission denied (13)',
  'DataLoader worker (pid 4) is killed by signal: Segmentation fault.',
  'RuntimeError: DataLoader worker (pid(s) 5) exited unexpectedly',
  'process exited with code 1371',
  '../aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex: Assertion `srcIndex < srcSelectDimSize` failed.\nRuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`',
  'exit code 13',
  'msg="inference compute" id=cpu library=cpu total="121.7 GiB" available="110.2 GiB"',
  'INFO Available KV cache memory: 28.74 GiB',
  'INFO torch.cuda.memory_allocated() 12.3 GiB, 4.00 GiB free',
  'total_rest_memory=3.05 GB',
  'llama_kv_cache: CUDA0 KV buffer size = 1024.00 MiB',
  'ggml_cuda_host_malloc: failed to allocate 41644.01 MiB of pinned memory: no CUDA-capable device is detected',
  'fallocate failed: No space left on device',
  'write error: No space left on device',
  'PYTORCH_CUDA_ALLOC_CONF is deprecated, use PYTORCH_ALLOC_CONF',
  'rpc error: code = ResourceExhausted desc = grpc: received message larger than max',
  'RESOURCE_EXHAUSTED: Quota exceeded for quota metric',
  'To avoid OOM, consider --gpu-memory-utilization 0.8',
  '# To fix "CUDA out of memory" lower the batch size',
  'INFO retry_on: CUDA out of memory errors',
  'hint: lower the batch size to avoid CUDA out of memory',
  "retry_patterns=['CUDA out of memory']",
  'catch (const std::bad_alloc& e)',
  'exitcode : 1 (pid: 4821)',
  'vllm serve --gpu-memory-utilization 0.9 --max-model-len 8192',
  'redis: OOM command not allowed when used memory > maxmemory',
  'Killed process names are listed below',
  'earlyoom: mem avail: 28120 of 122570 MiB (22.94%), swap free: 16383 of 16383 MiB (100.00%)',
];

describe('texts that look alike', () => {
  it.for(LOOK_ALIKES)('%s', async (text) => expect(await codesOf(text)).toEqual([]));
});

describe('what follows from an error', () => {
  const died = 'RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}';

  it('is reported where nothing else explains it', async () => {
    expect(await codesOf(`INFO loading\n${died}`)).toEqual(['vllm-engine-core-died']);
  });

  it('is not reported below its cause, of whatever kind, however far above', async () => {
    expect(await codesOf(`KeyError: 'layers.0'\n${'  File "x.py"\n'.repeat(1000)}${died}`)).toEqual([]);
    const cause = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1 GiB';
    expect(await codesOf(`${cause}\n${died}`)).toEqual(['torch-cuda-oom']);
  });
});

describe('the rows of the table', () => {
  it('have anchors of which each occurrence has one', () => {
    for (const { anchors, code } of MESSAGES) expect(anchors.length, code).toBeGreaterThan(0);
  });

  it('have patterns with the flag g, and tests without', () => {
    for (const { code, fields = {}, followUps, near, notBefore, notNear, pattern } of MESSAGES) {
      expect(pattern.global, code).toBe(true);
      for (const test of [near, notNear, notBefore, followUps, ...Object.values(fields)])
        expect(test?.global ?? false, code).toBe(false);
    }
  });
});
