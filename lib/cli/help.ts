/** The help pages, made from the tables that the parser uses. */
import { padEnd, widthOf, wrap } from '../show/render/text-layout.ts';
import { COMMANDS, type CommandEntry, find, GROUPS, members } from './commands/index.ts';
import type { ListedCommand, OptionSpec, OptionTable } from './core/command.ts';
import { EXIT_MEANINGS } from './core/exit.ts';
import { GLOBAL_OPTIONS, optionsOfEvery } from './core/options.ts';
import type { Terminal } from './core/terminal.ts';

/** What a user types first, in this order. */
const PATH = [
  ['umaprobe', 'how much can be loaded now'],
  ['umaprobe doctor', 'what is wrong, and what to do'],
  ['umaprobe fit <model> --for vllm', 'does it fit, and with which flags?'],
  ['umaprobe prepare 60GB', 'make room for it'],
  ['umaprobe launch -- vllm serve <model>', 'start it, guarded and recorded'],
  ['umaprobe explain', 'afterwards: why memory is gone'],
] as const;

function beginning(terminal: Terminal): string[] {
  const steps = PATH.map(([line, means], index) => [`${index + 1}  ${line}`, means] as const);
  return [
    'How much memory an NVIDIA DGX Spark really has.',
    '',
    'Usage: umaprobe [command] [options]',
    '',
    terminal.paint('heading', 'In the order of use'),
    ...pairs(steps, terminal, widestOf(steps)),
    '',
  ];
}

/** `-h`: a screen of 24 lines. */
export function shortHelp(terminal: Terminal): string {
  const entries = byGroup().map(([heading, commands]) => [heading, namesOf(commands)] as const);
  return page([
    ...beginning(terminal),
    terminal.paint('heading', 'All commands'),
    ...pairs(entries, terminal),
    '',
    'With each: --json for scripts, --sim gb10 without a Spark, --help for more.',
  ]);
}

function byGroup(): [heading: string, commands: CommandEntry[]][] {
  return Object.entries(GROUPS).map(([group, heading]) => [heading, COMMANDS.filter((entry) => entry.group === group)]);
}

/** "sim list|show|run|grow" for all commands that begin with one word, "record [show]" where it is a command, too. */
function namesOf(commands: readonly CommandEntry[]): string[] {
  const first = new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''));
  return [...first].map((word) => {
    const others = members(word).join('|');
    if (others === '') return word;
    return find(word) === undefined ? `${word} ${others}` : `${word} [${others}]`;
  });
}

export function generalHelp(terminal: Terminal): string {
  return page([
    ...beginning(terminal),
    ...byGroup().flatMap(([heading, commands]) => [
      terminal.paint('heading', heading),
      ...pairs(
        commands.map((entry) => [entry.name, entry.summary]),
        terminal,
        widestOf(COMMANDS.map(({ name }) => [name])),
      ),
      '',
    ]),
    terminal.paint('heading', 'Options of every command'),
    ...optionLines(GLOBAL_OPTIONS, terminal),
    '',
    terminal.paint('heading', 'Exit codes'),
    ...pairs(
      EXIT_MEANINGS.map(([code, short]) => [code, short] as const),
      terminal,
    ),
    '',
    'umaprobe <command> --help says more about one command, -h less.',
  ]);
}

export function groupHelp(group: string, terminal: Terminal): string {
  const entries = COMMANDS.filter((entry) => entry.name.startsWith(`${group} `));
  return page([
    `Usage: umaprobe ${group} ${members(group).join('|')} [options]`,
    '',
    ...pairs(
      entries.map((entry) => [entry.name, entry.summary]),
      terminal,
    ),
    '',
    `umaprobe ${group} <command> --help says more about one command.`,
  ]);
}

/** `-h` of a command: what its options are called, and not what each does. */
export function shortCommandHelp(command: ListedCommand, terminal: Terminal): string {
  const width = Math.min(terminal.columns, 100);
  const [sentence = ''] = /^.*?\.(?= |$)/.exec(command.description.split('\n')[0] ?? '') ?? [];
  const options = sectionsOf(command.options).flatMap(([, table]) => Object.entries(table).map(typedOption));
  return page([
    ...title(command),
    ...wrap(sentence, width),
    '',
    ...(options.length === 0 ? [] : [terminal.paint('heading', 'Options'), ...listed(options, width), '']),
    ...command.examples.slice(0, 1).map(({ command: line }) => `  ${line}`),
    `umaprobe ${command.name} --help says what each option does.`,
  ]);
}

function listed(options: readonly string[], width: number): string[] {
  return wrap(options.join(' '), width - 2, options).map((line) => `  ${line}`);
}

function title({ name, summary, usage }: ListedCommand): string[] {
  return [summary, '', `Usage: umaprobe ${name} ${usage}`.trimEnd(), ''];
}

export function commandHelp(command: ListedCommand, terminal: Terminal): string {
  const options =
    Object.keys(command.options).length === 0
      ? []
      : sectionsOf(command.options).flatMap(([heading, table]) => [
          terminal.paint('heading', heading),
          ...optionLines(table, terminal),
          '',
        ]);
  return page([
    ...title(command),
    ...command.description.split('\n').flatMap((paragraph) => wrap(paragraph, Math.min(terminal.columns, 100))),
    '',
    ...options,
    terminal.paint('heading', 'Options of every command'),
    ...optionLines(optionsOfEvery(command), terminal),
    '',
    terminal.paint('heading', 'Examples'),
    ...pairs(
      command.examples.map(({ command: line, means }) => [line, means]),
      terminal,
    ),
  ]);
}

/** The options by their headings, in the order of the table; options without one come first. */
function sectionsOf(options: OptionTable): [heading: string, options: OptionTable][] {
  const headings = [...new Set(Object.values(options).map(({ section }) => section))];
  const ordered = [
    ...headings.filter((heading) => heading === undefined),
    ...headings.filter((heading) => heading !== undefined),
  ];
  return ordered.map((heading) => [
    heading ?? 'Options',
    Object.fromEntries(Object.entries(options).filter(([, { section }]) => section === heading)),
  ]);
}

function optionLines(options: OptionTable, terminal: Terminal): string[] {
  return pairs(
    Object.entries(options).map((entry) => [typedOption(entry), entry[1].summary]),
    terminal,
  );
}

/** "-h, --help", "--sim <name|file.json>" */
function typedOption([name, { placeholder, short }]: [string, OptionSpec]): string {
  const long = `--${name}${placeholder === undefined ? '' : ` ${placeholder}`}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

function widestOf(rows: readonly (readonly [string, ...unknown[]])[]): number {
  return Math.max(...rows.map(([left]) => widthOf(left)));
}

/**
 * Two columns; after an entry of the first that is wider than `widest`, the second starts on the next line. The second is a
 * text, or names of which none is broken.
 */
function pairs(
  rows: readonly (readonly [string, string | readonly string[]])[],
  terminal: Terminal,
  widest = Math.min(34, widestOf(rows)),
): string[] {
  const indent = ' '.repeat(widest + 4);
  return rows.flatMap(([left, right]) => {
    const width = Math.max(24, terminal.columns - indent.length);
    const lines = typeof right === 'string' ? wrap(right, width) : wrap(right.join(' '), width, right);
    if (widthOf(left) > widest) return [`  ${left}`, ...lines.map((line) => indent + line)];
    return lines.map((line, index) => (index === 0 ? `  ${padEnd(left, widest)}  ${line}` : indent + line));
  });
}

function page(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
