import { LIMITS } from '../../base/limits.ts';
import { defined } from '../../base/objects.ts';
import { mark } from '../../run/record/index.ts';
import { RECORD } from '../../run/record/options.ts';
import { type Command, finished } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { text } from '../core/options.ts';
import { optionTable } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';

export const markCommand: Command = {
  name: 'mark',
  usage: '<text> [options]',
  description:
    'The mark is on disk when the command ends, with its time: "epoch 3", "weights loaded". Only the user who records may set marks.\n' +
    'Exit code: 1 if no recorder runs.',
  options: optionTable({ folder: RECORD.folder }),
  examples: [{ command: 'umaprobe mark weights-loaded', means: 'from a script, between two steps' }],
  arguments: { min: 1, max: 1, afterDashes: true },
  async run({ positionals, rest, values }) {
    const [words = ''] = [...positionals, ...rest];
    const { min, max } = LIMITS.markLength;
    if (words.length < min || words.length > max) throw new UsageError(`A mark has ${min} to ${max} characters.`);
    await mark(words, defined({ folder: text(values, 'folder') }));
    return finished(EXIT.success);
  },
};
