import { formatBytes } from '../../../base/format.ts';
import { DROP_AND_COMPACT } from '../../../core/memory/remedies.ts';
import { advice, fits, type Message, roomAndCondition, words } from './message.ts';

const NO_MEMORY = {
  code: 'nvrm-no-memory',
  program: 'NVIDIA driver',
  verdict: 'unclear',
  meaning: (_, count) =>
    `One attempt of the driver to get system pages failed; it usually falls back. ${count === 1 ? 'The line alone proves nothing' : `Even ${count} such lines prove nothing by themselves`}: a healthy machine logged 4,286 of them in three weeks, starts that succeeded have them, and freezes without one are on record. Only a burst while MemAvailable falls to a few GiB is a shortage.`,
  now: roomAndCondition,
  remedies: [
    advice('watch memory while the program runs', 'umaprobe watch'),
    advice('if MemAvailable falls with them, lower the program’s share or its batch'),
  ],
} satisfies Partial<Message>;

export const NVIDIA: readonly Message[] = [
  {
    code: 'nvrm-gsp-init-no-memory',
    program: 'NVIDIA driver',
    anchors: ['RmInitAdapter failed'],
    pattern: words`RmInitAdapter failed! \((?<rmInit>0x[0-9a-f]{1,4}:0x51:\d{1,6})\)`,
    before: 900,
    fields: { nvStatus: /NV_ERR_NO_MEMORY\] \((0x[0-9a-f]{1,8})\)/i },
    absorbs: ['nvrm-no-memory'],
    verdict: 'shortage',
    meaning:
      'The driver could not start the GPU: no contiguous pages for its firmware image. Every CUDA program finds no device until memory is free in large blocks and the GPU is opened again.',
    now: roomAndCondition,
    remedies: [
      advice('free large blocks, then start a CUDA program again', DROP_AND_COMPACT, true),
      advice('or reboot'),
    ],
  },
  {
    code: 'nvrm-va-space',
    program: 'NVIDIA driver',
    anchors: ["can't alloc VA space", 'pReuseMappingDb', 'reusemappingdbMap'],
    pattern: words`(?:(?<function>\w{1,60}): )?can't alloc VA space|\[NV_ERR_NO_MEMORY\] ?\((?<nvStatus>{hex})\) returned from (?<where>_?p?reusemappingdb\w{0,40})`,
    followUps: /\[NV_ERR_NO_MEMORY\] ?\(0x[0-9a-f]{1,8}\) returned from _?p?reusemappingdb\w{0,40}/i,
    absorbs: ['nvrm-no-memory', 'nvrm-va-space'],
    verdict: 'limit',
    meaning:
      'Not system pages, and not the machine’s memory: the driver found no room in a range of GPU addresses, mostly the window through which the processor reaches the GPU’s memory (BAR1, 256 MiB without resizable BAR), for one more mapping. Reports are from desktops whose graphics leaks mappings (open-gpu-kernel-modules 1140, 1187); a locked GPU may follow.',
    remedies: [
      advice('see how much of the window is used', 'nvidia-smi -q -d MEMORY'),
      advice('end the programs that draw (browser, compositor), or restart the session'),
    ],
  },
  {
    ...NO_MEMORY,
    anchors: ['NV_ERR_NO_MEMORY'],
    pattern: words`Out of memory \[NV_ERR_NO_MEMORY\] ?\((?<nvStatus>{hex})\)(?: returned from (?<where>\w{1,60})\(?)?`,
    fields: { file: /@ ([\w.-]{1,40}\.c:\d{1,6})/ },
    after: 160,
    // The driver's next message, printed at once.
    notNear: /RmInitAdapter failed! \(0x[0-9a-f]{1,4}:0x51:/,
  },
  {
    ...NO_MEMORY,
    anchors: ['NV_ERR_NO_MEMORY', 'IovaspaceCreateMapping', 'iovaspaceCreateMapping'],
    pattern: words`(?:NV_ERR_NO_MEMORY|_iovaspaceCreateMapping\w{0,40}: failed to allocate (?<bytes>0x[0-9a-f]{1,16}) bytes)`,
  },
  {
    code: 'nccl-shm-full',
    program: 'NCCL',
    anchors: [
      'shmutils.cc',
      'to extend /dev/shm/',
      'posix_fallocate failed',
      'No space left on device',
      '/dev/shm/nccl',
      'memory segment nccl-shm-',
    ],
    pattern: words`(?:failed to extend (?<path>/dev/shm)/nccl\S{1,60} to (?<bytes>{int}) bytes, error: No space left on device(?: \((?<errno>{int})\))?|Call to (?:posix_)?f(?:allocate|truncate) failed ?: No space left on device|Error while creating shared memory segment \S{1,80} \(size (?<size>{int})\), error: No space left on device)`,
    fields: { bytes: /nccl-\S{1,60} \(size (\d{1,18})\)/i },
    followUps: /Error while creating shared memory segment \S{1,80}(?: \(size \d{1,18}\))?/i,
    units: { bytes: 'B', size: 'B' },
    // fallocate also fails elsewhere.
    near: /nccl|shm/i,
    before: 300,
    verdict: 'limit',
    meaning:
      'The tmpfs /dev/shm, through which ranks on one machine talk, is full: 64 MB in a container by default. Neither a disk nor the GPU is.',
    remedies: [
      advice('give the container more of it', 'docker run --shm-size=16g …'),
      advice('in Kubernetes mount a volume there', 'emptyDir: {medium: Memory} at /dev/shm'),
    ],
  },
  {
    code: 'tensorrt-llm-oom',
    program: 'TensorRT-LLM',
    anchors: ['CUDA runtime error in', 'tensorrt_llm', 'TensorRT-LLM'],
    pattern: words`CUDA runtime error in (?:::)?(?<call>cuda\w{1,40})\([^)]{0,120}\)?[^:]{0,40}: out of memory`,
    verdict: 'shortage',
    meaning:
      'Buffers for activations did not fit: they grow with max_batch_size × max_num_tokens, which are fixed when the engine is built.',
    now: roomAndCondition,
    remedies: [
      advice('build the engine for less', 'trtllm-build --max_batch_size <fewer> --max_num_tokens <fewer>'),
      advice('or leave more beside the KV cache', 'free_gpu_memory_fraction: 0.8'),
    ],
  },
  {
    code: 'tensorrt-oom',
    program: 'TensorRT',
    anchors: ['Requested amount of GPU memory', 'not be enough free memory'],
    pattern: words`Requested amount of GPU memory \((?<tried>{int}) bytes\) could not be allocated`,
    units: { tried: 'B' },
    verdict: 'shortage',
    meaning:
      'A buffer or a workspace for a tactic did not fit. While an engine is built TensorRT tries another tactic then.',
    now: fits('were asked for', 'tried'),
    remedies: [advice('give the builder a smaller workspace', '--memPoolSize=workspace:4096')],
  },
  {
    code: 'tensorrt-oom',
    program: 'TensorRT',
    anchors: ['Cuda Runtime (out of memory)'],
    pattern: words`Cuda Runtime \(out of memory\)`,
    verdict: 'shortage',
    meaning: 'A buffer or a workspace did not fit. Its size is in another line, if at all.',
    now: roomAndCondition,
    remedies: [advice('give the builder a smaller workspace', '--memPoolSize=workspace:4096')],
  },
  {
    code: 'tensorrt-oom',
    program: 'TensorRT',
    anchors: ['OutOfMemory (Requested', 'Requested size was'],
    pattern: words`OutOfMemory \((?:no further information|Requested size was (?<tried>{int}) bytes\.?)\)`,
    units: { tried: 'B' },
    verdict: 'shortage',
    meaning: 'A buffer of an engine, mostly its workspace for activations, did not fit.',
    now: fits('were asked for', 'tried'),
    remedies: [
      advice(
        'build the engine for smaller shapes, or give the builder a smaller workspace',
        '--memPoolSize=workspace:4096',
      ),
    ],
  },
  {
    code: 'tensorrt-tactic-skipped',
    program: 'TensorRT',
    anchors: ['insufficient to use tactic'],
    pattern: words`(?:Tactic Device request: (?<request>{num} ?MB) Available: (?<available>{num} ?MB)\. )?Device memory is insufficient to use tactic`,
    binary: true,
    verdict: 'harmless',
    meaning:
      'The builder left out one way to compute a layer, because its workspace did not fit, and chose another. The engine is built, perhaps a slower one.',
    remedies: [advice('free memory before building, if the engine is slow', 'umaprobe explain')],
  },
  {
    code: 'tensorrt-llm-oom',
    program: 'TensorRT-LLM',
    anchors: ['insufficient GPU memory', 'No free blocks left'],
    pattern: words`(?:Executor creation failed due to insufficient GPU memory|Can't allocate new blocks\. No free blocks left)`,
    fields: {
      component: /component could not be created: ([\w ()]{1,60}?) ?Total GPU memory/i,
      total: /Total GPU memory \(GiB\): ([\d.]{1,10})/i,
      free: /Free GPU memory before component creation attempt \(GiB\): ([\d.]{1,10})/i,
    },
    units: { total: 'GiB', free: 'GiB' },
    verdict: 'shortage',
    meaning(numbers) {
      const component = numbers.get('component')?.text ?? null;
      const free = numbers.get('free')?.bytes ?? null;
      const which =
        component === null
          ? 'Weights, buffers or the KV cache did not fit.'
          : `This part did not fit: ${component}${free === null ? '' : `, with ${formatBytes(free)} free before it`}.`;
      return `${which} The cache takes a share of what is free after loading; on unified memory "free" is MemFree.`;
    },
    now: roomAndCondition,
    remedies: [
      advice('use fewer or shorter requests', '--max_batch_size <fewer> --max_num_tokens <fewer>'),
      advice('or set the share of the KV cache', '--kv_cache_free_gpu_memory_fraction <share>'),
    ],
  },
  {
    code: 'nim-low-memory',
    program: 'NVIDIA NIM',
    anchors: ['with system but low memory'],
    pattern: words`Compatible with system but low memory:? (?:- )?[0-9a-f]{6,64}(?:\.{3})? \((?<profile>[\w.-]{1,60})\) \[requires >= ?(?<needed>{size})/gpu(?:, try --max-model-len=(?<tokens>{int}) to reduce to >= ?(?<reduced>{size})/gpu)?`,
    verdict: 'shortage',
    meaning(numbers) {
      const [profile, needed] = [numbers.get('profile')?.text ?? 'A profile', numbers.get('needed')?.bytes ?? null];
      const [tokens, reduced] = [numbers.get('tokens')?.value ?? null, numbers.get('reduced')?.bytes ?? null];
      const shorter = tokens === null ? '' : ` With a context of ${tokens} tokens it needs ${formatBytes(reduced)}.`;
      return `The container’s profile ${profile} would run on this GPU, but needs ${formatBytes(needed)}, more than NIM counted.${shorter}`;
    },
    now: fits('are needed', 'needed'),
    remedies: (numbers) => {
      const tokens = numbers.get('tokens')?.value ?? null;
      return [
        ...(tokens === null ? [] : [advice('use the context that fits', `--max-model-len ${tokens}`)]),
        advice('or choose a profile with a smaller precision', 'NIM_MODEL_PROFILE=<profile>'),
      ];
    },
  },
  {
    code: 'rapids-no-dedicated-memory',
    program: 'RAPIDS',
    anchors: ['has no dedicated memory'],
    pattern: words`device_memory_limit is set but device has no dedicated memory`,
    verdict: 'misread',
    meaning:
      'No memory is short. The limit at which RAPIDS moves data from the GPU to the host is set, and on a GPU that shares the host’s memory there is nowhere to move it to.',
    remedies: [advice('leave the limit out, or set it to 0, which turns the moving off', '--device-memory-limit 0')],
  },
  {
    code: 'triton-shared-memory',
    program: 'Triton',
    anchors: ['of resource: shared memory', 'out of resource: shared'],
    pattern: words`out of resource: shared memory, Required: (?<required>{int}),? Hardware limit: (?<limit>{int})`,
    units: { required: 'B', limit: 'B' },
    verdict: 'limit',
    meaning: (numbers) =>
      `A kernel wants ${formatBytes(numbers.get('required')?.bytes ?? null)} of the memory inside one multiprocessor, which has ${formatBytes(numbers.get('limit')?.bytes ?? null)}. No memory of the machine is short: the kernel was tuned for another GPU (a GB10 has less of it than an H100).`,
    remedies: [
      advice('use a version of the program that knows this GPU, or another attention backend'),
      advice('in a kernel of your own use smaller blocks or fewer stages', 'num_stages=2'),
    ],
  },
  {
    code: 'exllama-oom',
    program: 'ExLlama',
    anchors: ['Insufficient VRAM'],
    pattern: words`Insufficient VRAM (?:for model and cache|in split for model|for model)`,
    verdict: 'shortage',
    meaning: 'Model and cache do not fit into the split of the GPUs, by what the program measured as free.',
    now: roomAndCondition,
    remedies: [advice('use a smaller or a quantised cache', '-cs <tokens> -cq 4')],
  },
  {
    code: 'xla-oom',
    program: 'JAX',
    anchors: ['RESOURCE_EXHAUSTED', 'while trying to allocate', 'Out of memory allocating'],
    pattern: words`RESOURCE_EXHAUSTED: (?:[^:]{0,80}: )?(?:XLA:\w{3} )?(?:Out of memory|Failed to allocate|Ran out of memory)(?:[^.0-9]{0,80}(?<tried>{size}))?`,
    binary: true,
    verdict: 'shortage',
    meaning:
      'XLA’s own allocator has no block of that size left. By default JAX takes 75 % of the GPU’s free memory at its start and never asks for more; on unified memory that share is taken from the whole machine.',
    now: fits('were asked for', 'tried'),
    remedies: [
      advice('let it grow as needed', 'export XLA_PYTHON_CLIENT_PREALLOCATE=false'),
      advice('or set its share', 'export XLA_PYTHON_CLIENT_MEM_FRACTION=0.80'),
    ],
  },
  {
    code: 'xla-oom',
    program: 'JAX',
    anchors: ['of memory trying to allocate', 'bytes) from device: CUDA_ERROR'],
    pattern: words`(?:ran out of memory trying to allocate (?<tried>{size})|failed to allocate (?<asked>{size}) \(\d{1,18} bytes\) from device: CUDA_ERROR_OUT_OF_MEMORY)`,
    binary: true,
    followUps: /: out of memory/i,
    verdict: 'shortage',
    meaning:
      'XLA could not take its share of the GPU, or its own allocator has no block of that size left. By default it takes 75 % of the memory at its start; on unified memory that share is taken from the whole machine.',
    now: fits('were asked for', 'tried', 'asked'),
    remedies: [
      advice('let it grow as needed', 'export XLA_PYTHON_CLIENT_PREALLOCATE=false'),
      advice('or set its share', 'export XLA_PYTHON_CLIENT_MEM_FRACTION=0.60'),
    ],
  },
  {
    code: 'tensorflow-oom',
    program: 'TensorFlow',
    anchors: ['OOM when allocating tensor'],
    pattern: words`OOM when allocating tensor with shape ?\[(?<shape>[\d, ]{1,80})\]`,
    verdict: 'shortage',
    meaning: 'TensorFlow’s allocator has no block for this tensor left.',
    now: roomAndCondition,
    remedies: [
      advice('let it grow as needed', 'export TF_FORCE_GPU_ALLOW_GROWTH=true'),
      advice('or use a smaller batch'),
    ],
  },
  {
    code: 'onnxruntime-oom',
    program: 'ONNX Runtime',
    anchors: ['memory for requested buffer', 'BFCArena::'],
    pattern: words`Failed to allocate memory for requested buffer of size (?<tried>{int})`,
    units: { tried: 'B' },
    verdict: 'shortage',
    meaning: 'The arena of an execution provider could not grow: by its own limit, or because memory was full.',
    now: fits('were asked for', 'tried'),
    remedies: [advice('let the arena grow by what is asked for', "arena_extend_strategy: 'kSameAsRequested'")],
  },
  {
    code: 'llvm-oom',
    program: 'LLVM',
    anchors: ['LLVM ERROR: out of'],
    pattern: words`LLVM ERROR: out of memory`,
    verdict: 'shortage',
    meaning:
      'A compiler (Triton, XLA) ran out of host memory while it built a kernel. On unified memory the model is in the same memory.',
    now: roomAndCondition,
    remedies: [
      advice('compile fewer kernels at once', 'export MAX_JOBS=2 TORCHINDUCTOR_COMPILE_THREADS=2'),
      advice('or load the model after compiling'),
    ],
  },
  {
    code: 'cuda-mempool-cap',
    program: 'CUDA',
    anchors: ['from cudaMallocAsync', 'cudaMallocAsync'],
    pattern: words`\boom\b[^.]{0,60}malloc (?<cap>{size}) from cudaMallocAsync(?:[^.\d]{0,4}(?<total>{size}) total)?`,
    verdict: 'limit',
    meaning:
      'Reported for a Jetson: the default memory pool of cudaMallocAsync holds less than the machine has (20 of 64 GB), while cudaMalloc gets more.',
    remedies: [
      advice('use cudaMalloc', 'export PYTORCH_CUDA_ALLOC_CONF=backend:native'),
      advice('or set the pool’s limit: cudaMemPoolProps.maxSize'),
    ],
  },
  {
    code: 'bitsandbytes-oom',
    program: 'bitsandbytes',
    anchors: ['Error out of memory at line'],
    pattern: words`Error out of memory at line (?<line>{int}) in file`,
    verdict: 'shortage',
    meaning: 'bitsandbytes could not allocate on the GPU and ended the process.',
    now: roomAndCondition,
    remedies: [advice('use a smaller batch, or the paged optimizer', 'optim="paged_adamw_8bit"')],
  },
  {
    code: 'cuda-out-of-memory',
    program: 'CUDA',
    anchors: [
      'error: out of memory',
      'CUDA_ERROR_OUT_OF_MEMORY',
      'cudaErrorMemoryAllocation',
      'failed: out of memory',
      "failure 2 'out of memory'",
      "failure 'out of memory'",
      'failure 2: out of memory',
      '[CUDA]: out of memory',
      'CUDA: out of memory',
      'Failed to CUDA calloc',
      'Failed to CUDA host alloc',
    ],
    pattern: words`(?:CUDA (?:runtime |driver )?(?:error|failure 2)[: ]{1,3}'?out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|(?:cu|cuda)(?:Malloc|Mem)\w{0,30} failed: out of memory|Cuda failure (?:2 )?'out of memory'|Triton Error \[CUDA\]: out of memory|failed to initialize CUDA: out of memory|Failed to CUDA (?:calloc(?: async)?|host alloc|malloc) (?<bytes>{int})(?: bytes)?)`,
    units: { bytes: 'B' },
    verdict: 'shortage',
    meaning:
      'CUDA had no memory for a call, which the text does not name with its size. On a GPU that shares the host’s memory a new context fails like that, too, when few free pages or no blocks of 2 MiB are left, however much is "available".',
    now: roomAndCondition,
    remedies: [
      advice('see what holds memory, and whether free memory is fragmented', 'umaprobe explain'),
      advice('give page cache back and compact', DROP_AND_COMPACT, true),
    ],
  },
];
