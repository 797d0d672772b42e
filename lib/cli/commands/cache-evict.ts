import { evictFiles } from '../../core/cache/index.ts';
import { SYNC } from '../../core/cache/options.ts';
import { evictPage } from '../../show/render/text/cache-actions.ts';
import type { Command } from '../core/command.ts';
import { optionTable, ownOptions, typedOptions } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { TOP, UNREADABLE_EXIT, walk } from './cache-shared.ts';

export const cacheEvictCommand: Command = {
  name: 'cache evict',
  usage: '<path…> [options]',
  description:
    'Works without root. Asks the kernel to drop the cached pages of these files and of all files in these folders, checks again, and says what was evicted, what is still cached and why: ' +
    'mapped by a process, locked, dirty, on tmpfs, in use.\n' +
    'No data is lost: dirty pages stay cached unless --sync writes them first.\n' +
    UNREADABLE_EXIT,
  options: optionTable(SYNC, TOP),
  examples: [
    { command: 'umaprobe cache evict ~/.cache/huggingface/hub', means: 'models that were downloaded or loaded' },
    { command: 'umaprobe cache evict --sync checkpoint.safetensors', means: 'a checkpoint that was just written' },
  ],
  arguments: { min: 0, max: 1000, afterDashes: true },
  async run(context) {
    const { values, positionals, rest } = context;
    const paths = [...positionals, ...rest];
    const chosen = { ...ownOptions(values, TOP, 'cache evict'), ...typedOptions(values, SYNC, 'cache evict') };
    if (paths.length === 0) throw new UsageError('Name the files or folders to evict.');
    return walk(context, (options) => evictFiles(paths, { ...chosen, ...options }), evictPage);
  },
};
