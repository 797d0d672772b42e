import { formatBytes } from '../../../base/format.ts';
import type { ExplainMachine } from '../machine.ts';
import { fitText } from '../machine.ts';
import { advice, type Judge, type Message, type Numbers, room, SMALLER_QUANTISATION, words } from './message.ts';

/** "allocating 9032.01 MiB on device 3: cudaMalloc failed: out of memory", by ggml since 2024. */
const ALLOCATING = words`(?:ggml_\w{1,60}: )?allocating (?<asked>{num} ?MiB) on device (?<device>{int}): (?:cuda|hip|musa)\w{2,20} failed: out of memory`;
const ALLOCATING_ANCHORS = ['failed: out of memory', 'cuda_buffer_type_alloc'];

/** The lines that follow it, by the code that asked for the memory. */
const FOLLOW_UPS =
  /(?:failed to allocate [\w ]{1,24} ?buffers?(?: of size \d{1,18})?|unable to allocate [\w ]{1,24} ?buffer|failed to allocate buffer for [\w ]{1,24}cache|failed for self-attention cache|error loading model[^.]{0,40}|failed to load model|failed to create (?:llama_)?context\w{0,20})/i;

const FIELDS = { bytes: /(?:buffer of size|size =) (\d{1,18})/i };
const UNITS = { bytes: 'B' } as const;

function now(what: string): Judge {
  return (numbers: Numbers, machine: ExplainMachine) => {
    const asked = numbers.get('asked')?.bytes ?? numbers.get('bytes')?.bytes ?? null;
    return asked === null ? null : fitText(`${what} of ${formatBytes(asked)} was asked for`, asked, machine);
  };
}

const SMALLER_CONTEXT = advice('use a smaller context, and a smaller batch', '-c <fewer> -ub 512');
const NO_MMAP = advice('on unified memory load without mmap, or file and copy are held at once', '--no-mmap');

/** Rows for one cause: with ggml's line before it, and alone. */
function cause(
  row: Omit<Message, 'pattern' | 'anchors'> & { near: RegExp; alone: RegExp; aloneAnchors: string[] },
): Message[] {
  const { alone, aloneAnchors, near, ...rest } = row;
  const common = { ...rest, fields: FIELDS, units: UNITS, followUps: FOLLOW_UPS, after: 300 };
  return [
    { ...common, near, anchors: ALLOCATING_ANCHORS, pattern: ALLOCATING },
    { ...common, anchors: aloneAnchors, pattern: alone },
  ];
}

const COMPUTE = {
  code: 'llama-compute-buffer-oom',
  program: 'llama.cpp',
  verdict: 'shortage',
  meaning:
    'The compute buffer did not fit; weights and KV cache did. It grows with the micro-batch and, without flash attention, with the context; with several GPUs and tensors moved to the CPU the copies of pipeline parallelism multiply it.',
  now: now('A compute buffer'),
  remedies: [
    advice('use flash attention and a smaller micro-batch', '-fa on -ub 256'),
    SMALLER_CONTEXT,
    advice('with several GPUs build without pipeline copies', 'cmake -DGGML_SCHED_MAX_COPIES=1 …'),
  ],
} as const;

