import { dropCaches } from '../../core/cache/index.ts';
import { DROP } from '../../core/cache/options.ts';
import { dropPage } from '../../show/render/text/cache-actions.ts';
import { type Command, shown } from '../core/command.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';

export const cacheDropCommand: Command = {
  name: 'cache drop',
  description:
    'Level 1: page cache. Level 2: slab and every shrinker, which from driver 590 on includes the driver’s pools of freed GPU memory. Level 3: both.\n' +
    'Writes dirty pages first, with a time limit. Refuses under memory pressure: dropped pages would be read again at once.\n' +
    'Exit code: 4 without permission (the message says what to type), 5 if refused; in both cases nothing was changed.',
  options: optionTable(DROP),
  examples: [
    { command: 'umaprobe cache drop --level 1', means: 'page cache only, as root' },
    { command: 'umaprobe cache drop --level 2 --sudo', means: 'freed GPU memory that the driver keeps' },
    { command: 'umaprobe cache drop --sim gb10-cached', means: 'what it does on a simulated Spark' },
  ],
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'level', pattern: /^[123]$/ } },
  async run({ values }) {
    const report = await dropCaches(typedOptions(values, DROP, 'cache drop'));
    return shown(report, dropPage);
  },
};
