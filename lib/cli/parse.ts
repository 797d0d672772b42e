/** Parses the command line into a command and its checked options. */

import { parseArgs } from 'node:util';
import { didYouMean, nearest } from '../base/nearest.ts';
import { defined } from '../base/objects.ts';
import { COMMANDS, DEFAULT_COMMAND, find, groups, members } from './commands/index.ts';
import type { ListedCommand, OptionTable, OptionValues } from './core/command.ts';
import { GLOBAL_OPTIONS } from './core/options.ts';
import { UsageError } from './core/usage.ts';
import { FOREIGN_COMMANDS, FOREIGN_OPTIONS, FOREIGN_VALUES, NEEDLESS_OPTIONS } from './foreign-words.ts';
import { quoted } from './shell/quote.ts';

export interface Route {
  /** Name of the command; of the default one if none was typed. */
  name: string;
  /** True: the user typed it. */
  typed: boolean;
  /** The arguments left for the command. */
  args: string[];
}

export interface Parsed {
  values: OptionValues;
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
  if (find(word) !== undefined) return memberOf(word, args, first) ?? { name: word, typed: true, args };
  if (!groups().includes(word)) {
    throw new UsageError(`"${word}" is not a command.${commandHint(word)}`);
  }
  return routeMember(word, args, first);
}

/** " Did you mean umaprobe cache evict?", also for "evict" alone, and for a word that is nearly one of these. */
function commandHint(word: string): string {
  const names = COMMANDS.map((entry) => entry.name);
  const known = [...new Set([...names.flatMap((name) => [name, ...name.split(' ')]), ...groups()])];
  const near = nearest(word, known);
  if (/^[–—−]/.test(word)) return ' An option begins with two hyphens: --.';
  if (Object.hasOwn(FOREIGN_COMMANDS, word)) return ` ${FOREIGN_COMMANDS[word]}`;
  if (near === null) return '';
  const whole = known.includes(near) && !names.includes(near) ? names.find((name) => name.endsWith(` ${near}`)) : near;
  return ` Did you mean umaprobe ${whole ?? near}?`;
}

/** "record show": a command whose first word is a command, too. null: the second word is an argument, or there is none. */
function memberOf(word: string, args: string[], from: number): Route | null {
  const next = args[from] ?? '';
  if (find(`${word} ${next}`) === undefined) return null;
  return { name: `${word} ${next}`, typed: true, args: args.toSpliced(from, 1) };
}

