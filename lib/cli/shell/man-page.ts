/** The man page, in the man macros: from the tables that the parser and the help use. */

import { GROUPS } from '../commands/index.ts';
import type { ListedCommand, OptionTable } from '../core/command.ts';
import { EXIT_MEANINGS } from '../core/exit.ts';
import { GLOBAL_OPTIONS } from '../core/options.ts';

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ['UMAPROBE_CUDART, UMAPROBE_CUDA, UMAPROBE_NVML', 'Paths of the libraries, instead of the usual names.'],
  ['UMAPROBE_DEBUG', 'Any value: errors come with their stack.'],
  ['NO_COLOR, FORCE_COLOR', 'No colour, or colour in a pipe, too.'],
  ['COLUMNS', 'Width of the output where it is no terminal. Default 80.'],
  [
    'XDG_CACHE_HOME',
    'Headers of models on the Hub, and what the standalone file has unpacked, are in its folder umaprobe. Default ~/.cache.',
  ],
  ['XDG_STATE_HOME', 'The journal of tests is kept in its folder umaprobe. Default ~/.local/state.'],
];

export function manPage(version: string, commands: readonly ListedCommand[]): string {
  return `${[
    `.TH UMAPROBE 1 "" "umaprobe ${version}" "User Commands"`,
    '.SH NAME',
    roff('umaprobe - how much memory an NVIDIA DGX Spark really has'),
    '.SH SYNOPSIS',
    '.B umaprobe',
    '.RI [ command ]\\ [ options ]',
    '.SH DESCRIPTION',
    roff(
      'Shows where the memory of this machine is and how much a program can load, tests allocations without freezing the machine, and gives memory back. Without a command it is umaprobe snapshot. Data goes to standard output, messages to standard error.',
    ),
    ...Object.values(GROUPS).flatMap((heading) => [
      `.SH ${roff(`COMMANDS: ${heading.toUpperCase()}`)}`,
      ...commands.filter(({ group }) => group === heading).flatMap(commandLines),
    ]),
    '.SH OPTIONS OF EVERY COMMAND',
    ...optionLines(GLOBAL_OPTIONS),
    '.SH SIZES AND TIMES',
    roff(
      'A size needs its unit: 8GB is 8 x 10^9 bytes, 8GiB is 8 x 2^30, 4096B is bytes. A time needs its unit: 500ms, 1s, 2m, 1h. An option that takes a list may be given more than once; any other option once.',
    ),
    '.SH EXIT STATUS',
    ...EXIT_MEANINGS.flatMap(([code, short, more]) => ['.TP', `.B ${roff(code)}`, roff(`${capital(short)}. ${more}.`)]),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([name, text]) => ['.TP', `.B ${roff(name)}`, roff(text)]),
    '.SH SEE ALSO',
    roff('umaprobe <command> --help, and the folder docs of the package.'),
  ].join('\n')}\n`;
}

function commandLines({ description, examples, name, options, summary, usage }: ListedCommand): string[] {
  return [
    `.SS ${roff(`${name} ${usage}`.trim())}`,
    `${roff(summary)}.`,
    ...description.split('\n').flatMap((paragraph) => ['.PP', roff(paragraph)]),
    ...optionLines(options),
    '.PP',
    'Examples:',
    ...examples.flatMap(({ command, means }) => ['.TP', `.B ${roff(command)}`, roff(means)]),
  ];
}

function optionLines(options: OptionTable): string[] {
  return Object.entries(options).flatMap(([name, { placeholder, short, summary }]) => {
    const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`].map(roff).join(', ');
    const value = placeholder === undefined ? '' : ` \\fI${roff(placeholder)}\\fR`;
    return ['.TP', `\\fB${names}\\fR${value}`, `${roff(summary)}.`];
  });
}

/** ASCII for characters that an old man(1) cannot print outside of a UTF-8 locale. */
const ASCII: Readonly<Record<string, string>> = {
  '…': '...',
  '’': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '−': '-',
  '·': 'x',
  '×': 'x',
  '≥': '>=',
  '≤': '<=',
  '→': '->',
};

/** One line of text: no request at its start, no escape in it, and hyphens that can be copied. */
function roff(text: string): string {
  const ascii = text.replace(/[^\x20-\x7e]/g, (character) => ASCII[character] ?? '?');
  const escaped = ascii
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '')
    .replaceAll("'", '\\(aq')
    .replaceAll('"', '\\(dq');
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
