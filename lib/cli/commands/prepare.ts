import { prepare } from '../../cache/index.ts';
import { preparePage } from '../../render/text/prepare.ts';
import type { Command, Context } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { flag, size, sizeOf, text } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { UsageError } from '../core/usage.ts';
import { SUDO } from './cache-shared.ts';

export const prepareCommand: Command = {
  name: 'prepare',
  summary: 'Makes room before a model is loaded: evicts, drops, compacts, as much as is needed',
  usage: '<size> [options]',
  description:
    'Measures, then takes the gentlest step that helps, measures again, and stops as soon as the size and the floor for the host can be had at once: ' +
    'evict model files that nobody uses; drop page cache (level 1); drop slab and driver pools (level 2); compact. The last three take root or --sudo; a step that is not allowed is skipped and said.\n' +
    'Verdict: enough, after-reclaim (only once the kernel has taken page cache back), not-enough. Exit code: 0 for enough, else 1. With --dry-run nothing is changed, and 0 means that the plan ends with enough.',
  options: {
    bytes: { type: 'string', placeholder: '<size>', summary: 'The size, instead of as a word' },
    path: {
      type: 'string',
      placeholder: '<path>',
      summary: 'Evict from this file or folder only, not from the model stores',
    },
    floor: {
      type: 'string',
      placeholder: '<size>',
      summary: 'What the host keeps (default: the larger of 8 GiB and 7 % of memory, at most a quarter)',
    },
    'dry-run': { type: 'boolean', summary: 'Say what would be done, and change nothing' },
    sudo: SUDO,
  },
  examples: [
    { command: 'umaprobe prepare 60GiB --dry-run', means: 'what would it take?' },
    { command: 'umaprobe prepare 100GiB', means: 'the one call before a launch, as root' },
    { command: 'umaprobe prepare 100GiB --sim gb10-cached', means: 'on a simulated Spark full of page cache' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 1, afterDashes: false },
  async run({ values, positionals }) {
    const bytes = wanted({ values, positionals });
    const floor = size(values, 'floor', 'prepare', 0);
    const path = text(values, 'path');
    const report = await prepare({
      bytes,
      dryRun: flag(values, 'dry-run'),
      sudo: flag(values, 'sudo'),
      ...(floor === undefined ? {} : { floor }),
      ...(path === undefined ? {} : { paths: [path] }),
    });
    const enough = report.verdict === 'enough' || report.verdict === 'planned';
    return {
      exitCode: enough ? EXIT.fine : EXIT.no,
      document: report,
      text: (terminal) => preparePage(report, renderOptionsFor(terminal)),
    };
  },
};

function wanted({ values, positionals: [word] }: Pick<Context, 'values' | 'positionals'>): number {
  const option = text(values, 'bytes');
  if (word !== undefined && option !== undefined)
    throw new UsageError(`The size is given twice: "${word}" and --bytes "${option}".`, 'prepare');
  const size = word ?? option;
  if (size === undefined) throw new UsageError('How much room? Name a size, such as 100GiB.', 'prepare');
  return sizeOf(size, word === undefined ? '--bytes' : 'The size', 'prepare');
}
