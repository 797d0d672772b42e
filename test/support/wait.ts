import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Ends what hangs, below the limit of a test, and decides nothing else. */
const LIMIT_MS = 50_000;

/** A screen is read as it stands. */
const textOf = (seen: unknown): string =>
  typeof seen === 'string' && seen.includes('\n') ? `\n${seen}` : inspect(seen, { depth: 5 });

type Truthy<T> = Exclude<T, null | undefined | false | 0 | ''>;

/**
 * Looks until what it sees is something, or until `isIt` says so, and answers it.
 *
 * @param what ends the sentence "waited 50 s for".
 */
export async function waitFor<T>(what: string, look: () => T | Promise<T>): Promise<Truthy<T>>;
export async function waitFor<T>(
  what: string,
  look: () => T | Promise<T>,
  isIt: (seen: Awaited<T>) => boolean,
): Promise<T>;
export async function waitFor<T>(what: string, look: () => T | Promise<T>, isIt: (seen: T) => boolean = Boolean) {
  const begin = performance.now();
  for (;;) {
    const seen = await look();
    if (isIt(seen)) return seen;
    const seconds = (performance.now() - begin) / 1000;
    if (seconds * 1000 > LIMIT_MS)
      throw new Error(`waited ${seconds.toFixed(0)} s for ${what}; last seen: ${textOf(seen)}`);
    await sleep(10);
  }
}

/** The text of a file that another program writes, once it has `lines` lines. */
export const linesIn = (file: string, lines = 1): Promise<string> =>
  waitFor(
    `${lines} lines in ${file}`,
    () => (existsSync(file) ? readFileSync(file, 'utf8') : ''),
    (text) => text.split('\n').length > lines,
  );
