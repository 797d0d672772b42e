/**
 * An option is one row: what it may be, its range and default, and what the command line says of it. From a table of rows follow the
 * public type (`OptionsOf`), the check (`checkOptions`), and what the command line and the server for agents take.
 */

import {
  checkBoolean,
  checkBytes,
  checkChoice,
  checkFunction,
  checkInteger,
  checkKeys,
  checkMilliseconds,
  checkSignal,
  checkText,
} from './arguments.ts';
import type { Range } from './limits.ts';
import { checkPath } from './program-arguments.ts';

/** A mistake in a typed value. The command line says it, and where to read on. */
export class TypedMistake extends Error {}

/** Form of a typed value, which decides its type. */
export type Form = 'whole' | 'size' | 'time' | 'flag' | 'word' | 'list' | 'text' | 'texts' | 'share' | 'number';

/** Fields of a row. */
export interface Saying<Default> {
  /** Absent: undefined. null: there is none, and the value is null. */
  readonly default?: Default;
  /** The sentence of the help; range and default are added. Absent: the command line has no such option. */
  readonly help?: string;
  /** The end of that sentence. */
  readonly note?: string;
  /** The default in words, where it depends on the machine. */
  readonly usually?: string;
  /** Its name on the command line. Absent: the key in words with hyphens, without its unit. */
  readonly flag?: string;
  readonly short?: string;
  /** Absent: that of the constructor. */
  readonly form?: Form;
  /** Name of its value in the help: "<name|file>". Absent: by its form. */
  readonly placeholder?: string;
  /** Every word that the value may be, where the placeholder does not list them. */
  readonly words?: readonly string[];
  /** Heading of the help under which it stands. */
  readonly section?: string;
}

/** The other options, as they were given. */
type Given = Readonly<Record<string, unknown>>;

interface Reading<Value, Typed = string> {
  /** The value of what was typed, where its form does not say that; undefined: as its form says. Throws `TypedMistake`. */
  readonly read?: (typed: Typed, name: string, command: string) => Value | undefined;
  /** Reason to refuse this value on the command line, as the end of a sentence that names it; null: none. */
  readonly refuse?: (value: Value, given: Given) => string | null;
}

/** @typeParam Value what callers give. @typeParam Checked what it becomes, or its default. */
export interface OptionRow<Value, Checked = Value | undefined> extends Saying<Checked> {
  readonly form: Form;
  readonly range?: Range;
  /** Never there: it carries the type. */
  readonly takes?: Value;
  check(name: string, value: unknown, given: Given): Checked;
  /** Reads the typed text, or the typed entries of a list. */
  read?(typed: string | readonly string[], name: string, command: string): unknown;
  refuse?(value: unknown, given: Given): string | null;
}

export type OptionRows = Readonly<Record<string, OptionRow<unknown, unknown>>>;

type ValueOf<Row> = Row extends { readonly takes?: infer Value } ? Value : never;
type NeededIn<Rows> = { [Key in keyof Rows]: Rows[Key] extends Needed ? Key : never }[keyof Rows];
type Optional<Rows, Key extends keyof Rows> = { [Name in Key]?: ValueOf<Rows[Name]> };
type Mandatory<Rows, Key extends keyof Rows> = { [Name in Key]: ValueOf<Rows[Name]> };

/** The options that a caller may give. Their doc comments are those of the rows. */
export type OptionsOf<Rows> = Optional<Rows, Exclude<keyof Rows, NeededIn<Rows>>> & Mandatory<Rows, NeededIn<Rows>>;

/** The options as they were checked, with their defaults. */
export type CheckedOf<Rows> = {
  [Key in keyof Rows]: Rows[Key] extends { check(...args: never): infer Checked } ? Checked : never;
};

/** @throws TypeError/RangeError that names the option; `owner` takes them: "sweep()". */
export function checkOptions<Rows extends OptionRows>(owner: string, options: unknown, rows: Rows): CheckedOf<Rows> {
  checkKeys(owner, options as object, rows as Record<never, true>);
  return checkRows('', options as Given, rows);
}

function checkRows<Rows extends OptionRows>(prefix: string, given: Given, rows: Rows): CheckedOf<Rows> {
  const checked = Object.entries(rows).map(([key, row]) => {
    const value = given[key];
    return [key, value === undefined && !('needed' in row) ? row.default : row.check(prefix + key, value, given)];
  });
  return Object.fromEntries(checked) as CheckedOf<Rows>;
}

export interface Needed {
  readonly needed: true;
}

/** An option that has to be given. */
export function needed<Value, Checked>(
  row: OptionRow<Value, Checked>,
): OptionRow<Value, Exclude<Checked, undefined>> & Needed {
  return { ...row, needed: true } as OptionRow<Value, Exclude<Checked, undefined>> & Needed;
}

