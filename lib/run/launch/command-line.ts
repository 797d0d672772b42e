/** Reads the arguments of a program by its options that concern memory; the others are passed over. Pure. */

import type { UnreadPart } from '../../types/index.ts';

/** Words that follow an option: none, one, or all up to the next option, if there are any. */
type Arity = 'none' | 'one' | 'any';

/** Words after an option; if no estimate here counts its effect, also that it takes more, less or either. */
type Meaning = Arity | readonly [takes: Arity, effect: UnreadPart['effect'], why: string];

interface Option {
  name: string;
  takes: Arity;
  /** The option as an unread part of the command; null: it is counted. */
  uncounted: UnreadPart | null;
}

export interface OptionTable {
  /** Options that concern memory, by each of their names. */
  readonly options: ReadonlyMap<string, Option>;
  /** Options that look as if they concerned memory, and change nothing that is counted. */
  readonly harmless: ReadonlySet<string>;
  /** argparse of Python: `--no-name`, `--name.key value`, names that are cut short. */
  readonly isPython: boolean;
}

export interface ReadArguments {
  /** Options of the table by their first name; of several the last counts. A flag has the value '', `--no-flag` "no". */
  values: Map<string, string>;
  /** The words of each option with a value, of all places where it stands. */
  every: Map<string, readonly string[]>;
  positionals: string[];
  /** Words behind an option that is not in the table: its values, or arguments. */
  doubtful: string[];
  /** Parts that are not understood, or not counted. */
  unread: UnreadPart[];
}

/** @param options names with spaces between, the first of which is used in sentences, and their meaning. */
export function optionTable(
  options: Readonly<Record<string, Meaning>>,
  harmless: string,
  isPython: boolean,
): OptionTable {
  const all = Object.entries(options).flatMap(([line, meaning]) => {
    const names = line.split(' ');
    const [name = ''] = names;
    const [takes, effect, why] = typeof meaning === 'string' ? [meaning] : meaning;
    const uncounted = effect === undefined ? null : unread(`${name} ${why}.`, effect);
    return names.map((alias): [string, Option] => [alias, { name, takes, uncounted }]);
  });
  return { options: new Map(all), harmless: new Set(harmless.split(' ')), isPython };
}

function unread(text: string, effect: UnreadPart['effect'] = 'either'): UnreadPart {
  return { text, part: 'option', effect };
}

export function readArguments(words: readonly string[], table: OptionTable): ReadArguments {
  const read: ReadArguments = { values: new Map(), every: new Map(), positionals: [], doubtful: [], unread: [] };
  for (let index = 0; index < words.length; ) {
    const word = words[index++] ?? '';
    if (!isOption(word)) {
      read.positionals.push(word);
      continue;
    }
    const { inline, name } = split(word);
    const known = lookUp(name, table);
    const behind = inline === null ? wordsBehind(words, index, known?.option.takes ?? 'any') : [];
    index += behind.length;
    if (known !== null) take(known, name, inline === null ? behind : [inline], read);
    else {
      read.doubtful.push(...behind);
      if (looksLikeMemory(name, table))
        read.unread.push(unread(`The option ${name} is not known here, and may concern memory.`));
    }
  }
  return read;
}

function take({ option, value }: Known, name: string, own: readonly string[], read: ReadArguments): void {
  if (option.takes === 'one' && own.length === 0) {
    read.unread.push(unread(`The option ${name} has no value.`));
    return;
  }
  if (option.uncounted !== null) read.unread.push(option.uncounted);
  const [, key] = /^--[^.]+\.([\w-]+)$/.exec(name) ?? [];
  const given = key === undefined ? own : own.map((word) => JSON.stringify({ [key]: word }));
  read.values.set(option.name, given.length === 0 ? value : given.join(' '));
  read.every.set(option.name, [...(read.every.get(option.name) ?? []), ...given]);
}

/** `-1` is a value, and so is `-` alone. */
function isOption(word: string): boolean {
  return /^-[^\d.]/.test(word);
}

function split(word: string): { name: string; inline: string | null } {
  const equals = word.indexOf('=');
  const typed = equals < 0 ? word : word.slice(0, equals);
  const inline = equals < 0 ? null : word.slice(equals + 1);
  // Both argparse of vLLM and llama.cpp take underscores for dashes.
  const dashes = typed.startsWith('--') ? `--${typed.slice(2).replaceAll('_', '-')}` : typed;
  return { name: dashes, inline };
}

interface Known {
  option: Option;
  /** Value if no word is behind it. */
  value: string;
}

function lookUp(name: string, { isPython, options }: OptionTable): Known | null {
  const option = options.get(name);
  if (option !== undefined) return { option, value: '' };
  if (!isPython) return null;
  const positive = name.startsWith('--no-') ? options.get(`--${name.slice(5)}`) : undefined;
  if (positive?.takes === 'none') return { option: positive, value: 'no' };
  // `--speculative-config.method ngram` sets one key of a JSON option.
  const whole = name.includes('.') ? options.get(name.slice(0, name.indexOf('.'))) : undefined;
  return whole?.takes === 'one' ? { option: whole, value: '' } : null;
}

/** Any of these words may belong to an unknown option. */
function wordsBehind(words: readonly string[], index: number, takes: Arity): string[] {
  const most = { none: 0, one: 1, any: words.length }[takes];
  const rest = words.slice(index, index + most);
  const end = rest.findIndex(isOption);
  return end < 0 ? rest : rest.slice(0, end);
}

const MEMORY = /mem|cache|ctx|context|kv|gpu|batch|seq|parallel|offload/i;

function looksLikeMemory(name: string, { harmless, isPython, options }: OptionTable): boolean {
  if (harmless.has(name) || harmless.has(name.replace(/^--no-/, '--'))) return false;
  return MEMORY.test(name) || (isPython && [...options.keys()].some((known) => known.startsWith(name)));
}

/** A whole number of at least `min`; null: it is none. */
export function wholeNumber(text: string | undefined, min = 0): number | null {
  if (text === undefined || !/^\d{1,15}$/.test(text)) return null;
  const number = Number(text);
  return number >= min ? number : null;
}

/** A share above 0 and up to 1; null: it is none. */
export function shareOf(text: string | undefined): number | null {
  if (text === undefined || !/^(\d+(\.\d*)?|\.\d+)$/.test(text)) return null;
  const number = Number(text);
  return number > 0 && number <= 1 ? number : null;
}

const POWERS: Readonly<Record<string, number>> = { k: 1, m: 2, g: 3, t: 4 };

/** vLLM's human_readable_int: 32768, 25.6k (decimal), 32K (binary), of at least 1; null: it is none. */
export function humanReadable(text: string | undefined): number | null {
  const match = /^(\d{1,15}(?:\.\d{1,9})?)([kKmMgGtT]?)$/.exec(text ?? '');
  if (match === null) return null;
  const [, digits = '', unit = ''] = match;
  const isBinary = unit !== unit.toLowerCase();
  if (digits.includes('.') && (unit === '' || isBinary)) return null;
  const number = Math.round(Number(digits) * (isBinary ? 1024 : 1000) ** (POWERS[unit.toLowerCase()] ?? 0));
  return number >= 1 && number <= Number.MAX_SAFE_INTEGER ? number : null;
}
