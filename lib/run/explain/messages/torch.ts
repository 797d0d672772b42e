import { formatBytes } from '../../../base/format.ts';
import { DROP_PAGE_CACHE } from '../../../core/memory/remedies.ts';
import { fitText, isThisGpu, otherGpu, roomText } from '../machine.ts';
import { advice, fits, type Message, room, WHO_KILLED_IT, words } from './message.ts';

const EXPANDABLE = advice(
  'if much is reserved but unallocated, avoid fragmentation',
  'export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True',
);

const DROP = advice(
  'on unified memory give page cache back before loading, because torch reads MemFree',
  DROP_PAGE_CACHE,
  true,
);

/** accelerate plans with what torch calls free. */
const SAY_THAT_IT_FITS: Message['remedies'] = (_, machine) => [
  ...(machine?.unified === undefined
    ? []
    : [advice('say that it fits: on unified memory GPU and CPU are one pool', 'device_map={"": 0}')]),
  DROP,
];

const TORCH_OOM = {
  code: 'torch-cuda-oom',
  program: 'PyTorch',
  fields: {
    gpu: /GPU (\d{1,3})\b/,
    total: /total capac\w{0,4} of ([\d.]{1,12} (?:[KMGT]iB|bytes))|([\d.]{1,12} (?:[KMGT]iB|bytes)) total capac/i,
    free: /([\d.]{1,12} (?:[KMGT]iB|bytes)) (?:is )?free/i,
    processUse: /this process has ([\d.]{1,12} (?:[KMGT]iB|bytes)) memory in use/i,
    allocated: /([\d.]{1,12} (?:[KMGT]iB|bytes)) (?:is |already )?allocated/i,
    privatePools: /([\d.]{1,12} (?:[KMGT]iB|bytes)) (?:is )?(?:allocated )?in private pools/i,
    reservedUnallocated: /([\d.]{1,12} (?:[KMGT]iB|bytes)) (?:is )?reserved by \w{1,20} but unallocated/i,
    reserved: /([\d.]{1,12} (?:[KMGT]iB|bytes)) (?:reserved in total|cached)/i,
  },
  after: 700,
  verdict: 'shortage',
  meaning(numbers) {
    const bytes = (name: string) => numbers.get(name)?.bytes ?? null;
    const [free, tried, total, allocated, idle] = ['free', 'tried', 'total', 'allocated', 'reservedUnallocated'].map(
      bytes,
    ) as (number | null)[];
    const asked = tried === null ? 'One allocation' : `One allocation of ${formatBytes(tried as number)}`;
    const parts = [`${asked} failed${free === null ? '' : `, with ${formatBytes(free as number)} free`}.`];
    if (total !== null && allocated !== null && (allocated as number) > (total as number))
      parts.push('More is allocated than the GPU has: the driver spills into the host’s memory, as on Windows.');
    else if (tried !== null && free !== null && (free as number) > (tried as number))
      parts.push('More was free than was asked for: memory was fragmented, or had just been freed.');
    if (idle !== null && tried !== null && (idle as number) >= (tried as number))
      parts.push('PyTorch itself holds more than that unused: its blocks are fragmented.');
    if (free === null && allocated === null) parts.push('Its other numbers are cut out of this text.');
    parts.push('On a GPU that shares the host’s memory "free" is MemFree, which does not count page cache.');
    return parts.join(' ');
  },
  now(numbers, machine) {
    const tried = numbers.get('tried')?.bytes ?? null;
    const total = numbers.get('total')?.bytes;
    const other = otherGpu(total, machine);
    if (other !== null) return other;
    if (tried === null) return room(numbers, machine, 1);
    const here = isThisGpu(total, machine) === true ? '' : ' (whether the message is from this machine is not known)';
    return fitText(`${formatBytes(tried)} were asked for${here}`, tried, machine);
  },
  remedies(_, machine) {
    return [
      advice('use a smaller batch, a shorter sequence or checkpointing of activations'),
      EXPANDABLE,
      ...(machine?.unified === undefined ? [] : [DROP]),
    ];
  },
} satisfies Partial<Message>;