/** The same row with another default. */
export function withDefault<Value, Default>(row: OptionRow<Value, unknown>, value: Default) {
  return { ...row, default: value } as OptionRow<Value, Value | Default>;
}

/** The same rows under a heading of the help. */
export function inSection<Rows extends OptionRows>(section: string, rows: Rows): Rows {
  return Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, { ...row, section }])) as unknown as Rows;
}

/** Takes the fields of an object that stand under these keys. */
export function pick<Whole extends object, Key extends keyof Whole>(
  whole: Whole,
  keys: readonly Key[],
): Pick<Whole, Key> {
  return Object.fromEntries(keys.flatMap((key) => (key in whole ? [[key, whole[key]]] : []))) as Pick<Whole, Key>;
}

type Row<Value, Default> = OptionRow<Value, Value | Default>;
type Ranged<Default> = Range & Saying<Default>;
type Check<Checked> = (name: string, value: unknown, given: Given) => Checked;

function ranged<Default>(
  form: Form,
  check: (name: string, value: unknown, range: Range) => number,
  { max, min, ...saying }: Ranged<Default> & Reading<number>,
): Row<number, Default> {
  const range = max === undefined ? { min } : { min, max };
  return { form, range, check: (name, value) => check(name, value, range), ...saying };
}

/** A whole number. */
export function integer<Default = undefined>(saying: Ranged<Default>): Row<number, Default> {
  return ranged('whole', checkInteger, saying);
}

/** A whole number of bytes; a size with its unit on the command line. */
export function bytes<Default = undefined>(saying: Ranged<Default> & Reading<number>): Row<number, Default> {
  return ranged('size', checkBytes, saying);
}

/** A number of milliseconds; a time with its unit on the command line. */
export function milliseconds<Default = undefined>(saying: Ranged<Default>): Row<number, Default> {
  return ranged('time', checkMilliseconds, saying);
}

/** True or false; false where it is absent. */
export function flag({ default: fallback = false, ...saying }: Saying<boolean> = {}): Row<boolean, boolean> {
  return { form: 'flag', default: fallback, check: checkBoolean, ...saying };
}

/** One of these words. */
export function oneOf<Word extends string, Default extends Word | null | undefined = undefined>(
  words: readonly Word[],
  saying: Saying<Default> & Reading<Word>,
): Row<Word, Default> {
  return custom((name, value) => checkChoice(name, words, value), { form: 'word', words, ...saying });
}

/** A text with so many characters. */
export function text<Default = undefined>({
  max,
  min,
  ...saying
}: Required<Range> & Saying<Default> & Reading<string>): Row<string, Default> {
  return custom((name, value) => checkText(name, value, { min, max }), saying);
}

/** The path of a file or folder. */
export function path(saying: Saying<undefined> = {}): Row<string, undefined> {
  return custom<string | undefined, undefined, string>((name, value) => checkPath(name, value), {
    placeholder: '<file>',
    ...saying,
  });
}

/** A signal that aborts the work. @throws the reason of one that is aborted already. */
export const signal: Row<AbortSignal, undefined> = custom((_, value) => {
  const checked = checkSignal(value);
  checked?.throwIfAborted();
  return checked;
}, {});

/** A function that is called meanwhile. */
export function callback<Call>(): Row<Call, undefined> {
  return custom<Call | undefined, undefined, Call>((name, value) => {
    checkFunction(name, value);
    return value as Call;
  }, {});
}

/** Anything else, by a check of its own. */
export function custom<Checked, Default = undefined, Value = Checked>(
  check: Check<Checked>,
  saying: Saying<Default> & Reading<Value> & { readonly range?: Range },
): OptionRow<Value, Checked | Default> {
  return { form: 'text', check, ...saying } as OptionRow<Value, Checked | Default>;
}

/** The same, of which several are typed with commas between them. */
export function list<Checked, Default = undefined, Value = Checked>(
  check: Check<Checked>,
  saying: Saying<Default> & Reading<Value, readonly string[]>,
): OptionRow<Value, Checked | Default> {
  return { form: 'list', check, ...saying } as OptionRow<Value, Checked | Default>;
}

/** An object of options, { availableBytes, blocks }, without defaults; without any where it is absent. */
export function group<Rows extends OptionRows>(rows: Rows): OptionRow<OptionsOf<Rows>, OptionsOf<Rows>> {
  const check = (name: string, value: unknown): OptionsOf<Rows> => {
    checkKeys(name, value as object, rows as Record<never, true>);
    const checked = Object.entries(checkRows(`${name}.`, value as Given, rows));
    return Object.fromEntries(checked.filter(([, item]) => item !== undefined)) as OptionsOf<Rows>;
  };
  return custom(check, { default: {} as OptionsOf<Rows> });
}
