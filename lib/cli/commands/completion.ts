import { didYouMean } from '../../base/nearest.ts';
import { machines } from '../../sim.ts';
import type { Command } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { UsageError } from '../core/usage.ts';
import { bashCompletion } from '../shell/bash.ts';
import { fishCompletion } from '../shell/fish.ts';
import { shellTree } from '../shell/tree.ts';
import { zshCompletion } from '../shell/zsh.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

export const completionCommand: Command = {
  name: 'completion',
  usage: '<bash|zsh|fish>',
  description:
    'Commands, options and their values, simulated machines and files are completed. Run this again after an update of umaprobe.\n' +
    'The first lines of the script say where to put it.',
  examples: [
    { command: 'eval "$(umaprobe completion bash)"', means: 'in ~/.bashrc' },
    { command: 'source <(umaprobe completion zsh)', means: 'in ~/.zshrc, after compinit' },
    { command: 'umaprobe completion fish | source', means: 'in ~/.config/fish/config.fish' },
  ],
  readsMachine: false,
  arguments: { min: 1, max: 1, afterDashes: false },
  async run({ commands, json, positionals: [word = ''] }) {
    const shell = (['bash', 'zsh', 'fish'] as const).find((name) => name === word);
    if (shell === undefined) {
      const known = Object.keys(SHELLS);
      const hint = didYouMean(word, known) || ` There are ${known.join(', ')}.`;
      throw new UsageError(`There is no completion for "${word}".${hint}`);
    }
    if (json) throw new UsageError('completion prints a script; --json does not apply.');
    const script = SHELLS[shell](
      shellTree(
        await commands(),
        machines().map(({ name }) => name),
      ),
    );
    return { exitCode: EXIT.success, document: null, text: () => script };
  },
};
