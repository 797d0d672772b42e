/** The completion script for fish. */

import { quoted } from './quote.ts';
import { type Completions, groupsOf, type ShellCommand, type ShellTree, valueOptionsOf } from './tree.ts';

export function fishCompletion({ commands, defaultCommand }: ShellTree): string {
  const names = commands.map(({ name }) => name);
  const pairs = names.filter((name) => name.includes(' '));
  const groups = groupsOf(commands);
  const firsts = [...new Set(names.map((name) => name.split(' ')[0] ?? ''))];
  const valueNames = valueOptionsOf(commands);
  return `# Completion of umaprobe for fish, made by: umaprobe completion fish
# For this shell:   umaprobe completion fish | source
# For every shell:  umaprobe completion fish > ~/.config/fish/completions/umaprobe.fish

# The command that was typed so far: "stress", "cache evict", or nothing; "--" where a program of its own follows.
function __umaprobe_command
  set -l words (commandline -opc)
  set -e words[1]
  set -l command
  set -l skip 0
  for word in $words
    if test $skip = 1
      set skip 0
      continue
    end
    switch $word
      case --
        echo --
        return
      case ${valueNames.join(' ')}
        set skip 1
      case '-*' help
      case '*'
        if contains -- "$command $word" ${pairs.map(quoted).join(' ')}
          set command "$command $word"
        else if test -z "$command"; and contains -- $word ${firsts.join(' ')}
          set command $word
        end
    end
  end
  echo $command
end

function __umaprobe_is
  set -l command (__umaprobe_command)
  test "$command" = "$argv[1]"
end

# The values of a list: what was typed up to the last comma stays.
function __umaprobe_list
  set -l typed (commandline -ct | string replace -r '^--[a-z-]+=' '')
  set -l done (string match -r '.*,' -- $typed)
  set -q done[1]; or set done ''
  for word in $argv
    echo $done$word
  end
end

complete -c umaprobe -f
complete -c umaprobe -n '__umaprobe_is --' -F -a '(complete -C (commandline -ct))'
complete -c umaprobe -n '__umaprobe_is ""' -a help -d 'Help on a command'
${commands
  .filter(({ name }) => !name.includes(' '))
  .map(({ name, summary }) => `complete -c umaprobe -n '__umaprobe_is ""' -a ${name} -d ${quoted(summary)}`)
  .join('\n')}
${groups
  .map((group) => `complete -c umaprobe -n '__umaprobe_is ""' -a ${group} -d ${quoted(`${group}: more commands`)}`)
  .join('\n')}
${commands
  .filter(({ name }) => name.includes(' '))
  .map(({ name, summary }) => {
    const [group = '', member = ''] = name.split(' ');
    return `complete -c umaprobe -n '__umaprobe_is ${group}' -a ${member} -d ${quoted(summary)}`;
  })
  .join('\n')}
${commands.flatMap((command) => linesOf(command, defaultCommand)).join('\n')}
`;
}

function linesOf({ argument, name, options }: ShellCommand, defaultCommand: string): string[] {
  const conditions = [name, ...(name === defaultCommand ? [''] : [])].map(
    (command) => `-n '__umaprobe_is "${command}"'`,
  );
  const places =
    argument.words.length > 0 || argument.files ? [` ${placeFor(argument, false)}`.replace(' -x', '')] : [];
  return conditions.flatMap((condition, index) => [
    ...options.map(({ isList, short, summary, takesValue, ...option }) => {
      const shortText = short === null ? '' : ` -s ${short}`;
      const value = takesValue ? ` ${placeFor(option, isList)}` : '';
      return `complete -c umaprobe ${condition} -l ${option.name}${shortText}${value} -d ${quoted(summary)}`;
    }),
    // A first word without a command is a command.
    ...(index === 0 ? places.map((place) => `complete -c umaprobe ${condition}${place}`) : []),
  ]);
}

function placeFor({ files, words }: Completions, isList: boolean): string {
  if (words.length === 0) return files ? '-r -F' : '-x';
  const list = isList ? quoted(`(__umaprobe_list ${words.join(' ')})`) : quoted(words.join(' '));
  return files ? `-r -F -a ${list}` : `-x -a ${list}`;
}
