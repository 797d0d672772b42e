import { formatBytes, formatCount } from '../../../base/format.ts';
import type { ErrorRemedy } from '../../../types/index.ts';
import { type ExplainMachine, fitText, holdersText, otherGpu, roomText } from '../machine.ts';
import { advice, type Message, type Numbers, room, roomAndCondition, SMALLER_QUANTISATION, words } from './message.ts';

const RESTART = advice(
  'start vLLM again when nothing else on the machine loads or ends, or skip the profiling by giving the size of the KV cache',
  '--kv-cache-memory-bytes <bytes>',
);

function kvNow(numbers: Numbers, machine: ExplainMachine): string | null {
  const [needed, available] = [numbers.get('kvNeeded')?.bytes ?? null, numbers.get('kvAvailable')?.bytes ?? null];
  if (needed === null || available === null) return null;
  return fitText(`${formatBytes(needed - available)} more are needed`, needed - available, machine);
}

function kvRemedies(numbers: Numbers): ErrorRemedy[] {
  const longest = numbers.get('estMaxLen')?.value ?? null;
  return [
    ...(longest === null ? [] : [advice('use the context that fits', `--max-model-len ${longest}`)]),
    advice('or give vLLM a larger share, if so much is free', '--gpu-memory-utilization <higher>'),
    advice('or halve the KV cache', '--kv-cache-dtype fp8'),
  ];
}

const KV_TOO_SMALL = {
  code: 'vllm-kv-too-small',
  program: 'vLLM',
  fields: { estMaxLen: /estimated maximum model length is (\d{1,12})/i },
  after: 200,
  verdict: 'shortage',
  meaning: (numbers) => {
    const [needed, available] = [numbers.get('kvNeeded')?.bytes ?? 0, numbers.get('kvAvailable')?.bytes ?? 0];
    const longest = numbers.get('maxModelLen');
    const request = longest === undefined ? 'the longest context' : `${formatCount(longest.value)} tokens`;
    return `The weights fit; the rest of vLLM’s share is ${formatBytes(needed - available)} too small for one request of ${request}.`;
  },
  now: kvNow,
  remedies: kvRemedies,
} satisfies Partial<Message>;

