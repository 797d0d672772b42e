import { prepare } from '../../core/cache/index.ts';
import { PREPARE } from '../../core/cache/options.ts';
import { preparePage } from '../../show/render/text/prepare.ts';
import { type Command, type OptionValues, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { sizeOf } from '../core/options.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';

const NAME = 'prepare';

export const prepareCommand: Command = {
  name: NAME,
  usage: '<size> [options]',
  description:
    'Measures, takes the mildest step that helps, measures again, and stops as soon as the size can be allocated at once above the floor for the host. The steps: ' +
    'evict model files that no process uses; drop page cache (level 1); drop slab and driver pools (level 2); compact. The last three need root or --sudo; a step that is not allowed is skipped, with the reason.\n' +
    'Verdict: enough, after-reclaim (only once the kernel has given back files in cache), not-enough. Exit code: 0 for enough, else 1. With --dry-run nothing is changed, and 0 means that the plan reaches enough.',
  options: optionTable(PREPARE),
  examples: [
    { command: 'umaprobe prepare 60GiB --dry-run', means: 'the plan only' },
    { command: 'umaprobe prepare 100GiB', means: 'before a launch, as root' },
    { command: 'umaprobe prepare 100GiB --sim gb10-cached', means: 'on a simulated Spark full of page cache' },
  ],
  arguments: { min: 0, max: 1, afterDashes: false },
  async run({ values, positionals }) {
    const options = typedOptions(values, PREPARE, NAME);
    const report = await prepare({ ...options, bytes: requestedBytes(options.bytes, values, positionals) });
    const enough = report.verdict === 'enough' || report.verdict === 'planned';
    return shown(report, preparePage, enough ? EXIT.success : EXIT.negative);
  },
};

function requestedBytes(option: number | undefined, values: OptionValues, [word]: readonly string[]): number {
  if (word !== undefined && option !== undefined)
    throw new UsageError(`The size is given twice: "${word}" and --bytes "${values.bytes}".`);
  if (word !== undefined) return sizeOf(word, 'The size', NAME);
  if (option === undefined) throw new UsageError('A size is missing, such as 100GiB.');
  return option;
}
