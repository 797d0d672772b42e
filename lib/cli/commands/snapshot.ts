import { hostname } from 'node:os';
import { snapshotPage } from '../../render/text/snapshot.ts';
import { snapshot } from '../../snapshot/index.ts';
import type { Command, Values } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { choice, duration, flag } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';

/** Half of the library's limit, since a person is waiting: creating a context takes some 100 ms. */
const CHILD_DEADLINE_MS = 5000;

export const DEADLINE = {
  type: 'string',
  placeholder: '<time>',
  summary: 'Time limit for CUDA and NVML: 10ms to 10m (default 2s); without an answer, values are unknown',
} as const;

export function deadline(values: Values, command: string): number {
  return duration(values, 'deadline', 10, 600_000, 2000, command);
}

export const MEMGETINFO = ['needed', 'child', 'auto', 'never'] as const;

export const snapshotCommand: Command = {
  name: 'snapshot',
  summary: 'Where the memory of this machine is, and what can be allocated',
  usage: '[options]',
  description:
    'Reads the kernel, CUDA and NVML once. Shows a ledger that adds up to MemTotal, what can be allocated (free right now, after reclaim), ' +
    'what each tool counts as free, and a verdict.\n' +
    'Changes nothing. Creates a CUDA context on GPUs with memory of their own, until it ends, and on unified memory none. Works without a GPU, too.',
  options: {
    bytes: { type: 'boolean', summary: 'Exact bytes instead of GiB and GB' },
    memgetinfo: {
      type: 'string',
      placeholder: '<needed|child|auto|never>',
      summary:
        'How to read cudaMemGetInfo, which needs a CUDA context: for GPUs with memory of their own only (needed, the default); for all, in a short-lived child (child); only if a context exists (auto); or never',
    },
    deadline: DEADLINE,
  },
  examples: [
    { command: 'umaprobe', means: 'the memory of this machine' },
    { command: 'umaprobe snapshot --sim gb10-cached', means: 'a machine whose memory is full of page cache' },
    { command: 'umaprobe snapshot --json', means: 'everything, with the origin of every number' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false },
  async run({ values }) {
    const memGetInfo = choice(values, 'memgetinfo', MEMGETINFO, 'needed', 'snapshot');
    const deadlineMs = deadline(values, 'snapshot');
    const document = await snapshot({
      // This process ends soon, and its contexts with it.
      memGetInfo: memGetInfo === 'needed' ? 'neededInProcess' : memGetInfo,
      deadlineMs,
      childDeadlineMs: CHILD_DEADLINE_MS,
      hiddenDevices: true,
    });
    const exact = flag(values, 'bytes');
    return {
      exitCode: EXIT.success,
      document,
      text: (terminal) => snapshotPage(document, renderOptionsFor(terminal, { exact, hostName: hostname() })),
    };
  },
};
