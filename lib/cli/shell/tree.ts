/** The option tables as plain data, for shell completions and the man page. */

import type { Commands, ListedCommand, OptionSpec, OptionTable } from '../core/command.ts';
import { optionsOfEvery } from '../core/options.ts';

/** Words that may stand in a place: known words, files, or both. Neither: only the user knows. */
export interface Completions {
  words: readonly string[];
  files: boolean;
}

export interface ShellOption extends Completions {
  name: string;
  short: string | null;
  summary: string;
  takesValue: boolean;
  /** May be given again, and its words are separated by commas. */
  isList: boolean;
}

export interface ShellCommand {
  /** "stress", "cache evict". */
  name: string;
  summary: string;
  options: readonly ShellOption[];
  /** Kind of its arguments. */
  argument: Completions;
  /** True if a program follows after `--`. */
  startsProgram: boolean;
}

export interface ShellTree {
  commands: readonly ShellCommand[];
  /** Its options may stand without its name. */
  defaultCommand: string;
}

const NOTHING: Completions = { words: [], files: false };

/** @param machines names of the simulated machines, for `--sim`. */
export function shellTree({ all, defaultName }: Commands, machines: readonly string[]): ShellTree {
  const commands = all.map((command) => {
    const described = shellCommand(command, machines);
    // "record" is a command, and "record show" is another one.
    const members = membersOf(command.name, all);
    return { ...described, argument: { ...described.argument, words: [...members, ...described.argument.words] } };
  });
  return { commands, defaultCommand: defaultName };
}

/** "status", "evict" for "cache". */
export function membersOf(group: string, commands: readonly { name: string }[]): string[] {
  return commands.filter(({ name }) => name.startsWith(`${group} `)).map(({ name }) => name.slice(group.length + 1));
}

/** Options that take a value: "--kind", "--sizes". */
export function valueOptionsOf(commands: readonly ShellCommand[]): string[] {
  const options = commands.flatMap((command) => command.options.filter(({ takesValue }) => takesValue));
  return [...new Set(options.map(({ name }) => `--${name}`))];
}

/** First words that need a second one: "cache", "sim". */
export function groupsOf(commands: readonly { name: string }[]): string[] {
  const names = commands.map(({ name }) => name);
  const first = names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? '');
  return [...new Set(first)].filter((name) => !names.includes(name));
}

function shellCommand(command: ListedCommand, machines: readonly string[]): ShellCommand {
  const [argument = ''] = /<[^>]+>|\[[^\]]+\]/.exec(command.usage.replaceAll('[options]', '')) ?? [];
  return {
    name: command.name,
    summary: command.summary,
    options: shellOptions({ ...command.options, ...optionsOfEvery(command) }, machines),
    argument: completionsOf(argument, undefined, machines),
    startsProgram: command.arguments.afterDashes === 'program',
  };
}

function shellOptions(table: OptionTable, machines: readonly string[]): ShellOption[] {
  return Object.entries(table).map(([name, spec]) => shellOption(name, spec, machines));
}

function shellOption(name: string, spec: OptionSpec, machines: readonly string[]): ShellOption {
  const takesValue = spec.type === 'string';
  return {
    name,
    short: spec.short ?? null,
    summary: spec.summary,
    takesValue,
    isList: spec.list === true,
    ...(takesValue ? completionsOf(spec.placeholder ?? '', spec.values, machines) : NOTHING),
  };
}

/**
 * "<name|file.json>" → machines and files, "<file|none>" → files and the word none, "<lab|quick>" → two words, "<path…>" →
 * files, "<size>" → nothing that could be guessed.
 *
 * @param values the words of a placeholder that does not list them: "<kind>".
 */
function completionsOf(
  placeholder: string,
  values: readonly string[] | undefined,
  machines: readonly string[],
): Completions {
  const parts = placeholder
    .replace(/^[<[]|[>\]]$/g, '')
    .split('|')
    .map((part) => part.trim());
  const isFile = (part: string): boolean => /^(file|path|folder)/.test(part);
  const plain = parts.length > 1 ? parts.filter((part) => /^[a-z0-9]+$/i.test(part) && !isFile(part)) : [];
  const words = plain.includes('name') ? machines : (values ?? plain);
  return { words, files: parts.some(isFile) };
}
