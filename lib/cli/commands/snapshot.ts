import { hostname } from 'node:os';
import { flag } from '../../base/options.ts';
import { snapshot } from '../../core/snapshot/index.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import { snapshotPage } from '../../show/render/text/snapshot.ts';
import { type Command, shown } from '../core/command.ts';
import { begunReading, PLAIN_READING } from '../core/early-reading.ts';
import { EXIT } from '../core/exit.ts';
import { DEADLINE, EXACT, limitsOf, memGetInfo } from '../core/reading-options.ts';
import { optionTable, ownOptions } from '../core/typed-options.ts';

const OPTIONS = {
  full: flag({ help: 'Every counter: the whole ledger, tools, processes, pressure, free blocks, libraries' }),
  ...EXACT,
  memGetInfo: memGetInfo(
    'needed',
    'How to read cudaMemGetInfo, which needs a CUDA context: for GPUs with memory of their own only (needed, the default); for all, in a short-lived child (child); only if a context exists (auto); or never',
  ),
  ...DEADLINE,
};

export const snapshotCommand: Command = {
  name: 'snapshot',
  description:
    'Reads the kernel, CUDA and NVML once. Shows how much a program can load, what is free this instant and which tools see only that, and where the rest is. ' +
    '--full shows every counter: a ledger that adds up to MemTotal, and what each tool counts as free.\n' +
    'Changes nothing. Creates a CUDA context on GPUs with memory of their own, until it ends, and on unified memory none. Works without a GPU, too.',
  options: optionTable(OPTIONS),
  examples: [
    { command: 'umaprobe', means: 'the memory of this machine' },
    { command: 'umaprobe snapshot --sim gb10-cached', means: 'a machine whose memory is full of page cache' },
    { command: 'umaprobe --full', means: 'every counter, tool, process and library' },
    { command: 'umaprobe snapshot --json', means: 'everything, with the origin of every number' },
  ],
  async run({ values }) {
    const { exact, full, memGetInfo, ...limits } = ownOptions(values, OPTIONS, 'snapshot');
    const document = await (begunReading() ??
      snapshot({
        ...PLAIN_READING,
        memGetInfo: memGetInfo === 'needed' ? PLAIN_READING.memGetInfo : memGetInfo,
        ...limitsOf(limits),
      }));
    const page = (_: object, options: RenderOptions) => snapshotPage(document, options, { full });
    return shown(document, page, EXIT.success, { exact, hostName: hostname() });
  },
};
