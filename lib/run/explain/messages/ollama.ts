import { formatBytes } from '../../../base/format.ts';
import { DROP_PAGE_CACHE } from '../../../core/memory/remedies.ts';
import { advice, fits, type Message, room, WHO_KILLED_IT, words } from './message.ts';

const DROP = advice('give page cache back, if it counts as used there', DROP_PAGE_CACHE, true);

const INSUFFICIENT = {
  code: 'ollama-insufficient',
  program: 'Ollama',
  verdict: 'misread',
  meaning(numbers) {
    const [required, available] = [numbers.get('required')?.bytes ?? null, numbers.get('available')?.bytes ?? null];
    if (required === null || available === null)
      return 'The model needs more than the program found available. The numbers are cut out of this text.';
    const by =
      required > available ? `${formatBytes(required - available)} more than` : 'as much as, but for rounding,';
    return `The model needs ${by} the ${formatBytes(available)} that the program found available. Versions that leave out page cache (seen on Jetson Thor) refuse models that fit.`;
  },
  now: fits('are needed', 'required'),
  remedies: [
    DROP,
    advice('or unload the model that is still there', 'ollama ps; ollama stop <model>'),
    advice('or use a smaller context', 'OLLAMA_CONTEXT_LENGTH=8192'),
  ],
} satisfies Partial<Message>;

const GUARDRAIL = {
  code: 'lmstudio-guardrail',
  program: 'LM Studio',
  verdict: 'misread',
  meaning:
    'LM Studio’s guardrail estimated before loading that the model does not fit; nothing was allocated. It counts a model that is about to be unloaded as still there, and plans with the largest context that is set.',
  now: fits('are needed', 'required'),
  remedies: [
    advice('unload other models first, or choose a smaller context', 'lms unload --all'),
    advice('or relax the guardrail in the settings; on unified memory leave 8 GiB free'),
  ],
} satisfies Partial<Message>;

