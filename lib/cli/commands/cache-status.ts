import { cacheStatus } from '../../core/cache/index.ts';
import { statusPage } from '../../show/render/text/cache-status.ts';
import type { Command } from '../core/command.ts';
import { optionTable, ownOptions } from '../core/typed-options.ts';
import { TOP, UNREADABLE_EXIT, walk } from './cache-shared.ts';

export const cacheStatusCommand: Command = {
  name: 'cache status',
  usage: '[path…] [options]',
  description:
    'Shows how much of the given files and folders is in the page cache, and the whole cache of the machine in parts that add up. ' +
    'Without a path it reads the model stores of this user: Hugging Face hub, Ollama, LM Studio, vLLM, torch hub; under sudo, those of the user who called sudo.\n' +
    'Symbolic links inside folders are not followed, and every file counts once. Changes nothing.\n' +
    UNREADABLE_EXIT,
  options: optionTable(TOP),
  examples: [
    { command: 'umaprobe cache status', means: 'the model stores' },
    { command: 'umaprobe cache status ~/models --top 5', means: 'one folder' },
    { command: 'umaprobe cache status --sim gb10-cached', means: 'the cache of a simulated machine' },
  ],
  arguments: { min: 0, max: 1000, afterDashes: true },
  async run(context) {
    const { values, positionals, rest } = context;
    const paths = [...positionals, ...rest];
    const chosen = ownOptions(values, TOP, 'cache status');
    const given = paths.length === 0 ? undefined : paths;
    return walk(context, (options) => cacheStatus(given, { ...chosen, ...options }), statusPage);
  },
};
