/** Options of every command, and readers that turn a typed option into a checked value. */
import { parseDuration, parseSize, typedDuration, typedSize } from '../../base/format.ts';
import { type Range, SOME_BYTES } from '../../base/limits.ts';
import { didYouMean } from '../../base/nearest.ts';
import type { ListedCommand, OptionTable, OptionValues } from './command.ts';
import { UsageError } from './usage.ts';

export const GLOBAL_OPTIONS: OptionTable = {
  json: { type: 'boolean', summary: 'Print one JSON document with the name of its schema' },
  sim: {
    type: 'string',
    placeholder: '<name|file.json>',
    summary: 'Use a simulated machine (see umaprobe sim list)',
  },
  'no-color': { type: 'boolean', summary: 'No colour; NO_COLOR and FORCE_COLOR are respected, too' },
  help: { type: 'boolean', short: 'h', summary: 'Show help: -h in short, --help with all of it' },
  version: { type: 'boolean', short: 'V', summary: 'Show the version' },
};

/** Options of every command that apply to this one. */
export function optionsOfEvery({ readsMachine }: Pick<ListedCommand, 'readsMachine'>): OptionTable {
  return Object.fromEntries(Object.entries(GLOBAL_OPTIONS).filter(([name]) => name !== 'sim' || readsMachine));
}

export function flag(values: OptionValues, name: string): boolean {
  return values[name] === true;
}

export function text(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** @param what names the option in the error: "--kind". */
export function choiceOf<T extends string>(value: string, what: string, command: string, choices: readonly T[]): T {
  const found = choices.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  throw new UsageError(`${what} "${value}" is not one of ${choices.join(', ')}.${didYouMean(value, choices)}`, command);
}

/** A whole number within its range. */
export function wholeOf(value: string, what: string, command: string, range: Range): number {
  const { min, max = Number.MAX_SAFE_INTEGER } = range;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  const expected = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new UsageError(`${what} "${value}" is not a whole number ${expected}.${thousandsHint(value)}`, command);
}

/** "32k" of tokens is 32,768 to some and 32,000 to others. */
function thousandsHint(value: string): string {
  const [, thousands] = /^(\d{1,6})k$/i.exec(value) ?? [];
  return thousands === undefined ? '' : ` Write ${Number(thousands) * 1024} or ${thousands}000.`;
}

/** A number above 0 and up to `max`, such as a scale. */
export function positiveOf(value: string, what: string, command: string, max: number): number {
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (number > 0 && number <= max) return number;
  throw new UsageError(`${what} "${value}" is not a number above 0 and up to ${max}.`, command);
}

/** A time with its unit, in milliseconds. */
export function durationOf(value: string, what: string, command: string, range: Required<Range>): number {
  // A second without a unit is not zero of them.
  const ms = range.min === 0 && value.trim() === '0' ? 0 : parseDuration(value);
  if (ms === null) throw new UsageError(`${what} "${value}" ${durationProblem(value)}`, command);
  if (ms >= range.min && ms <= range.max) return ms;
  throw new UsageError(`${what} "${value}" is outside ${durationRange(range)}.`, command);
}

/** "100ms to 24h". */
function durationRange({ min, max }: Required<Range>): string {
  return `${typedDuration(min)} to ${typedDuration(max)}`;
}

function durationProblem(word: string): string {
  const number = /^\d{1,15}(\.\d+)?$/.exec(word.trim())?.[0];
  if (number === undefined) return 'is not a time with its unit, such as 500ms, 1s, 2m or 1h.';
  return `has no unit: write ${number}ms, ${number}s, ${number}m or ${number}h.`;
}

/** A size within its range. `what` names it in the error: "--max", "The part kv-cache". */
export function sizeOf(word: string, what: string, command: string, range: Range = SOME_BYTES): number {
  const { min, max = Number.MAX_SAFE_INTEGER } = range;
  const bytes = parseSize(word);
  if (bytes === null) throw new UsageError(`${what} "${word}" ${sizeProblem(word)}`, command);
  if (bytes < min) throw new UsageError(`${what} "${word}" is less than ${typedSize(min)}.`, command);
  if (bytes > max) throw new UsageError(`${what} "${word}" is more than ${typedSize(max)}.`, command);
  return bytes;
}

function sizeProblem(word: string): string {
  const short = /^(\d+(?:\.\d+)?)\s*([kmgt])$/i.exec(word.trim());
  if (short !== null) {
    const [, number = '', letter = ''] = short;
    const unit = letter.toUpperCase();
    return `could mean two sizes: write ${number}${unit}B (powers of 1000) or ${number}${unit}iB (powers of 1024).`;
  }
  if (/^\d+(\.\d+)?$/.test(word.trim()) && Number(word) <= Number.MAX_SAFE_INTEGER)
    return `has no unit: write ${readings(word.trim())}.`;
  if (/^\d+\.\d+\s*b$/i.test(word.trim())) return 'is not a whole number of bytes.';
  if (/^\d+(\.\d+)?\s*([kmgt]?i?b)?$/i.test(word.trim()))
    return 'is more than 2^53 − 1 bytes, the largest size there is.';
  return 'is not a size with its unit, such as 8GB (8·10^9 bytes), 8GiB (8·2^30 bytes) or 4096B.';
}

/** Readings of a number without a unit, as words. Nobody counts a million GB, and nobody half bytes. */
function readings(number: string): string {
  if (Number(number) >= 1e6) return `${number}B (bytes)`;
  const large = `${number}GB (powers of 1000)`;
  if (number.includes('.')) return `${large} or ${number}GiB (powers of 1024)`;
  return `${large}, ${number}GiB (powers of 1024) or ${number}B (bytes)`;
}

/** True if the option was given. */
export function isGiven(values: OptionValues, name: string): boolean {
  return values[name] !== undefined;
}

/** The entries of a value that are separated by commas; an empty entry is a mistake. */
export function entriesOf(value: string, what: string, command: string): string[] {
  const entries = value.split(',').map((entry) => entry.trim());
  if (!entries.includes('')) return entries;
  throw new UsageError(`${what} "${value}" has an empty entry between its commas.`, command);
}
