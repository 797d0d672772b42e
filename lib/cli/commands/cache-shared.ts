/** Options that several commands of the cache have, and how their values are read. */
import { didYouMean, UsageError } from '../core/usage.ts';

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
