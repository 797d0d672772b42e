import { capitalized, formatBytes } from '../../../base/format.ts';
import { holdersText, roomText } from '../machine.ts';
import { advice, type Judge, type Message, SMALLER_QUANTISATION, words } from './message.ts';

const RAISE = advice(
  'raise the share (a higher one keeps less back), but leave about 10 GiB for graphs and kernels that it does not count',
  '--mem-fraction-static <higher>',
);

const roomAndHolders: Judge = (_, machine) => `${capitalized(roomText(machine))}.${holdersText(machine)}`;

export const SGLANG: readonly Message[] = [
  {
    code: 'sglang-mem-fraction',
    program: 'SGLang',
    anchors: ['Not enough memory. Please', 'increase --mem-fraction-static', 'try to increase --mem'],
    pattern: words`Not enough memory\. Please try to increase --mem-fraction-static`,
    fields: { memFractionStatic: /mem_fraction_static=([\d.]{1,12})/i },
    after: 100,
    verdict: 'shortage',
    meaning:
      'After the weights nothing is left for the KV cache: SGLang keeps (1 − mem-fraction-static) × the memory that was free before loading, and that alone is more than what the weights left.',
    now: roomAndHolders,
    remedies: [RAISE, SMALLER_QUANTISATION],
  },
  {
    code: 'sglang-mem-fraction',
    program: 'SGLang',
    anchors: ['rest_memory=-', 'rest_memory = -'],
    pattern: words`(?:total_)?rest_memory ?= ?(?<totalRestMemory>-{num} ?(?:GB|GiB)?)`,
    units: { totalRestMemory: 'GiB' },
    binary: true,
    verdict: 'shortage',
    meaning: (numbers) =>
      `The KV cache got ${formatBytes(numbers.get('totalRestMemory')?.bytes ?? null)}: SGLang keeps (1 − mem-fraction-static) × the memory that was free before loading. The share is relative to what was free then, so beside another program it must be higher, not lower (on a GB10 0.30 failed, 0.12 was worse, 0.80 worked).`,
    now: roomAndHolders,
    remedies: [RAISE],
  },
  {
    code: 'sglang-unbalanced',
    program: 'SGLang',
    anchors: ['memory capacity is unbalanced', 'Some GPUs may be occupied'],
    pattern: words`The memory capacity is unbalanced\. Some GPUs may be occupied by other processes`,
    fields: {
      smallestFree: /(?:pre_model_load_memory|min_per_gpu_memory)=([\d.]{1,20})/i,
      localFree: /local_gpu_memory=([\d.]{1,20})/i,
    },
    after: 250,
    units: { smallestFree: 'GiB', localFree: 'GiB' },
    verdict: 'limit',
    meaning: (numbers) => {
      const [least, local] = [numbers.get('smallestFree')?.bytes ?? null, numbers.get('localFree')?.bytes ?? null];
      const seen =
        least === null || local === null ? '' : ` (${formatBytes(least)} on one, ${formatBytes(local)} on another)`;
      return `A check before loading with tensor parallelism: the GPUs differ by more than 10 % in free memory${seen}. One has less memory, or another program uses it.`;
    },
    remedies: [advice('stop the other program, or switch the check off', 'SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK=0')],
  },
  {
    code: 'sglang-retracted',
    program: 'SGLang',
    anchors: ['Retract requests', 'cache pool is full'],
    pattern: words`KV cache pool is full\. Retract requests(?:\. #retracted_reqs: (?<requests>{int}))?`,
    verdict: 'limit',
    meaning: (_, count) =>
      `${count === 1 ? 'Requests were' : `${count} times requests were`} set back because the KV cache was full; they are computed again. Now and then that is normal. The machine’s memory is not the limit, SGLang’s pool is.`,
    remedies: [
      advice('if it is frequent, admit requests more carefully', '--schedule-conservativeness 1.3'),
      advice('or allow fewer at once', '--max-running-requests <fewer>'),
    ],
  },
  {
    code: 'sglang-runtime-oom',
    program: 'SGLang',
    anchors: ['ecode out of memory', 'refill out of memory', 'lower your batch size'],
    pattern: words`(?:Decode|Prefill) out of memory\. Try to lower your batch size`,
    verdict: 'shortage',
    meaning:
      'The KV cache is full of running requests; memory of the GPU is not the limit, its share for the KV cache is.',
    remedies: [
      advice('allow fewer requests at once', '--max-running-requests <fewer>'),
      advice('or raise the share', '--mem-fraction-static <higher>'),
    ],
  },
];
