import { evictFiles } from '../../cache/index.ts';
import { evictPage } from '../../render/text/cache-actions.ts';
import type { Command } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { count, flag } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { UsageError } from '../core/usage.ts';
import { reportedOrInterrupted, TOP } from './cache-shared.ts';
import { isMissing } from './cache-status.ts';

export const cacheEvictCommand: Command = {
  name: 'cache evict',
  summary: 'Takes files out of the page cache, without root, and says what stayed and why',
  usage: '<path…> [options]',
  description:
    'Asks the kernel to let go of the pages of these files and of all files in these folders, looks again, and says what left, what stayed and why: ' +
    'mapped by a process, locked, not written yet, on tmpfs, in use.\n' +
    'Never loses anything: what is not on disk yet stays, unless --sync asks for it to be written first.\n' +
    'Exit code: 1 when a path that was named could not be looked at.',
  options: {
    sync: { type: 'boolean', summary: 'Write dirty pages of these files first (fdatasync), so that they can go, too' },
    top: TOP,
  },
  examples: [
    { command: 'umaprobe cache evict ~/.cache/huggingface/hub', means: 'the models that were downloaded or read' },
    { command: 'umaprobe cache evict --sync checkpoint.safetensors', means: 'a checkpoint that was just written' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 1000, afterDashes: true },
  async run(context) {
    const { values, positionals, rest } = context;
    const paths = [...positionals, ...rest];
    const top = count(values, 'top', 0, 100_000, 'cache evict') ?? 10;
    const sync = flag(values, 'sync');
    if (paths.length === 0) throw new UsageError('Name the files or folders to evict.', 'cache evict');
    const { report, exitCode } = await reportedOrInterrupted(context, (walking) =>
      evictFiles(paths, { top, sync, ...walking }),
    );
    return {
      exitCode: exitCode ?? (report?.targets.some(isMissing) === true ? EXIT.no : EXIT.fine),
      document: report,
      text: report === null ? null : (terminal) => evictPage(report, renderOptionsFor(terminal)),
    };
  },
};