/** The second word of "sim list". If it is missing, only --help is valid: the help of the group. */
function routeMember(group: string, args: string[], from: number): Route {
  const names = members(group);
  const next = firstWord(args.slice(from));
  if (next === null) {
    if (args.includes('--help') || args.includes('-h')) return { name: group, typed: true, args };
    throw new UsageError(`${group} needs one of: ${names.join(', ')}.`, group);
  }
  const word = args[from + next] ?? '';
  if (!names.includes(word)) {
    throw new UsageError(
      `${group} has no "${word}"; it has ${names.join(', ')}.${didYouMean(word, names, `umaprobe ${group} `)}`,
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

/**
 * Options and arguments of one command, each checked.
 *
 * @param called the command as the user named it; null: the default one, which was not named.
 */
export function parse(command: ListedCommand, args: readonly string[], called: string | null = command.name): Parsed {
  const table: OptionTable = { ...GLOBAL_OPTIONS, ...command.options };
  const { values, positionals, tokens } = parseArgs({
    // The words of a program may be more than the parser takes.
    args: args.slice(0, args.includes('--') ? args.indexOf('--') + 1 : args.length),
    options: Object.fromEntries(
      Object.entries(table).map(([name, { type, short, list = false }]) => [
        name,
        { type, multiple: list, ...defined({ short }) },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const program = command.arguments.afterDashes === 'program' ? forgottenProgram(command, tokens) : null;
  for (const token of tokens) {
    // Options after a program without "--" may be the program's.
    const isOurs = program === null || token.index < program;
    if (token.kind === 'option' && isOurs) checkOption(token, withDashes(args, program), table, called);
  }
  if (program !== null) throw new UsageError(dashesMissing(command, args, program));
  checkRepeats(
    tokens.filter((token) => token.kind === 'option'),
    table,
  );
  const dashes = tokens.find((token) => token.kind === 'option-terminator');
  const rest = dashes === undefined ? [] : args.slice(dashes.index + 1);
  const words = tokens.filter(({ kind }) => kind === 'positional').map(({ index }) => index);
  const options = args.filter((_, index) => !words.includes(index) && index < (dashes?.index ?? args.length));
  if (values.help !== true && values.version !== true)
    checkPositionals(command, { options, positionals, after: dashes === undefined ? null : rest });
  return { values: values as OptionValues, positionals, rest };
}

interface Token {
  kind: string;
  index: number;
  value?: string | undefined;
}

interface OptionToken {
  index: number;
  name: string;
  rawName: string;
  value: string | undefined;
  inlineValue: boolean | undefined;
}

function checkOption(token: OptionToken, args: readonly string[], table: OptionTable, command: string | null): void {
  const spec = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
  if (spec === undefined) {
    const needless = NEEDLESS_OPTIONS[command ?? '']?.[token.name];
    const hint = needless === undefined ? optionHint(token, args, table, command) : ` ${needless}`;
    throw new UsageError(`${command === null ? 'There is' : `${command} has`} no option ${token.rawName}.${hint}`);
  }
  if (spec.type === 'boolean' && token.value !== undefined) {
    throw new UsageError(`${token.rawName} takes no value, got "${token.value}".`);
  }
  const swallowed = token.inlineValue === false && token.value?.startsWith('--') === true;
  if (spec.type === 'string' && (token.value === undefined || token.value === '' || swallowed)) {
    throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${spec.placeholder ?? '<value>'}.`);
  }
}

/** The whole command line with the option that was probably meant. */
function optionHint(token: OptionToken, args: readonly string[], table: OptionTable, command: string | null): string {
  const meant = meantOption(token, args[token.index] ?? '', table);
  if (meant === null) return '';
  const own = (meant === FOREIGN_OPTIONS[token.name] ? FOREIGN_VALUES[token.name] : undefined) ?? String;
  const [typed, value] = [
    meant.length > 1 ? `--${meant}` : `-${meant}`,
    token.inlineValue === true ? token.value : null,
  ];
  const next = args[token.index + 1];
  const line = [
    ...args.slice(0, token.index),
    value == null ? typed : `${typed}=${own(value)}`,
    ...(value == null && next !== undefined ? [own(next)] : []),
    ...args.slice(token.index + (value == null ? 2 : 1)),
  ];
  return meantLine(command, line);
}

/** @param typed the whole word: `-json` is a group of four options for the parser. */
function meantOption({ name, rawName }: OptionToken, typed: string, table: OptionTable): string | null {
  const ours = Object.hasOwn(FOREIGN_OPTIONS, name) ? (FOREIGN_OPTIONS[name] ?? '') : '';
  if (Object.hasOwn(table, ours)) return ours;
  if (rawName.startsWith('--')) return nearest(name, Object.keys(table));
  if (typed.length > 2) return nearest(typed.slice(1), Object.keys(table));
  return Object.values(table).find(({ short }) => short?.toLowerCase() === name.toLowerCase())?.short ?? null;
}

/** " Did you mean umaprobe fit --bytes 60GiB?": works when it is pasted. */
function meantLine(command: string | null, args: readonly string[]): string {
  return ` Did you mean ${['umaprobe', ...(command === null ? [] : [command]), ...args.map(inShell)].join(' ')}?`;
}

const inShell = (word: string): string => (/^[\w@%+=:,./{}-]+$/.test(word) ? word : quoted(word));

/** Index of a program of its own options that stands without "--"; null: there is none. */
function forgottenProgram({ arguments: { bareWord, max } }: ListedCommand, tokens: readonly Token[]): number | null {
  // A word before a "--" is a mistake of its own.
  if (tokens.some(({ kind }) => kind === 'option-terminator')) return null;
  const program = tokens.filter(({ kind }) => kind === 'positional')[max];
  return program === undefined || bareWord?.pattern.test(program.value ?? '') === true ? null : program.index;
}

/** The arguments with "--" before the program; null: there is no such program. */
function withDashes(args: readonly string[], program: number | null): readonly string[] {
  return program === null ? args : [...args.slice(0, program), '--', ...args.slice(program)];
}

/** Its options would otherwise be taken for ours. */
function dashesMissing({ name }: ListedCommand, args: readonly string[], program: number): string {
  const line = ['umaprobe', name, ...withDashes(args, program)];
  return `Put "--" before the program: ${line.join(' ')}.`;
}

/** Only lists add up: anything else with two values would lose one. */
function checkRepeats(tokens: readonly OptionToken[], table: OptionTable): void {
  for (const { name, rawName } of tokens) {
    if (table[name]?.type !== 'string' || table[name].list === true) continue;
    const values = tokens.filter((token) => token.name === name).map(({ value = '' }) => `"${value}"`);
    if (values.length > 1) throw new UsageError(`${rawName} takes one value, and is given ${values.join(' and ')}.`);
  }
}

interface Words {
  options: readonly string[];
  positionals: readonly string[];
  /** Those after `--`; null: there is none. */
  after: readonly string[] | null;
}

function checkPositionals(command: ListedCommand, words: Words): void {
  const { after, positionals } = words;
  const { min, max, afterDashes } = command.arguments;
  const usage = `umaprobe ${command.name}${command.usage === '' ? '' : ` ${command.usage}`}`;
  if (positionals.length > max) {
    const extra = positionals[max] ?? '';
    throw new UsageError(`${command.name} ${whyNot(command, extra)}.${misplacedHint(command, words)}`);
  }
  if (positionals.length < min) throw new UsageError(`An argument is missing: ${usage}.`);
  if (after !== null && afterDashes === false) {
    throw new UsageError(`${command.name} takes nothing after "--".`);
  }
}

function whyNot({ arguments: { max } }: ListedCommand, extra: string): string {
  if (max === 0) return `takes no argument, and is given "${extra}"`;
  return `takes ${max === 1 ? 'one argument' : `at most ${max} arguments`}, and is given "${extra}", too`;
}

/** Probable meaning of a word that has no place here: a command, or the value of an option. */
function misplacedHint({ arguments: { bareWord, max }, name }: ListedCommand, words: Words): string {
  const { after, options, positionals } = words;
  const extra = positionals[max] ?? '';
  const number = positionals[max - 1] ?? '';
  if (/^[kmgt]i?b$/i.test(extra) && /^[\d.]+$/.test(number))
    return ` A size is one word.${meantLine(name, [...positionals.slice(0, max - 1), number + extra, ...options])}`;
  if (find(extra) !== undefined) return ` Put the command first: umaprobe ${extra} …`;
  const member = didYouMean(extra, members(name), `umaprobe ${name} `);
  if (member !== '' || bareWord === undefined) return member;
  if (bareWord.pattern.test(extra)) {
    const program = after ?? positionals.slice(max + 1);
    const value = bareWord.value?.(positionals) ?? extra;
    const line = [...options, `--${bareWord.option}`, value];
    return meantLine(name, bareWord.value !== undefined || program.length === 0 ? line : [...line, '--', ...program]);
  }
  return bareWord.otherwise === undefined ? '' : ` ${bareWord.otherwise}`;
}