export const LLAMA_CPP: readonly Message[] = [
  {
    code: 'llama-kv-full',
    program: 'llama.cpp',
    anchors: ['find a memory slot for', 'find free space in the KV', 'find KV cache slot', 'find a slot for batch'],
    pattern: words`failed to find (?:a memory slot for batch of size (?<batch>{int})|free space in the KV cache|KV cache slot for ubatch(?: of size (?<ubatch>{int}))?)`,
    verdict: 'limit',
    meaning:
      'The context is full: the cache was made for -c tokens in all slots together. The machine’s memory is not the limit.',
    remedies: [
      advice('make a larger context, if it fits', 'umaprobe fit MODEL --for llama.cpp --solve context'),
      advice('or use fewer slots', '-np 1'),
    ],
  },
  ...cause({
    ...COMPUTE,
    near: /graph_reserve|gallocr_reserve|compute (?:pp |tg )?buffers?\b/i,
    alone: words`(?:gallocr_reserve_n\w{0,10}: failed to allocate \w{1,24} buffer of size \d{1,18}|failed to allocate compute (?:pp |tg )?buffers)`,
    aloneAnchors: ['gallocr_reserve_n', 'allocate compute '],
  }),
  ...cause({
    code: 'llama-kv-oom',
    program: 'llama.cpp',
    near: /kv[_ -]?(?:cache|self)|self-attention cache/i,
    alone: words`(?:failed to allocate buffer for kv cache|llama_kv_cache_init\(\) failed for self-attention cache)`,
    aloneAnchors: ['buffer for kv cache', 'self-attention cache'],
    verdict: 'shortage',
    meaning:
      'The KV cache did not fit; the weights did. Its size is the context times the sequences, and without MLA a DeepSeek model takes 20 to 70 times as much.',
    now: now('A KV cache'),
    remedies: [
      advice('use a smaller context or fewer slots', '-c <fewer> -np 1'),
      advice('or a smaller type of the cache', '-ctk q8_0 -ctv q8_0 -fa on'),
    ],
  }),
  ...cause({
    code: 'llama-weights-oom',
    program: 'llama.cpp',
    near: /error loading model|unable to allocate (?:backend|\w{1,16}) ?buffer|failed to load model/i,
    alone: words`(?:error loading model: )?unable to allocate (?:backend|(?:CUDA|ROCm|Vulkan|CPU|Metal)\w{0,8}) buffer`,
    aloneAnchors: ['unable to allocate ', 'error loading model'],
    verdict: 'shortage',
    meaning: 'The weights did not fit on this device.',
    now: now('A buffer for weights'),
    remedies: [
      advice('keep some layers, or the experts, in host memory', '-ngl <fewer> --n-cpu-moe <layers>'),
      NO_MMAP,
      SMALLER_QUANTISATION,
    ],
  }),
  {
    code: 'llama-cuda-oom',
    program: 'llama.cpp',
    anchors: ALLOCATING_ANCHORS,
    pattern: ALLOCATING,
    fields: FIELDS,
    units: UNITS,
    followUps: FOLLOW_UPS,
    after: 300,
    verdict: 'shortage',
    meaning: 'One buffer did not fit on the device. Which one, the lines after it say; here they are cut off.',
    now: now('A buffer'),
    remedies: [SMALLER_CONTEXT, NO_MMAP],
  },
  {
    code: 'llama-cuda-oom',
    program: 'llama.cpp',
    anchors: ['error: out of memory', 'in function alloc', 'cuMemCreate('],
    pattern: words`CUDA error: out of memory current device: (?<device>{int}), in function (?<function>\w{1,60})`,
    fields: { call: /(cuMem\w{1,30}|cudaMalloc\w{0,20}|cublas\w{1,30})\(/i },
    followUps: /ggml-cuda[\w./-]{0,30}:\d{1,6}: CUDA error/i,
    after: 300,
    verdict: 'shortage',
    meaning:
      'Memory ran out at run time, although the model had loaded: the pool for temporary buffers found nothing left beside weights and KV cache. llama.cpp aborts then.',
    now: room,
    remedies: [
      advice('leave more beside the model', '-ub 256 -c <fewer>'),
      advice('or let llama.cpp keep more free', '--fit-target 4096'),
    ],
  },
  {
    code: 'llama-cuda-oom',
    program: 'llama.cpp',
    anchors: ['Device memory allocation of size'],
    pattern: words`ggml_vulkan: Device memory allocation of size (?<bytes>{int}) failed`,
    units: UNITS,
    followUps: /ErrorOutOfDeviceMemory|Requested buffer size exceeds device memory allocation limit[^.]{0,60}/i,
    verdict: 'shortage',
    meaning: 'One buffer did not fit on the device, or is larger than Vulkan’s limit for one buffer.',
    now: now('A buffer'),
    remedies: [SMALLER_CONTEXT, NO_MMAP],
  },
  {
    code: 'llama-cpu-buffer-oom',
    program: 'llama.cpp',
    anchors: ['insufficient memory (attempted', 'cpu_buffer_type_alloc_buffer'],
    pattern: words`(?:insufficient memory \(attempted to allocate (?<asked>{size})\)|cpu_buffer_type_alloc_buffer: failed to allocate buffer of size (?<bytes>{int}))`,
    units: UNITS,
    binary: true,
    followUps: FOLLOW_UPS,
    verdict: 'shortage',
    meaning: 'A buffer in host memory did not fit. On unified memory that is the same memory as the GPU’s.',
    now: now('A buffer'),
    remedies: [SMALLER_CONTEXT],
  },
  {
    code: 'llama-fit-failed',
    program: 'llama.cpp',
    anchors: ['failed to fit params'],
    pattern: words`failed to fit params to free device memory(?:: (?<why>[^,.]{1,80}))?`,
    verdict: 'unclear',
    meaning:
      'A warning: llama.cpp would have made context or GPU layers smaller, but did not, because they are set on the command line. It loads as asked; whether that fits the next lines say.',
    remedies: [advice('let it choose', '-ngl auto -c 0 --fit on')],
  },
  {
    code: 'llama-pinned-fallback',
    program: 'llama.cpp',
    anchors: ['of pinned memory', 'cuda_host_malloc'],
    pattern: words`failed to allocate (?<asked>{num} ?MiB) of pinned memory: (?<reason>out of memory|invalid argument|invalid value|operation not supported)`,
    verdict: 'harmless',
    meaning:
      'A warning: a pinned host buffer was refused, and llama.cpp uses pageable memory instead. Copies are slower; nothing else follows from it.',
    remedies: [],
  },
  {
    code: 'llama-mlock-limit',
    program: 'llama.cpp',
    anchors: ['failed to mlock'],
    pattern: words`failed to mlock (?<bytes>{int})-byte buffer`,
    fields: {
      required: /mem required += ([\d.]{1,15} MB)/i,
      perState: /\(\+ ([\d.]{1,15} MB) per state\)/i,
    },
    units: UNITS,
    binary: true,
    followUps: /Cannot allocate memory/i,
    verdict: 'limit',
    meaning:
      'The limit on locked memory (ulimit -l) refused --mlock. The model is loaded all the same; its pages may be swapped out.',
    now: (_, { snapshot }) =>
      snapshot.host.mlocked === null ? null : `${formatBytes(snapshot.host.mlocked)} are locked on this machine now.`,
    remedies: [
      advice('leave --mlock out; memory on the GPU needs no lock'),
      advice('or raise the limit', 'ulimit -l unlimited', true),
    ],
  },
  {
    code: 'jetson-nvmap-alloc',
    program: 'L4T',
    anchors: ['NvMapMemAlloc', 'NvMapMemHandleAlloc'],
    pattern: words`NvMapMemAllocInternalTagged: (?<tag>{int}) error (?<errno>{int})`,
    followUps: /NvMapMemHandleAlloc: error \d{1,6}|cudaMalloc failed: out of memory/i,
    absorbs: ['cuda-out-of-memory', 'llama-cuda-oom', 'llama-weights-oom', 'llama-kv-oom', 'llama-compute-buffer-oom'],
    verdict: 'limit',
    meaning:
      'A Jetson refused one large allocation although memory is free: L4T 36.4.7’s fix of CVE-2025-33177 limits single allocations of NvMap. Error 12 is ENOMEM.',
    remedies: [
      advice('use another L4T than 36.4.7'),
      advice('or allocate in smaller blocks, as llama.cpp does with its virtual memory pool (PR 23732)'),
    ],
  },
  {
    code: 'cuda-va-reserve-failed',
    program: 'CUDA',
    anchors: ['cuMemAddressReserve'],
    pattern: words`(?:CUDA_ERROR_OUT_OF_MEMORY|out of memory)[^.]{0,80} cuMemAddressReserve|cuMemAddressReserve[^.]{0,120}(?:CUDA_ERROR_OUT_OF_MEMORY|out of memory)`,
    absorbs: ['cuda-out-of-memory', 'llama-cuda-oom'],
    verdict: 'limit',
    meaning:
      'Not memory: a reservation of virtual addresses was refused (llama.cpp reserves 32 GiB for its pool). It fails on the GPU of an Orin while memory is free.',
    remedies: [advice('build llama.cpp without that pool', 'cmake -DGGML_CUDA_NO_VMM=ON …')],
  },
];
