/** The command line makes two things of a table of options: its own table, with the help, and the typed values. */

import { typedDuration, typedSize } from '../../base/format.ts';
import type { Range } from '../../base/limits.ts';
import {
  type CheckedOf,
  custom,
  list,
  type OptionRow,
  type OptionRows,
  type OptionsOf,
  type Saying,
  TypedMistake,
} from '../../base/options.ts';
import type { OptionSpec, OptionTable, OptionValues } from './command.ts';
import { choiceOf, durationOf, entriesOf, positiveOf, sizeOf, wholeOf } from './options.ts';
import { UsageError } from './usage.ts';

type Row = OptionRow<unknown, unknown>;

/** Name of a number's value in the help, and how the number is written there. */
const NUMBERS = {
  whole: { placeholder: '<n>', written: String },
  size: { placeholder: '<size>', written: typedSize },
  time: { placeholder: '<time>', written: typedDuration },
  share: { placeholder: '<share>', written: String },
  number: { placeholder: '<n>', written: String },
} as const;

/** A row that only the command line has, by how its value is read; undefined: it is one of the words. */
export function typedText<Value, Default = undefined>(
  read: (word: string, name: string) => Value | undefined,
  saying: Saying<Default>,
) {
  return custom<Value, Default>(asTyped<Value>, { ...saying, read });
}

/** The same, of which several are typed with commas between them. */
export function typedList<Value, Default = undefined>(
  read: (words: readonly string[], name: string) => Value | undefined,
  saying: Saying<Default>,
) {
  return list<Value, Default>(asTyped<Value>, { ...saying, read });
}

const asTyped = <Value>(_: string, value: unknown): Value => value as Value;

/** The name that is typed: "step-timeout" for `stepTimeoutMs`. */
function nameOf(key: string, { flag }: Row): string {
  const words = key.replace(/(Ms|Bytes)$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return flag ?? words;
}

/** The rows that are typed, by the name that is. */
function typedRows(rows: OptionRows): [key: string, name: string, row: Row][] {
  return Object.entries(rows).flatMap(([key, row]) => (row.help === undefined ? [] : [[key, nameOf(key, row), row]]));
}

/** The options of a command. */
export function optionTable(...tables: readonly OptionRows[]): OptionTable {
  return Object.fromEntries(tables.flatMap(typedRows).map(([, name, row]) => [name, specOf(row)]));
}

function specOf(row: Row): OptionSpec {
  const { form, section, short, words } = row;
  return {
    type: form === 'flag' ? 'boolean' : 'string',
    ...(form === 'list' || form === 'texts' ? { list: true } : {}),
    ...(form === 'flag' ? {} : { placeholder: placeholderOf(row) }),
    summary: summaryOf(row),
    ...(words === undefined ? {} : { values: words }),
    ...(section === undefined ? {} : { section }),
    ...(short === undefined ? {} : { short }),
    schema: schemaOf(row),
  };
}

/** Schema of an argument of an agent: a number is a number, a size or a time has its unit. */
function schemaOf({ form, range, words }: Row): object {
  if (form === 'flag') return { type: 'boolean' };
  if (form === 'list' || form === 'texts') return { type: 'array', items: { type: 'string' } };
  if (form === 'number') return { type: 'number' };
  if (form === 'whole' || form === 'share') {
    const { max: maximum, min: minimum } = range ?? {};
    return { type: form === 'whole' ? 'integer' : 'number', minimum, maximum };
  }
  return { type: 'string', enum: words };
}

function placeholderOf({ form, placeholder, words }: Row): string {
  if (placeholder !== undefined) return placeholder;
  return form in NUMBERS ? NUMBERS[form as keyof typeof NUMBERS].placeholder : `<${words?.join('|') ?? 'text'}>`;
}

/** The sentence with range and default: "Repeats of each step: 1 to 1000 (default 1)". */
function summaryOf({ default: fallback, form, help, note = '', range, usually }: Row): string {
  const { written = String }: { written?: (value: number) => string } =
    form in NUMBERS ? NUMBERS[form as keyof typeof NUMBERS] : {};
  const isNarrow = range?.max !== undefined && form !== 'share';
  const limits = isNarrow ? `: ${written(range.min)} to ${written(range.max as number)}` : '';
  const usual = typeof fallback === 'number' ? written(fallback) : typeof fallback === 'string' ? fallback : undefined;
  const end = usually === undefined ? usual && ` (default ${usual})` : ` (default: ${usually})`;
  return `${help}${limits}${end ?? ''}${note}`;
}

/** The options that were typed, as the library takes them. */
export function typedOptions<Rows extends OptionRows>(
  values: OptionValues,
  rows: Rows,
  command: string,
): Partial<OptionsOf<Rows>> {
  const typed = typedRows(rows).flatMap(([key, name, row]) => {
    const value = values[name];
    return value === undefined ? [] : [[key, valueFrom(value, row, `--${name}`, command)] as const];
  });
  const given = Object.fromEntries(typed);
  for (const [key, name, row] of typedRows(rows)) {
    const why = key in given ? row.refuse?.(given[key], given) : null;
    if (why != null) throw new UsageError(`--${name} "${values[name]}" ${why}`, command);
  }
  return given as Partial<OptionsOf<Rows>>;
}

/** The options that only the command line has, with their defaults. */
export function ownOptions<Rows extends OptionRows>(
  values: OptionValues,
  rows: Rows,
  command: string,
): CheckedOf<Rows> {
  const defaults = Object.entries(rows).map(([key, row]) => [key, row.default]);
  return { ...Object.fromEntries(defaults), ...typedOptions(values, rows, command) } as CheckedOf<Rows>;
}

function valueFrom(typed: NonNullable<OptionValues[string]>, row: Row, name: string, command: string): unknown {
  // --no-sync is sync: false.
  if (typeof typed === 'boolean') return !name.startsWith('--no-');
  try {
    if (typeof typed === 'string') return row.read?.(typed, name, command) ?? wordOf(typed, row, name, command);
    if (row.form === 'texts') return row.read?.(typed, name, command) ?? typed;
    const entries = typed.flatMap((word) => entriesOf(word, name, command));
    return (
      row.read?.(entries, name, command) ?? [
        ...new Set(entries.map((word) => choiceOf(word, name, command, row.words ?? []))),
      ]
    );
  } catch (error) {
    if (error instanceof TypedMistake) throw new UsageError(error.message, command);
    throw error;
  }
}

function wordOf(word: string, { form, range, words }: Row, name: string, command: string): unknown {
  if (form === 'word') return choiceOf(word, name, command, words ?? []);
  if (range === undefined) return word;
  if (form === 'share') return positiveOf(word, name, command, range.max ?? 1);
  if (form === 'time') return durationOf(word, name, command, range as Required<Range>);
  return form === 'size' ? sizeOf(word, name, command, range) : wholeOf(word, name, command, range);
}
