import { flag } from '../../base/options.ts';
import { invokingUser, type RuleOptions, sudoersRule } from '../../core/cache/sudoers.ts';
import type { SudoersRule } from '../../types/index.ts';
import type { Command } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { optionTable, ownOptions, typedList, typedText } from '../core/typed-options.ts';

export const OPTIONS = {
  user: typedText((name) => name, {
    placeholder: '<name>',
    help: 'User to permit',
    usually: 'the current user; under sudo, the user who called it',
  }),
  level: typedList(levelsOf, {
    default: [1] as const,
    placeholder: '<1|2|3>',
    words: ['1', '2', '3'],
    help: 'Levels, separated by commas (default 1)',
  }),
  compact: flag({ help: 'Permit compaction, too' }),
};

export const cacheRuleCommand: Command = {
  name: 'cache rule',
  description:
    'Prints a file for /etc/sudoers.d: one user may run exactly these commands, with these levels, without a password. ' +
    'A rule for tee could restrict neither the level nor the file. Nothing is installed: the comments in the file say how to check it and where to put it.',
  options: optionTable(OPTIONS),
  examples: [
    { command: 'umaprobe cache rule > umaprobe.sudoers', means: 'for umaprobe cache drop --sudo' },
    { command: 'umaprobe cache rule --level 1,2 --compact', means: 'for umaprobe prepare --sudo' },
  ],
  readsMachine: false,
  async run({ values, env }) {
    const { compact, level: levels, user } = ownOptions(values, OPTIONS, 'cache rule');
    const sysctls: RuleOptions['sysctls'] = [
      ...levels.map((level) => ({ name: 'drop_caches', level }) as const),
      ...(compact ? [{ name: 'compact_memory' } as const] : []),
    ];
    const document = sudoersRule({ user: user ?? invokingUser(env), sysctls });
    return { exitCode: EXIT.success, document, text: () => rulePage(document) };
  },
};

/** Each once; undefined: one of them is none. */
function levelsOf(words: readonly string[]): (1 | 2 | 3)[] | undefined {
  const levels = words.map((word) => ([1, 2, 3] as const).find((level) => String(level) === word));
  return levels.includes(undefined) ? undefined : [...new Set(levels as (1 | 2 | 3)[])];
}

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
