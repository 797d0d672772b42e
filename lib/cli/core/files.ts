/** Files that a command writes, checked before it starts: hours of work must not end in a name that cannot be written. */
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { obstacle } from '../../base/atomic-file.ts';
import { UsageError } from './usage.ts';

/** A file and how the user named it: "--csv", "the file of parts". */
export interface NamedFile {
  what: string;
  path: string;
}

export function namedFiles(what: string, paths: readonly string[]): NamedFile[] {
  return paths.map((path) => ({ what, path }));
}

/**
 * @param outputs files that will be replaced.
 * @param others files that the command reads or appends to; an output must not replace one of them.
 * @throws UsageError for an output that cannot be written, or that is the same file as another one.
 */
export function checkOutputs(outputs: readonly NamedFile[], others: readonly NamedFile[]): void {
  for (const { what, path } of outputs) {
    const problem = obstacle(path);
    if (problem !== null) throw new UsageError(`${what} "${path}" ${problem}.`);
  }
  for (const [index, output] of outputs.entries()) {
    const same = [...outputs.slice(0, index), ...others].find(({ path }) => isSameFile(path, output.path));
    if (same === undefined) continue;
    const names = same.path === output.path ? `both name "${output.path}"` : `name the same file, "${output.path}"`;
    throw new UsageError(`${same.what} and ${output.what} ${names}: one would overwrite the other.`);
  }
}

/**
 * True if two names are one file: by another spelling, through a link, or in a file system that ignores case. File
 * systems are not asked for that: names that differ only in case are refused everywhere.
 */
function isSameFile(one: string, other: string): boolean {
  if (placeOf(one).toLowerCase() === placeOf(other).toLowerCase()) return true;
  const [first, second] = [identityOf(one), identityOf(other)];
  return first !== null && first === second;
}

/** The folder without links, and the name in it. */
function placeOf(path: string): string {
  const absolute = resolve(path);
  try {
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch {
    return absolute;
  }
}

/** Device and inode of an existing file, links followed; null: there is none. */
function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
