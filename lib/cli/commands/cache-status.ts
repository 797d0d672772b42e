import { cacheStatus } from '../../cache/index.ts';
import { statusPage } from '../../render/text/cache-status.ts';
import type { Command } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { count } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { reportedOrInterrupted, TOP } from './cache-shared.ts';

export const cacheStatusCommand: Command = {
  name: 'cache status',
  summary: 'What is in the page cache: model stores, files, trees; dirty, and mapped by whom',
  usage: '[path…] [options]',
  description:
    'Shows how much of the named files and folders is in the page cache, and the whole cache of the machine in parts that add up. ' +
    'Without a path it looks at the model stores of this user that exist: Hugging Face hub, Ollama, LM Studio, vLLM, torch hub; under sudo those of who typed it.\n' +
    'Symbolic links inside folders are not followed and every file counts once. Changes nothing.\n' +
    'Exit code: 1 when a path that was named could not be looked at.',
  options: { top: TOP },
  examples: [
    { command: 'umaprobe cache status', means: 'the model stores' },
    { command: 'umaprobe cache status ~/models --top 5', means: 'one folder' },
    { command: 'umaprobe cache status --sim gb10-cached', means: 'the cache of a simulated machine' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 1000, afterDashes: true },
  async run(context) {
    const { values, positionals, rest } = context;
    const paths = [...positionals, ...rest];
    const top = count(values, 'top', 0, 100_000, 'cache status') ?? 10;
    const { report, exitCode } = await reportedOrInterrupted(context, (walking) =>
      cacheStatus(paths.length === 0 ? undefined : paths, { top, ...walking }),
    );
    return {
      exitCode: exitCode ?? (report?.targets.some(isMissing) === true ? EXIT.no : EXIT.fine),
      document: report,
      text: report === null ? null : (terminal) => statusPage(report, renderOptionsFor(terminal)),
    };
  },
};

/** A path that was named and could not be looked at at all: an answer about it is not there. */
export function isMissing({
  path,
  problems,
  files,
}: {
  path: string;
  problems: { path: string }[];
  files: number;
}): boolean {
  return files === 0 && problems.some((problem) => problem.path === path);
}
