import { readFileSync } from 'node:fs';

/** Bytes of a line of this computer's /proc/meminfo. */
export function meminfoBytes(name: string): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/meminfo', 'utf8'));
  if (line === null) throw new Error(`no ${name} in /proc/meminfo`);
  return Number(line[1]) * 1024;
}

/**
 * Free memory of this computer: MemFree, and the free pages in lists of the processors, which MemFree does not count (up to
 * an eighth of the memory, for minutes). A page is 4 KiB on x86-64; elsewhere the caller says its size.
 */
export function freeBytes(pageBytes = 4096): number {
  const lists = [...readFileSync('/proc/zoneinfo', 'utf8').matchAll(/^ +count: +(\d+)$/gm)];
  return meminfoBytes('MemFree') + lists.reduce((sum, [, pages]) => sum + Number(pages) * pageBytes, 0);
}