const SHM_FULL = {
  verdict: 'limit',
  meaning:
    'The tmpfs /dev/shm, through which workers hand over their batches, is full: 64 MB in a container by default. Neither the GPU’s nor the machine’s memory is short.',
  remedies: [
    advice('give the container more of it', 'docker run --shm-size=16g …'),
    advice('or use fewer workers', 'num_workers=2'),
  ],
} satisfies Partial<Message>;

export const TORCH: readonly Message[] = [
  {
    code: 'torch-nvml-assert',
    program: 'PyTorch',
    anchors: ['INTERNAL ASSERT FAILED'],
    pattern: words`NVML_SUCCESS == (?:r|[\w:]{1,40}\(\)->nvml\w{1,60}\(?[^)]{0,40}\)?) INTERNAL ASSERT FAILED at \S{1,200}CUDACachingAllocator\.cpp`,
    verdict: 'shortage',
    meaning:
      'An allocation failed, and PyTorch failed once more while it asked NVML for the numbers of its message: NVML does not know them on a GPU that shares the host’s memory, nor in a MIG instance. It is an out-of-memory error (PyTorch issue 185240).',
    now: room,
    remedies: [advice('use a smaller batch, a shorter sequence or checkpointing of activations'), EXPANDABLE, DROP],
  },
  {
    code: 'torch-mps-oom',
    program: 'PyTorch',
    anchors: ['MPS backend out of memory'],
    pattern: words`MPS backend out of memory \(MPS allocated: (?<allocated>{size}), other allocations: (?<other>{size}), max allowed: (?<limit>{size})\)(?:\. Tried to allocate (?<tried>{size}))?`,
    verdict: 'limit',
    meaning(numbers) {
      const [allocated, limit] = [numbers.get('allocated')?.bytes ?? null, numbers.get('limit')?.bytes ?? null];
      return `The GPU of a Mac: PyTorch allows itself ${formatBytes(limit)} there, and holds ${formatBytes(allocated)}. The limit is PyTorch’s own, and other programs count towards it.`;
    },
    remedies: [
      advice('use a smaller batch, or close other programs that use the GPU'),
      advice('lift the limit; the machine may swap', 'export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0'),
    ],
  },
  {
    ...TORCH_OOM,
    anchors: ['out of memory. Tried', 'Tried to allocate', 'capacity of', 'total capac'],
    pattern: words`(?:(?:CUDA|HIP|XPU|MPS backend|NPU) out of memory[.:]? ?)?Tried to allocate (?<tried>{size})`,
    // The backend of a Mac shares the words; the kernel's memory of other programs does not.
    near: /GPU|CUDA|HIP|XPU|NPU|MPS/,
  },
  {
    ...TORCH_OOM,
    anchors: [
      'CUDA out of memory',
      'HIP out of memory',
      'XPU out of memory',
      'uda.OutOfMemoryError',
      'orch.OutOfMemoryError',
    ],
    // Excludes sentences about it: a setting, a hint, a retry.
    pattern: words`(?:(?:torch|cuda)\.OutOfMemoryError: |(?<=\b(?:error|exception|message|msg|detail|reason)["']? ?[:=] ?["'])|(?<!["'“(]|\b(?:avoid|prevent|fix|on|if|of|for|handle|catch|like|as|from|after) ))\b(?:CUDA|HIP|XPU) out of memory(?!\w| occurred when warming| (?:errors?|handling|handler|recovery|retry|retries|exceptions?)\b)`,
    notNear: /Tried to allocate/i,
  },
  {
    // cudaMallocAsync: PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync.
    ...TORCH_OOM,
    anchors: ['would exceed allowed memory'],
    pattern: words`Allocation on device (?:cuda:)?(?<gpu>{int})? ?would exceed allowed memory`,
    fields: {
      allocated: /Currently allocated ?: ?([\d.]{1,12} (?:[KMGT]iB|bytes))/i,
      tried: /Requested ?: ?([\d.]{1,12} (?:[KMGT]iB|bytes))/i,
      total: /Device limit ?: ?([\d.]{1,12} (?:[KMGT]iB|bytes))/i,
      free: /Free \(according to CUDA\) ?: ?([\d.]{1,12} (?:[KMGT]iB|bytes))/i,
    },
    followUps: /Got an OOM, unloading all loaded models/i,
  },
  {
    code: 'comfyui-vae-tiled',
    program: 'ComfyUI',
    anchors: ['when regular VAE', 'retrying with tiled VAE'],
    // Excludes the line of code that prints it.
    pattern: words`(?<!["']Warning: |["'])Ran out of memory when regular (?:\w{1,20} )?VAE (?<step>decoding|encoding), retrying with tiled VAE (?:decoding|encoding)`,
    absorbs: ['torch-cuda-oom', 'comfyui-vae-tiled'],
    verdict: 'harmless',
    meaning:
      'The whole picture did not fit into memory at once when the VAE turned it into pixels or back. ComfyUI does the same in tiles: slower, sometimes with visible seams, and no error.',
    now: room,
    remedies: [
      advice('choose the node VAE Decode (Tiled) from the start, or a smaller picture'),
      advice('keep fewer models loaded beside it', '--cache-none'),
    ],
  },
  {
    code: 'comfyui-oom',
    program: 'ComfyUI',
    anchors: ['Allocation on device', 'Got an OOM, unloading'],
    pattern: words`(?:(?:OutOfMemoryError|during processing !!!):? (?:- \*\*Exception Message:\*\* )?)Allocation on device(?! \d{0,3} ?would)|Got an OOM, unloading all loaded models`,
    followUps: /Got an OOM, unloading all loaded models/i,
    verdict: 'shortage',
    meaning:
      'An allocation of PyTorch’s cudaMallocAsync backend failed while ComfyUI ran a node; this short form has no numbers. ComfyUI unloads its models and carries on.',
    now: room,
    remedies: [
      advice('load less at once', '--lowvram'),
      advice('on unified memory keep models out of the second copy', '--disable-mmap --cache-none'),
    ],
  },
  {
    code: 'cublas-not-initialized',
    program: 'cuBLAS',
    anchors: ['CUBLAS_STATUS_NOT_INIT'],
    // Excludes the name in a header, a table of codes or a sentence about it.
    pattern: words`(?:CUDA error: |create cublas handle: |CUBLASError: |(?:cuBLAS|CUBLAS) (?:error|failure)(?: 1)?[:=] ?)CUBLAS_STATUS_NOT_INITIALIZED(?:[^.]{0,12}when calling .?(?<call>\w{1,40}))?`,
    notBefore: /device-side assert|Assertion `[^`]{1,120}` failed/,
    verdict: 'unclear',
    meaning:
      'cuBLAS could not make its handle, most often because the GPU’s memory was full already: its workspace takes some tens of MiB. A kernel that read past the end of a table (a token that the vocabulary does not have) and a library of another CUDA version look the same.',
    now: room,
    remedies: [
      advice('leave about 1 GiB for workspaces: a smaller batch, or a smaller share of the memory'),
      advice('if memory is free, find the kernel that failed first', 'CUDA_LAUNCH_BLOCKING=1 <command>'),
    ],
  },
  {
    code: 'cublas-alloc-failed',
    program: 'cuBLAS',
    anchors: ['STATUS_ALLOC_FAILED', 'CUFFT_ALLOC_FAILED', '_ALLOCATION_FAILED'],
    pattern: words`(?<status>(?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE)_STATUS_ALLOC_FAILED|CUDNN_STATUS_INTERNAL_ERROR_(?:DEVICE|HOST)_ALLOCATION_FAILED|CUFFT_ALLOC_FAILED)(?!\w| ?= ?\d)(?:[^.]{0,12}when calling .?(?<call>\w{1,40}))?`,
    verdict: 'shortage',
    meaning:
      'The library could not get its handle or workspace: memory was full already. What filled it is the cause, and usually the line before.',
    now: room,
    remedies: [advice('leave about 1 GiB for workspaces: a smaller batch, or a smaller share of the memory')],
  },
  {
    code: 'torch-cpu-oom',
    program: 'PyTorch',
    anchors: ['DefaultCPUAllocator'],
    pattern: words`DefaultCPUAllocator: (?:can't allocate memory|not enough memory): you tried to allocate (?<tried>{int}) bytes`,
    units: { tried: 'B' },
    followUps: /Cannot allocate memory/i,
    verdict: 'shortage',
    meaning: 'An allocation in host memory failed. On unified memory that is the same memory as the GPU’s.',
    now: fits('were asked for', 'tried'),
    remedies: [
      advice('load straight to the GPU instead of by way of the host', 'device_map={"": 0}, low_cpu_mem_usage=True'),
      advice('and see whether a limit of virtual memory is set', 'ulimit -v'),
    ],
  },
  {
    // The handler of the worker itself; the parent's message follows.
    code: 'dataloader-shm',
    program: 'PyTorch',
    anchors: ['Unexpected bus error encountered'],
    pattern: words`Unexpected bus error encountered in worker`,
    followUps: /This might be caused by insufficient shared memory \(shm\)/i,
    absorbs: ['dataloader-shm'],
    ...SHM_FULL,
  },
  {
    code: 'dataloader-shm',
    program: 'PyTorch',
    anchors: ['signal: Bus error', 'DataLoader worker', 'out of shared memory', 'shared memory limit'],
    pattern: words`DataLoader worker \(pid(?:\(s\))? (?<pid>{int})\) is killed by signal: Bus error`,
    followUps:
      /It is possible that dataloader's workers are out of shared memory\.(?: Please try to raise your shared memory limit)?/i,
    ...SHM_FULL,
  },
  {
    code: 'dataloader-shm',
    program: 'PyTorch',
    anchors: [
      'workers are out of shared memory',
      'unable to open shared memory object',
      'unable to allocate shared memory',
      'unable to write to file </torch',
    ],
    pattern: words`(?:dataloader's workers are out of shared memory|unable to (?:open|allocate) shared memory(?: ?\(shm\) for file| object) <[^>]{1,80}>[^.]{0,60}No space left on device|unable to write to file </torch_[^>]{1,60}>: No space left on device)`,
    ...SHM_FULL,
  },
  {
    code: 'dataloader-killed',
    program: 'PyTorch',
    anchors: ['DataLoader worker'],
    pattern: words`DataLoader worker \(pid(?:\(s\))? (?<pid>{int})\) is killed by signal: Killed`,
    verdict: 'unclear',
    meaning:
      'A worker was killed from outside. Nearly always the kernel or a memory guard did that for lack of host memory: each worker holds its own samples.',
    now: room,
    remedies: [WHO_KILLED_IT, advice('use fewer workers, or prefetch less', 'num_workers=2, prefetch_factor=1')],
  },
  {
    code: 'bitsandbytes-cpu-dispatch',
    program: 'transformers',
    anchors: ['dispatched on the CPU', 'enough GPU RAM to fit', 'fp32_cpu_offload'],
    pattern: words`Some modules are dispatched on the CPU or the disk`,
    followUps: /pass a custom .{0,3}device_map.{0,3} to .{0,3}from_pretrained/i,
    verdict: 'misread',
    meaning:
      'accelerate gave the GPU no more than 90 % of what cudaMemGetInfo calls free and placed the rest on the CPU, and bitsandbytes refuses that. On a GPU that shares the host’s memory "free" is MemFree: after a download, page cache counts as used, and a model that fits is refused. On a GPU with its own memory it is a real shortage.',
    now(_, machine) {
      const free = machine.device?.views.torch ?? null;
      if (free === null) return null;
      const budget = `accelerate would plan with ${formatBytes(free * 0.9)} here now, 90 % of the ${formatBytes(free)} that torch reads`;
      const more = machine.unified !== undefined && machine.afterReclaim !== null && machine.afterReclaim > free * 1.05;
      return more ? `${budget}; ${formatBytes(machine.afterReclaim)} can be allocated.` : `${budget}.`;
    },
    remedies: SAY_THAT_IT_FITS,
  },
  {
    code: 'accelerate-offload',
    program: 'accelerate',
    anchors: [
      'parameters are on the meta device',
      'weights offloaded to the disk',
      'submodule will be offloaded',
      'offload the whole model to',
    ],
    pattern: words`(?:Some parameters are on the meta device(?: device)? because they were offloaded to the (?<where>cpu and disk|disk and cpu|cpu|disk)|device_map.? had weights offloaded to the disk|model submodule will be offloaded to disk|trying to offload the whole model to the disk)`,
    verdict: 'misread',
    meaning:
      'accelerate placed a part of the model outside of the GPU, because its budget is 90 % of what cudaMemGetInfo calls free. The model runs, slowly. On a GPU that shares the host’s memory "free" is MemFree, and page cache counts as used.',
    now: (_, machine) => {
      const free = machine.device?.views.torch ?? null;
      return free === null
        ? null
        : `accelerate would plan with ${formatBytes(free * 0.9)} here now; ${roomText(machine)}.`;
    },
    remedies: SAY_THAT_IT_FITS,
  },
  {
    code: 'uma-free-is-memfree',
    program: 'Unsloth',
    anchors: ['refusing oversized unified', 'unified-memory load', 'reserving room for the operating'],
    pattern: words`needs about (?<need>{size}) of memory for its weights, but only about (?<usable>{size}) is usable on this device(?: \(of the (?<free>{size}) currently free)?`,
    verdict: 'misread',
    meaning:
      'The program judged by cudaMemGetInfo, whose "free" is MemFree on a GPU that shares the host’s memory: the page cache of the model that was just downloaded counts as used. Versions after Unsloth’s PR 10705 count MemAvailable.',
    now: fits('are needed', 'need'),
    remedies: [DROP, advice('or use a newer version of the program')],
  },
  {
    code: 'cupy-oom',
    program: 'CuPy',
    anchors: ['Out of memory allocating'],
    pattern: words`Out of memory allocating (?<tried>{num}) bytes \(allocated so far: (?<allocated>{num}) bytes(?:, limit set to: (?<limit>{num}) bytes)?\)`,
    units: { tried: 'B', allocated: 'B', limit: 'B' },
    verdict: 'shortage',
    meaning: 'CuPy’s pool could not grow: the GPU had no memory for it, or the limit that was set is reached.',
    now: fits('were asked for', 'tried'),
    remedies: [advice('give unused blocks back', 'cupy.get_default_memory_pool().free_all_blocks()')],
  },
  {
    code: 'thrust-oom',
    program: 'Thrust',
    anchors: [
      'detail::bad_alloc',
      'bad_alloc: cudaErrorMemory',
      'bad_alloc: out of memory',
      'failed: cudaErrorMemoryAllocation',
      'step: cudaErrorMemoryAlloc',
      'synchronize: cudaErrorMemory',
    ],
    pattern: words`(?:instance of '?thrust::[\w:]{0,60}bad_alloc|std::bad_alloc: (?:cudaErrorMemoryAllocation|out of memory)\b|\b(?<call>parallel_for|for_each|(?!cu)\w{0,20}(?:reduce|scan|sort|copy|transform|unique)\w{0,20})(?::? failed(?: to synchronize| on \w{1,6} step)?): cudaErrorMemoryAllocation)`,
    followUps: /what\(\): ?std::bad_alloc: (?:cudaErrorMemoryAllocation: )?out of memory/i,
    absorbs: ['bad-alloc', 'cuda-out-of-memory', 'thrust-oom'],
    verdict: 'shortage',
    meaning:
      'Thrust (sorting, scanning and copying on the GPU) got no temporary memory from CUDA, and nobody caught that. It is the GPU’s memory, although the message has the name of the one for host memory, std::bad_alloc.',
    now: room,
    remedies: [advice('work on smaller pieces, or leave the GPU more memory before the call')],
  },
  {
    code: 'rmm-oom',
    program: 'RAPIDS',
    anchors: ['Maximum pool size exceeded', 'bad_alloc: out_of_memory'],
    pattern: words`(?:Maximum pool size exceeded|std::bad_alloc: out_of_memory: (?:CUDA|RMM))`,
    absorbs: ['bad-alloc', 'cuda-out-of-memory'],
    verdict: 'shortage',
    meaning:
      'RMM’s pool, from which cuDF and the other RAPIDS libraries allocate, is full: at its own maximum, or because the GPU has no more.',
    now: room,
    remedies: [
      advice('use smaller partitions, or a larger or a managed pool', 'rmm.reinitialize(managed_memory=True)'),
    ],
  },
];
