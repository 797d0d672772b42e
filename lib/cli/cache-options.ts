/** Options that several commands of the cache have, and how their values are read. */
import { formatBytes, parseSize } from '../format.ts';
import type { Values } from './command.ts';
import { text } from './options.ts';
import { didYouMean, UsageError } from './usage.ts';

export const TOP = {
  type: 'string',
  placeholder: '<n>',
  summary: 'How many files to list: 0 to 100000 (default 10)',
} as const;

export const SUDO = {
  type: 'boolean',
  summary: 'Let sudo do it, without a password: see umaprobe cache rule',
} as const;

/** "1", "2", "3", or several of them: "1,2". */
export function levelsOf(value: string, command: string): (1 | 2 | 3)[] {
  const words = value.split(',').map((word) => word.trim());
  const levels = words.map((word) => ([1, 2, 3] as const).find((level) => String(level) === word));
  const wrong = words.find((_, index) => levels[index] === undefined);
  if (wrong === undefined) return [...new Set(levels.filter((level) => level !== undefined))];
  throw new UsageError(`--level "${wrong}" is not one of 1, 2, 3.${didYouMean(wrong, ['1', '2', '3'])}`, command);
}

/** A size of at least `min` bytes. `what` names it in the error: "--floor", "The size". */
export function sizeOf(word: string, what: string, command: string, min = 1): number {
  const bytes = parseSize(word);
  if (bytes === null)
    throw new UsageError(
      `${what} "${word}" is not a size up to 2^53 − 1 bytes, such as 8GB (8·10^9), 8GiB (8·2^30) or 4096 (bytes).`,
      command,
    );
  if (bytes >= min) return bytes;
  throw new UsageError(`${what} "${word}" is less than ${formatBytes(min)}.`, command);
}

/** The size given with an option; undefined where the option was not given. */
export function size(values: Values, name: string, command: string, min = 1): number | undefined {
  const word = text(values, name);
  return word === undefined ? undefined : sizeOf(word, `--${name}`, command, min);
}
