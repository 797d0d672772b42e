import { readFileSync } from 'node:fs';

/** Bytes of a line of this computer's /proc/meminfo. */
export function meminfoBytes(name: string): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/meminfo', 'utf8'));
  if (line === null) throw new Error(`no ${name} in /proc/meminfo`);
  return Number(line[1]) * 1024;
}
