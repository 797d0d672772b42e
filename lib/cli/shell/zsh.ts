/** The completion script for zsh. */

import { quoted } from './quote.ts';
import {
  type Completions,
  groupsOf,
  membersOf,
  type ShellCommand,
  type ShellOption,
  type ShellTree,
  valueOptionsOf,
} from './tree.ts';

export function zshCompletion({ commands, defaultCommand }: ShellTree): string {
  const names = commands.map(({ name }) => name);
  const groups = groupsOf(commands);
  const valueNames = valueOptionsOf(commands);
  const described = (rows: readonly (readonly [string, string])[]): string =>
    rows.map(([word, summary]) => quoted(`${word.replaceAll(':', '\\:')}:${summary}`)).join(' ');
  const first = [
    ...commands.filter(({ name }) => !name.includes(' ')).map(({ name, summary }) => [name, summary] as const),
    ...groups.map((group) => [group, membersOf(group, commands).join(', ')] as const),
    ['help', 'Help on a command'] as const,
  ];
  const groupRows = (group: string) =>
    commands
      .filter(({ name }) => name.startsWith(`${group} `))
      .map(({ name, summary }) => [name.slice(group.length + 1), summary] as const);
  return `#compdef umaprobe
# Completion of umaprobe for zsh, made by: umaprobe completion zsh
# For this shell:   source <(umaprobe completion zsh)
# For every shell:  umaprobe completion zsh > "\${fpath[1]}/_umaprobe"

_umaprobe_or_files() {
  compadd -- "$@"
  _files
}

_umaprobe() {
  local command= word index dashes=0
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    case $word in
      (--) dashes=$index; break ;;
      (${valueNames.join('|')}) ((index++)) ;;
      (-*|help) ;;
      (*)
        case "$command $word" in
          (${[...new Set(names.map((name) => `' ${name.split(' ')[0] ?? ''}'`))].join('|')}) command=$word ;;
          (${names
            .filter((name) => name.includes(' '))
            .map((name) => `'${name}'`)
            .join('|')}) command="$command $word" ;;
        esac ;;
    esac
  done
  if ((dashes)); then
    # A program of its own follows.
    words=("\${(@)words[dashes + 1, -1]}")
    ((CURRENT -= dashes))
    _normal
    return
  fi
  local -a names
  case $command in
    ('')
      if [[ $PREFIX != -* && \${words[CURRENT - 1]} != (${valueNames.join('|')}) ]]; then
        names=(${described(first)})
        _describe command names
        return
      fi
      command=${quoted(defaultCommand)} ;;
${groups
  .map(
    (group) => `    (${group})
      names=(${described(groupRows(group))})
      _describe command names
      return ;;`,
  )
  .join('\n')}
  esac
  case $command in
${commands.map(argumentsOf).join('\n')}
  esac
}

# Sourced, it registers itself; from fpath it is called at once.
if [[ \${funcstack[1]} == _umaprobe ]]; then
  _umaprobe "$@"
else
  compdef _umaprobe umaprobe
fi
`;
}

function argumentsOf({ argument, name, options }: ShellCommand): string {
  const places = name.split(' ').map((word, index) => quoted(`${index + 1}:command:(${word})`));
  const rest = actionOf(argument, false);
  const specs = [
    ...options.flatMap(optionSpecs),
    ...places,
    ...(rest.trim() === '' ? [] : [quoted(`*:argument:${rest}`)]),
  ];
  return `    (${quoted(name)})\n      _arguments -s : \\\n        ${specs.join(' \\\n        ')} ;;`;
}

function optionSpecs(option: ShellOption): string[] {
  const { isList, name, short, summary, takesValue } = option;
  const text = `[${summary.replaceAll('\\', '\\\\').replace(/[[\]]/g, '\\$&')}]`;
  const again = isList ? '*' : '';
  const value = takesValue ? `:${name}:${actionOf(option, isList)}` : '';
  const long = quoted(`${again}--${name}${takesValue ? '=' : ''}${text}${value}`);
  return short === null ? [long] : [long, quoted(`-${short}${text}`)];
}

/** An action of _arguments; a blank one says that nothing is known. */
function actionOf({ files, words }: Completions, isList: boolean): string {
  if (words.length === 0) return files ? '_files' : ' ';
  if (isList) return `_values -s , value ${words.join(' ')}`;
  return files ? ` _umaprobe_or_files ${words.join(' ')}` : `(${words.join(' ')})`;
}