export const OLLAMA: readonly Message[] = [
  {
    ...INSUFFICIENT,
    anchors: ['request too large for system'],
    pattern: words`model request too large for system`,
    fields: {
      required: /requested="?([\d.]{1,10} ?[KMGT]?i?B)"?/i,
      available: /available="?([\d.]{1,10} ?[KMGT]?i?B)"?/i,
      total: /total="?([\d.]{1,10} ?[KMGT]?i?B)"?/i,
    },
    after: 300,
    followUps: /requires more system memory \([^)]{1,20}\) than is available \([^)]{1,20}\)/i,
  },
  {
    ...INSUFFICIENT,
    anchors: ['requires more system memory', 'more system memory', 'than is available'],
    pattern: words`requires more system memory(?: \((?<required>{size})\))? than is(?: currently)? available(?: \((?<available>{size})\))?`,
  },
  {
    ...INSUFFICIENT,
    program: 'NemoClaw',
    anchors: ['available" RAM (', 'total unified memory', 'of total unified'],
    pattern: words`reject(?:s|ed)? [^()]{1,80}\((?<required>{size})\)[^()]{1,80}available["”']? RAM \((?<available>{size})\)`,
  },
  {
    code: 'ollama-cpu-fallback',
    program: 'Ollama',
    anchors: ['inference compute'],
    pattern: words`inference compute"? id="?cpu\b`,
    before: 600,
    near: /out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation/i,
    absorbs: ['cuda-out-of-memory'],
    verdict: 'consequence',
    meaning:
      'Ollama looked for the GPU while another program held its memory, found none, and stays on the CPU until it is restarted.',
    now: (_, machine) =>
      machine.afterReclaim === null
        ? null
        : `${formatBytes(machine.afterReclaim)} can be allocated on the GPU now${machine.device === undefined ? '' : ': a restart may find it'}.`,
    remedies: [advice('free the memory first, then restart Ollama', 'sudo systemctl restart ollama', true)],
  },
  {
    code: 'ollama-no-layers',
    program: 'Ollama',
    anchors: ['insufficient VRAM to load', 'too little memory to allocate'],
    // Excludes the line of code that prints it, and a list of patterns.
    pattern: words`\bmsg"?[=:] ?"?(?:gpu has too little memory to allocate any layers|insufficient VRAM to load any model layers)`,
    fields: {
      available: /available="?\[?"?([\d.]{1,10} ?[KMGT]?i?B)/i,
      layer: /layer_size="?([\d.]{1,10} ?[KMGT]?i?B)/i,
      total: /total="?([\d.]{1,10} ?[KMGT]?i?B)/i,
    },
    followUps: /msg"?[=:] ?"?insufficient VRAM to load any model layers/i,
    absorbs: ['ollama-no-layers'],
    verdict: 'unclear',
    meaning(numbers) {
      const [available, layer] = [numbers.get('available')?.bytes ?? null, numbers.get('layer')?.bytes ?? null];
      const sizes =
        available === null
          ? ''
          : ` It counted ${formatBytes(available)} as available${layer === null ? '' : `, and a layer takes ${formatBytes(layer)}`}.`;
      return `In one of the layouts that Ollama tries, not even one layer found room on the GPU beside the context.${sizes} If the model is loaded after all, look at its last line "offloaded n/m layers"; 0 means the CPU.`;
    },
    now: room,
    remedies: [
      advice('see where the model is', 'ollama ps'),
      DROP,
      advice('or use a smaller context', 'OLLAMA_CONTEXT_LENGTH=8192'),
    ],
  },
  {
    code: 'ollama-runner-killed',
    program: 'Ollama',
    anchors: ['runner process has terminated'],
    pattern: words`runner process has terminated: signal: killed`,
    verdict: 'unclear',
    meaning:
      'The process that runs the model was killed from outside, nearly always by the kernel for lack of memory. The kernel’s own lines say whose.',
    now: room,
    remedies: [WHO_KILLED_IT, advice('use a smaller context, or a smaller quantisation', 'OLLAMA_CONTEXT_LENGTH=8192')],
  },
  {
    code: 'ollama-vram-wait',
    program: 'Ollama',
    anchors: ['VRAM usage didn'],
    pattern: words`VRAM usage didn'?t recover within timeout`,
    fields: {
      seconds: /seconds="?([\d.]{1,12})/i,
      size: /runner\.size="?([\d.]{1,10} ?[KMGT]?i?B)"?/i,
      vram: /runner\.vram="?([\d.]{1,10} ?[KMGT]?i?B)"?/i,
    },
    after: 300,
    verdict: 'harmless',
    meaning:
      'After a model was unloaded free memory did not rise by its size within 5 seconds. On a GPU that shares the host’s memory it need not: other programs and the page cache take it. Ollama goes on; if a load fails next, look at that error.',
    now: room,
    remedies: [advice('see what is still loaded', 'ollama ps')],
  },
  {
    code: 'ollama-layout',
    program: 'Ollama',
    anchors: ['memory layout cannot be'],
    pattern: words`memory layout cannot be allocated(?: with num_gpu ?= ?(?<numGpu>{int}))?`,
    verdict: 'shortage',
    meaning: 'num_gpu asks for more layers on the GPU than fit beside the context.',
    remedies: [advice('leave num_gpu out, or use a smaller context', 'OLLAMA_CONTEXT_LENGTH=8192'), DROP],
  },
  {
    ...GUARDRAIL,
    anchors: ['insufficient system resources', 'Model loading was stopped'],
    pattern: words`(?:Model )?loading was stopped due to insufficient system resources`,
    fields: { required: /requires approximately ([\d.]{1,10} [KMGT]i?B)/i },
    followUps: /requires approximately [\d.]{1,10} [KMGT]i?B of memory/i,
  },
  {
    ...GUARDRAIL,
    anchors: ['Not enough resources to load', 'with the current settings'],
    pattern: words`Not enough resources to load the model with the current settings`,
  },
];
