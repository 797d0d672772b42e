import { ANY_BYTES } from '../../base/limits.ts';
import { prepare } from '../../core/cache/index.ts';
import { DEFAULT_FLOOR_TEXT } from '../../core/memory/floor.ts';
import { preparePage } from '../../show/render/text/prepare.ts';
import { type Command, type Context, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { flag, size, sizeOf, text, texts } from '../core/options.ts';
import { UsageError } from '../core/usage.ts';
import { SUDO } from './cache-shared.ts';

export const prepareCommand: Command = {
  name: 'prepare',
  usage: '<size> [options]',
  description:
    'Measures, takes the mildest step that helps, measures again, and stops as soon as the size can be allocated at once above the floor for the host. The steps: ' +
    'evict model files that no process uses; drop page cache (level 1); drop slab and driver pools (level 2); compact. The last three need root or --sudo; a step that is not allowed is skipped, with the reason.\n' +
    'Verdict: enough, after-reclaim (only once the kernel has given back files in cache), not-enough. Exit code: 0 for enough, else 1. With --dry-run nothing is changed, and 0 means that the plan reaches enough.',
  options: {
    bytes: { type: 'string', placeholder: '<size>', summary: 'The size, as an option' },
    path: {
      type: 'string',
      list: true,
      placeholder: '<path>',
      summary: 'Evict only this file or folder instead of the model stores; may be given more than once',
    },
    floor: {
      type: 'string',
      placeholder: '<size>',
      summary: `Memory kept for the host (default: ${DEFAULT_FLOOR_TEXT}, at most a quarter)`,
    },
    'dry-run': { type: 'boolean', summary: 'Show the plan, and change nothing' },
    sudo: SUDO,
  },
  examples: [
    { command: 'umaprobe prepare 60GiB --dry-run', means: 'the plan only' },
    { command: 'umaprobe prepare 100GiB', means: 'before a launch, as root' },
    { command: 'umaprobe prepare 100GiB --sim gb10-cached', means: 'on a simulated Spark full of page cache' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 1, afterDashes: false },
  async run({ values, positionals }) {
    const bytes = requestedBytes({ values, positionals });
    const floor = size(values, 'floor', 'prepare', ANY_BYTES);
    const paths = texts(values, 'path');
    const report = await prepare({
      bytes,
      dryRun: flag(values, 'dry-run'),
      sudo: flag(values, 'sudo'),
      ...(floor === undefined ? {} : { floorBytes: floor }),
      ...(paths === undefined ? {} : { paths }),
    });
    const enough = report.verdict === 'enough' || report.verdict === 'planned';
    return shown(report, preparePage, enough ? EXIT.success : EXIT.negative);
  },
};

function requestedBytes({ values, positionals: [word] }: Pick<Context, 'values' | 'positionals'>): number {
  const option = text(values, 'bytes');
  if (word !== undefined && option !== undefined)
    throw new UsageError(`The size is given twice: "${word}" and --bytes "${option}".`, 'prepare');
  const size = word ?? option;
  if (size === undefined) throw new UsageError('A size is missing, such as 100GiB.', 'prepare');
  return sizeOf(size, word === undefined ? '--bytes' : 'The size', 'prepare');
}
