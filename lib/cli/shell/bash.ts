/** The completion script for bash. It needs no other package: no bash-completion, no program but bash itself. */

import { quoted } from './quote.ts';
import { type Completions, groupsOf, membersOf, type ShellCommand, type ShellTree, valueOptionsOf } from './tree.ts';

export function bashCompletion({ commands, defaultCommand }: ShellTree): string {
  const names = commands.map(({ name }) => name);
  const first = [...new Set([...names.map((name) => name.split(' ')[0] ?? ''), 'help'])];
  const groups = groupsOf(commands);
  const valueNames = valueOptionsOf(commands);
  return `# Completion of umaprobe for bash, made by: umaprobe completion bash
# For this shell:   eval "$(umaprobe completion bash)"
# For every shell:  umaprobe completion bash > ~/.local/share/bash-completion/completions/umaprobe

_umaprobe_words() {
  COMPREPLY+=($(compgen -W "$1" -- "$cur"))
}

# Words separated by commas: only the last one is completed.
_umaprobe_list() {
  local done= word
  [[ $cur == *,* ]] && done=\${cur%,*},
  for word in $(compgen -W "$1" -- "\${cur##*,}"); do COMPREPLY+=("$done$word"); done
  compopt -o nospace 2> /dev/null
}

_umaprobe_files() {
  compopt -o filenames 2> /dev/null
  local file
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$cur")
}

_umaprobe() {
  COMPREPLY=()
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command= word index
  # Bash takes "--kind=device" for three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case $word in
      --)
        # What follows is not ours.
        _umaprobe_files
        [[ $prev == -- ]] && COMPREPLY=($(compgen -c -- "$cur"))
        return ;;
      ${valueNames.join('|')})
        [[ \${COMP_WORDS[index + 1]} == = ]] && ((index++))
        ((index++)) ;;
      -* | =) ;;
      help) ;;
      *)
        case "$command $word" in
          ${[...new Set(names.map((name) => `' ${name.split(' ')[0] ?? ''}'`))].join(' | ')}) command=$word ;;
          ${names
            .filter((name) => name.includes(' '))
            .map((name) => `'${name}'`)
            .join(' | ')}) command="$command $word" ;;
        esac ;;
    esac
  done
  case "\${command:-${defaultCommand}} $prev" in
${commands.flatMap(valueCases).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case \${command:-${defaultCommand}} in
${commands.map((command) => `      ${quoted(command.name)}) _umaprobe_words ${quoted(optionWords(command))} ;;`).join('\n')}
${groups.map((group) => `      ${group}) _umaprobe_words '--help' ;;`).join('\n')}
    esac
    return
  fi
  case $command in
    '') _umaprobe_words ${quoted(first.join(' '))} ;;
${groups.map((group) => `    ${group}) _umaprobe_words ${quoted(membersOf(group, commands).join(' '))} ;;`).join('\n')}
${commands.flatMap(argumentCase).join('\n')}
  esac
}

complete -F _umaprobe umaprobe
`;
}

function optionWords({ options }: ShellCommand): string {
  return options.flatMap(({ name, short }) => [`--${name}`, ...(short === null ? [] : [`-${short}`])]).join(' ');
}

function valueCases({ name: command, options }: ShellCommand): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ name, isList, ...completions }) => {
      const calls = callsFor(completions, isList ? '_umaprobe_list' : '_umaprobe_words');
      return `    ${quoted(`${command} --${name}`)}) ${[...calls, 'return'].join('; ')} ;;`;
    });
}

function argumentCase({ argument, name }: ShellCommand): string[] {
  const calls = callsFor(argument, '_umaprobe_words');
  return calls.length === 0 ? [] : [`    ${quoted(name)}) ${calls.join('; ')} ;;`];
}

function callsFor({ files, words }: Completions, words_: string): string[] {
  return [
    ...(words.length === 0 ? [] : [`${words_} ${quoted(words.join(' '))}`]),
    ...(files ? ['_umaprobe_files'] : []),
  ];
}