export const VLLM: readonly Message[] = [
  {
    code: 'vllm-profiling-memory-grew',
    program: 'vLLM',
    anchors: ['memory profiling', 'Initial free memory', 'current free memory', 'while vLLM is profiling'],
    pattern: words`Error in memory profiling\. Initial free memory (?<initialFree>{size}),? current free memory (?<currentFree>{size})`,
    verdict: 'misread',
    meaning: (numbers) => {
      const [initial, current] = [numbers.get('initialFree')?.bytes, numbers.get('currentFree')?.bytes];
      return initial === current
        ? 'Not a lack of memory. Free memory was exactly the same before and after profiling, and vLLM before 0.16 (PR 33358) took that for an error.'
        : 'Not a lack of memory: free memory grew while vLLM measured. Another program ended, or the kernel gave back page cache, which is enough on a GPU that shares the host’s memory.';
    },
    remedies: [RESTART],
  },
  {
    code: 'vllm-startup-free-memory',
    program: 'vLLM',
    anchors: ['Free memory on device', 'desired GPU memory', 'GPU memory utilization ('],
    pattern: words`Free memory on device(?: (?<device>[a-z]{2,10}:\d{1,3}))? \((?:(?<free>{num}) ?/ ?(?<total>{num}) ?GiB|[^)]{0,40})\)(?: on startup)? is less than(?: the)? desired GPU memory utilization(?: \((?<util>{num}), (?<needed>{num}) ?GiB\))?`,
    units: { free: 'GiB', total: 'GiB', needed: 'GiB' },
    verdict: 'shortage',
    meaning: (numbers) => {
      const free = numbers.get('free')?.bytes ?? null;
      const needed = numbers.get('needed')?.bytes ?? null;
      if (free === null || needed === null)
        return 'vLLM reserves gpu-memory-utilization × total at its start, and less than that was free. The numbers are cut out of this text: paste the whole line to compare them.';
      return `vLLM reserves gpu-memory-utilization × total = ${formatBytes(needed)} at its start, whatever the model needs, and only ${formatBytes(free)} were free: ${formatBytes(needed - free)} too little. Something else held the memory; on a GPU that shares the host’s memory that can be any program, and before PR 35356 (February 2026) vLLM counted page cache there, too.`;
    },
    now(numbers, machine) {
      const other = otherGpu(numbers.get('total')?.bytes, machine);
      if (other !== null) return other;
      const needed = numbers.get('needed')?.bytes ?? null;
      const view = machine.device?.views.vllm ?? null;
      if (needed === null || view === null) return null;
      if (view >= needed)
        return `vLLM would read ${formatBytes(view)} free here now, and need ${formatBytes(needed)}: it would start.`;
      return `vLLM would read ${formatBytes(view)} free here now, and need ${formatBytes(needed)}: still ${formatBytes(needed - view)} too little.${holdersText(machine)}`;
    },
    remedies(numbers, machine) {
      const total = numbers.get('total')?.bytes ?? null;
      const view = machine?.device?.views.vllm ?? null;
      const here = machine !== null && total !== null && otherGpu(total, machine) === null && view !== null;
      const free = here ? view : (numbers.get('free')?.bytes ?? null);
      const needed = numbers.get('needed')?.bytes ?? null;
      if (here && needed !== null && view >= needed) return [advice('start it again')];
      const lower = utilizationFor(free, total);
      return [
        ...(lower === null
          ? []
          : [advice(`ask for less than is free${here ? ' now' : ''}`, `--gpu-memory-utilization ${lower}`)]),
        advice('or stop what holds the memory: see who does', 'umaprobe snapshot'),
      ];
    },
  },
  {
    ...KV_TOO_SMALL,
    anchors: [
      'KV cache is needed',
      'serve at least one request',
      'available KV cache memory (',
      'estimated maximum model length',
    ],
    pattern: words`To serve at least one request with the models?'?s? max seq len \(?(?<maxModelLen>{int})\)?,? \(?(?<kvNeeded>{size}) ?KV cache is needed,? which is larger than the available KV cache memory \((?<kvAvailable>{size})\)`,
  },
  {
    // The same with its beginning cut off, as a search for "KV cache is needed" leaves it.
    ...KV_TOO_SMALL,
    anchors: ['KV cache is needed', 'available KV cache memory ('],
    pattern: words`(?<kvNeeded>{size}) ?KV cache is needed,? which is larger than the available KV cache memory \((?<kvAvailable>{size})\)`,
  },
  {
    code: 'vllm-kv-too-small',
    program: 'vLLM',
    anchors: ['maximum number of tokens that can be', 'max seq len ('],
    pattern: words`model's max seq len \((?<maxModelLen>{int})\) is larger than the maximum number of tokens that can be stored in(?: the)? KV cache \((?<estMaxLen>{int})\)`,
    verdict: 'shortage',
    meaning: (numbers) =>
      `The weights fit; the rest of vLLM’s share holds ${formatCount(numbers.get('estMaxLen')?.value ?? null)} tokens, less than one request of ${formatCount(numbers.get('maxModelLen')?.value ?? null)}.`,
    remedies: (numbers) => [
      advice('use the context that fits', `--max-model-len ${numbers.get('estMaxLen')?.value ?? '<tokens>'}`),
      advice('or give vLLM a larger share, if so much is free', '--gpu-memory-utilization <higher>'),
    ],
  },
  {
    code: 'vllm-no-kv-blocks',
    program: 'vLLM',
    anchors: ['for the cache blocks', 'No available memory', 'when initializing the engine'],
    pattern: words`No available memory for the cache blocks`,
    before: 400,
    fields: {
      gpuBlocks: /# (?:GPU|cuda) blocks: (\d{1,12})/i,
      cpuBlocks: /# CPU blocks: (\d{1,12})/i,
      kvAvailable: /Available KV cache memory: (-?[\d.]{1,12} GiB)/i,
    },
    verdict: 'shortage',
    meaning:
      'Weights and the measured peak take all of gpu-memory-utilization × total, so nothing is left for the KV cache. A higher share helps only if that much is free; else the model is too large for this setting.',
    now: (_, machine) =>
      machine.afterReclaim === null || machine.gpuTotal === null
        ? null
        : `${formatBytes(machine.afterReclaim)} of ${formatBytes(machine.gpuTotal)} are free for vLLM here now, a share of at most ${utilizationFor(machine.afterReclaim, machine.gpuTotal)}.`,
    remedies: [
      advice('give vLLM a larger share, if so much is free', '--gpu-memory-utilization <higher>'),
      advice('or lower the peak that it measures', '--max-num-batched-tokens 2048 --max-num-seqs 16'),
      SMALLER_QUANTISATION,
    ],
  },
  {
    code: 'vllm-no-kv-blocks',
    program: 'vLLM',
    anchors: ['Available KV cache memory: -'],
    pattern: words`Available KV cache memory: (?<kvAvailable>-{num} ?GiB)`,
    verdict: 'shortage',
    meaning:
      'Weights and the measured peak take more than gpu-memory-utilization × total, so nothing is left for the KV cache.',
    remedies: [
      advice('give vLLM a larger share, if so much is free', '--gpu-memory-utilization <higher>'),
      advice('or lower the peak that it measures', '--max-num-batched-tokens 2048 --max-num-seqs 16'),
    ],
  },
  {
    code: 'vllm-preempted',
    program: 'vLLM',
    anchors: ['not enough KV cache space', 'is preempted by'],
    pattern: words`preempted by (?:PreemptionMode\.)?(?<mode>\w{1,20}) mode because there is not enough KV cache space`,
    fields: { preemptions: /total(?:_num)?_cumulative_preemption(?:_cnt)?=(\d{1,12})/i },
    verdict: 'limit',
    meaning: (_, count) =>
      `${count === 1 ? 'A request was' : `Requests were ${formatCount(count)} times`} set back because vLLM’s KV cache was full. It is computed again later: slow, and no error. The machine’s memory is not the limit, vLLM’s share for the cache is.`,
    remedies: [
      advice('admit fewer requests at once', '--max-num-seqs <fewer>'),
      advice('or give vLLM a larger share, if so much is free', '--gpu-memory-utilization <higher>'),
      advice('or halve the KV cache', '--kv-cache-dtype fp8'),
    ],
  },
  {
    code: 'vllm-warmup-oom',
    program: 'vLLM',
    anchors: ['occurred when warming up', 'warming up sampler'],
    pattern: words`CUDA out of memory occurred when warming up sampler with (?<requests>{int}) dummy requests`,
    absorbs: ['torch-cuda-oom', 'cuda-out-of-memory'],
    verdict: 'shortage',
    meaning:
      'The KV cache took nearly all of vLLM’s share, and the sampler’s first run, which is not in that budget, found nothing left.',
    remedies: [advice('leave room beside the KV cache', '--max-num-seqs 64 --gpu-memory-utilization <lower>')],
  },
  {
    code: 'vllm-rpc-timeout',
    program: 'vLLM',
    anchors: ['RPC call to sample_tokens', 'RPC call to execute_model'],
    pattern: words`RPC call to (?<call>sample_tokens|execute_model) timed out`,
    verdict: 'unclear',
    meaning:
      'A worker gave no answer within VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS (300 by default). The line does not say why: a kernel or a collective that hangs, a worker that was killed, or, on a machine whose memory is full, a worker that waits for pages.',
    now: roomAndCondition,
    remedies: [
      advice('look for a killed worker, an Xid or memory pressure at that time', 'sudo dmesg -T | tail -100', true),
      advice('then watch memory while it serves', 'umaprobe watch'),
    ],
  },
  {
    code: 'instanttensor-budget',
    program: 'InstantTensor',
    anchors: ['exceeds device memory budget'],
    pattern: words`buffer_size \((?<bufferSize>{size})\) exceeds device memory budget \((?<budget>{size})\)`,
    verdict: 'misread',
    meaning: (numbers) =>
      `vLLM’s loader InstantTensor may use a share of what cudaMemGetInfo calls free, ${formatBytes(numbers.get('budget')?.bytes ?? 0)} then, less than its buffer of ${formatBytes(numbers.get('bufferSize')?.bytes ?? 0)}. On a GPU that shares the host’s memory, page cache counts as used there: after a download or a copy of the weights it is what is in the way. On a GPU with its own memory it is a real shortage.`,
    now: (_, machine) => {
      const free = machine.device?.views.torch ?? null;
      return free === null
        ? null
        : `cudaMemGetInfo would say ${formatBytes(free)} free here now; ${roomText(machine)}.`;
    },
    remedies: [
      advice('drop the page cache before the start', 'umaprobe prepare <size>'),
      advice('or load another way', '--load-format safetensors'),
      advice('or use a smaller buffer', 'INSTANTTENSOR_BUFFER_SIZE=268435456'),
    ],
  },
  {
    code: 'sparkrun-capacity',
    program: 'sparkrun',
    anchors: ['cluster has insufficient free capacity'],
    pattern: words`cluster has insufficient free capacity for (?<nodes>{int}) node`,
    fields: { placed: /only placed (\d{1,6}) of \d{1,6} ranks?/i, ranks: /only placed \d{1,6} of (\d{1,6}) ranks?/i },
    verdict: 'misread',
    meaning:
      'sparkrun’s own plan, before anything was started: its estimate for one node is above the share of memory that it allows itself. It is no measurement: idle nodes were refused so (issue 297, version 0.3.9).',
    now: room,
    remedies: [
      advice('compare the model with what is free on each node', 'umaprobe fit <model> --for vllm'),
      advice('see what the nodes hold', 'sparkrun cluster status'),
    ],
  },
  {
    code: 'vllm-engine-core-died',
    program: 'vLLM',
    anchors: ['ngine core initialization failed', 'Failed core proc(s)'],
    // Excludes the line of code that raises it, which a traceback shows.
    pattern: words`(?<!["'(])Engine core initialization failed\.(?: See root cause above\.)?(?: Failed core proc\(s\): ?\{[^}]{0,200}\})?`,
    notBefore: /\b[A-Z]\w{2,40}(?:Error|Exception): /,
    verdict: 'unclear',
    meaning:
      'The engine’s process ended without an error of its own in this text. With an error above it that one is the cause; without one the process was killed, on a machine with unified memory often because loading exhausted it (vLLM before 0.24, PR 45179). The line alone proves nothing.',
    now: (_, machine) =>
      machine.afterReclaim === null
        ? null
        : `${formatBytes(machine.afterReclaim)} can be allocated here now.${holdersText(machine)}`,
    remedies: [
      advice(
        'look for the first error above it, and for kills in the kernel’s log',
        'sudo dmesg -T | grep -iE "oom|killed process|NVRM"',
        true,
      ),
      advice('then see whether the memory came back', 'umaprobe snapshot'),
    ],
  },
];

/** A share of the total that leaves 2 % of it; null: nothing is free, or it is not known. */
function utilizationFor(free: number | null, total: number | null): string | null {
  if (free === null || total === null || total <= 0) return null;
  const share = Math.floor((free / total - 0.02) * 100) / 100;
  return share < 0.05 ? null : share.toFixed(2);
}
