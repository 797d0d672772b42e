import { reclaim } from '../../core/cache/index.ts';
import { RECLAIM } from '../../core/cache/options.ts';
import { reclaimPage } from '../../show/render/text/cache-actions.ts';
import { type Command, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { sizeOf } from '../core/options.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';

export const cacheReclaimCommand: Command = {
  name: 'cache reclaim',
  usage: '<size> [options]',
  description:
    'Works without root for a cgroup that this user owns. The kernel takes back files in cache that its programs read, and memory that can be swapped. CUDA memory belongs to no cgroup and stays. ' +
    'Needs cgroup v2 and Linux 5.19.\n' +
    'Exit code: 1 if the kernel took less than requested.',
  options: optionTable(RECLAIM),
  examples: [
    { command: 'umaprobe cache reclaim 8GiB', means: 'from the programs of this session' },
    {
      command: 'umaprobe cache reclaim 8GiB --cgroup /user.slice/user-1000.slice/user@1000.service/app.slice',
      means: 'from the programs of another cgroup',
    },
  ],
  arguments: { min: 1, max: 1, afterDashes: false },
  async run({ values, positionals: [word = ''] }) {
    const bytes = sizeOf(word, 'The size', 'cache reclaim');
    const report = await reclaim({ ...typedOptions(values, RECLAIM, 'cache reclaim'), bytes });
    return shown(report, reclaimPage, report.short ? EXIT.negative : EXIT.success);
  },
};
