/** Sizes as a user types them, each refused with the words that lead to the right one. */
import { parseSize } from '../../base/format.ts';
import type { Values } from './command.ts';
import { text } from './options.ts';
import { UsageError } from './usage.ts';

/** A size of at least `min` bytes. `what` names it in the error: "--max", "the part kv-cache". */
export function sizeOf(word: string, what: string, command: string, min = 1): number {
  const bytes = parseSize(word);
  if (bytes === null) throw new UsageError(`${what} "${word}" ${whyNot(word)}`, command);
  if (bytes >= min) return bytes;
  throw new UsageError(`${what} "${word}" is less than ${min === 1 ? '1 byte' : `${min} bytes`}.`, command);
}

function whyNot(word: string): string {
  const short = /^(\d+(?:\.\d+)?)\s*([kmgt])$/i.exec(word.trim());
  if (short !== null) {
    const [, number = '', letter = ''] = short;
    const unit = letter.toUpperCase();
    return `could mean two sizes: write ${number}${unit}B (powers of 1000) or ${number}${unit}iB (powers of 1024).`;
  }
  if (/^\d+(\.\d+)?\s*([kmgt]?i?b)?$/i.test(word.trim()))
    return 'is more than 2^53 − 1 bytes, the largest size there is.';
  return 'is not a size, such as 8GB (8·10^9 bytes), 8GiB (8·2^30) or 4096 (bytes).';
}

/** The size given with an option; undefined where the option was not given. */
export function size(values: Values, name: string, command: string, min = 1): number | undefined {
  const word = text(values, name);
  return word === undefined ? undefined : sizeOf(word, `--${name}`, command, min);
}

/** "1GB,2GiB" → bytes. */
export function sizes(values: Values, name: string, command: string): number[] | undefined {
  return list(values, name, command)?.map((word) => sizeOf(word, `--${name}`, command));
}

/** Words between commas; an empty one is a mistake, not a word. */
export function list(values: Values, name: string, command: string): string[] | undefined {
  const words = text(values, name)
    ?.split(',')
    .map((word) => word.trim());
  if (words?.includes('') === true)
    throw new UsageError(`--${name} "${text(values, name)}" has an empty entry between its commas.`, command);
  return words;
}

/** "8192x8192,4096" → [[8192, 8192], [4096]]. */
export function shapes(values: Values, name: string, command: string): number[][] | undefined {
  return list(values, name, command)?.map((word) => {
    const dimensions = word.split(/[x×]/i);
    if (!dimensions.every((dimension) => /^\d+$/.test(dimension) && Number.isSafeInteger(Number(dimension))))
      throw new UsageError(`--${name} "${word}" is not a shape, such as 8192x8192 or 4096.`, command);
    if (dimensions.some((dimension) => Number(dimension) === 0))
      throw new UsageError(`--${name} "${word}" has a dimension of 0, so it holds nothing.`, command);
    return dimensions.map(Number);
  });
}

/** "1e9", "1000000" → a whole number of elements. */
export function elements(values: Values, name: string, command: string): number | undefined {
  const word = text(values, name);
  if (word === undefined) return undefined;
  const number = /^\d+(\.\d+)?(e\+?\d{1,2})?$/i.test(word) ? Number(word) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new UsageError(
    `--${name} "${word}" is not a whole number of elements, such as 1e9, from 1 to 2^53 − 1.`,
    command,
  );
}
