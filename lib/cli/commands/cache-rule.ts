import { invokingUser, type RuleOptions, sudoersRule } from '../../core/cache/sudoers.ts';
import type { SudoersRule } from '../../types/index.ts';
import type { Command } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { flag, list, text } from '../core/options.ts';
import { levelsOf } from './cache-shared.ts';

export const cacheRuleCommand: Command = {
  name: 'cache rule',
  usage: '[options]',
  description:
    'Prints a file for /etc/sudoers.d: one user may run exactly these commands, with these levels, without a password. ' +
    'A rule for tee could restrict neither the level nor the file. Nothing is installed: the comments in the file say how to check it and where to put it.',
  options: {
    user: {
      type: 'string',
      placeholder: '<name>',
      summary: 'User to permit (default: the current user; under sudo, the user who called it)',
    },
    level: { type: 'string', list: true, placeholder: '<1|2|3>', summary: 'Levels, separated by commas (default 3)' },
    compact: { type: 'boolean', summary: 'Permit compaction, too' },
  },
  examples: [
    { command: 'umaprobe cache rule > umaprobe.sudoers', means: 'for umaprobe cache drop --sudo' },
    { command: 'umaprobe cache rule --level 1,2 --compact', means: 'for umaprobe prepare --sudo' },
  ],
  readsMachine: false,
  arguments: { min: 0, max: 0, afterDashes: false },
  async run({ values, env }) {
    const levels = levelsOf(list(values, 'level', 'cache rule') ?? ['3'], 'cache rule');
    const sysctls: RuleOptions['sysctls'] = [
      ...levels.map((level) => ({ name: 'drop_caches', level }) as const),
      ...(flag(values, 'compact') ? [{ name: 'compact_memory' } as const] : []),
    ];
    const document = sudoersRule({ user: text(values, 'user') ?? invokingUser(env), sysctls });
    return { exitCode: EXIT.success, document, text: () => rulePage(document) };
  },
};

/** The whole output is a sudoers file: explanations are its comments. */
function rulePage({ commands, file, install, rule, user }: SudoersRule): string[] {
  return [
    `# Lets ${user} run, as root and without a password, and nothing else:`,
    ...commands.map((words) => `#   ${words.join(' ')}`),
    `# To install it: save it as umaprobe.sudoers, check it, and put it in place (${file}):`,
    ...install.map((command) => `#   ${command}`),
    rule,
  ];
}
