import { flag } from '../../base/options.ts';
import { dropCaches } from '../../core/cache/index.ts';
import { DROP } from '../../core/cache/options.ts';
import { dropPage } from '../../show/render/text/cache-actions.ts';
import { type Command, finished, shown } from '../core/command.ts';
import { canAsk, confirm } from '../core/confirm.ts';
import { EXIT } from '../core/exit.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';

const ASK = { yes: flag({ help: 'Do not ask at a terminal' }) };

/** Others are refused: they are not asked first. */
const mayDrop = ({ sudo }: { sudo?: boolean | undefined }): boolean => sudo === true || process.geteuid?.() === 0;

export const cacheDropCommand: Command = {
  name: 'cache drop',
  description:
    'Level 1: page cache. Level 2: slab and every shrinker, which from driver 590 on includes the driver’s pools of freed GPU memory. Level 3: both.\n' +
    'Writes dirty pages first, with a time limit. Refuses under memory pressure: dropped pages would be read again at once. ' +
    'At a terminal it says what would become free, and asks first.\n' +
    'Exit code: 1 if the answer was no, 4 without permission (the message says what to type), 5 if refused; in all three nothing was changed.',
  options: optionTable(DROP, ASK),
  examples: [
    { command: 'umaprobe cache drop', means: 'page cache, as root' },
    { command: 'umaprobe cache drop --level 2 --sudo', means: 'freed GPU memory that the driver keeps' },
    { command: 'umaprobe cache drop --sim gb10-cached', means: 'what it does on a simulated Spark' },
  ],
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'level', pattern: /^[123]$/ } },
  async run(context) {
    const options = typedOptions(context.values, DROP, 'cache drop');
    if (options.dryRun !== true && context.values.yes !== true && canAsk(context) && mayDrop(options)) {
      const plan = await dropCaches({ ...options, dryRun: true });
      const { stderr } = context;
      for (const line of dropPage(plan, renderOptionsFor(stderr))) stderr.write(`${line}\n`);
      if (!(await confirm(context, 'Drop it now?'))) return finished(EXIT.negative);
    }
    return shown(await dropCaches(options), dropPage);
  },
};
