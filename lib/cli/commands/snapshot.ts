import { hostname } from 'node:os';
import { snapshotPage } from '../../render/text/snapshot.ts';
import { snapshot } from '../../snapshot/index.ts';
import type { Command, Values } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { choice, duration, flag } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';

/** A context takes some 100 ms. A person waits for the answer: half of what the library allows is enough. */
const CHILD_DEADLINE_MS = 5000;

/** How long CUDA and NVML may take; what has not answered by then is shown as unknown, with that reason. */
export const DEADLINE = {
  type: 'string',
  placeholder: '<time>',
  summary: 'Limit for CUDA and for NVML: 10ms to 10m (default 2s); what has not answered by then is unknown',
} as const;

export function deadline(values: Values, command: string): number {
  return duration(values, 'deadline', 10, 600_000, 2000, command);
}

export const MEMGETINFO = ['auto', 'child', 'never'] as const;

export const snapshotCommand: Command = {
  name: 'snapshot',
  summary: 'Where the memory of this machine is, and what can be allocated',
  usage: '[options]',
  description:
    'Reads the kernel, CUDA and NVML once and shows one ledger that adds up to MemTotal, the two answers (free right now, after reclaim), ' +
    'what each tool would call free, and one line of judgement.\n' +
    'Creates no CUDA context in this process and changes nothing. Works without a GPU, too.',
  options: {
    bytes: { type: 'boolean', summary: 'Exact bytes instead of GiB and GB' },
    memgetinfo: {
      type: 'string',
      placeholder: '<auto|child|never>',
      summary:
        'How to read cudaMemGetInfo, which needs a CUDA context: in a short-lived child (the default), only where a context exists, or never',
    },
    deadline: DEADLINE,
  },
  examples: [
    { command: 'umaprobe', means: 'the picture' },
    { command: 'umaprobe snapshot --sim gb10-cached', means: 'a machine whose memory looks gone but is not' },
    { command: 'umaprobe snapshot --json', means: 'everything, with the origin of every number' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false },
  async run({ values }) {
    const memGetInfo = choice(values, 'memgetinfo', MEMGETINFO, 'child', 'snapshot');
    const deadlineMs = deadline(values, 'snapshot');
    const document = await snapshot({ memGetInfo, deadlineMs, childDeadlineMs: CHILD_DEADLINE_MS });
    const exact = flag(values, 'bytes');
    return {
      exitCode: EXIT.fine,
      document,
      text: (terminal) =>
        `${snapshotPage(document, renderOptionsFor(terminal, { exact, hostName: hostname() })).join('\n')}\n`,
    };
  },
};
