/** The help pages, made from the tables that the parser uses. */
import { padEnd, widthOf, wrap } from '../show/render/text-layout.ts';
import { COMMANDS, members } from './commands/index.ts';
import type { ListedCommand, OptionTable } from './core/command.ts';
import { EXIT_MEANINGS } from './core/exit.ts';
import { GLOBAL_OPTIONS, optionsOfEvery } from './core/options.ts';
import type { Terminal } from './core/terminal.ts';

export function generalHelp(terminal: Terminal): string {
  const examples = [
    ['umaprobe', 'where the memory of this machine is'],
    ['umaprobe --sim gb10', 'the same for a simulated DGX Spark'],
    ['umaprobe snapshot --json', 'for scripts'],
    ['umaprobe doctor', 'what is wrong, and what to do'],
    ['umaprobe sweep', 'how long allocations take, and which counters they move'],
  ] as const;
  return page([
    'How much memory an NVIDIA DGX Spark really has.',
    '',
    'Usage: umaprobe [command] [options]',
    '',
    terminal.paint('heading', 'Commands'),
    ...pairs(
      COMMANDS.map((entry) => [entry.name, entry.summary]),
      terminal,
    ),
    '',
    terminal.paint('heading', 'Options of every command'),
    ...optionLines(GLOBAL_OPTIONS, terminal),
    '',
    terminal.paint('heading', 'Examples'),
    ...pairs(examples, terminal),
    '',
    terminal.paint('heading', 'Exit codes'),
    ...pairs(
      EXIT_MEANINGS.map(([code, short]) => [code, short] as const),
      terminal,
    ),
    '',
    'umaprobe <command> --help says more about one command.',
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

export function commandHelp(command: ListedCommand, terminal: Terminal): string {
  const usage = command.usage === '' ? '' : ` ${command.usage}`;
  const options =
    Object.keys(command.options).length === 0
      ? []
      : sectionsOf(command.options).flatMap(([heading, table]) => [
          terminal.paint('heading', heading),
          ...optionLines(table, terminal),
          '',
        ]);
  return page([
    command.summary,
    '',
    `Usage: umaprobe ${command.name}${usage}`,
    '',
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
  const rows = Object.entries(options).map(([name, { short, placeholder, summary }]) => {
    const long = `--${name}${placeholder === undefined ? '' : ` ${placeholder}`}`;
    return [short === undefined ? long : `-${short}, ${long}`, summary] as const;
  });
  return pairs(rows, terminal);
}

/** Two columns; after a wide entry of the first, the second starts on the next line. */
function pairs(rows: readonly (readonly [string, string])[], terminal: Terminal): string[] {
  const widest = Math.min(34, Math.max(...rows.map(([left]) => widthOf(left))));
  const indent = ' '.repeat(widest + 4);
  return rows.flatMap(([left, right]) => {
    const lines = wrap(right, Math.max(24, terminal.columns - indent.length));
    if (widthOf(left) > widest) return [`  ${left}`, ...lines.map((line) => indent + line)];
    return lines.map((line, index) => (index === 0 ? `  ${padEnd(left, widest)}  ${line}` : indent + line));
  });
}

function page(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
