/** Reads the arguments of a program by a table of its options. Pure. */

/** Words that follow an option: none, one, all up to the next option, or one if it is among these. */
type Arity = 'none' | 'one' | 'many' | readonly string[];

export interface OptionTable {
  /** Every name → the first of its names and its arity. */
  readonly options: ReadonlyMap<string, { name: string; arity: Arity }>;
  readonly dialect: Dialect;
}

export interface Dialect {
  /** argparse of Python: `--name=value`, `--no-name`, `--name.key value`. */
  readonly python: boolean;
}

export interface ReadArguments {
  /** Options of the table by their first name; of several the last counts. A flag has the value '', `--no-flag` "no". */
  values: ReadonlyMap<string, string>;
  /** The words of each option with a value, of all places where it stands. */
  every: ReadonlyMap<string, readonly string[]>;
  positionals: string[];
  /** Options that the table does not have, as typed. */
  unknown: string[];
  /** Words behind an unknown option: its value or an argument. */
  doubtful: string[];
  /** Options without the value that they need. */
  incomplete: string[];
}

/** One line an option: its names, the first of which is used, separated by spaces. */
export function optionTable(
  lines: Readonly<Record<'none' | 'one' | 'many', readonly string[]>>,
  dialect: Dialect,
  optional: Readonly<Record<string, readonly string[]>> = {},
): OptionTable {
  const options = new Map<string, { name: string; arity: Arity }>();
  const add = (line: string, arity: Arity): void => {
    const names = line.split(' ');
    for (const alias of names) options.set(alias, { name: names[0] ?? '', arity });
  };
  for (const arity of ['none', 'one', 'many'] as const) for (const line of lines[arity]) add(line, arity);
  for (const [line, values] of Object.entries(optional)) add(line, values);
  return { options, dialect };
}

export function readArguments(words: readonly string[], table: OptionTable): ReadArguments {
  const values = new Map<string, string>();
  const every = new Map<string, string[]>();
  const take = (name: string, value: string, typed: readonly string[]): void => {
    values.set(name, value);
    every.set(name, [...(every.get(name) ?? []), ...typed]);
  };
  const positionals: string[] = [];
  const unknown: string[] = [];
  const doubtful: string[] = [];
  const incomplete: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    if (!isOption(word)) {
      positionals.push(word);
      continue;
    }
    const { inline, name } = split(word, table.dialect);
    const known = lookUp(name, table);
    if (known === null) {
      unknown.push(name);
      const next = words[index + 1];
      if (inline === null && next !== undefined && !isOption(next)) {
        doubtful.push(next);
        index++;
      }
      continue;
    }
    const { arity, value } = known;
    if (inline !== null) {
      take(known.name, inline, [inline]);
      continue;
    }
    const following = takes(arity, words, index);
    index += following.length;
    if (arity === 'one' && following.length === 0) incomplete.push(word);
    else take(known.name, following.length === 0 ? value : following.join(' '), following);
  }
  return { values, every, positionals, unknown, doubtful, incomplete };
}

/** `-1` is a value, and so is `-` alone. */
function isOption(word: string): boolean {
  return /^-[^\d.]/.test(word);
}

function split(word: string, { python }: Dialect): { name: string; inline: string | null } {
  const equals = python && word.startsWith('--') ? word.indexOf('=') : -1;
  const typed = equals < 0 ? word : word.slice(0, equals);
  const inline = equals < 0 ? null : word.slice(equals + 1);
  // Both argparse of vLLM and llama.cpp take underscores for dashes.
  const dashes = typed.startsWith('--') ? `--${typed.slice(2).replaceAll('_', '-')}` : typed;
  return { name: dashes, inline };
}

function lookUp(name: string, { dialect, options }: OptionTable): { name: string; arity: Arity; value: string } | null {
  const known = options.get(name);
  if (known !== undefined) return { ...known, value: '' };
  if (!dialect.python) return null;
  const positive = name.startsWith('--no-') ? options.get(`--${name.slice(5)}`) : undefined;
  if (positive?.arity === 'none') return { ...positive, value: 'no' };
  // `--compilation-config.level 3` sets one key of a JSON option.
  const dot = name.indexOf('.');
  const whole = dot < 0 ? undefined : options.get(name.slice(0, dot));
  return whole?.arity === 'one' ? { ...whole, value: '' } : null;
}

function takes(arity: Arity, words: readonly string[], index: number): readonly string[] {
  if (arity === 'none') return [];
  const rest = words.slice(index + 1);
  // A value may begin with a dash where exactly one is expected: `--stop -1` is read above, `--api-key -x` is not.
  if (arity === 'one') return rest[0] === undefined || isOption(rest[0]) ? [] : [rest[0]];
  if (arity !== 'many') return rest[0] !== undefined && arity.includes(rest[0]) ? [rest[0]] : [];
  const end = rest.findIndex(isOption);
  return end < 0 ? rest : rest.slice(0, end);
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
