import { LIMITS } from '../../base/limits.ts';
import { dropCaches } from '../../core/cache/index.ts';
import { dropPage } from '../../show/render/text/cache-actions.ts';
import { type Command, shown } from '../core/command.ts';
import { choice, duration, durationRange, flag } from '../core/options.ts';
import { SUDO } from './cache-shared.ts';

const LEVELS = { '1': 1, '2': 2, '3': 3 } as const;

export const cacheDropCommand: Command = {
  name: 'cache drop',
  usage: '[options]',
  description:
    'Level 1: page cache. Level 2: slab and every shrinker, which from driver 590 on includes the driver’s pools of freed GPU memory. Level 3: both.\n' +
    'Writes dirty pages first, with a time limit. Refuses under memory pressure: dropped pages would be read again at once.\n' +
    'Exit code: 4 without permission (the message says what to type), 5 if refused; in both cases nothing was changed.',
  options: {
    level: { type: 'string', placeholder: '<1|2|3>', summary: 'What to drop (default 3)' },
    'no-sync': { type: 'boolean', summary: 'Do not write dirty pages first; they stay cached' },
    'sync-limit': {
      type: 'string',
      placeholder: '<time>',
      summary: `Time limit for writing: ${durationRange(LIMITS.syncLimitMs)} (default 60s); pages still dirty then stay cached`,
    },
    sudo: SUDO,
    force: { type: 'boolean', summary: 'Drop even under memory pressure' },
  },
  examples: [
    { command: 'umaprobe cache drop --level 1', means: 'page cache only, as root' },
    { command: 'umaprobe cache drop --level 2 --sudo', means: 'freed GPU memory that the driver keeps' },
    { command: 'umaprobe cache drop --sim gb10-cached', means: 'what it does on a simulated Spark' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'level', pattern: /^[123]$/ } },
  async run({ values }) {
    const level = LEVELS[choice(values, 'level', ['1', '2', '3'], '3', 'cache drop')];
    const syncLimitMs = duration(values, 'sync-limit', LIMITS.syncLimitMs, 60_000, 'cache drop');
    const sync = !flag(values, 'no-sync');
    const report = await dropCaches({
      level,
      sync,
      syncLimitMs,
      sudo: flag(values, 'sudo'),
      force: flag(values, 'force'),
    });
    return shown(report, dropPage);
  },
};
