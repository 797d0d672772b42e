/** Options that every command knows, and how a command reads a checked value out of what was typed. */
import { formatDuration, parseDuration } from '../../base/format.ts';
import type { OptionTable, Values } from './command.ts';
import { didYouMean, UsageError } from './usage.ts';

export const GLOBAL_OPTIONS: OptionTable = {
  json: { type: 'boolean', summary: 'Print one JSON document on stdout; its schema is named in it' },
  sim: {
    type: 'string',
    placeholder: '<name|file.json>',
    summary: 'Use a simulated machine instead of this one (see umaprobe sim list)',
  },
  'no-color': { type: 'boolean', summary: 'No colour. NO_COLOR and FORCE_COLOR are respected, too' },
  help: { type: 'boolean', short: 'h', summary: 'Help for this command' },
  version: { type: 'boolean', short: 'V', summary: 'Version of umaprobe' },
};

export function flag(values: Values, name: string): boolean {
  return values[name] === true;
}

export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** One of a few words. */
export function choice<T extends string>(
  values: Values,
  name: string,
  choices: readonly T[],
  fallback: T,
  command: string,
): T {
  const value = text(values, name);
  if (value === undefined) return fallback;
  const found = choices.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  throw new UsageError(
    `--${name} "${value}" is not one of ${choices.join(', ')}.${didYouMean(value, choices)}`,
    command,
  );
}

/** A whole number from `min` to `max`. */
export function count(values: Values, name: string, min: number, max: number, command: string): number | undefined {
  const value = text(values, name);
  if (value === undefined) return undefined;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${name} "${value}" is not a whole number from ${min} to ${max}.`, command);
}

/** A number above `min` and up to `max`, such as a scale. */
export function positive(values: Values, name: string, max: number, command: string): number | undefined {
  const value = text(values, name);
  if (value === undefined) return undefined;
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (number > 0 && number <= max) return number;
  throw new UsageError(`--${name} "${value}" is not a number above 0 and up to ${max}.`, command);
}

/** A time with its unit, in milliseconds. */
export function duration(
  values: Values,
  name: string,
  minMs: number,
  maxMs: number,
  fallbackMs: number,
  command: string,
): number {
  const value = text(values, name);
  if (value === undefined) return fallbackMs;
  const ms = parseDuration(value);
  if (ms === null) {
    throw new UsageError(`--${name} "${value}" is not a time with its unit, such as 500ms, 1s, 2m or 1h.`, command);
  }
  if (ms >= minMs && ms <= maxMs) return ms;
  throw new UsageError(
    `--${name} "${value}" is outside ${formatDuration(minMs)} to ${formatDuration(maxMs)}.`,
    command,
  );
}
