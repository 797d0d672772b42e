/** Parses the command line into a command and its checked options. */
import { parseArgs } from 'node:util';
import { COMMANDS, DEFAULT_COMMAND, find, groups, members } from './commands/index.ts';
import type { Command, OptionTable, Values } from './core/command.ts';
import { GLOBAL_OPTIONS } from './core/options.ts';
import { didYouMean, UsageError } from './core/usage.ts';

export interface Route {
  /** Name of the command; of the default one if none was typed. */
  name: string;
  /** Whether the user typed it. */
  typed: boolean;
  /** The arguments left for the command. */
  args: string[];
}

export interface Parsed {
  values: Values;
  positionals: string[];
  rest: string[];
}

/** Finds the command. Global options may precede it. */
export function route(argv: readonly string[]): Route {
  const first = firstWord(argv);
  if (first === null) return { name: DEFAULT_COMMAND, typed: false, args: [...argv] };
  const word = argv[first] ?? '';
  const args = argv.toSpliced(first, 1);
  if (word === 'help') return route([...args, '--help']);
  if (find(word) !== undefined) return { name: word, typed: true, args };
  if (!groups().includes(word)) {
    const known = [...COMMANDS.map((entry) => entry.name), ...groups()];
    throw new UsageError(`"${word}" is not a command.${didYouMean(word, known, 'umaprobe ')}`);
  }
  return routeMember(word, args, first);
}

/** The second word of "sim list". Without it only --help is valid: the help of the group. */
function routeMember(group: string, args: string[], from: number): Route {
  const names = members(group);
  const next = firstWord(args.slice(from));
  if (next === null) {
    if (args.includes('--help') || args.includes('-h')) return { name: group, typed: true, args };
    throw new UsageError(`umaprobe ${group} needs one of: ${names.join(', ')}.`, group);
  }
  const word = args[from + next] ?? '';
  if (!names.includes(word)) {
    throw new UsageError(
      `umaprobe ${group} has no "${word}"; it has ${names.join(', ')}.${didYouMean(word, names, `umaprobe ${group} `)}`,
      group,
    );
  }
  return { name: `${group} ${word}`, typed: true, args: args.toSpliced(from + next, 1) };
}

/** Index of the first word that is neither a global option nor its value; null: there is none. */
function firstWord(argv: readonly string[]): number | null {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-') || word === '-') return index;
    const spec = word.startsWith('--') ? GLOBAL_OPTIONS[word.slice(2)] : undefined;
    const known = spec !== undefined || Object.keys(GLOBAL_OPTIONS).some((name) => word.startsWith(`--${name}=`));
    const short = Object.values(GLOBAL_OPTIONS).some((option) => word === `-${option.short ?? ''}`);
    // `--` or an option of the default command.
    if (!known && !short) return null;
    if (spec?.type === 'string') index++;
  }
  return null;
}

/** Options and arguments of one command, each checked. */
export function parse(command: Command, args: readonly string[]): Parsed {
  const table: OptionTable = { ...GLOBAL_OPTIONS, ...command.options };
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(table).map(([name, { type, short }]) => [name, short === undefined ? { type } : { type, short }]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === 'option') checkOption(token, table, command.name);
  }
  const dashes = tokens.find((token) => token.kind === 'option-terminator');
  const rest = dashes === undefined ? [] : args.slice(dashes.index + 1);
  const beforeDashes = positionals.slice(0, positionals.length - rest.length);
  if (values.help !== true && values.version !== true) checkPositionals(command, beforeDashes, dashes !== undefined);
  return { values: values as Values, positionals: beforeDashes, rest: [...rest] };
}

interface OptionToken {
  name: string;
  rawName: string;
  value: string | undefined;
  inlineValue: boolean | undefined;
}

function checkOption(token: OptionToken, table: OptionTable, command: string): void {
  const spec = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
  if (spec === undefined) {
    const known = Object.keys(table).map((name) => `--${name}`);
    throw new UsageError(
      `umaprobe ${command} has no option ${token.rawName}.${didYouMean(token.rawName, known)}`,
      command,
    );
  }
  if (spec.type === 'boolean' && token.value !== undefined) {
    throw new UsageError(`${token.rawName} takes no value, got "${token.value}".`, command);
  }
  const swallowed = token.inlineValue === false && token.value?.startsWith('--') === true;
  if (spec.type === 'string' && (token.value === undefined || token.value === '' || swallowed)) {
    throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${spec.placeholder ?? '<value>'}.`, command);
  }
}

function checkPositionals(command: Command, positionals: readonly string[], dashes: boolean): void {
  const { min, max, afterDashes } = command.arguments;
  const usage = `umaprobe ${command.name}${command.usage === '' ? '' : ` ${command.usage}`}`;
  if (positionals.length > max) {
    const extra = positionals[max] ?? '';
    const hint = find(extra) !== undefined ? ` Put the command first: umaprobe ${extra} …` : ` Usage: ${usage}`;
    throw new UsageError(`umaprobe ${command.name} does not take "${extra}" here.${hint}`, command.name);
  }
  if (positionals.length < min) throw new UsageError(`An argument is missing. Usage: ${usage}`, command.name);
  if (dashes && !afterDashes) {
    throw new UsageError(`umaprobe ${command.name} takes nothing after "--". Usage: ${usage}`, command.name);
  }
}
